// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v3

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// CronJobSpec says when Jobs start, what they look like, and how many are kept.
type CronJobSpec struct {
	// When Jobs start. Not set if no times of day can say it.
	// +optional
	Schedule Schedule `json:"schedule,omitzero"`

	v1.CommonSpec `json:",inline"`
}

// Schedule has times of day, on some days of the week.
//
// +structType=atomic
type Schedule struct {
	// The times of day, such as "09:30", in the time zone of timeZone.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=17
	// +kubebuilder:validation:items:MaxLength=5
	Times []string `json:"times,omitzero"`

	// The days of the week, as in a cron expression: "mon-fri". Every day when not set.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Days *string `json:"days,omitempty"`
}

// CronJob starts Jobs on a schedule.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=cronjobs,scope=Namespaced,shortName=tcj,categories=all
// +kubebuilder:printcolumn:name="Times",type=string,JSONPath=`.spec.schedule.times`
// +kubebuilder:printcolumn:name="Days",type=string,JSONPath=`.spec.schedule.days`
// +kubebuilder:printcolumn:name="Timezone",type=string,JSONPath=`.status.timeZone`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The desired state: the schedule, the template of the Jobs, and the policies.
	// +required
	Spec CronJobSpec `json:"spec,omitzero"`

	// The observed state. Only the manager writes it.
	// +optional
	// +default={"observedGeneration":-1}
	Status v1.CronJobStatus `json:"status,omitzero"`
}

// CronJobList is a list of CronJobs.
//
// +kubebuilder:object:root=true
type CronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CronJob `json:"items"`
}
