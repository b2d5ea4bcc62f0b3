// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	suspendcli "tutorial.kubebuilder.io/project/internal/cli/suspend"
)

// soon is a time to which CronJobs are suspended.
func soon() *metav1.Time { return &metav1.Time{Time: time.Now().Add(time.Hour).Truncate(time.Second)} }

func TestPluginSuspendsAllUntilATimeAndTakesBackExactlyThat(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		for _, name := range []string{"runs", "edited", "stopped", "waits", "named"} {
			s.create(s.cronJob(name).Schedule(nextYear).Obj())
		}
		later := soon()
		s.edit("stopped", func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
		s.edit("waits", func(c *v1.CronJob) { c.Spec.SuspendUntil = later })
		before := s.get("runs")

		out := s.plugin("suspend", "--all", "--until=6h", "--reason=storage is moved").succeeds()
		const resource = "cronjob.batch.tutorial.kubebuilder.io/"
		assert.Regexp(s.t, "^"+resource+"edited suspended until .+\n"+resource+"named suspended until .+\n"+resource+"runs suspended until .+\n"+
			resource+"stopped already suspended\n"+resource+"waits already suspended\n$", out)
		after := s.awaitReady("runs", metav1.ConditionTrue, v1.ReasonSuspended)
		require.NotNil(s.t, after.Spec.SuspendUntil)
		assert.WithinDuration(s.t, time.Now().Add(6*time.Hour), after.Spec.SuspendUntil.Time, time.Minute)
		assert.Equal(s.t, "storage is moved", after.Annotations[suspendcli.SuspendReasonAnnotation])
		assert.Equal(s.t, "admin", after.Annotations[suspendcli.SuspendedByAnnotation], "as the API server names who asks")
		assert.Empty(s.t, annotationsOf(s.get("stopped")))

		again := s.plugin("suspend", "--all", "--until=9h").succeeds()
		assert.Equal(s.t, 5, strings.Count(again, " already suspended\n"), "a second call finds nothing to do: %s", again)
		assert.Equal(s.t, after.Spec, s.get("runs").Spec)

		s.edit("edited", func(c *v1.CronJob) { c.Spec.SuspendUntil = later })
		sixHours := after.Spec.SuspendUntil.Local().Format(time.RFC3339)
		assert.Equal(s.t, resource+"named suspended until "+sixHours+"\n", s.plugin("suspend", "named", "--until=1h").succeeds(),
			"it is not shortened")
		assert.Equal(s.t, resource+"edited left suspended\n"+resource+"named left suspended\n"+resource+"runs resumed\n"+
			resource+"stopped left suspended\n"+resource+"waits left suspended\n", s.plugin("resume", "--all").succeeds())
		resumed := s.awaitReady("runs", metav1.ConditionTrue, v1.ReasonScheduled)
		assert.Equal(s.t, before.Spec, resumed.Spec)
		assert.Equal(s.t, annotationsOf(before), annotationsOf(resumed))
		assert.True(s.t, later.Equal(s.get("edited").Spec.SuspendUntil), "the edit wins")
		assert.Equal(s.t, after.Spec.SuspendUntil, s.get("named").Spec.SuspendUntil, "which is longer than was asked for")
		assert.True(s.t, later.Equal(s.get("waits").Spec.SuspendUntil))
		assert.Equal(s.t, new(true), s.get("stopped").Spec.Suspend)
	})
}

// roundTripper is a function that sends requests.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sendBy has the requests of a command be sent by a function.
func sendBy(send func(next http.RoundTripper, r *http.Request) (*http.Response, error)) func(*env.Env) {
	return func(e *env.Env) {
		e.Flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) { return send(next, r) })
			})
			return config
		}
	}
}

// pluginAfter runs a command of the plugin, and something else right before it first changes an
// object.
func (s *space) pluginAfter(ctx context.Context, before func(), args ...string) *pluginRun {
	p := &pluginRun{t: s.t}
	e := env.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &p.out, ErrOut: &p.errOut})
	var once sync.Once
	sendBy(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPatch {
			once.Do(before)
		}
		return next.RoundTrip(r)
	})(e)
	command := cli.NewCommand(e, version)
	command.SetArgs(append([]string{"--kubeconfig=" + s.Kubeconfig, "--namespace=" + s.ns}, args...))
	p.err = command.ExecuteContext(ctx)
	return p
}

func TestPluginLetsAnEditWinThatIsMadeWhileItSuspendsOrResumes(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	const resource = "cronjob.batch.tutorial.kubebuilder.io/"
	later := soon()
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	suspendUntil := func() { s.edit("c", func(c *v1.CronJob) { c.Spec.SuspendUntil = later }) }

	out := s.pluginAfter(t.Context(), suspendUntil, "suspend", "--all", "--until=6h").succeeds()
	assert.Equal(t, resource+"c already suspended\n", out)
	assert.True(t, later.Equal(s.get("c").Spec.SuspendUntil))
	assert.Empty(t, annotationsOf(s.get("c")))

	s.edit("c", func(c *v1.CronJob) { c.Spec.SuspendUntil = nil })
	label := func() { s.edit("c", func(c *v1.CronJob) { c.Labels = map[string]string{"team": "data"} }) }
	assert.Contains(t, s.pluginAfter(t.Context(), label, "suspend", "--all", "--until=6h").succeeds(), resource+"c suspended until ",
		"an edit of something else is none")
	assert.Equal(t, "data", s.get("c").Labels["team"])

	assert.Equal(t, resource+"c left suspended\n", s.pluginAfter(t.Context(), suspendUntil, "resume", "--all").succeeds())
	assert.True(t, later.Equal(s.get("c").Spec.SuspendUntil))
}

func TestPluginSuspendStopsWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for _, name := range []string{"a", "b", "c"} {
		s.create(s.cronJob(name).Schedule(nextYear).Obj())
	}
	ctx, interrupt := context.WithCancel(t.Context())
	said := s.pluginAfter(ctx, interrupt, "suspend", "--all").fails(1)
	assert.Contains(t, said, "error: 3 of 3 CronJobs were not suspended: repeat the command for them\n")
	assert.NotContains(t, said, s.ns+"/b", "not each of the others has failed")
}

func TestPluginSuspendsWhatIsAppliedFromGit(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	fromGit := yearly["v2"] + "\nsuspend: false\n" + jobTemplate
	require.NoError(t, s.apply("git", "v2", fromGit))

	s.plugin("suspend", "--all", "--until=6h").succeeds()
	require.NoError(t, s.apply("git", "v2", fromGit), "suspendUntil is nothing that it applies")
	assert.NotNil(t, s.get("c").Spec.SuspendUntil)
	assert.Equal(t, []string{"kubectl-cronjob in v1"}, s.ownersOf("spec", "suspendUntil"))
	s.plugin("resume", "--all").succeeds()
	assert.Nil(t, s.get("c").Spec.SuspendUntil)
	assert.Empty(t, s.ownersOf("spec", "suspendUntil"))
	require.NoError(t, s.apply("git", "v2", fromGit))

	s.plugin("suspend", "--all").succeeds()
	require.ErrorContains(t, s.apply("git", "v2", fromGit), `conflict with "kubectl-cronjob" using batch.tutorial.kubebuilder.io/v1: .spec.suspend`)
	require.NoError(t, s.apply("git", "v2", fromGit, client.ForceOwnership))
	assert.Contains(t, s.plugin("resume", "--all").succeeds(), "c already resumed\n")
	assert.Equal(t, []string{"git in v2"}, s.ownersOf("spec", "suspend"))
}
