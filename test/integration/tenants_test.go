// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"tutorial.kubebuilder.io/project/internal/plan"
)

// slowly has a manager start at most 20 Jobs a second.
var slowly = []string{"--concurrency=1", "--kube-api-qps=20", "--kube-api-burst=1"}

// hogs is how many CronJobs keep the queue of such a manager full. One turn of them all takes it
// ten seconds.
const hogs = 200

// createHogs creates CronJobs that are due every second. Their names come before all others.
func (s *space) createHogs() {
	s.t.Helper()
	for i := range hogs {
		s.create(s.cronJob(fmt.Sprintf("a-hog-%03d", i)).Schedule("@every 1s").Obj())
	}
}

func TestS14WhatIsOverdueWhenALeaderBeginsDoesNotWaitForNewerTicks(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	before := s.startOwnManager()
	s.create(s.cronJob("overdue").Schedule("@every 5s").Obj())
	s.awaitTick("overdue")
	require.NoError(t, before.terminate())
	ran := len(s.jobs("overdue"))
	due := s.get("overdue").Status.NextScheduleTime.Time
	s.createHogs()
	s.eventually(func() bool { return time.Now().After(due.Add(time.Second)) }, "the clock stands still")

	s.startOwnManager(slowly...)
	s.awaitJobs("overdue", ran+1)
	newer := 0
	for _, r := range s.audit.in(t, s.ns) {
		if r.Verb+" "+r.Resource == createJob && r.Name == s.jobs("overdue")[ran].Name {
			break
		}
		if r.Verb+" "+r.Resource == createJob {
			newer++
		}
	}
	assert.LessOrEqual(t, newer, ran+10, "Jobs of newer ticks that were created first")
}

func TestS15OneNamespacesTicksDoNotDelayThoseOfAnother(t *testing.T) {
	t.Parallel()
	hog := newSpaceOn(t, plainControlPlane(t), nil)
	s := newSpaceOn(t, plainControlPlane(t), nil)
	hog.startOwnManager(append([]string{"--namespaces=" + hog.ns + "," + s.ns}, slowly...)...)
	hog.create(hog.cronJob("watched").Schedule(nextYear).Obj())
	hog.awaitTick("watched") // so that what is created now is new to the manager
	hog.createHogs()
	hog.eventually(func() bool { return len(hog.jobs("")) > hogs }, "the hogs do not run")

	delays := s.delays()
	for i := range 5 {
		s.create(s.cronJob(fmt.Sprint("c", i)).Schedule("@every 5s").Obj())
	}
	for i := range 5 {
		s.assertNoTickIsMissed(fmt.Sprint("c", i), 4, 5*time.Second)
	}
	assert.Less(t, delays(), 4*time.Second, "from the tick to the Job")
}

func TestS15AQuotaThatIsAlwaysFullCostsTheOthersNothing(t *testing.T) {
	t.Parallel()
	full, s := newSpace(t), newSpace(t)
	full.quotaOfJobs()(0)
	full.create(full.cronJob("refused").Schedule("@every 1s").Obj())
	full.eventually(func() bool { return len(full.refusedJobs()) > 0 }, "no Job is refused")

	delays := s.delays()
	for i := range 5 {
		s.create(s.cronJob(fmt.Sprint("c", i)).Schedule("@every 2s").Obj())
	}
	before := len(full.refusedJobs())
	for i := range 5 {
		s.assertNoTickIsMissed(fmt.Sprint("c", i), 4, 2*time.Second)
	}
	assert.Greater(t, len(full.refusedJobs()), before, "it was refused all the while")
	assert.Less(t, delays(), 2*time.Second, "from the tick to the Job")
	assert.Empty(t, full.jobs(""))
}

func TestS15AWebhookForJobsOfOneNamespaceThatDoesNotAnswerDelaysNoOther(t *testing.T) {
	t.Parallel()
	slow := newSpaceOn(t, plainControlPlane(t), nil)
	s := newSpaceOn(t, plainControlPlane(t), nil)
	silent := listenInSilence(t)
	slow.askAboutJobs(fmt.Sprintf("https://%s/", silent.Addr()))
	s.startOwnManager("--namespaces=" + slow.ns + "," + s.ns)
	slow.create(slow.cronJob("first").Schedule("@every 1s").Obj())
	awaitConnections(t, silent, 1)
	ran := len(slow.jobs(""))
	for i := range 40 {
		slow.create(slow.cronJob(fmt.Sprint("slow-", i)).Schedule("@every 1s").Obj())
	}
	awaitConnections(t, silent, 13) // which makes all of the 20 workers that one namespace gets

	delays := s.delays()
	for i := range 5 {
		s.create(s.cronJob(fmt.Sprint("c", i)).Schedule("@every 2s").Obj())
	}
	for i := range 5 {
		s.assertNoTickIsMissed(fmt.Sprint("c", i), 4, 2*time.Second)
	}
	assert.Less(t, delays(), 2*time.Second, "from the tick to the Job")
	assert.Len(t, slow.jobs(""), ran, "the webhook answers")
}

// delays follows the Jobs of the namespace. The function it returns tells the longest time so far
// from a tick until we heard of its Job.
func (s *space) delays() func() time.Duration {
	s.t.Helper()
	var mu sync.Mutex
	var longest time.Duration
	s.onJobs(func(job *batchv1.Job, heard time.Time) {
		delay := heard.Sub(tickOf(s.t, job))
		mu.Lock()
		defer mu.Unlock()
		longest = max(longest, delay)
	})
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return longest
	}
}

// assertNoTickIsMissed waits for some runs of a CronJob, and checks that there is none missing
// between them.
func (s *space) assertNoTickIsMissed(name string, runs int, interval time.Duration) {
	s.t.Helper()
	jobs := s.awaitJobs(name, runs)
	for i := range jobs[1:] {
		assert.Equal(s.t, interval, tickOf(s.t, &jobs[i+1]).Sub(tickOf(s.t, &jobs[i])), "between %s and %s", jobs[i].Name, jobs[i+1].Name)
	}
	assert.Empty(s.t, s.events(name, plan.EventMissSchedule))
}
