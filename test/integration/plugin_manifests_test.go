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

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// TestPluginLintSaysWhatTheAPIServerSays has kubectl create each document of lint's test files, and
// compares: what lint refuses is refused, in the same words, and nothing else.
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
			for line := range strings.Lines(said) {
				_, message, isWarning := strings.Cut(strings.TrimSpace(line), ": warning: ")
				if message, isWarned := strings.CutSuffix(message, " [warned]"); isWarning && isWarned {
					assert.Contains(t, out, message, "the API server warns of it, too")
				}
				if _, message, isError := strings.Cut(strings.TrimSpace(line), ": error: "); isError && strings.HasSuffix(message, " [invalid]") {
					assert.Contains(t, out, strings.TrimSuffix(message, " [invalid]"), "the API server refuses it in the same words")
				}
			}
		}
	}
}

func TestPluginCreateMakesACronJobThatRuns(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		out := s.plugin("create", "c", "--image=busybox", "--schedule=@every 1s", "--restart=Never", "--", "date", "-u").succeeds()
		assert.Equal(s.t, "cronjob.batch.tutorial.kubebuilder.io/c created\n", out)
		job := s.awaitJobs("c", 1)[0]
		container := job.Spec.Template.Spec.Containers[0]
		assert.Equal(s.t, []string{"date", "-u"}, container.Command)
		assert.Equal(s.t, "c", container.Name)
		assert.Contains(s.t, s.plugin("create", "c", "--image=busybox", "--schedule=@daily").fails(1), `"c" already exists`)

		s.plugin("create", "d", "--image=busybox", "--schedule=@daily", "--dry-run=server").succeeds()
		assert.Error(s.t, s.Client.Get(s.t.Context(), s.key("d"), &v1.CronJob{}), "it was a dry run")
		assert.Contains(s.t, s.plugin("create", "D", "--image=busybox", "--schedule=@daily").fails(1), "a lowercase RFC 1123 subdomain")
	})
}

func TestPluginPrintsWhatTheAPIServerWarnsOf(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	created := s.plugin("create", "c", "--image=busybox", "--schedule=*/90 7 1 1 *")
	assert.Equal(t, "cronjob.batch.tutorial.kubebuilder.io/c created\n", created.succeeds())
	assert.Contains(t, created.errOut.String(), `Warning: spec.schedule: minute "*/90": the step of */90 leads beyond 59`)
}

func TestPluginCreateMakesTheSameInBothVersions(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for name, flags := range map[string][]string{"one": nil, "two": {"--v2"}} {
		s.plugin(append([]string{"create", name, "--image=busybox", "--schedule=30 2 * * 1-5", "--time-zone=Europe/Paris"}, flags...)...).succeeds()
	}
	one, two := s.get("one"), s.get("two")
	two.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Name = "one"
	assert.Equal(t, one.Spec, two.Spec)
	assert.Equal(t, new("Europe/Paris"), two.Spec.TimeZone)
}
