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

// prune picks the ended Jobs beyond the history limits, oldest first. The limits also apply while
// the CronJob is suspended or its Jobs can't be created.
func (p *Plan) prune(in Input) {
	if in.Outdated || in.Uncertain {
		return // some of the newer Jobs may be gone; the cache update triggers another reconcile
	}
	spec := in.CronJob.Spec
	endUnrecorded := uidsOf(p.newlyEnded)
	p.pruneTo(triggeredBy(v1.TriggerSchedule, p.jobs.succeeded), int(*spec.SuccessfulJobsHistoryLimit), endUnrecorded)
	p.pruneTo(triggeredBy(v1.TriggerSchedule, p.jobs.failed), int(*spec.FailedJobsHistoryLimit), endUnrecorded)
	p.pruneTo(newestLast(triggeredBy(v1.TriggerManual, p.jobs.ended)), unscheduledHistoryLimit, endUnrecorded)
	p.pruneTo(newestLast(p.backfilled(in, p.jobs.succeeded)), unscheduledHistoryLimit, endUnrecorded)
	p.pruneTo(newestLast(p.backfilled(in, p.jobs.failed)), failedBackfillLimit, endUnrecorded)
}

const (
	// unscheduledHistoryLimit is how many ended Jobs of manual runs are kept, and how many
	// succeeded Jobs of backfills.
	unscheduledHistoryLimit = 3

	// failedBackfillLimit is how many failed Jobs of backfills are kept. Each backfilled Job lists
	// the ones that failed before its creation, so this limits how many may fail after the newest
	// one was created.
	failedBackfillLimit = 10
)

// backfilled returns the Jobs of backfills whose tick can't be due any more. It notes the others.
func (p *Plan) backfilled(in Input, jobs []jobState) []jobState {
	return slices.DeleteFunc(triggeredBy(v1.TriggerBackfill, jobs), func(job jobState) bool {
		isDue := mayBeDue(in, p.stops, job)
		if isDue {
			p.maybeDue = append(p.maybeDue, job)
		}
		return isDue
	})
}

// pruneLater asks for another plan if the status, once it is written, says that the tick of a
// backfill can't be due any more: the history limits then apply to its Job.
func (p *Plan) pruneLater(in Input) {
	if len(p.maybeDue) == 0 {
		return
	}
	written := *in.CronJob
	written.Status = p.Status
	in.CronJob = &written
	p.Again = p.Again || slices.ContainsFunc(p.maybeDue, func(job jobState) bool { return !mayBeDue(in, nil, job) })
}

func triggeredBy(trigger v1.RunTrigger, jobs []jobState) []jobState {
	var found []jobState
	for i, job := range jobs {
		if job.trigger == trigger {
			found = append(slices.Grow(found, len(jobs)-i), job)
		}
	}
	return found
}

// newestLast sorts Jobs by creation, because a backfill may start older ticks than the one before.
func newestLast(jobs []jobState) []jobState {
	slices.SortFunc(jobs, func(a, b jobState) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), compareAge(a, b))
	})
	return jobs
}

// pruneTo picks all but the newest Jobs; they are sorted, oldest first. It keeps a Job until the
// stored status records its tick and its end: until then only its name prevents a second run, and
// only the Job says how it ended. endUnrecorded has the UIDs of Jobs whose end is not recorded.
func (p *Plan) pruneTo(jobs []jobState, limit int, endUnrecorded sets.Set[types.UID]) {
	for _, job := range jobs[:max(0, len(jobs)-max(0, limit))] {
		switch {
		case job.DeletionTimestamp != nil:
		case !job.accounted || endUnrecorded.Has(job.UID):
			p.Again = true
		default:
			p.Prune = append(p.Prune, job.Job)
		}
	}
}
