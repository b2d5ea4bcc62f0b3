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
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// jobEvents passes only the Job events that can change a plan: an end, a deletion, an owner
// reference that was added or removed. Most events of a Job are about its Pods.
var jobEvents = predicate.TypedFuncs[*batchv1.Job]{
	CreateFunc: func(e event.TypedCreateEvent[*batchv1.Job]) bool {
		// The reconcile that started a scheduled Job also records it in the status.
		_, scheduled := plan.TickOf(e.Object)
		return !scheduled || plan.ResultOf(e.Object) != ""
	},
	UpdateFunc: func(e event.TypedUpdateEvent[*batchv1.Job]) bool {
		before, after := e.ObjectOld, e.ObjectNew
		return before.UID != after.UID || plan.ResultOf(before) != plan.ResultOf(after) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			len(before.OwnerReferences) != len(after.OwnerReferences)
	},
}

// specEvents passes the CronJob events that can change a plan: an edit of the spec, a change of
// whether it can be decoded, and a resume. It also passes an update to another UID: a list after a
// broken watch shows a CronJob that was deleted and created again as an update.
var specEvents = predicate.TypedFuncs[*v1.CronJob]{UpdateFunc: func(e event.TypedUpdateEvent[*v1.CronJob]) bool {
	before, after := e.ObjectOld, e.ObjectNew
	return before.Generation != after.Generation || before.UID != after.UID ||
		informer.DecodingError(before) != informer.DecodingError(after) ||
		before.Annotations[v1.ResumedAtAnnotation] != after.Annotations[v1.ResumedAtAnnotation]
}}

// deletedJobs passes all Job events. It keeps the Jobs that had ended when they were deleted, such
// as those with ttlSecondsAfterFinished 0: the next reconcile may not see how they ended.
func (r *CronJobReconciler) deletedJobs() predicate.TypedPredicate[*batchv1.Job] {
	return predicate.TypedFuncs[*batchv1.Job]{DeleteFunc: func(e event.TypedDeleteEvent[*batchv1.Job]) bool {
		if plan.ResultOf(e.Object) != "" && ownerUID(e.Object) != nil {
			owner := metav1.GetControllerOfNoCopy(e.Object)
			r.memory.keepDeleted(types.NamespacedName{Namespace: e.Object.Namespace, Name: owner.Name}, e.Object)
		}
		return true
	}}
}

// cachedWrites passes all CronJob events. On an update it drops the written copy that memory keeps
// once the cache has it: it is as large as the CronJob, and the next reconcile may come tomorrow.
// On a deletion it reports the missed ticks of the last status, because no reconcile will see it.
func (r *CronJobReconciler) cachedWrites() predicate.TypedPredicate[*v1.CronJob] {
	return predicate.TypedFuncs[*v1.CronJob]{
		UpdateFunc: func(e event.TypedUpdateEvent[*v1.CronJob]) bool {
			r.memory.newest(client.ObjectKeyFromObject(e.ObjectNew), e.ObjectNew)
			return true
		},
		DeleteFunc: func(e event.TypedDeleteEvent[*v1.CronJob]) bool {
			r.reportMissed(e.Object)
			return true
		},
	}
}

// isOurGroup reports whether an apiVersion is any version of our group.
func isOurGroup(apiVersion string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && gv.Group == v1.GroupVersion.Group
}
