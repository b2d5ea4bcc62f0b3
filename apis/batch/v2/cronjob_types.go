// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// CronJobSpec says when Jobs start, what they look like, and how many are kept.
type CronJobSpec struct {
	// The schedule: one field for each part of a cron expression, or an interval in "every".
	// Fields are read in the time zone of timeZone.
	// +required
	Schedule CronSchedule `json:"schedule,omitzero"`

	// Further schedules, at most 16, each as in schedule except "every", which can't be combined
	// with others. A Job starts whenever any of the schedules fires; when several fire at the same
	// time, one Job starts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	AdditionalSchedules []CronSchedule `json:"additionalSchedules,omitempty"`

	v1.CommonSpec `json:",inline"`
}

// CronSchedule is a schedule with a field for each part of a cron expression. A part that is not
// set is "*": {minute: "0"} fires every hour, {hour: "9"} every minute of the ninth hour.
//
// +structType=atomic
// +kubebuilder:validation:XValidation:rule=`has(self.minute) || has(self.hour) || has(self.dayOfMonth) || has(self.month) || has(self.dayOfWeek) || has(self.every)`,message=`at least one of minute, hour, dayOfMonth, month, dayOfWeek or every must be set`
type CronSchedule struct {
	// The minutes: 0-59.
	// +optional
	Minute *CronField `json:"minute,omitempty"`

	// The hours: 0-23.
	// +optional
	Hour *CronField `json:"hour,omitempty"`

	// The days of the month: 1-31; "L" is the last, "L-3" three days before it, "15W" the weekday
	// nearest to the 15th, "LW" the last weekday. If both dayOfMonth and dayOfWeek are set, neither
	// of them to "*" or "?", a day that matches either of them matches.
	// +optional
	DayOfMonth *CronField `json:"dayOfMonth,omitempty"`

	// The months: 1-12 or jan-dec.
	// +optional
	Month *CronField `json:"month,omitempty"`

	// The days of the week: 0-6 or sun-sat; 0 is Sunday. "5#3" is the third Friday of the month,
	// "5L" its last Friday.
	// +optional
	DayOfWeek *CronField `json:"dayOfWeek,omitempty"`

	// An interval between runs, instead of the other fields, as a Go duration: "90m", "1h30m".
	// Whole seconds, at least one. It counts from the last run; before the first run, from the
	// creation of the CronJob.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Every string `json:"every,omitempty"`
}

// CronField is one part of a cron expression: a value, a range, "*", any of these with a step, or a
// comma-separated list of them. The validating webhook checks it.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
type CronField string

// CronJobStatus says what was observed and done.
type CronJobStatus struct {
	// The schedule as cron text, as in v1, cut after 1024 characters. Read-only: it follows
	// spec.schedule, and a value that is written here is dropped.
	// +optional
	Schedule string `json:"schedule,omitempty"`

	v1.CronJobStatus `json:",inline"`
}

// CronJob starts Jobs on a schedule.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=cronjobs,scope=Namespaced,shortName=tcj,categories=all
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.status.schedule`
// +kubebuilder:printcolumn:name="Timezone",type=string,JSONPath=`.status.timeZone`
// +kubebuilder:printcolumn:name="Next Schedule",type=string,JSONPath=`.status.nextScheduleTime`
// +kubebuilder:printcolumn:name="Active",type=integer,JSONPath=`.status.activeCount`
// +kubebuilder:printcolumn:name="Last Schedule",type=date,JSONPath=`.status.lastScheduleTime`
// +kubebuilder:printcolumn:name="Last Run",type=string,JSONPath=`.status.recentRuns[0].result`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,priority=1,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Suspend Until",type=string,priority=1,JSONPath=`.spec.suspendUntil`
// +kubebuilder:printcolumn:name="Containers",type=string,priority=1,JSONPath=`.spec.jobTemplate.spec.template.spec.containers[*].name`
// +kubebuilder:printcolumn:name="Images",type=string,priority=1,JSONPath=`.spec.jobTemplate.spec.template.spec.containers[*].image`
// +kubebuilder:printcolumn:name="Last Success",type=date,priority=1,JSONPath=`.status.lastSuccessfulTime`
// +kubebuilder:printcolumn:name="Last Failure",type=date,priority=1,JSONPath=`.status.lastFailureTime`
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The desired state: the schedule, the template of the Jobs, and the policies.
	// +required
	Spec CronJobSpec `json:"spec,omitzero"`

	// The observed state. Only the manager writes it.
	// +optional
	// +default={"observedGeneration":-1}
	Status CronJobStatus `json:"status,omitzero"`
}

// CronJobList is a list of CronJobs.
//
// +kubebuilder:object:root=true
type CronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CronJob `json:"items"`
}
