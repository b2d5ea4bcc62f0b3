// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package actions

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// call makes a call of an action.
func call(t *testing.T, action string, values ...string) Call {
	t.Helper()
	found, ok := Find(action)
	require.True(t, ok)
	c := Call{Action: found, Namespace: "shop", Name: "backup", Values: url.Values{}}
	for i := 0; i < len(values); i += 2 {
		c.Values.Set(values[i], values[i+1])
	}
	return c
}

// echo makes a plugin whose commands say how they were called.
func echo(e *env.Env) *cobra.Command {
	root := &cobra.Command{Use: "cronjob", SilenceErrors: true, SilenceUsage: true}
	e.Flags.AddFlags(root.PersistentFlags())
	for _, action := range All {
		root.AddCommand(&cobra.Command{
			Use: action.command, DisableFlagParsing: true,
			RunE: func(_ *cobra.Command, args []string) error {
				fmt.Fprintln(e.Out, action.command, strings.Join(args, " "))
				return nil
			},
		})
	}
	return root
}

// newPlugin makes a plugin as if ui had been called with such flags.
func newPlugin(t *testing.T, newCommand func(*env.Env) *cobra.Command, flags ...string) *Plugin {
	t.Helper()
	root := echo(env.New(genericiooptions.NewTestIOStreamsDiscard()))
	ui := &cobra.Command{Use: "ui", RunE: func(*cobra.Command, []string) error { return nil }}
	ui.Flags().Bool("no-browser", false, "")
	root.AddCommand(ui)
	root.SetArgs(append([]string{"ui"}, flags...))
	require.NoError(t, root.ExecuteContext(t.Context()))
	return NewPlugin(newCommand, clock.RealClock{}, ui)
}

func TestEachActIsACommandOfThePlugin(t *testing.T) {
	for name, tc := range map[string]struct {
		call Call
		want string
	}{
		"run":           {call(t, "run"), "run backup --namespace=shop"},
		"a tick":        {call(t, "tick", "tick", "2026-06-01T02:30", "again", "true"), "run backup --namespace=shop --tick=2026-06-01T02:30 --again=true"},
		"a range":       {call(t, "backfill", "from", "a", "to", "b", "only", "missed"), "backfill backup --namespace=shop --from=a --to=b --only=missed"},
		"suspend":       {call(t, "suspend", "until", "6h", "reason", "it's --all"), "suspend backup --namespace=shop --until=6h --reason=it's --all"},
		"resume":        {call(t, "resume"), "resume backup --namespace=shop"},
		"other fields":  {call(t, "resume", "all", "true", "dry-run", "none"), "resume backup --namespace=shop"},
		"a flag inside": {call(t, "suspend", "reason", "--all"), "suspend backup --namespace=shop --reason=--all"},
	} {
		t.Run(name, func(t *testing.T) {
			plugin, out := newPlugin(t, echo, "--context=test", "--as-group=a", "--as-group=b", "--no-browser", "--namespace=other"), &strings.Builder{}
			require.NoError(t, plugin.Do(t.Context(), tc.call, out))
			assert.Equal(t, tc.want+" --as-group=a --as-group=b --context=test\n", out.String())
			tried, err := plugin.Preview(t.Context(), tc.call)
			require.NoError(t, err)
			assert.Equal(t, tc.want+" --dry-run=server --as-group=a --as-group=b --context=test\n", tried)
		})
	}
}

func TestACommandLineMeansTheSameInAShell(t *testing.T) {
	line := newPlugin(t, echo).CommandLine(call(t, "suspend", "reason", "it's $(rm -rf) moved"))
	assert.Equal(t, `kubectl cronjob suspend backup --namespace=shop '--reason=it'\''s $(rm -rf) moved'`, line)
}

func TestACallIsCompleteWithAllThatItNeeds(t *testing.T) {
	assert.True(t, call(t, "run").IsComplete())
	assert.True(t, call(t, "suspend").IsComplete())
	assert.False(t, call(t, "tick").IsComplete())
	assert.False(t, call(t, "backfill", "from", "a").IsComplete())
	assert.True(t, call(t, "backfill", "from", "a", "to", "b").IsComplete())
	_, ok := Find("delete")
	assert.False(t, ok)
}

