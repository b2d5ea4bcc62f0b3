// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// A backfilled Job is one that somebody created for a tick of the past. To the schedule it is like
// a manual run: it moves no time and counts against no history limit of the schedule. But its name
// is its tick's (S4), so that the tick must not run once more.

// isBackfill reports whether somebody created a Job for a tick.
func isBackfill(job *batchv1.Job) bool {
	trigger, _ := TriggerOf(job)
	return trigger == v1.TriggerBackfill
}

// isBackfilled reports whether a tick that is due has its Job already, by a backfill.
func (p *Plan) isBackfilled(in Input, due time.Time) bool {
	isDues := func(job jobState) bool {
		return job.trigger == v1.TriggerBackfill && job.age.Equal(due) && job.Name == JobName(in.CronJob, due)
	}
	return slices.ContainsFunc(p.jobs.active, isDues) || slices.ContainsFunc(p.jobs.ended, isDues)
}

// mayBeDue reports whether the schedule may yet come to the tick of a backfilled Job. Until then,
// only the Job's name keeps the tick from running again.
func mayBeDue(in Input, job jobState) bool {
	return !isSuspended(in.CronJob, in.Now) && job.age.After(handledUntil(in, timeOf(in.CronJob.Status.LastScheduleTime)))
}
