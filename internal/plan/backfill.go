// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Somebody creates a backfilled Job for a tick of the past. The schedule treats it like a manual
// run: it moves no time in the status, and counts towards no history limit of the schedule. But it
// has the name of its tick (S4), so that tick must not run again.

// isBackfilled reports whether a due tick has its Job from a backfill, or had it: the Job may have been
// deleted since, or replaced by that of an older tick.
func (p *Plan) isBackfilled(in Input, due time.Time) bool {
	name := JobName(in.CronJob, due)
	isForDue := func(job jobState) bool {
		return job.trigger == v1.TriggerBackfill && job.age.Equal(due) && job.Name == name
	}
	return slices.ContainsFunc(p.jobs.all, isForDue) ||
		slices.ContainsFunc(in.Gone, func(job *batchv1.Job) bool { return isForDue(stateOf(in, job)) }) ||
		slices.ContainsFunc(in.CronJob.Status.RecentRuns, func(run v1.Run) bool {
			return run.Trigger == v1.TriggerBackfill && run.ScheduledTime.Time.Equal(due) && run.JobName == name
		})
}

// isOnlyTrace reports whether the stored status does not say that the tick of a Job has run: if the
// Job were gone, the tick might run again. A backfilled tick can't once a newer one has started.
func (p *Plan) isOnlyTrace(in Input, job jobState, starting time.Time) bool {
	return !job.accounted || job.trigger == v1.TriggerBackfill && job.age.After(starting) && mayBeDue(in, p.stops, job) &&
		recordedRun(in.CronJob.Status, job.Job).Result == ""
}

// canRecord reports whether the status has room for the run of a Job.
func canRecord(in Input, job jobState) bool {
	runs := newRunList(in.CronJob.Status.RecentRuns)
	runs.put(job.Job)
	return job.trigger == v1.TriggerSchedule || indexOf(runs.newest(), job.Job) >= 0
}

// mayBeDue reports whether the tick of a backfilled Job may be due now or later. Until it is
// handled, only the Job's name prevents a second run.
func mayBeDue(in Input, stops []interval, job jobState) bool {
	return !IsSuspended(in.CronJob, in.Now) && job.age.After(handledUntil(in, stops, timeOf(in.CronJob.Status.LastScheduleTime)))
}
