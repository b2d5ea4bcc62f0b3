// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/test/chaos/faults"
)

func TestFaultsAreNamed(t *testing.T) {
	for text, want := range map[string][]faults.Kind{
		"all": faults.Kinds(), "none": nil, "kill-etcd,answer-409": {faults.Conflict, faults.KillEtcd},
	} {
		o, err := parseFlags([]string{"-faults=" + text})
		require.NoError(t, err)
		assert.Equal(t, want, o.faults, text)
	}
	_, err := parseFlags([]string{"-faults=kill-etcd,rain"})
	assert.ErrorContains(t, err, "-faults=kill-etcd,rain: want some of answer-409,")
}
