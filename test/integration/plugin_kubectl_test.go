// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// installPlugin puts the plugin, and what kubectl completes it with, into a directory as make
// build-plugin does, and returns it. It is all that kubectl needs on the PATH.
func installPlugin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version=v1.2.3",
		"-o", filepath.Join(dir, "kubectl-cronjob"), "./cmd/kubectl-cronjob")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	completion, err := os.ReadFile(filepath.Join(root, "cmd", "kubectl-cronjob", "kubectl_complete-cronjob"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl_complete-cronjob"), completion, 0o755))
	return dir
}

// kubectlRun is what kubectl has printed and exited with.
type kubectlRun struct {
	out, errOut string
	code        int
}

// kubectlWith runs kubectl with a PATH.
func (s *space) kubectlWith(t *testing.T, path string, args ...string) kubectlRun {
	t.Helper()
	command := s.Kubectl(t.Context(), args...)
	command.Env = append(command.Env, "PATH="+path)
	var out, errOut strings.Builder
	command.Stdout, command.Stderr = &out, &errOut
	err := command.Run()
	if err != nil {
		require.ErrorAs(t, err, new(*exec.ExitError))
	}
	return kubectlRun{out: out.String(), errOut: errOut.String(), code: command.ProcessState.ExitCode()}
}

func TestKubectlRunsAndCompletesThePlugin(t *testing.T) {
	t.Parallel()
	path := installPlugin(t)
	s := newSpace(t)
	for _, name := range []string{"apple", "apricot", "pear"} {
		s.create(s.cronJob(name).Schedule(nextYear).Obj())
	}
	s.original("plum", nextYear, nil)
	sample := "config/samples/batch_v1_cronjob.yaml"

	for name, tc := range map[string]struct {
		args       []string
		wantOut    string
		wantErrOut string
		wantCode   int
	}{
		"lists it":                {args: []string{"plugin", "list"}, wantOut: "/kubectl-cronjob\n"},
		"shows its help":          {args: []string{"cronjob", "--help"}, wantOut: "Usage:\n  kubectl cronjob [command]\n"},
		"shows its version":       {args: []string{"cronjob", "--version"}, wantOut: "kubectl cronjob version v1.2.3\n"},
		"passes flags on":         {args: []string{"cronjob", "suspend", "pear", "-n", s.ns, "-o", "name"}, wantOut: "cronjob.batch.tutorial.kubebuilder.io/pear\n"},
		"passes on what is wrong": {args: []string{"cronjob", "lint", "-f", "internal/cli/lint/testdata/never.yaml"}, wantOut: "never fires", wantCode: 2},
		"passes the exit code on": {args: []string{"cronjob", "convert", "-f", sample, "--to=v2", "--check"}, wantOut: sample, wantCode: 1},
		"tells of a mistake":      {args: []string{"cronjob", "nxt"}, wantErrOut: "error: unknown command \"nxt\" for \"kubectl cronjob\"\n\nDid you mean this?\n\tnext\n", wantCode: 1},
		"completes the plugin":    {args: []string{"__complete", "cronj"}, wantOut: "cronjob\t"},
		"completes a command":     {args: []string{"__complete", "cronjob", "ne"}, wantOut: "next\tTell when a schedule fires next\n:4\n"},
		"completes a flag":        {args: []string{"__complete", "cronjob", "convert", "--in-pl"}, wantOut: "--in-place\t"},
		"completes CronJobs":      {args: []string{"__complete", "cronjob", "next", "-n", s.ns, "ap"}, wantOut: "apple\napricot\n:4\n"},
		"completes for export":    {args: []string{"__complete", "cronjob", "export", "-n", s.ns, "apple", ""}, wantOut: "apricot\npear\n:4\n"},
		"completes for import":    {args: []string{"__complete", "cronjob", "import", "-n", s.ns, ""}, wantOut: "plum\n:4\n"},
		"completes a format":      {args: []string{"__complete", "cronjob", "lint", "-o", ""}, wantOut: "text\njson\nsarif\n:4\n"},
		"completes what is begun": {args: []string{"__complete", "cronjob", "suspend", "-n", s.ns, "apple", ""}, wantOut: "apricot\npear\n:4\n"},
		"hears of a missing config": {
			args:       []string{"cronjob", "run", "pear", "--kubeconfig=missing"},
			wantErrOut: "error: --kubeconfig: stat missing: no such file or directory\n", wantCode: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := s.kubectlWith(t, path, tc.args...)
			assert.Contains(t, run.out, tc.wantOut)
			assert.Contains(t, run.errOut, tc.wantErrOut)
			assert.Equal(t, tc.wantCode, run.code, run.errOut)
		})
	}
	t.Run("fails if its output is lost", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		defer func() { assert.NoError(t, full.Close()) }()
		list := s.Kubectl(t.Context(), "cronjob", "list", "-n", s.ns)
		list.Env, list.Stdout = append(list.Env, "PATH="+path), full
		assert.Error(t, list.Run())
	})
}
