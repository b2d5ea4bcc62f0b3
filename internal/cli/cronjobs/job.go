// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// maxJobName is the maximum length of a Job's name, which is a label value of its Pods.
const maxJobName = 63

// JobName appends a suffix to the name of a CronJob, which it shortens if necessary.
func JobName(owner, suffix string) string {
	return strings.TrimRight(owner[:min(len(owner), maxJobName-len(suffix))], "-.") + suffix
}

// ContainerNames returns the names of containers.
func ContainerNames(containers []corev1.Container) []string {
	names := make([]string, len(containers))
	for i := range containers {
		names[i] = containers[i].Name
	}
	return names
}

// AllContainerNames returns the names of a Pod's containers, init containers first.
func AllContainerNames(pod corev1.PodSpec) []string {
	return ContainerNames(slices.Concat(pod.InitContainers, pod.Containers))
}

// WhyFailed returns the reason and the message of a Job's condition Failed; "" if it has none.
func WhyFailed(job *batchv1.Job) string {
	for _, condition := range job.Status.Conditions {
		if condition.Type == batchv1.JobFailed && condition.Status == corev1.ConditionTrue {
			return condition.Reason + ": " + condition.Message
		}
	}
	return ""
}

// NewJob returns a Job that the user starts, for a tick or for the time of a manual run.
func NewJob(c *v1.CronJob, tick time.Time, trigger v1.RunTrigger) *batchv1.Job {
	job := plan.NewJob(c, tick)
	job.TypeMeta = metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, v1.TriggerAnnotation, string(trigger))
	metav1.SetMetaDataAnnotation(&job.Spec.Template.ObjectMeta, v1.TriggerAnnotation, string(trigger))
	// Some clusters require the right to update the owner's finalizers to block its deletion. Users
	// who may create Jobs need not have it.
	job.OwnerReferences[0].BlockOwnerDeletion = nil
	return job
}