func TestAFieldIsFilledWithWhatTheCommandTakesByItself(t *testing.T) {
	backfill := call(t, "backfill", "from", "a")
	filled := map[string]string{}
	for _, field := range backfill.Action.Fields {
		filled[field.Name] = backfill.Value(field)
	}
	assert.Equal(t, map[string]string{"from": "a", "to": "", "only": "all", "parallel": "2"}, filled)
}

func TestALinkHasTheFieldsOfTheActAlone(t *testing.T) {
	assert.Equal(t, "?from=a%26b&to=c", call(t, "backfill", "to", "c", "from", "a&b", "id", "x").Link())
}

// blocking makes a plugin whose commands end with their context, or when they are let.
func blocking(end <-chan struct{}, started *int) func(*env.Env) *cobra.Command {
	return func(e *env.Env) *cobra.Command {
		root := &cobra.Command{Use: "cronjob", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(&cobra.Command{
			Use: "run", DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, _ []string) error {
				*started++
				fmt.Fprintln(e.Out, "begun")
				select {
				case <-cmd.Context().Done():
					return errors.New("interrupted")
				case <-end:
					return nil
				}
			},
		})
		return root
	}
}

// await waits until a task is in some state.
func await(t *testing.T, task *Task, isSo func(output string, isEnded bool) bool) {
	t.Helper()
	for {
		changed := task.Wait()
		output, isEnded, _ := task.State()
		if isSo(output, isEnded) {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatal("the task does not get there")
		}
	}
}

func TestAFormThatIsSentTwiceIsDoneOnce(t *testing.T) {
	end, started := make(chan struct{}), 0
	tasks := NewTasks(newPlugin(t, blocking(end, &started)))
	task := tasks.Start(t.Context(), "id", call(t, "run"))
	assert.Same(t, task, tasks.Start(t.Context(), "id", call(t, "run")))
	await(t, task, func(output string, isEnded bool) bool { return output == "begun\n" && !isEnded })
	close(end)
	await(t, task, func(_ string, isEnded bool) bool { return isEnded })
	assert.Same(t, task, tasks.Start(t.Context(), "id", call(t, "run")), "even when it has ended")
	assert.NoError(t, tasks.Wait())
	assert.Equal(t, 1, started)
	found, ok := tasks.Find("id")
	assert.True(t, ok)
	assert.Same(t, task, found)
}

func TestATaskThatIsInterruptedSaysSo(t *testing.T) {
	started := 0
	tasks := NewTasks(newPlugin(t, blocking(nil, &started)))
	ctx, interrupt := context.WithCancel(t.Context())
	task := tasks.Start(ctx, "id", call(t, "run"))
	await(t, task, func(output string, _ bool) bool { return output != "" })
	go interrupt()
	assert.EqualError(t, tasks.Wait(), "interrupted")
}

func TestOnlySomeTasksAreRemembered(t *testing.T) {
	end, started := make(chan struct{}), 0
	close(end)
	tasks := NewTasks(newPlugin(t, blocking(end, &started)))
	for i := range maxTasks + 2 {
		tasks.Start(t.Context(), fmt.Sprint(i), call(t, "run"))
		assert.NoError(t, tasks.Wait())
	}
	_, ok := tasks.Find("0")
	assert.False(t, ok)
	_, ok = tasks.Find(fmt.Sprint(maxTasks + 1))
	assert.True(t, ok)
}

func TestAnActThatWouldStartNoJobIsPointless(t *testing.T) {
	const two = "2 ticks from a to b\njob.batch/c-1 created for a (server dry run)\njob.batch/c-2 created for b (server dry run)\n"
	assert.Equal(t, []string{"c-1", "c-2"}, JobsIn(two))
	assert.False(t, call(t, "backfill").IsPointless(two))
	assert.True(t, call(t, "backfill").IsPointless("2 ticks from a to b: 2 succeeded\n0 to run\n"))
	assert.False(t, call(t, "suspend").IsPointless("c suspended\n"), "it starts none")
}
