// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// maxJobName is how long a Job's name may be, as it labels the Job's Pods.
const maxJobName = 63

// JobName puts a suffix behind the name of a CronJob, of which it keeps what there is room for.
func JobName(owner, suffix string) string {
	return strings.TrimRight(owner[:min(len(owner), maxJobName-len(suffix))], "-.") + suffix
}

// NewJob makes the Job of a tick, or of the time of a manual run, that the user starts.
func NewJob(c *v1.CronJob, tick time.Time, trigger v1.RunTrigger) *batchv1.Job {
	job := plan.NewJob(c, tick)
	job.TypeMeta = metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, v1.TriggerAnnotation, string(trigger))
	metav1.SetMetaDataAnnotation(&job.Spec.Template.ObjectMeta, v1.TriggerAnnotation, string(trigger))
	// To block the owner's deletion takes the right to update its finalizers, on clusters that
	// enforce it, which who may create Jobs need not have.
	job.OwnerReferences[0].BlockOwnerDeletion = nil
	return job
}
