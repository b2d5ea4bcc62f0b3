// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// execute runs the plugin, and returns what it prints.
func execute(args ...string) (string, error) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	cmd := NewCommand(env.New(streams), "v1.2.3")
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// eachCommand calls do with the root, and with each command below it.
func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, below := range cmd.Commands() {
		eachCommand(below, do)
	}
}

func TestTheHelpOfEachCommandIsThatOfAPluginAndLeavesOutKubectlsFlags(t *testing.T) {
	eachCommand(NewCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()), "v1.2.3"), func(cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), "kubectl cronjob")
		t.Run("kubectl cronjob"+name, func(t *testing.T) {
			help, err := execute(append(strings.Fields(name), "--help")...)
			require.NoError(t, err)
			assert.NotEmpty(t, cmd.Short)
			assert.Contains(t, help, "Usage:\n  kubectl cronjob"+name)
			assert.Contains(t, help, `Use "kubectl cronjob options" for the flags that all commands take.`)
			assert.NotContains(t, help, "--certificate-authority")
			assert.NotContains(t, help, "[flags]")
		})
	})
}

func TestOptionsListsKubectlsFlags(t *testing.T) {
	out, err := execute("options")
	require.NoError(t, err)
	for _, flag := range []string{"--kubeconfig", "--context", "-n, --namespace", "--as-group", "-s, --server"} {
		assert.Contains(t, out, flag)
	}
}

func TestKubectlsFlagsAreCompletedThoughTheHelpLeavesThemOut(t *testing.T) {
	out, err := execute("__complete", "next", "--kube")
	require.NoError(t, err)
	assert.Contains(t, out, "--kubeconfig\t")
}

func TestEachDryRunHasTheSameValuesAndMeansTheClientWithoutOne(t *testing.T) {
	seen := 0
	eachCommand(NewCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()), "v1.2.3"), func(cmd *cobra.Command) {
		flag := cmd.Flags().Lookup("dry-run")
		if flag == nil {
			return
		}
		seen++
		assert.Equal(t, "client", flag.NoOptDefVal, cmd.Name())
		assert.Equal(t, "none", flag.DefValue, cmd.Name())
		out, err := execute("__complete", cmd.Name(), "--dry-run=")
		require.NoError(t, err)
		assert.Equal(t, "none\nclient\nserver\n:4\n", out, cmd.Name())
	})
	assert.Equal(t, 6, seen, "backfill, run, suspend, resume, import, export")
}

func TestEachFlagThatIsATimeTellsTheSameForms(t *testing.T) {
	flags := 0
	eachCommand(NewCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()), ""), func(cmd *cobra.Command) {
		for _, name := range []string{"tick", "from", "to"} {
			if flag := cmd.Flags().Lookup(name); flag != nil && cmd.Name() != "convert" {
				assert.Contains(t, flag.Usage, cronjobs.TimeForms, "%s --%s", cmd.Name(), name)
				flags++
			}
		}
	})
	assert.Equal(t, 5, flags)
}

func TestTheVersionIsTheBuilds(t *testing.T) {
	out, err := execute("--version")
	require.NoError(t, err)
	assert.Equal(t, "kubectl cronjob version v1.2.3\n", out)
}
