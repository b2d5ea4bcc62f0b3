// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/hack/localcluster"
)

func TestEachMutationFitsTheSource(t *testing.T) {
	root, err := localcluster.FindRoot()
	require.NoError(t, err)
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			tree := t.TempDir()
			for _, e := range m.edits {
				content, err := os.ReadFile(filepath.Join(root, e.file))
				require.NoError(t, err)
				file := filepath.Join(tree, e.file)
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
				if _, err := os.Stat(file); os.IsNotExist(err) { // else an edit before has changed it
					require.NoError(t, os.WriteFile(file, content, 0o600))
				}
				assert.NoError(t, e.make(tree))
			}
			assert.NotEmpty(t, m.laws, "which law does it break?")
		})
	}
}
