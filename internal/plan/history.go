// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// prune picks the ended Jobs that the history limits leave no room for, oldest first. Limits apply
// whatever else becomes of the CronJob: while it is suspended, and while its Jobs can't be created.
func (p *Plan) prune(in Input, jobs sortedJobs) {
	if in.Outdated || in.Uncertain {
		return // some of the newer ones may be gone; the watch tells when the cache is up to date
	}
	spec := in.CronJob.Spec
	untold := uidsOf(p.newlyEnded)
	p.pruneTo(triggeredBy(v1.TriggerSchedule, jobs.succeeded), int(*spec.SuccessfulJobsHistoryLimit), untold)
	p.pruneTo(triggeredBy(v1.TriggerSchedule, jobs.failed), int(*spec.FailedJobsHistoryLimit), untold)
	p.pruneTo(newestLast(triggeredBy(v1.TriggerManual, jobs.ended)), unscheduledHistoryLimit, untold)
	p.pruneTo(newestLast(backfilled(in, jobs.succeeded)), unscheduledHistoryLimit, untold)
	p.pruneTo(newestLast(backfilled(in, jobs.failed)), failedBackfillLimit, untold)
}

const (
	// unscheduledHistoryLimit is how many ended Jobs are kept of manual runs, and how many that
	// succeeded of backfills.
	unscheduledHistoryLimit = 3

	// failedBackfillLimit is how many failed Jobs are kept of backfills. Each backfilled Job says which
	// had failed before it was created. So this is how many may fail after the last was created.
	failedBackfillLimit = 10
)

// backfilled returns those of some Jobs that are of a backfill, and whose tick is not due any more.
func backfilled(in Input, jobs []jobState) []jobState {
	return slices.DeleteFunc(triggeredBy(v1.TriggerBackfill, jobs), func(job jobState) bool { return mayBeDue(in, job) })
}

// triggeredBy returns those of some Jobs that have a trigger.
func triggeredBy(trigger v1.RunTrigger, jobs []jobState) []jobState {
	var found []jobState
	for _, job := range jobs {
		if job.trigger == trigger {
			found = append(found, job)
		}
	}
	return found
}

// newestLast sorts Jobs by their creation: a backfill may go back to ticks before those of another.
func newestLast(jobs []jobState) []jobState {
	slices.SortFunc(jobs, func(a, b jobState) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), compareAge(a, b))
	})
	return jobs
}

// pruneTo picks all but the newest of some Jobs, given oldest first. A Job of which the status does
// not tell yet that it was started, or how it ended, may go once the status does: until then its
// name keeps its tick from running twice, and nothing else says what became of it.
func (p *Plan) pruneTo(jobs []jobState, limit int, untold sets.Set[types.UID]) {
	for _, job := range jobs[:max(0, len(jobs)-max(0, limit))] {
		switch {
		case job.DeletionTimestamp != nil:
		case !job.accounted || untold.Has(job.UID):
			p.Again = true
		default:
			p.Prune = append(p.Prune, job.Job)
		}
	}
}
