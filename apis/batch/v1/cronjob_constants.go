// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

const (
	// ConditionReady is the type of the condition that says whether the CronJob does what its spec
	// asks.
	ConditionReady = "Ready"

	// ConditionLastRunSucceeded is the type of the condition that says how the run ended that ended
	// last. Its reasons are those of the conditions of Jobs.
	ConditionLastRunSucceeded = "LastRunSucceeded"

	// ReasonFirstRun is the reason of an unknown LastRunSucceeded condition: no run has ended yet.
	ReasonFirstRun = "FirstRun"

	// ReasonScheduled is the reason of a true Ready condition: the schedule is followed.
	ReasonScheduled = "Scheduled"

	// ReasonWaiting is the reason of a true Ready condition: the schedule is followed, and a tick
	// that is due waits for a Job, as concurrencyPolicy asks.
	ReasonWaiting = "Waiting"

	// ReasonSuspended is the reason of a true Ready condition: nothing is started, as the spec
	// asks. It is true rather than false so that tools that wait for Ready do not wait for a
	// resume.
	ReasonSuspended = "Suspended"

	// ReasonCompleted is the reason of a true Ready condition: no tick is left, as notAfter is over or
	// exclude has all days to come.
	ReasonCompleted = "Completed"

	// ReasonStoppedAfterFailures is the reason of a false Ready condition: as many runs failed in a
	// row as stopAfterFailures allows, and nothing is started.
	ReasonStoppedAfterFailures = "StoppedAfterFailures"

	// ReasonInvalidSchedule is the reason of a false Ready condition: the schedule can't be parsed
	// or never fires, also for what exclude, notBefore and notAfter leave of it.
	ReasonInvalidSchedule = "InvalidSchedule"

	// ReasonInvalidTimeZone is the reason of a false Ready condition: there is no time zone of that
	// name.
	ReasonInvalidTimeZone = "InvalidTimeZone"

	// ReasonInvalidObject is the reason of a false Ready condition: a stored field has a type that
	// it can't have.
	ReasonInvalidObject = "InvalidObject"

	// ReasonJobCreationFailed is the reason of a false Ready condition: the API server refuses the
	// tick's Job.
	ReasonJobCreationFailed = "JobCreationFailed"
)

// ScheduledAtAnnotation is set on each Job and on its Pods: the tick they were started for, RFC
// 3339 in UTC.
const ScheduledAtAnnotation = "batch.tutorial.kubebuilder.io/scheduled-at"

// TriggerAnnotation is set on a Job, and on its Pods, that was not started by schedule: the
// RunTrigger, TriggerManual or TriggerBackfill.
const TriggerAnnotation = "batch.tutorial.kubebuilder.io/trigger"

// ResumedAtAnnotation on a CronJob says when somebody resumed it after failures, RFC 3339: those up
// to then don't count for stopAfterFailures. It may be set, and stay, without any edit of the spec.
const ResumedAtAnnotation = "batch.tutorial.kubebuilder.io/resumed-at"

// MaxNameLength is the longest name, in characters, that a CronJob may have: its Jobs append
// a hyphen and ten digits to it, and a Job's name, which labels its Pods, ends at 63.
const MaxNameLength = 52

// MaxAdditionalSchedules is how many schedules a CronJob may have beside the first.
const MaxAdditionalSchedules = 16
