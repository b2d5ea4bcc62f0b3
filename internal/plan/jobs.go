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

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Result says how a Job ended.
type Result string

const (
	// Succeeded is the result of a Job with the condition Complete.
	Succeeded Result = "succeeded"

	// Failed is the result of a Job with the condition Failed.
	Failed Result = "failed"
)

// Ended is a Job that has ended.
type Ended struct {
	Job    *batchv1.Job
	Result Result
}

// sortedJobs has a CronJob's Jobs by what they do, oldest first.
type sortedJobs struct {
	active, succeeded, failed []*batchv1.Job

	// ended has those that failed and those that succeeded.
	ended []*batchv1.Job
}

// sortJobs tells the Jobs that run from those that have ended.
func sortJobs(jobs []*batchv1.Job) sortedJobs {
	sorted := slices.Clone(jobs)
	slices.SortFunc(sorted, func(a, b *batchv1.Job) int {
		// In the order of the letters: "", failed, succeeded.
		return cmp.Or(cmp.Compare(ResultOf(a), ResultOf(b)), AgeFrom(a).Compare(AgeFrom(b)), cmp.Compare(a.Name, b.Name))
	})
	firstWith := func(result Result) int {
		i, _ := slices.BinarySearchFunc(sorted, result, func(job *batchv1.Job, result Result) int {
			return cmp.Compare(ResultOf(job), result)
		})
		return i
	}
	failed, succeeded := firstWith(Failed), firstWith(Succeeded)
	return sortedJobs{
		active:    sorted[:failed],
		failed:    sorted[failed:succeeded],
		succeeded: sorted[succeeded:],
		ended:     sorted[failed:],
	}
}

// ResultOf returns how a Job ended, or "" while it runs.
func ResultOf(job *batchv1.Job) Result {
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			return Succeeded
		case batchv1.JobFailed:
			return Failed
		}
	}
	return ""
}

// TickOf returns the tick that a Job was started for, and false for a Job that was not started by schedule.
func TickOf(job *batchv1.Job) (time.Time, bool) {
	tick, err := time.Parse(time.RFC3339, job.Annotations[v1.ScheduledAtAnnotation])
	return tick, err == nil
}

// aheadMost is how far the clock of the leader that started a Job may have been ahead of ours.
const aheadMost = time.Hour

// ranTick returns the tick that has run, as there is its Job, even if its time is yet to come: a clock was set back
// then. A Job that claims a tick far ahead was not started by any leader, and must not hold up the schedule.
func ranTick(in Input, job *batchv1.Job) (time.Time, bool) {
	tick, ok := TickOf(job)
	return tick, ok && !tick.After(in.Now.Add(aheadMost))
}

// AgeFrom returns the time that a Job's age counts from: its tick, else its creation.
func AgeFrom(job *batchv1.Job) time.Time {
	if tick, ok := TickOf(job); ok {
		return tick
	}
	return job.CreationTimestamp.Time
}

// observe brings the status up to date with the Jobs there are.
func (p *Plan) observe(in Input, jobs sortedJobs) {
	running := in.CronJob.Status.Active // as the status has it
	p.Vanished = len(running)
	p.Status.Active = nil
	for _, job := range jobs.active {
		if isAmong(running, job) {
			p.Vanished--
		}
		p.Status.Active = append(p.Status.Active, Reference(job))
		p.noteTick(in, job)
	}
	for _, job := range jobs.ended {
		ran := isAmong(running, job)
		if ran {
			p.Vanished--
		}
		if ran || !isAccounted(in, job) {
			p.Ended = append(p.Ended, Ended{Job: job, Result: ResultOf(job)})
		}
		p.noteTick(in, job)
	}
	if in.CronJob.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent && hasUnaccounted(in) {
		p.Supplanted, p.Vanished = p.Vanished, 0 // by that run, whose status could not be written
	}
	for _, job := range jobs.succeeded {
		p.noteSuccess(job)
	}
}

// noteSuccess takes the completion of a Job that succeeded as the last one, if it is.
func (p *Plan) noteSuccess(job *batchv1.Job) {
	if job.Status.CompletionTime != nil {
		p.Status.LastSuccessfulTime = maxTime(p.Status.LastSuccessfulTime, job.Status.CompletionTime.Time)
	}
}

// isAmong reports whether a Job is one of those that the status lists.
func isAmong(refs []corev1.ObjectReference, job *batchv1.Job) bool {
	return slices.ContainsFunc(refs, func(ref corev1.ObjectReference) bool { return ref.UID == job.UID })
}

// noteTick takes a Job's tick as run, which it is even if the status could not be written then.
func (p *Plan) noteTick(in Input, job *batchv1.Job) {
	if tick, ok := ranTick(in, job); ok {
		p.Status.LastScheduleTime = maxTime(p.Status.LastScheduleTime, tick)
	}
}

// isAccounted reports whether the stored status knows of a Job's tick, so that the tick would not run
// again if the Job were gone.
func isAccounted(in Input, job *batchv1.Job) bool {
	tick, ok := ranTick(in, job)
	return !ok || !tick.After(timeOf(in.CronJob.Status.LastScheduleTime))
}

// hasUnaccounted reports whether there is a Job whose tick the stored status does not know of.
func hasUnaccounted(in Input) bool {
	return slices.ContainsFunc(in.Jobs, func(job *batchv1.Job) bool { return !isAccounted(in, job) })
}

// Reference returns a reference to a Job as the status lists it.
func Reference(job *batchv1.Job) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job",
		Namespace: job.Namespace, Name: job.Name, UID: job.UID,
	}
}
