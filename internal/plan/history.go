// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// prune picks the ended Jobs that the history limits leave no room for, oldest first. Limits apply
// whatever else becomes of the CronJob: while it is suspended, and while its Jobs can't be created.
func (p *Plan) prune(in Input, jobs sortedJobs) {
	if in.Outdated || in.Uncertain {
		return // some of the newer ones may be gone; the watch tells when the cache is up to date
	}
	spec := in.CronJob.Spec
	succeeded, manual := splitManual(jobs.succeeded)
	failed, manuallyFailed := splitManual(jobs.failed)
	manual = append(manual, manuallyFailed...)
	slices.SortFunc(manual, compareAge)
	untold := uidsOf(p.newlyEnded)
	p.pruneTo(succeeded, int(*spec.SuccessfulJobsHistoryLimit), untold)
	p.pruneTo(failed, int(*spec.FailedJobsHistoryLimit), untold)
	p.pruneTo(manual, manualHistoryLimit, untold)
}

// manualHistoryLimit is how many ended Jobs are kept that were not started by schedule.
const manualHistoryLimit = 3

// splitManual tells the Jobs of ticks from those that were not started by schedule.
func splitManual(jobs []jobState) (scheduled, manual []jobState) {
	for _, job := range jobs {
		if job.manual {
			manual = append(manual, job)
		} else {
			scheduled = append(scheduled, job)
		}
	}
	return scheduled, manual
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
