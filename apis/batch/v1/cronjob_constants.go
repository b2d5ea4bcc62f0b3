// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

const (
	// ConditionReady is the type of the condition that says whether the CronJob does what its spec
	// asks.
	ConditionReady = "Ready"

	// ConditionLastRunSucceeded is the type of the condition that says how the last run ended. Its
	// reasons are those of Job conditions.
	ConditionLastRunSucceeded = "LastRunSucceeded"

	// ReasonFirstRun is the reason of an unknown LastRunSucceeded condition: no run has ended yet.
	ReasonFirstRun = "FirstRun"

	// ReasonScheduled is the reason of a true Ready condition: Jobs start on schedule.
	ReasonScheduled = "Scheduled"

	// ReasonWaiting is the reason of a true Ready condition: a due tick waits for a Job, as
	// concurrencyPolicy asks.
	ReasonWaiting = "Waiting"

	// ReasonSuspended is the reason of a true Ready condition: the CronJob is suspended. Ready is
	// true so that tools that wait for it don't wait for a resume.
	ReasonSuspended = "Suspended"

	// ReasonCompleted is the reason of a true Ready condition: no tick is left, because notAfter
	// has passed or exclude has all remaining days.
	ReasonCompleted = "Completed"

	// ReasonStoppedAfterFailures is the reason of a false Ready condition: as many runs failed in a
	// row as stopAfterFailures allows, and nothing is started.
	ReasonStoppedAfterFailures = "StoppedAfterFailures"

	// ReasonInvalidSchedule is the reason of a false Ready condition: the schedule can't be parsed,
	// or never fires, possibly because of exclude, notBefore and notAfter.
	ReasonInvalidSchedule = "InvalidSchedule"

	// ReasonInvalidTimeZone is the reason of a false Ready condition: the time zone does not exist.
	ReasonInvalidTimeZone = "InvalidTimeZone"

	// ReasonInvalidObject is the reason of a false Ready condition: a stored field has a wrong
	// type.
	ReasonInvalidObject = "InvalidObject"

	// ReasonJobCreationFailed is the reason of a false Ready condition: the API server refuses the
	// tick's Job.
	ReasonJobCreationFailed = "JobCreationFailed"
)

// ScheduledAtAnnotation on a Job and its Pods is their tick, as RFC 3339 in UTC.
const ScheduledAtAnnotation = "batch.tutorial.kubebuilder.io/scheduled-at"

// TriggerAnnotation on a Job and its Pods is their RunTrigger, TriggerManual or TriggerBackfill.
// Jobs that the schedule starts don't have it.
const TriggerAnnotation = "batch.tutorial.kubebuilder.io/trigger"

// ResumedAtAnnotation on a CronJob is when somebody resumed it after failures, as RFC 3339.
// Failures up to then don't count for stopAfterFailures. Setting it is not an edit of the spec, and
// it may stay.
const ResumedAtAnnotation = "batch.tutorial.kubebuilder.io/resumed-at"

// EditedAnnotation on a CronJob says when its spec was last edited. Only the mutating webhook writes
// it: internal/plan has its format. It is not part of a manifest.
const EditedAnnotation = "batch.tutorial.kubebuilder.io/edited"

// MaxNameLength limits the name of a CronJob, in characters. Its Jobs append a hyphen and ten
// digits, and a Job's name may have 63 characters because it labels the Pods.
const MaxNameLength = 52

// MaxAdditionalSchedules is how many additional schedules a CronJob may have.
const MaxAdditionalSchedules = 16
