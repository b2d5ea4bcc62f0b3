// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestS14WhatANewLeaderFindsIsEnqueuedByItsNextTick(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 900e6, time.UTC)
	due := func(in time.Duration) *v1.CronJob {
		c := builders.MakeCronJob("c").Namespace("n").Obj()
		c.Generation, c.Status.ObservedGeneration = 3, 3
		c.Status.NextScheduleTime = &metav1.Time{Time: now.Truncate(time.Second).Add(in)}
		return c
	}
	with := func(c *v1.CronJob, change func(*v1.CronJob)) *v1.CronJob {
		change(c)
		return c
	}
	tests := map[string]struct {
		found *v1.CronJob
		want  int
	}{
		"due for a minute":   {due(-time.Minute), 60},
		"due for years":      {due(-10 * 365 * 24 * time.Hour), 10 * 365 * 24 * 3600},
		"due now":            {due(0), 0},
		"due in ten seconds": {due(11 * time.Second), -11},
		"due tomorrow":       {due(24 * time.Hour), handler.LowPriority},
		"due since its suspension ended": {with(due(0), func(c *v1.CronJob) {
			c.Status.NextScheduleTime, c.Spec.SuspendUntil = nil, new(metav1.NewTime(now.Add(-time.Minute)))
		}), 60},
		"due and suspended":  {with(due(-time.Minute), func(c *v1.CronJob) { c.Spec.Suspend = new(true) }), handler.LowPriority},
		"never observed":     {with(due(0), func(c *v1.CronJob) { c.Status = v1.CronJobStatus{} }), 0},
		"edited since":       {with(due(24*time.Hour), func(c *v1.CronJob) { c.Generation = 4 }), 0},
		"of no further tick": {with(due(0), func(c *v1.CronJob) { c.Status.NextScheduleTime = nil }), handler.LowPriority},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := &enqueueByTick{clock: clocktesting.NewFakePassiveClock(now)}
			q := priorityqueue.New[reconcile.Request]("")
			t.Cleanup(q.ShutDown)
			h.Create(t.Context(), event.TypedCreateEvent[*v1.CronJob]{Object: test.found, IsInInitialList: true}, q)
			request, priority, _ := q.GetWithPriority()
			assert.Equal(t, "n/c", request.String())
			assert.Equal(t, test.want, priority)
		})
	}
}

func TestS14TheJobsThatANewLeaderFindsDelayNoCronJob(t *testing.T) {
	found := event.TypedCreateEvent[*batchv1.Job]{Object: &batchv1.Job{}, IsInInitialList: true}
	assert.False(t, notListed.Create(found))
	found.IsInInitialList = false
	assert.True(t, notListed.Create(found), "a Job that was created since")
}

func TestWhatIsCreatedWhileALeaderLeadsIsEnqueuedAtOnce(t *testing.T) {
	h := &enqueueByTick{clock: clocktesting.NewFakePassiveClock(time.Now())}
	created := event.TypedCreateEvent[*v1.CronJob]{Object: builders.MakeCronJob("c").Namespace("n").Obj()}
	for name, q := range map[string]workqueue.TypedRateLimitingInterface[reconcile.Request]{
		"with priorities":    priorityqueue.New[reconcile.Request](""),
		"without priorities": workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()),
	} {
		t.Cleanup(q.ShutDown)
		h.Create(t.Context(), created, q)
		h.Create(t.Context(), created, q)
		request, shutdown := q.Get()
		require.False(t, shutdown, name)
		assert.Equal(t, "n/c", request.String(), name)
		assert.Zero(t, q.Len(), name)
	}
}
