// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/informer"
)

// Cached returns the cache options for what the reconciler reads. They drop what it never reads,
// which is most of an object.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&v1.CronJob{}:  {Transform: trimCronJob},
		&batchv1.Job{}: {Transform: trimJob},
	}
}

// trimCronJob drops the managed fields, labels and most annotations of a CronJob, in which kubectl
// keeps another copy of it.
func trimCronJob(object any) (any, error) {
	if c, ok := object.(*v1.CronJob); ok {
		c.Labels, c.ManagedFields = nil, nil
		c.Annotations = informer.TrimAnnotations(c.Annotations, v1.ResumedAtAnnotation, v1.EditedAnnotation)
	}
	return object, nil // unchanged: a tombstone, or another type
}

// trimJob is [trimmed] as a transform of the cache.
func trimJob(object any) (any, error) {
	if job, ok := object.(*batchv1.Job); ok {
		return trimmed(job), nil
	}
	return object, nil
}

// trimmed keeps a Job's owner reference, tick, trigger and result. A Job of another owner keeps
// only its identity: nothing of it is read, but no selector could leave it out of the watch.
func trimmed(job *batchv1.Job) *batchv1.Job {
	rest := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
		CreationTimestamp: job.CreationTimestamp, DeletionTimestamp: job.DeletionTimestamp,
	}}
	if len(ownerUID(job)) == 0 {
		return rest
	}
	rest.OwnerReferences = job.OwnerReferences
	rest.Annotations = informer.TrimAnnotations(job.Annotations, v1.ScheduledAtAnnotation, v1.TriggerAnnotation)
	rest.Status.CompletionTime = job.Status.CompletionTime
	for _, condition := range job.Status.Conditions {
		if condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed {
			rest.Status.Conditions = append(rest.Status.Conditions, condition)
		}
	}
	return rest
}
