// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const (
	// instantiateAnnotation marks Jobs that were started by hand; so does kubectl create job --from.
	instantiateAnnotation = "cronjob.kubernetes.io/instantiate"
	manually              = "manual"

	// maxJobName is how long a Job's name may be, as it labels the Job's Pods.
	maxJobName = 63
)

// newJob makes a Job from the template that is not one of a tick. Its Pods are told the time of its
// creation as their scheduled time, so that programs that read it work. The Job itself is not: by that
// annotation the controller knows the Job of a tick, and this one must change neither lastScheduleTime
// nor what is missed.
func newJob(c *v1.CronJob, now time.Time) *batchv1.Job {
	job := plan.NewJob(c, now)
	job.TypeMeta = metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"}
	job.Name = jobName(c.Name)
	delete(job.Annotations, v1.ScheduledAtAnnotation)
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, instantiateAnnotation, manually)
	// To block the owner's deletion takes the right to update its finalizers, on clusters that enforce
	// it, which who may create Jobs need not have.
	job.OwnerReferences[0].BlockOwnerDeletion = nil
	return job
}

// jobName makes a name that no tick's Job has: those end with a number of ten digits.
func jobName(owner string) string {
	suffix := "-" + manually + "-" + rand.String(5)
	owner = owner[:min(len(owner), maxJobName-len(suffix))]
	return strings.TrimRight(owner, "-.") + suffix
}
