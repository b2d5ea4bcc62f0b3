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

func TestAnUpgradeByHelmAndTheRollbackLoseNoTickAndFailNoRequest(t *testing.T) {
	from, to := previous(t), current()
	undeployed(t)
	from.helm(t, "install", "--create-namespace")
	w := startWork(t)

	w.goesOnDuring("helm upgrade", func() { to.helm(t, "upgrade", "--reset-then-reuse-values") })
	w.goesOnDuring("helm rollback", func() {
		helm(t, "rollback")
		from.awaitRollout(t)
	})
	w.stop()
	undeployed(t) // what the other tests need is `make deploy`'s
}

func TestUpgradesByKubectlAndTheWayBackLoseNoTickAndFailNoRequest(t *testing.T) {
	from, to := previous(t), current()
	undeployed(t)
	from.deploy(t)
	w := startWork(t)

	w.goesOnDuring("make deploy", func() { to.deploy(t) })
	w.goesOnDuring("make deploy of the previous release", func() { from.deploy(t) })
	w.goesOnDuring("kubectl apply --server-side --force-conflicts", func() { to.apply(t) })
	w.stop()
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

// tickInterval is the interval of most CronJobs. The change of the leader takes less: a tick that
// comes due twice meanwhile would rightly be missed once.
const tickInterval = 10 * time.Second

// startWork creates CronJobs of three kinds in each version, and starts a client: most have Jobs
// without Pods, of some each Pod runs into the next tick, and some follow the clock.
func startWork(t *testing.T) *work {
	t.Helper()
	s := newSpace(t)
	w := &work{t: t, space: s, seen: watchJobs(t, s.ns), due: map[string]ticks{}}
	withoutPods := func(c *v1.CronJob) { c.Spec.JobTemplate.Spec.Suspend = new(true) }
	for _, version := range []string{"v1", "v2"} {
		for i := range 9 {
			w.create(version, fmt.Sprint("idle-", i), tickInterval, withoutPods)
		}
		w.create(version, "running", tickInterval, func(c *v1.CronJob) {
			c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Command = []string{"sleep", "12"}
		})
		w.create(version, "on-the-minute", time.Minute, func(c *v1.CronJob) {
			c.Spec.Schedule = "* * * * *"
			withoutPods(c)
		})
	}
	w.load = startLoad(t, 0)
	w.requireTicks(time.Now())
	return w
}

// create creates a CronJob in a version. What sets its Jobs, and a schedule other than its
// interval.
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

// goesOnDuring changes the operator, and fails the test unless each tick until then, and the next,
// runs once.
func (w *work) goesOnDuring(what string, change func()) {
	w.t.Helper()
	begin := time.Now()
	change()
	took := sinceSeconds(begin)
	w.requireTicks(time.Now().Add(tickInterval))
	var latest time.Duration
	for _, job := range w.seen.jobs() {
		if tick := tickOf(w.t, &job); tick.After(begin) {
			latest = max(latest, job.CreationTimestamp.Sub(tick))
		}
	}
	w.t.Logf("%s took %s; %d ticks so far have one Job each, since then at most %s late", what, took, len(w.seen.jobs()), latest)
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
