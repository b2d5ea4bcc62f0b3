// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"math"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// enqueueByTick puts CronJobs into the work queue. Those of the initial list get a priority by
// their next tick: controller-runtime would give all of them its lowest priority, also those that
// are due.
type enqueueByTick struct {
	handler.TypedEnqueueRequestForObject[*v1.CronJob]

	clock clock.PassiveClock
}

// enqueueOwner puts the CronJob that controls a Job into the queue.
func enqueueOwner(mgr ctrl.Manager) handler.TypedEventHandler[*batchv1.Job, reconcile.Request] {
	return handler.TypedEnqueueRequestForOwner[*batchv1.Job](
		mgr.GetScheme(), mgr.GetRESTMapper(), &v1.CronJob{}, handler.OnlyControllerOwner())
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Create enqueues a CronJob that was created, or that is in the initial list of a new leader.
func (h *enqueueByTick) Create(ctx context.Context, e event.TypedCreateEvent[*v1.CronJob], q queue) {
	byPriority, takesPriorities := q.(priorityqueue.PriorityQueue[reconcile.Request])
	if !takesPriorities || !e.IsInInitialList {
		h.TypedEnqueueRequestForObject.Create(ctx, e, q)
		return
	}
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)}
	byPriority.AddWithOpts(priorityqueue.AddOpts{Priority: new(h.foundPriority(e.Object))}, request)
}

// foundPriority returns the priority of a CronJob in the initial list of a new leader: the seconds
// for which its next tick has been due, or less than 0 if the tick is still to come. A CronJob
// whose generation the status has not observed may be due now.
func (h *enqueueByTick) foundPriority(c *v1.CronJob) int {
	next := plan.NextStart(c)
	switch {
	case c.Spec.Suspend != nil && *c.Spec.Suspend:
		return handler.LowPriority
	case c.Status.ObservedGeneration != c.Generation:
		return tickPriority
	case next == nil && c.Spec.SuspendUntil != nil:
		next = c.Spec.SuspendUntil
	case next == nil:
		return handler.LowPriority
	}
	return max(int(math.Floor(h.clock.Since(next.Time).Seconds())), handler.LowPriority)
}
