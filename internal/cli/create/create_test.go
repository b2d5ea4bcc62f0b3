// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package create

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// create runs the command where there is no cluster.
func create(t *testing.T, args ...string) (string, error) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "missing"))
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	cmd := NewCommand(env.New(streams))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestAManifestIsPrintedWithoutACluster(t *testing.T) {
	const v1 = `apiVersion: batch.tutorial.kubebuilder.io/v1
kind: CronJob
metadata:
  name: back.up
spec:
  jobTemplate:
    metadata: {}
    spec:
      template:
        metadata: {}
        spec:
          containers:
          - command:
            - date
            - -u
            image: busybox
            name: back-up
            resources: {}
          restartPolicy: OnFailure
  schedule: '@hourly'
  timeZone: Europe/Paris
`
	args := []string{"back.up", "--image=busybox", "--schedule=@hourly", "--time-zone=Europe/Paris", "--dry-run=client", "-o", "yaml", "--", "date", "-u"}
	out, err := create(t, args...)
	require.NoError(t, err)
	assert.Equal(t, v1, out)

	out, err = create(t, append([]string{"--v2"}, args...)...)
	require.NoError(t, err)
	assert.Equal(t, strings.NewReplacer("/v1", "/v2", "  schedule: '@hourly'\n", "  schedule:\n    minute: \"0\"\n").Replace(v1), out,
		"without an annotation that has the schedule of v1")

	out, err = create(t, append([]string{"--v2", "--restart=Never"}, args...)...)
	require.NoError(t, err)
	assert.Contains(t, out, "restartPolicy: Never\n")

	out, err = create(t, "a", "--image=i", "--schedule=@daily", "--dry-run")
	require.NoError(t, err)
	assert.Equal(t, "cronjob.batch.tutorial.kubebuilder.io/a created (dry run)\n", out)
}

func TestABadCommandLineIsAnsweredWithWhatWouldBeRight(t *testing.T) {
	for line, want := range map[string]string{
		"--image=i --schedule=@daily":                              "exactly one NAME is required, got 0",
		"a date --image=i --schedule=@daily":                       "exactly one NAME is required, got 2; the command goes behind --",
		"--image=i --schedule=@daily -- date":                      "exactly one NAME is required, got 0",
		"a --schedule=@daily":                                      "--image is missing",
		"a --image=i":                                              `--schedule "": not a schedule: must not be empty: write five fields`,
		"a --image=i --schedule=@never":                            `--schedule "@never": not a schedule: must be one of @yearly`,
		"a --image=i --schedule=@every_1s":                         `--schedule "@every_1s": not a schedule`,
		"a --image=i --schedule=@daily --time-zone=Mars":           `--time-zone "Mars": unknown time zone`,
		"a --image=i --schedule=@daily --restart=Always":           "--restart Always: want OnFailure or Never",
		"a --image=i --schedule=@daily --dry-run=maybe":            `must be "none", "server", or "client"`,
		"a --image=i --schedule=@daily -o wide":                    `output format "wide"`,
		"a --image=i --schedule=@daily --dry-run=server":           "nothing says where the cluster is",
		"a --image=i --schedule=TZ=UTC --dry-run=client -o=name":   "TZ= and CRON_TZ= are not supported, use timeZone",
		"a --image=i --schedule=@every --dry-run=client -o=name":   "must be a duration such as 45s",
		"a --image=i --schedule=@REBOOT --dry-run=client -o=name":  "@reboot is not supported",
		"a --image=i --schedule=*/5* --dry-run=client -o=name":     "found 1 field, want 5",
		"a --image=i --schedule=@every0 --dry-run=client --output": "flag needs an argument: --output",
	} {
		_, err := create(t, strings.Fields(line)...)
		assert.ErrorContains(t, err, want, line)
	}
}
