// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

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
	p.pruneTo(succeeded, int(*spec.SuccessfulJobsHistoryLimit))
	p.pruneTo(failed, int(*spec.FailedJobsHistoryLimit))
	p.pruneTo(manual, manualHistoryLimit)
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

// pruneTo picks all but the newest of some Jobs, given oldest first.
func (p *Plan) pruneTo(jobs []jobState, limit int) {
	for _, job := range jobs[:max(0, len(jobs)-max(0, limit))] {
		switch {
		case job.DeletionTimestamp != nil:
		case !job.accounted:
			// A Job's name keeps its tick from running twice. It may go once the status does.
			p.Again = true
		default:
			p.Prune = append(p.Prune, job.Job)
		}
	}
}
