// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// jobEvents passes only the Job events that can change a plan: an end, a deletion, an owner
// reference that was added or removed. Most events of a Job are about its Pods.
var jobEvents = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool {
		job, ok := e.Object.(*batchv1.Job)
		if !ok {
			return false
		}
		// The reconcile that started a scheduled Job also records it in the status.
		_, scheduled := plan.TickOf(job)
		return !scheduled || plan.ResultOf(job) != ""
	},
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*batchv1.Job)
		after, okAfter := e.ObjectNew.(*batchv1.Job)
		return ok && okAfter && (before.UID != after.UID || plan.ResultOf(before) != plan.ResultOf(after) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			len(before.OwnerReferences) != len(after.OwnerReferences))
	},
}

// deletedJobs passes all Job events. It keeps the Jobs that had ended when they were deleted, such
// as those with ttlSecondsAfterFinished 0: the next reconcile may not see how they ended.
func (r *CronJobReconciler) deletedJobs() predicate.Predicate {
	return predicate.Funcs{DeleteFunc: func(e event.DeleteEvent) bool {
		if job, ok := e.Object.(*batchv1.Job); ok && plan.ResultOf(job) != "" && ownerUID(job) != nil {
			owner := metav1.GetControllerOfNoCopy(job)
			r.memory.keepDeleted(types.NamespacedName{Namespace: job.Namespace, Name: owner.Name}, job)
		}
		return true
	}}
}

// cachedWrites passes all CronJob events. On an update it drops the written copy that memory keeps
// once the cache has it: it is as large as the CronJob, and the next reconcile may come tomorrow.
// On a deletion it reports the missed ticks of the last status, because no reconcile will see it.
func (r *CronJobReconciler) cachedWrites() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			if cached, ok := e.ObjectNew.(*v1.CronJob); ok {
				r.memory.newest(client.ObjectKeyFromObject(cached), cached)
			}
			return true
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			if last, ok := e.Object.(*v1.CronJob); ok {
				r.reportMissed(last)
			}
			return true
		},
	}
}

// isOurGroup reports whether an apiVersion is any version of our group.
func isOurGroup(apiVersion string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && gv.Group == v1.GroupVersion.Group
}
