// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

func TestS20NoMoreJobsRunThanMaxConcurrencyAllows(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 1s").MaxConcurrency(2).Obj())
	waiting := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonWaiting)
	jobs := s.jobs("c")
	require.Len(t, jobs, 2)
	s.eventually(func() bool { return len(s.events("c", plan.EventMissSchedule)) >= 2 }, "no tick waits until a newer one is due")
	assert.Len(t, s.jobs("c"), 2)
	assert.Contains(t, s.events("c", plan.EventJobAlreadyActive)[0].Note, "is running and maxConcurrency is 2")

	s.end(&jobs[1], batchv1.JobComplete)
	started := s.awaitJobs("c", 3)[2]
	assert.True(t, tickOf(t, &started).After(waiting.Status.NextScheduleTime.Time), "a newer tick than the first that waited")
}

func TestS20TheSchemaRefusesAMaxConcurrencyBesideAnotherPolicy(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		for _, policy := range []v1.ConcurrencyPolicy{v1.ForbidConcurrent, v1.ReplaceConcurrent} {
			err := s.Client.Create(s.t.Context(), s.cronJob("c").Schedule(nextYear).Policy(policy).MaxConcurrency(2).Obj())
			require.Error(s.t, err)
			assert.Contains(s.t, inNewWords(s.t, err.Error()), "spec: Invalid value: maxConcurrency goes with concurrencyPolicy Allow: "+
				"Forbid runs 1 at a time, and Replace the newest alone")
		}
		s.create(s.cronJob("c").Schedule(nextYear).Policy(v1.ForbidConcurrent).MaxConcurrency(1).Obj())
	})
}

func TestS21FailuresStopACronJobUntilAManualRunSucceeds(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	url := s.startMeteredManager()
	token := s.readerOfMetrics()
	s.endJobs(batchv1.JobFailed)
	s.create(s.cronJob("c").Schedule("@every 1s").StopAfterFailures(3).Obj())
	stopped := s.awaitReady("c", metav1.ConditionFalse, v1.ReasonStoppedAfterFailures)
	assert.Nil(t, stopped.Status.NextScheduleTime)
	assert.EqualValues(t, 3, stopped.Status.FailuresTowardsStop)
	assert.Contains(t, s.awaitEvent("c", plan.EventStoppedAfterFailures).Note, "3 runs failed in a row")
	s.eventually(func() bool { return scrape(t, url, token)["cronjob_controller_stopped_cronjobs"] == "1" }, "no metric says so")
	s.create(s.cronJob("clock").Schedule("@every 1s").History(0, 100).Obj())
	s.awaitRuns("clock", 3)
	assert.Equal(t, stopped.Status.LastScheduleTime, s.get("c").Status.LastScheduleTime)
	assert.Equal(t, stopped.Generation, s.get("c").Generation, "the spec is its user's")

	s.end(s.startByHand("c", "by-hand"), batchv1.JobComplete)
	s.eventually(func() bool {
		return s.get("c").Status.LastScheduleTime.After(stopped.Status.LastScheduleTime.Time)
	}, "it does not go on")
	s.eventually(func() bool { return len(s.events("c", plan.EventStoppedAfterFailures)) == 2 }, "it does not stop again")
}

func TestPluginResumesWhatHasStoppedAfterFailures(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.endJobs(batchv1.JobFailed)
	s.create(s.cronJob("c").Schedule("@every 1s").StopAfterFailures(1).Obj())
	for range 2 {
		stopped := s.awaitReady("c", metav1.ConditionFalse, v1.ReasonStoppedAfterFailures)
		assert.Contains(t, s.plugin("next", "c").succeeds(), "It has stopped after failures")
		assert.Equal(t, fmt.Sprintf("cronjob.%s/c resumed\n", v1.GroupVersion.Group), s.plugin("resume", "c").succeeds())
		s.eventually(func() bool {
			return s.get("c").Status.LastScheduleTime.After(stopped.Status.LastScheduleTime.Time)
		}, "it does not go on")
		assert.Equal(t, stopped.Generation, s.get("c").Generation, "its spec is left alone")
	}
	s.awaitReady("c", metav1.ConditionFalse, v1.ReasonStoppedAfterFailures)
	s.edit("c", suspend)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	assert.Equal(t, fmt.Sprintf("cronjob.%s/c resumed\n", v1.GroupVersion.Group), s.plugin("resume", "c").succeeds())
	assert.Equal(t, fmt.Sprintf("cronjob.%s/c already resumed\n", v1.GroupVersion.Group), s.plugin("resume", "c").succeeds())
}

