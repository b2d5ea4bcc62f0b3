// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// CronJobSpec says when Jobs start, what they look like, and how many are kept.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.notBefore) || !has(self.notAfter) || self.notBefore <= self.notAfter`,message=`notAfter must not be before notBefore`
// +kubebuilder:validation:XValidation:rule=`!has(self.maxConcurrency) || !has(self.concurrencyPolicy) || self.concurrencyPolicy == 'Allow' || self.concurrencyPolicy == 'Forbid' && self.maxConcurrency == 1`,message=`maxConcurrency goes with concurrencyPolicy Allow: Forbid runs 1 at a time, and Replace the newest alone`
// +kubebuilder:validation:XValidation:rule=`!has(self.catchUpLimit) || has(self.catchUpPolicy) && self.catchUpPolicy == 'All'`,message=`catchUpLimit goes with catchUpPolicy All: Latest runs 1`
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

	// The time zone of the schedule, as a name of the IANA database such as "Europe/Paris". UTC
	// when not set.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	TimeZone *string `json:"timeZone,omitempty"`

	// By how many seconds each start may be delayed, so that CronJobs with the same schedule don't
	// all start at once. The delay is at least 0, less than this, and always the same for one
	// CronJob. Must be less than the shortest time from a tick to the next. No delay when not set.
	// +optional
	// +kubebuilder:validation:Minimum=0
	JitterSeconds *int32 `json:"jitterSeconds,omitempty"`

	// How late, in seconds, a Job may start after its scheduled time and jitter. A tick that is
	// older is missed: it is reported and never run. No limit when not set.
	// +optional
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// What happens at a tick while a Job of an earlier one still runs:
	// "Allow" (the default) starts the new Job beside it;
	// "Forbid" waits until it has ended, then runs the newest tick that is within its deadline;
	// "Replace" deletes it and starts the new Job.
	// +optional
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// How many Jobs may run at once with concurrencyPolicy "Allow". A tick above the limit waits,
	// as under "Forbid", where the limit is 1. No limit when not set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxConcurrency *int32 `json:"maxConcurrency,omitempty"`

	// What happens to ticks that have not run when a newer one is due, for example after an outage
	// or because they waited for a Job to end:
	// "Latest" (the default) runs the newest, and the others are missed;
	// "All" runs the newest catchUpLimit of them, oldest first.
	// Only ticks within their deadline run, and concurrencyPolicy applies.
	// +optional
	CatchUpPolicy CatchUpPolicy `json:"catchUpPolicy,omitempty"`

	// How many ticks may wait to run with catchUpPolicy "All", at most 100. 10 when not set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	CatchUpLimit *int32 `json:"catchUpLimit,omitempty"`

	// Whether scheduling is suspended. Running Jobs continue. Ticks that pass while suspended never
	// run. False when not set.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// Scheduling is suspended until this time, such as "2027-01-01T09:00:00+01:00", as by suspend,
	// and then continues by itself. Ticks before this time never run.
	// +optional
	SuspendUntil *metav1.Time `json:"suspendUntil,omitempty"`

	// Days on which nothing is scheduled, in the time zone of timeZone: at most 366 entries, each a
	// date such as "2026-12-25", a range of dates including both ends such as
	// "2026-12-24/2027-01-02", or a day of each year such as "--12-25". A tick on such a day does
	// not exist: it neither runs nor is missed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=366
	Exclude []v1.ExcludedDays `json:"exclude,omitempty"`

	// The first instant of scheduling, such as "2027-01-01T09:00:00+01:00". Ticks before it do not
	// exist: they neither run nor are missed.
	// +optional
	NotBefore *metav1.Time `json:"notBefore,omitempty"`

	// The last instant of scheduling, such as "2027-12-31T23:59:59Z". Ticks after it do not exist.
	// When no tick is left, "Ready" has the reason Completed.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`

	// After how many failed runs in a row the CronJob stops. An edit of the spec, a manual run that
	// succeeds, or `kubectl cronjob resume` restarts it. Ticks that pass until then never run. It
	// never stops when not set.
	// +optional
	// +kubebuilder:validation:Minimum=1
	StopAfterFailures *int32 `json:"stopAfterFailures,omitempty"`

	// The template of the Jobs. `kubectl explain job.spec` describes its spec.
	// +required
	JobTemplate batchv1.JobTemplateSpec `json:"jobTemplate,omitzero"`

	// How many successful Jobs are kept; the newest stay. 3 when not set, 0 keeps none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`

	// How many failed Jobs are kept; the newest stay. 1 when not set, 0 keeps none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
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

