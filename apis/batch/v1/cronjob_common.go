// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CommonSpec has the fields of CronJobSpec that all versions write alike, for them to embed.
// CronJobSpec itself does not: Go's errors for wrong values would name CommonSpec.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.notBefore) || !has(self.notAfter) || self.notBefore <= self.notAfter`,message=`notAfter must not be before notBefore`
// +kubebuilder:validation:XValidation:rule=`!has(self.maxConcurrency) || !has(self.concurrencyPolicy) || self.concurrencyPolicy == 'Allow' || self.concurrencyPolicy == 'Forbid' && self.maxConcurrency == 1`,message=`maxConcurrency goes with concurrencyPolicy Allow: Forbid runs 1 at a time, and Replace the newest alone`
// +kubebuilder:validation:XValidation:rule=`!has(self.catchUpLimit) || has(self.catchUpPolicy) && self.catchUpPolicy == 'All'`,message=`catchUpLimit goes with catchUpPolicy All: Latest runs 1`
type CommonSpec struct {
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
