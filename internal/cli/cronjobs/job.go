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

// maxJobName is how long a Job's name may be, as it labels the Job's Pods.
const maxJobName = 63

// JobName puts a suffix behind the name of a CronJob, of which it keeps what there is room for.
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

// AllContainerNames returns the names of the containers of a Pod, the init containers first.
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
