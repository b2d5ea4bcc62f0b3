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

func isBackfill(job *batchv1.Job) bool {
	trigger, _ := TriggerOf(job)
	return trigger == v1.TriggerBackfill
}

// isBackfilled reports whether a due tick already has its Job from a backfill.
func (p *Plan) isBackfilled(in Input, due time.Time) bool {
	isForDue := func(job jobState) bool {
		return job.trigger == v1.TriggerBackfill && job.age.Equal(due) && job.Name == JobName(in.CronJob, due)
	}
	return slices.ContainsFunc(p.jobs.active, isForDue) || slices.ContainsFunc(p.jobs.ended, isForDue)
}

// mayBeDue reports whether the tick of a backfilled Job may be due now or later. Until it is
// handled, only the Job's name prevents a second run.
func mayBeDue(in Input, job jobState) bool {
	return !IsSuspended(in.CronJob, in.Now) && job.age.After(handledUntil(in, timeOf(in.CronJob.Status.LastScheduleTime)))
}
