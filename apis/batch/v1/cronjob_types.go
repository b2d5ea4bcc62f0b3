// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CronJobSpec says when Jobs start, what they look like, and how many are kept.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.notBefore) || !has(self.notAfter) || self.notBefore <= self.notAfter`,message=`notAfter must not be before notBefore`
// +kubebuilder:validation:XValidation:rule=`!has(self.maxConcurrency) || !has(self.concurrencyPolicy) || self.concurrencyPolicy == 'Allow' || self.concurrencyPolicy == 'Forbid' && self.maxConcurrency == 1`,message=`maxConcurrency goes with concurrencyPolicy Allow: Forbid runs 1 at a time, and Replace the newest alone`
// +kubebuilder:validation:XValidation:rule=`!has(self.catchUpLimit) || has(self.catchUpPolicy) && self.catchUpPolicy == 'All'`,message=`catchUpLimit goes with catchUpPolicy All: Latest runs 1`
type CronJobSpec struct {
	// The schedule: five cron fields (minute, hour, day of month, month, day of week),
	// a macro (@yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly),
	// or "@every" and a duration, such as "@every 90m". Days may be "L", the last of the month,
	// "L-3", three days before it, "15W", the weekday nearest to the 15th, or "LW", the last weekday;
	// days of the week "5#3", the third Friday of the month, or "5L", its last Friday.
	// Fields are read in the time zone of timeZone. TZ= and CRON_TZ= are refused: use timeZone.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Schedule string `json:"schedule,omitempty"`

	// Further schedules, at most 16, each as in schedule except "@every", which can't be combined
	// with others. A Job starts whenever any of the schedules fires; when several fire at the same
	// time, one Job starts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	AdditionalSchedules []string `json:"additionalSchedules,omitempty"`

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
	Exclude []ExcludedDays `json:"exclude,omitempty"`

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

// ExcludedDays is a date, a range of dates, or a day of each year, as in ISO 8601.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=21
// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(/[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]))?|--(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]))$')`,message=`must be a date of the calendar such as 2026-12-25, a range such as 2026-12-24/2027-01-02, or a day of each year such as --12-25`
type ExcludedDays string

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
	// The Jobs that run now: the oldest 100, if there are more.
	// +optional
	// +listType=atomic
	Active []corev1.ObjectReference `json:"active,omitempty"`

	// How many Jobs run now. Unset until the manager has looked.
	// +optional
	ActiveCount *int32 `json:"activeCount,omitempty"`

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
	RecentRuns []Run `json:"recentRuns,omitempty"`

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

	// The time zone in which the schedules are read: that of the spec, or else UTC.
	// +optional
	TimeZone string `json:"timeZone,omitempty"`

	// The generation of the spec that this status was computed from. -1 before the first one,
	// because tools that wait take an object without this field for ready.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// The newest missed ticks, which the schedule did not run and never will, newest first: at most
	// 5 rows.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Missed []MissedTicks `json:"missed,omitempty"`

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

// MissedTicks is a row of ticks that the schedule never ran, all for one reason.
type MissedTicks struct {
	// Why they did not run: "Deadline", "Superseded", "Forbidden", "CreationFailed", "Edited",
	// "Stopped" or "NameTaken". Later versions may add reasons.
	// +required
	Reason string `json:"reason"`

	// The first of them.
	// +required
	First metav1.Time `json:"first"`

	// The last of them, equal to the first if there is one.
	// +required
	Last metav1.Time `json:"last"`

	// How many there are; 100 if there are 100 or more.
	// +required
	Count int32 `json:"count"`

	// When the manager decided that they never run.
	// +required
	Time metav1.Time `json:"time"`
}

// Run is the result of a tick, of a row of missed ticks, or of a manual run.
type Run struct {
	// The tick; the first one of several missed ticks; for a manual run, when its Job was created.
	// +required
	ScheduledTime metav1.Time `json:"scheduledTime"`

	// The result: "Running", "Succeeded", "Failed", "Deleted" (its Job was deleted while it ran) or
	// "Missed" (the schedule did not start it and never will; a backfill of it has its own entry).
	// +required
	Result RunResult `json:"result"`

	// Why it failed, the reason that the Job gives; why it was missed, as in status.missed; or
	// "Replaced", if its Job was deleted as concurrencyPolicy asks.
	// +optional
	Reason string `json:"reason,omitempty"`

	// How many ticks were missed, including those backfilled since; 100 if there are 100 or more. 0
	// for a run.
	// +optional
	Count int32 `json:"count,omitempty"`

	// What started it: "Schedule", "Manual" or "Backfill".
	// +required
	Trigger RunTrigger `json:"trigger"`

	// The name of its Job, which may have been deleted. Not set if it was missed.
	// +optional
	JobName string `json:"jobName,omitempty"`

	// The UID of its Job: another Job may have had the name. Not set if it was missed.
	// +optional
	JobUID types.UID `json:"jobUID,omitempty"`

	// When its Job was created.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// When its Job ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// RunResult is the result of a run.
type RunResult string

const (
	// RunRunning is the result of a run whose Job has not ended.
	RunRunning RunResult = "Running"

	// RunSucceeded is the result of a run whose Job has the condition Complete.
	RunSucceeded RunResult = "Succeeded"

	// RunFailed is the result of a run whose Job has the condition Failed.
	RunFailed RunResult = "Failed"

	// RunDeleted is the result of a run whose Job was deleted before it ended.
	RunDeleted RunResult = "Deleted"

	// RunMissed is the result of ticks that the schedule never ran.
	RunMissed RunResult = "Missed"
)

// RunTrigger is what started a run.
type RunTrigger string

const (
	// TriggerSchedule is the trigger of a tick.
	TriggerSchedule RunTrigger = "Schedule"

	// TriggerManual is the trigger of a Job that somebody created for the CronJob.
	TriggerManual RunTrigger = "Manual"

	// TriggerBackfill is the trigger of a Job that somebody created for a tick of the past.
	TriggerBackfill RunTrigger = "Backfill"
)

// CronJob starts Jobs on a schedule.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=cronjobs,scope=Namespaced,shortName=tcj,categories=all
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
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