func TestS22AJobStartsAsMuchLaterThanItsTickAsTheStatusSays(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	c := &v1.CronJob{}
	for i := 0; plan.Jitter(c) == 0; i++ { // one in four starts at its tick
		c = s.cronJob(fmt.Sprintf("c%d", i)).Schedule("@every 5s").Jitter(4).Obj()
		s.create(c)
	}
	s.awaitJobs(c.Name, 3)
	for _, job := range s.jobs(c.Name) {
		tick := tickOf(t, &job)
		assert.Equal(t, fmt.Sprintf("%s-%d", c.Name, tick.Unix()), job.Name)
		assert.False(t, job.CreationTimestamp.Time.Before(tick.Add(plan.Jitter(c))), "S11: %s is created at %s", job.Name, job.CreationTimestamp)
	}
	status := s.awaitReady(c.Name, metav1.ConditionTrue, v1.ReasonScheduled).Status
	assert.Equal(t, plan.Jitter(c), status.NextStartTime.Sub(status.NextScheduleTime.Time))
	assert.Empty(t, s.events(c.Name, plan.EventMissSchedule))
	assert.Contains(t, s.plugin("next", c.Name).succeeds(), fmt.Sprintf("Each start is delayed by %v, as spec.jitterSeconds asks.", plan.Jitter(c)))
}

func TestS23AfterAnOutageTheNewestTicksRunOldestFirstAndTheOthersAreReported(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	manager := s.startOwnManager()
	s.watchLastScheduleTime("c")
	s.create(s.cronJob("c").Schedule("@every 2s").CatchUp(3).Obj())
	s.awaitJobs("c", 1)
	require.NoError(t, manager.terminate())
	before := s.jobs("c")
	last := tickOf(t, &before[len(before)-1])
	s.eventually(func() bool { return time.Since(last) > 11*time.Second }, "time stands still")

	s.startOwnManager()
	jobs := s.awaitJobs("c", len(before)+3)[len(before):]
	first := tickOf(t, &jobs[0])
	assert.True(t, first.After(last.Add(2*time.Second)), "%s is too old", first)
	for i, job := range jobs {
		assert.Equal(t, first.Add(time.Duration(2*i)*time.Second), tickOf(t, &job))
	}
	event := s.awaitEvent("c", plan.EventMissSchedule)
	assert.Contains(t, event.Note, last.Add(2*time.Second).UTC().Format(time.RFC3339))
	assert.Contains(t, event.Note, "a newer one was due when the controller looked again")
}

func TestS23TheSchemaRefusesACatchUpLimitBesideLatest(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		c := s.cronJob("c").Schedule(nextYear).CatchUp(5).Obj()
		c.Spec.CatchUpPolicy = v1.CatchUpLatest
		err := s.Client.Create(s.t.Context(), c)
		require.Error(s.t, err)
		assert.Contains(s.t, inNewWords(s.t, err.Error()), "spec: Invalid value: catchUpLimit goes with catchUpPolicy All: Latest runs 1")
		c.Spec.CatchUpPolicy, c.Spec.CatchUpLimit = v1.CatchUpAll, nil
		s.create(c)
		s.edit("c", func(c *v1.CronJob) { c.Spec.CatchUpPolicy = "" })
		assert.Nil(s.t, s.get("c").Spec.CatchUpLimit, "nothing is left that has to be removed with the policy")
	})
}
