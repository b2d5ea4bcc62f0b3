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
)

// convertInPlace converts a manifest as a user would.
func (s *space) convertInPlace(path, version string) {
	s.t.Helper()
	out, errOut, err := s.migrate(s.t.Context(), "convert", "-f", path, "--to", version, "--in-place")
	require.NoError(s.t, err, errOut)
	assert.Equal(s.t, path+" converted to "+version+"\n", out)
}

// assertNoDrift compares a manifest with what is stored, as GitOps controllers do, and applies it
// both ways.
func (s *space) assertNoDrift(path, name string) {
	s.t.Helper()
	out, err := s.tryKubectl(s.t, "diff", "-n", s.ns, "-f", path)
	assert.NoError(s.t, err, "%s", out)
	assert.Empty(s.t, out)
	s.kubectl(s.t, "apply", "-n", s.ns, "--validate=strict", "-f", path)
	s.kubectl(s.t, "apply", "-n", s.ns, "--server-side", "--field-manager=kubectl-client-side-apply", "-f", path)
	assert.EqualValues(s.t, 1, s.get(name).Generation, "applying it changes nothing")
}

func TestAManifestThatIsConvertedIsNoChangeToItsObject(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "batch_v1_cronjob.yaml"))
	require.NoError(t, err)
	const written = `"*/1 * * * *"`
	require.Contains(t, string(sample), written)
	for _, schedule := range []string{
		`"*/5 9-17 * * 1-5"  # office hours`, `'@hourly'`, `"@every 90m"`, "0  9 * * MON-FRI",
	} {
		t.Run(schedule, func(t *testing.T) {
			s := newSpace(t)
			path := filepath.Join(t.TempDir(), "cronjob.yaml")
			require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(sample), written, schedule, 1)), 0o600))
			s.kubectl(t, "apply", "-n", s.ns, "-f", path)

			s.convertInPlace(path, "v2")
			s.assertNoDrift(path, "cronjob-sample")
		})
	}
}

func TestAManifestThatKubectlWroteForTheBuiltInIsAcceptedAsOneOfOurs(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	original := s.kubectl(t, "create", "cronjob", "c", "-n", s.ns, "--image=busybox", "--schedule=*/5 * * * *", "--dry-run=client", "-o", "yaml")
	path := filepath.Join(t.TempDir(), "cronjob.yaml")
	require.NoError(t, os.WriteFile(path, []byte(original), 0o600))
	_, errOut, err := s.migrate(t.Context(), "convert", "-f", path, "--from", "batch/v1", "--to", "v2", "--in-place")
	require.NoError(t, err, errOut)
	s.kubectl(t, "create", "--validate=strict", "-f", path)
	assert.Equal(t, "*/5 * * * *", s.get("c").Spec.Schedule)
	s.assertNoDrift(path, "c")
}
