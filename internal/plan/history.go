/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package plan

// prune picks the ended Jobs that the history limits leave no room for, oldest first. Limits apply
// whatever else becomes of the CronJob: while it is suspended, and while its Jobs can't be created.
func (p *Plan) prune(in Input, jobs sortedJobs) {
	if in.Outdated || in.Uncertain {
		return // some of the newer ones may be gone; the watch tells when the cache is up to date
	}
	spec := in.CronJob.Spec
	p.pruneTo(jobs.succeeded, int(*spec.SuccessfulJobsHistoryLimit))
	p.pruneTo(jobs.failed, int(*spec.FailedJobsHistoryLimit))
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
