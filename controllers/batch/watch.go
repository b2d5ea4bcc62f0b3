// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// changes are the events for which saw reports that they can change a plan. saw gets each event
// once, so it also keeps what the event tells. An object is nil before its creation and after its
// deletion.
func changes[T client.Object](saw func(before, after T) bool) predicate.TypedFuncs[T] {
	return predicate.TypedFuncs[T]{
		CreateFunc: func(e event.TypedCreateEvent[T]) bool { return saw(*new(T), e.Object) },
		UpdateFunc: func(e event.TypedUpdateEvent[T]) bool { return saw(e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(e event.TypedDeleteEvent[T]) bool { return saw(e.Object, *new(T)) },
	}
}

// notListed leaves out the Jobs of a new leader's first list. The leader reconciles all CronJobs
// anyway, once it has both lists. To enqueue the owner of each Job as well would delay those that
// are due.
var notListed = predicate.TypedFuncs[*batchv1.Job]{
	CreateFunc: func(e event.TypedCreateEvent[*batchv1.Job]) bool { return !e.IsInInitialList },
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
