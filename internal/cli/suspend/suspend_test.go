// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package suspend

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/handover"
)

func TestABadCommandLineIsAnsweredWithWhatWouldBeRight(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "say which CronJobs: NAME..., -l SELECTOR or --all"},
		{[]string{"-A"}, "say which CronJobs"},
		{[]string{"a", "--all"}, "not two of them"},
		{[]string{"a", "-l", "b"}, "not two of them"},
		{[]string{"--all", "-l", "b"}, "not two of them"},
		{[]string{"a", "-A"}, "-A goes with -l or --all"},
		{[]string{"-l", "a in ("}, `-l "a in ("`},
		{[]string{"a", "--dry-run=maybe"}, `must be "none", "server", or "client"`},
		{[]string{"a", "-o", "wide"}, `unable to match a printer suitable for the output format "wide"`},
	} {
		for _, newCommand := range []func(*env.Env) *cobra.Command{NewSuspendCommand, NewResumeCommand} {
			cmd := newCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()))
			t.Run(cmd.Name()+" "+strings.Join(tc.args, " "), func(t *testing.T) {
				cmd.SilenceErrors, cmd.SilenceUsage = true, true
				cmd.SetArgs(append([]string{}, tc.args...))
				assert.ErrorContains(t, cmd.ExecuteContext(t.Context()), tc.want)
			})
		}
	}
}

func TestResumingWhatWasHandedOverToTheBuiltInCronJobWarns(t *testing.T) {
	handedOver := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{
		Name: "backup", Annotations: map[string]string{handover.SuspendBeforeAnnotation: "false"},
	}}
	for name, tc := range map[string]struct {
		suspend  bool
		object   *v1.CronJob
		wantText string
	}{
		"resumed":                    {false, handedOver, "use kubectl cronjob import backup --suspend-original\n"},
		"suspended":                  {true, handedOver, ""},
		"resumed, never handed over": {false, &v1.CronJob{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, errOut := genericiooptions.NewTestIOStreams()
			c := &command{Env: env.New(streams), suspend: tc.suspend}
			c.warn(tc.object)
			assert.Contains(t, errOut.String(), tc.wantText)
			assert.Equal(t, tc.wantText == "", errOut.Len() == 0, errOut)
		})
	}
}