// ConcurrencyPolicy says what happens at a tick while an earlier tick's Job still runs.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	// AllowConcurrent starts each tick's Job, whatever else runs. It is the default.
	AllowConcurrent ConcurrencyPolicy = "Allow"

	// ForbidConcurrent holds a tick back while a Job runs.
	ForbidConcurrent ConcurrencyPolicy = "Forbid"

	// ReplaceConcurrent deletes the Job that runs and starts the tick's own.
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// CatchUpPolicy says what happens to ticks that have not run when a newer one is due.
// +kubebuilder:validation:Enum=Latest;All
type CatchUpPolicy string

const (
	// CatchUpLatest runs the newest tick that is due. It is the default.
	CatchUpLatest CatchUpPolicy = "Latest"

	// CatchUpAll runs the newest ticks that are due, as many as catchUpLimit says.
	CatchUpAll CatchUpPolicy = "All"
)

// CronJobStatus says what was observed and done.
type CronJobStatus struct {
	// The schedule as cron text, as in v1, cut after 1024 characters. Read-only: it follows
	// spec.schedule, and a value that is written here is dropped.
	// +optional
	Schedule string `json:"schedule,omitempty"`

	// The Jobs that run now: the oldest 100, if there are more.
	// +optional
	// +listType=atomic
	Active []corev1.ObjectReference `json:"active,omitempty"`

	// How many Jobs run now.
	// +optional
	ActiveCount int32 `json:"activeCount,omitempty"`

	// The newest tick for which a Job was started. It never goes back.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// When the last successful Job ended.
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// When the last failed Job ended.
	// +optional
	LastFailureTime *metav1.Time `json:"lastFailureTime,omitempty"`

	// How many runs have failed in a row, up to the last one that has ended.
	// +optional
	ConsecutiveFailures int32 `json:"consecutiveFailures,omitempty"`

	// How many of them count for stopAfterFailures: those since the spec was last edited or the
	// CronJob resumed. 0 when stopAfterFailures is not set.
	// +optional
	FailuresTowardsStop int32 `json:"failuresTowardsStop,omitempty"`

	// The results of the newest ticks and manual runs, newest first, at most 10. They stay when the
	// Jobs are deleted. A tick that was backfilled may have an entry for each of its Jobs.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	RecentRuns []v1.Run `json:"recentRuns,omitempty"`

	// The first tick that has neither run nor been missed. It lies in the past while that tick
	// waits for a Job, as concurrencyPolicy asks, or its Job can't be created. Not set while the
	// CronJob is suspended or stopped, no tick is left or the schedule is invalid.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// When the Job of nextScheduleTime starts, as jitterSeconds delays it. Not set without
	// jitterSeconds.
	// +optional
	NextStartTime *metav1.Time `json:"nextStartTime,omitempty"`

	// What nextScheduleTime was computed from: the schedule, the time zone, notBefore, notAfter and
	// a hash of exclude. If the spec differs, its schedule was edited, and no tick from before the
	// edit runs.
	// +optional
	ObservedSchedule string `json:"observedSchedule,omitempty"`

	// The generation of the spec that this status was computed from. -1 before the first one,
	// because tools that wait take an object without this field for ready.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// The newest missed ticks, which the schedule did not run and never will, newest first: at most
	// 5 rows.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Missed []v1.MissedTicks `json:"missed,omitempty"`

	// The state in conditions. "Ready" is true while the CronJob is scheduled (reason Scheduled),
	// while a tick waits for a Job as concurrencyPolicy asks (Waiting), while it is suspended as asked
	// (Suspended) and when no tick is left (Completed), and false when it can't be scheduled
	// (InvalidSchedule, InvalidTimeZone, InvalidObject), when its Jobs can't be created
	// (JobCreationFailed) or when it has stopped as stopAfterFailures asks (StoppedAfterFailures).
	// "LastRunSucceeded" says how the last run ended: true, or false with the reason and the
	// message of the Job; unknown until the first run has ended.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// CronJob starts Jobs on a schedule.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=cronjobs,scope=Namespaced,shortName=tcj,categories=all
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.status.schedule`
// +kubebuilder:printcolumn:name="Timezone",type=string,JSONPath=`.spec.timeZone`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.active[*].name`
// +kubebuilder:printcolumn:name="Last Schedule",type=date,JSONPath=`.status.lastScheduleTime`
// +kubebuilder:printcolumn:name="Last Run",type=string,JSONPath=`.status.recentRuns[0].result`
// +kubebuilder:printcolumn:name="Next Schedule",type=string,JSONPath=`.status.nextScheduleTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
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
