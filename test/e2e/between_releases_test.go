//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

func TestAnUpgradeByHelmAndARollbackLoseNoTickAndFailNoRequest(t *testing.T) {
	undeployed(t)
	from, to := previous(t), current()
	from.helm(t, "install", "--create-namespace")
	w := startWork(t)

	w.goesOnDuring("helm upgrade", func() { to.helm(t, "upgrade", "--reset-then-reuse-values") })
	w.goesOnDuring("helm rollback", func() {
		helm(t, "rollback")
		from.requireRolledOut(t)
	})
	w.stop()
	undeployed(t) // what the other tests need is `make deploy`'s
}

func TestAnUpgradeByKubectlAndTheWayBackLoseNoTickAndFailNoRequest(t *testing.T) {
	undeployed(t)
	from, to := previous(t), current()
	from.deploy(t)
	w := startWork(t)

	w.goesOnDuring("make deploy", func() { to.deploy(t) })
	w.goesOnDuring("make deploy of the previous release", func() { from.deploy(t) })
	w.goesOnDuring("kubectl apply --server-side", func() { to.apply(t) })
	w.goesOnDuring("kubectl apply --server-side of the previous release", func() { from.apply(t) })
	w.stop()
	undeployed(t)
}

// work is what goes on while the operator is upgraded: CronJobs in both versions, and a client.
type work struct {
	t     *testing.T
	space *space
	seen  *jobsSeen
	load  *load
	due   map[string]ticks // of each CronJob, by name
}

// ticks are those of a CronJob.
type ticks struct {
	first    time.Time
	interval time.Duration
}

// tickInterval is the interval of most CronJobs.
const tickInterval = 5 * time.Second

// startWork creates CronJobs of three kinds in each version, and starts a client: most have Jobs
// that do nothing, of some each Pod runs into the next tick, and some follow the clock.
func startWork(t *testing.T) *work {
	t.Helper()
	s := newSpace(t)
	w := &work{t: t, space: s, seen: watchJobs(t, s.ns), due: map[string]ticks{}}
	for _, version := range []string{"v1", "v2"} {
		idle := func(c *v1.CronJob) { c.Spec.JobTemplate.Spec.Suspend = new(true) }
		for i := range 9 {
			w.create(version, fmt.Sprint("idle-", i), tickInterval, idle)
		}
		w.create(version, "running", tickInterval, func(c *v1.CronJob) {
			c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Command = []string{"sleep", "7"}
		})
		w.create(version, "on-the-minute", time.Minute, func(c *v1.CronJob) {
			c.Spec.Schedule = "* * * * *"
			idle(c)
		})
	}
	w.load = startLoad(t, 0)
	w.requireTicks(time.Now().Add(tickInterval))
	return w
}

// create creates a CronJob in a version. What sets its Jobs, and a schedule other than its interval.
func (w *work) create(version, kind string, interval time.Duration, what func(*v1.CronJob)) {
	w.t.Helper()
	c := w.space.cronJob(version+"-"+kind).Schedule("@every "+interval.String()).History(1000, 1000).Obj()
	c.UID = ""
	what(c)
	var object client.Object = c
	if version == "v2" {
		spoke := &v2.CronJob{}
		require.NoError(w.t, spoke.ConvertFrom(c))
		object = spoke
	}
	require.NoError(w.t, cluster.Create(w.t.Context(), object))
	created := object.GetCreationTimestamp().Time
	if interval == time.Minute {
		created = created.Truncate(interval)
	}
	w.due[object.GetName()] = ticks{created.Add(interval), interval}
}

// goesOnDuring changes the operator, and fails the test unless each tick runs until two more have.
func (w *work) goesOnDuring(what string, change func()) {
	w.t.Helper()
	begin := time.Now()
	change()
	took := sinceSeconds(begin)
	w.requireTicks(time.Now().Add(2 * tickInterval))
	var late time.Duration
	for _, job := range w.seen.jobs() {
		if tick := tickOf(w.t, &job); tick.After(begin) {
			late = max(late, job.CreationTimestamp.Sub(tick))
		}
	}
	w.t.Logf("%s took %s; %d Jobs so far, since then %s late at most", what, took, len(w.seen.jobs()), late)
}

// requireTicks fails the test unless there is one Job for each tick until an instant, and none
// before its tick.
func (w *work) requireTicks(until time.Time) {
	w.t.Helper()
	want := sets.New[string]()
	for name, due := range w.due {
		for tick := due.first; !tick.After(until); tick = tick.Add(due.interval) {
			want.Insert(runOf(name, tick))
		}
	}
	var got []string
	await(w.t, func(context.Context) error {
		got = nil
		for _, job := range w.seen.jobs() {
			if tick := tickOf(w.t, &job); !tick.After(until) {
				got = append(got, runOf(metav1.GetControllerOf(&job).Name, tick))
				assert.False(w.t, job.CreationTimestamp.Time.Before(tick), "%s is early", job.Name)
			}
		}
		if missing := want.Difference(sets.New(got...)); len(missing) > 0 {
			return fmt.Errorf("%d of %d ticks have no Job: %v", len(missing), len(want), sets.List(missing))
		}
		return nil
	})
	assert.ElementsMatch(w.t, sets.List(want), got, "a tick has two Jobs, or is none of the schedule's")
}

// runOf names a run.
func runOf(cronJob string, tick time.Time) string {
	return cronJob + " at " + tick.UTC().Format(time.TimeOnly)
}

// stop ends the client, and fails the test if a request, a Pod or a tick has failed.
func (w *work) stop() {
	w.t.Helper()
	w.load.stop()
	assert.Empty(w.t, w.space.events("MissSchedule"))
	jobs, err := w.space.jobs(w.t.Context())
	require.NoError(w.t, err)
	assert.GreaterOrEqual(w.t, len(jobs), len(w.seen.jobs()), "none was deleted")
	succeeded := 0
	for _, job := range jobs {
		assert.Zero(w.t, job.Status.Failed, job.Name)
		succeeded += int(job.Status.Succeeded)
	}
	w.t.Logf("%d CronJobs, %d Jobs, %d Pods that ended", len(w.due), len(jobs), succeeded)
	assert.NotZero(w.t, succeeded)
}
