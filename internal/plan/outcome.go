// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Outcome is what was done of a plan. The zero value means nothing was.
type Outcome struct {
	// Deleted has those of Plan.Replace that were deleted, and Gone those that no longer existed.
	// Both count as replaced; only Deleted get an event.
	Deleted, Gone []*batchv1.Job

	// Ended has those that had ended, which a stale cache did not tell, as they are stored. They are
	// not deleted, and nothing was started.
	Ended []*batchv1.Job

	// Job is the Job of the tick; nil if there is none. Existed is whether it was there before.
	Job     *batchv1.Job
	Existed bool

	// NameTaken is whether another object has the name of the tick's Job.
	NameTaken bool

	// Refused is why the Job could not be created; nil if the plan was too old to be carried out.
	Refused error

	// IsTerminating is whether the namespace is being deleted: nothing can be created in it, not even
	// an event.
	IsTerminating bool

	// RetryAt is when to try again; zero for not before the next tick.
	RetryAt time.Time
}

// Result is what to write and report after a plan and its outcome.
type Result struct {
	// Plan has the status to write, and what to report.
	Plan

	// Unwritten has the Jobs whose start or end Status tells of and the stored status does not.
	Unwritten []*batchv1.Job

	// Refused is why the Job could not be created; nil if the stored status says so already.
	Refused error

	// CanDefer is whether the status records a started Job and nothing else.
	CanDefer bool
}

// Conclude computes what to write and report from a plan and what was done of it.
func Conclude(in Input, p Plan, done Outcome) Result {
	canDefer := done.Job != nil && !done.Existed &&
		len(p.Replace)+len(p.unrecorded)+len(p.Ended)+len(p.Missed)+p.ReplacedCount+p.DeletedCount == 0
	p.replaced(in, done)
	p.Events = append(p.actionEvents(in, done), p.Events...)
	var refused error
	switch {
	case p.Start == nil:
	case done.Job != nil:
		p.started(in, done.Job)
	case done.NameTaken:
		p.miss(in, Missed{MissedNameTaken, p.Start.Tick, p.Start.Tick, 1})
		p.await(in, p.Start.Next)
	default:
		p.wakeBy(earliest(p.Start.GiveUpAt, done.RetryAt))
		if done.Refused != nil && p.refused(in, done.Refused) {
			refused = done.Refused
		}
	}
	p.rememberRuns(in, done)
	p.pruneLater(in)
	return Result{Plan: p, Unwritten: p.unwritten(in), Refused: refused, CanDefer: canDefer}
}

// replaced updates the status after Jobs were deleted for the tick. The tick waits for those that
// could not be deleted.
func (p *Plan) replaced(in Input, done Outcome) {
	gone, ended := uidsOf(slices.Concat(done.Deleted, done.Gone)), uidsOf(done.Ended)
	isLeft := func(job *batchv1.Job) bool { return !gone.Has(job.UID) && !ended.Has(job.UID) }
	if len(p.Replace) > 0 {
		p.setActive(slices.DeleteFunc(slices.Clone(p.running), func(job jobState) bool { return !isLeft(job.Job) }))
	}
	p.ReplacedCount += len(gone)
	for _, job := range done.Ended {
		p.ended(in, job)
	}
	if left := slices.IndexFunc(p.Replace, isLeft); left >= 0 {
		p.waitFor(in, p.Replace[left], "be deleted")
	}
}

// started updates the status after the Job of the tick was created or found. A Job that was found
// may have ended.
func (p *Plan) started(in Input, job *batchv1.Job) {
	running := slices.DeleteFunc(slices.Clone(p.running), func(other jobState) bool { return other.UID == job.UID })
	if state := stateOf(in, job); state.result == "" {
		i, _ := slices.BinarySearchFunc(running, state, compareAge)
		running = slices.Insert(running, i, state)
	} else if !uidsOf(p.Ended).Has(job.UID) {
		p.ended(in, job)
	}
	p.setActive(running)
	p.Status.LastScheduleTime = maxTime(p.Status.LastScheduleTime, p.Start.Tick)
	p.await(in, p.Start.Next)
}

// ended updates the status after a Job was found to have ended, of which the plan did not know.
func (p *Plan) ended(in Input, job *batchv1.Job) {
	p.Ended = append(slices.Clip(p.Ended), job)
	p.newlyEnded = append(slices.Clip(p.newlyEnded), job)
	p.noteSuccess(job)
	p.countFailures(in)
}

// refused reports in the status and in an event that the Job of the tick could not be created, and
// returns whether that is new. It is told once for each tick and reason: the text may be another at
// each try, as that of a quota, which has what is used. An invalid Job is refused at each tick:
// without its name, the text is the same for each generation.
func (p *Plan) refused(in Input, err error) (isNew bool) {
	stored, name := in.CronJob.Status, p.Start.Job.Name
	if timeOf(stored.NextScheduleTime).Equal(p.Start.Tick) && isReadyReason(in.CronJob, v1.ReasonJobCreationFailed) &&
		!isEditUnseen(in.CronJob) && slices.Contains(in.Refusals, RefusalReason(err)) {
		p.Status.Conditions = stored.Conditions
		return false
	}
	message, key := fmt.Sprintf("Creating Job %s: %v", name, err), name+" "+RefusalReason(err)
	if apierrors.IsInvalid(err) {
		message = strings.ReplaceAll(message, name, in.CronJob.Name+"-*")
		key = keyOf(in.CronJob, message)
	}
	if !p.setReady(in, metav1.ConditionFalse, v1.ReasonJobCreationFailed, message) {
		return false
	}
	p.Events = append(p.Events, warning(EventFailedCreate, actionStart, nil, key, fmt.Sprintf("Error creating job %s: %v", name, err)))
	return true
}

// RefusalReason returns the reason by which a refused request counts as refused again: that of the
// API server, such as Forbidden; "" if it gave none.
func RefusalReason(err error) string { return string(apierrors.ReasonForError(err)) }
