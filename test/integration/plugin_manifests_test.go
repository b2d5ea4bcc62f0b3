// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// TestPluginLintSaysWhatTheAPIServerSays has kubectl create each document of lint's test files, and
// compares: what lint refuses is refused, and nothing else. What the API server says is among what lint
// says, in the same words; the API server stops at the first check that finds something.
func TestPluginLintSaysWhatTheAPIServerSays(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	paths, err := filepath.Glob(filepath.Join(root, "internal", "cli", "lint", "testdata", "*.[jy]*[nl]"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.Contains(string(text), "{{") || strings.Contains(string(text), "$(") {
			continue // a template
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			if strings.Contains(document, "the-built-in-one") || !strings.Contains(document, "jobTemplate") {
				continue // not ours, or no CronJob as a whole
			}
			file := filepath.Join(t.TempDir(), filepath.Base(path))
			require.NoError(t, os.WriteFile(file, []byte(document), 0o600))
			said, linted, err := s.migrate(t.Context(), "lint", "-f", file)
			refusedHere := env.ExitCode(err) == 2
			out, err := s.tryKubectl(t, "create", "-n", s.ns, "--dry-run=server", "-f", file)
			assert.Equal(t, err != nil, refusedHere, "%s\nlint: %s%s\nkubectl: %s", document, said, linted, out)
			out = inNewWords(t, out)
			_, only, isInvalid := strings.Cut(out, " is invalid: ")
			if isInvalid && !strings.HasPrefix(only, "\n") {
				assert.Contains(t, said, strings.TrimSpace(only), "lint finds what the API server finds")
			}
			for line := range strings.Lines(out) {
				message, isError := strings.CutPrefix(line, "* ")
				isOfAnotherName := strings.HasPrefix(message, "metadata.name:") && strings.Contains(document, "generateName:") // made anew each time
				if isError && !isOfAnotherName && !strings.Contains(message, "some validation rules were not checked") {
					assert.Contains(t, said, strings.TrimSpace(message), "lint finds what the API server finds")
				}
			}
			for line := range strings.Lines(said) {
				_, message, isWarning := strings.Cut(strings.TrimSpace(line), ": warning: ")
				if message, isWarned := strings.CutSuffix(message, " [warned]"); isWarning && isWarned && !refusedHere {
					assert.Contains(t, out, message, "the API server warns of it, too")
				}
			}
		}
	}
}

func TestPluginPrintsWhatTheAPIServerWarnsOf(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("*/90 7 1 1 *").Obj())
	suspended := s.plugin("suspend", "c")
	assert.Equal(t, "cronjob.batch.tutorial.kubebuilder.io/c suspended\n", suspended.succeeds())
	assert.Contains(t, suspended.errOut.String(), `Warning: spec.schedule: minute "*/90": the step of */90 leads beyond 59`)
}
