// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// watching enqueues an event if saw reports that it can change a plan. saw also keeps what the
// event tells, which a predicate should not do. An object is nil before its creation and after its
// deletion.
type watching[T client.Object] struct {
	handler.TypedEventHandler[T, reconcile.Request]

	saw func(before, after T) bool
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Create enqueues the event of an object that is new to the cache.
func (w watching[T]) Create(ctx context.Context, e event.TypedCreateEvent[T], q queue) {
	if w.saw(*new(T), e.Object) {
		w.TypedEventHandler.Create(ctx, e, q)
	}
}

// Update enqueues the event of a change.
func (w watching[T]) Update(ctx context.Context, e event.TypedUpdateEvent[T], q queue) {
	if w.saw(e.ObjectOld, e.ObjectNew) {
		w.TypedEventHandler.Update(ctx, e, q)
	}
}

// Delete enqueues the event of a deletion.
func (w watching[T]) Delete(ctx context.Context, e event.TypedDeleteEvent[T], q queue) {
	if w.saw(e.Object, *new(T)) {
		w.TypedEventHandler.Delete(ctx, e, q)
	}
}

// sawCronJob reports whether a change of a CronJob can change a plan: an edit of the spec, a change
// of whether it can be decoded, a resume, or another UID, as a list after a broken watch shows a
// CronJob that was deleted and created again. It drops the written copy in memory once the cache
// has it: it is as large as the CronJob, and the next reconcile may come tomorrow. On a deletion it
// reports the missed ticks of the last status, because no reconcile will see it.
func (r *CronJobReconciler) sawCronJob(before, after *v1.CronJob) bool {
	switch {
	case after == nil:
		r.reportMissed(before)
		return true
	case before == nil:
		return true
	}
	r.memory.newest(client.ObjectKeyFromObject(after), after)
	return before.Generation != after.Generation || before.UID != after.UID ||
		informer.DecodingError(before) != informer.DecodingError(after) ||
		before.Annotations[v1.ResumedAtAnnotation] != after.Annotations[v1.ResumedAtAnnotation]
}

// sawJob reports whether a change of a Job can change a plan: an end, a deletion, an owner
// reference that was added or removed. Most changes are about its Pods. It keeps a Job that had
// ended when it was deleted, such as one with ttlSecondsAfterFinished 0: the next reconcile may not
// see how it ended.
func (r *CronJobReconciler) sawJob(before, after *batchv1.Job) bool {
	switch {
	case after == nil:
		if plan.ResultOf(before) != "" && ownerUID(before) != nil {
			owner := metav1.GetControllerOfNoCopy(before)
			r.memory.keepDeleted(types.NamespacedName{Namespace: before.Namespace, Name: owner.Name}, before)
		}
		return true
	case before == nil: // the reconcile that started a scheduled Job also records it in the status
		_, isScheduled := plan.TickOf(after)
		return !isScheduled || plan.ResultOf(after) != ""
	}
	return before.UID != after.UID || plan.ResultOf(before) != plan.ResultOf(after) ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		len(before.OwnerReferences) != len(after.OwnerReferences)
}
