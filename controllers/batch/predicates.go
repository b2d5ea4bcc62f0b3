// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// jobEvents lets only those events of Jobs through that a plan can depend on: an end, a deletion,
// an owner that was added or removed. Most events of a Job are about its Pods.
var jobEvents = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool {
		job, ok := e.Object.(*batchv1.Job)
		if !ok {
			return false
		}
		// One that was started by schedule and runs is in the status already.
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

// cachedWrites lets all events of CronJobs through. It drops what was written of one as soon as the
// cache has it: it is as large as the CronJob, and the next reconcile may be tomorrow's. Of one
// that is deleted it reports what its last status says, which no reconcile will see.
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

// isOurGroup reports whether an API version is one of our group, whichever it is.
func isOurGroup(apiVersion string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && gv.Group == v1.GroupVersion.Group
}
