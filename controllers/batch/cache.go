// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/informer"
)

// Cached says how a manager is to cache what the reconciler reads: without what it never reads,
// which is most of an object.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&v1.CronJob{}:  {Transform: trimCronJob},
		&batchv1.Job{}: {Transform: trimJob},
	}
}

// trimCronJob drops most annotations of a CronJob, in which kubectl keeps another copy of it, and
// what its managed fields say beside who wrote when, and whether that was of the spec.
func trimCronJob(object any) (any, error) {
	if c, ok := object.(*v1.CronJob); ok {
		c.Annotations = informer.TrimAnnotations(c.Annotations, v1.ResumedAtAnnotation)
		for i := range c.ManagedFields {
			if entry := &c.ManagedFields[i]; setsSpec(*entry) {
				entry.FieldsV1 = specFields
			} else {
				entry.FieldsV1 = nil
			}
		}
	}
	return object, nil // else a tombstone, or nothing of ours
}

// specFields is what is left of the managed fields of somebody who has set some of the spec. Nobody
// changes it.
var specFields = metav1.NewFieldsV1(`{"f:spec":{}}`)

// setsSpec reports whether somebody has set some of the spec.
func setsSpec(entry metav1.ManagedFieldsEntry) bool {
	return entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:spec"`)
}

// trimJob leaves of a Job what [trimmed] leaves.
func trimJob(object any) (any, error) {
	if job, ok := object.(*batchv1.Job); ok {
		return trimmed(job), nil
	}
	return object, nil
}

// trimmed leaves of a Job whose it is, its tick, its trigger, and how it ended. Of the Jobs of
// others not even that is read, but they can't be told by a selector.
func trimmed(job *batchv1.Job) *batchv1.Job {
	rest := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
		CreationTimestamp: job.CreationTimestamp, DeletionTimestamp: job.DeletionTimestamp,
	}}
	if len(ownerUID(job)) == 0 {
		return rest
	}
	rest.OwnerReferences = job.OwnerReferences
	for _, annotation := range []string{v1.ScheduledAtAnnotation, v1.TriggerAnnotation} {
		if value, ok := job.Annotations[annotation]; ok {
			metav1.SetMetaDataAnnotation(&rest.ObjectMeta, annotation, value)
		}
	}
	rest.Status.CompletionTime = job.Status.CompletionTime
	rest.Status.Conditions = slices.DeleteFunc(job.Status.Conditions, func(condition batchv1.JobCondition) bool {
		return condition.Type != batchv1.JobComplete && condition.Type != batchv1.JobFailed
	})
	return rest
}
