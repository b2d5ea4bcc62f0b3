// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// interval is a time in which a CronJob was stopped after failures.
type interval struct {
	from  time.Time // zero if the stored status records the stop
	until time.Time
}

// countFailures sets failuresTowardsStop, the runs that failed in a row since the last success,
// edit or resume, and stops, the times in which the CronJob was stopped before. It reports whether
// the failures are as many as the spec allows, and when the last of them failed; zero if the stored
// status records the stop.
func (p *Plan) countFailures(in Input) (stoppedAt time.Time, isStopped bool) {
	p.Status.FailuresTowardsStop, p.stops = 0, nil
	limit, isStopped := in.CronJob.Spec.StopAfterFailures, IsStopped(in.CronJob)
	if limit == nil && !isStopped {
		return time.Time{}, false
	}
	count, failed := in.CronJob.Status.FailuresTowardsStop, timeOf(in.CronJob.Status.LastFailureTime)
	if count >= limitAt(in, failed) && !isStopped { // the status records the failures, but not the stop
		stoppedAt = failed
	}
	for _, change := range p.countChanges(in) {
		switch {
		case change.isFailure:
			count++
			if count == limitAt(in, change.at) {
				stoppedAt, isStopped = change.at, true
			}
		case isStopped:
			until := in.Now // if the time is unknown: a missed tick is better than an unexpected run
			if change.at.After(failed) && change.at.Before(in.Now) {
				until = change.at
			}
			p.stops = append(p.stops, interval{stoppedAt, until})
			stoppedAt = time.Time{}
			fallthrough
		default:
			count, isStopped = 0, false
		}
	}
	if limit != nil {
		p.Status.FailuresTowardsStop = count
	}
	if count >= limitAt(in, in.Now) {
		return stoppedAt, true
	}
	if isStopped { // it is unknown when it was restarted
		p.stops = append(p.stops, interval{stoppedAt, in.Now})
	}
	return time.Time{}, false
}

// limitAt returns how many failures in a row the spec allowed at an instant, if the stored status has
// observed it or all but the last edit.
func limitAt(in Input, at time.Time) int32 {
	limit := in.CronJob.Spec.StopAfterFailures
	if isEditUnseen(in.CronJob) && at.Before(editedAt(in)) {
		if edit := stampOf(in.CronJob); !edit.At.IsZero() {
			limit = edit.StopAfterFailures
		}
	}
	if limit == nil {
		return math.MaxInt32
	}
	return max(*limit, 1)
}

// countChange is a failure, or an event that resets the count of failures.
type countChange struct {
	at        time.Time
	isFailure bool
}

// countChanges returns the changes that the stored status does not reflect, oldest first. What
// counts is when a Job failed, not when that was seen. A failure does not count if the count is
// reset in the same second: nobody knows which came first.
func (p *Plan) countChanges(in Input) []countChange {
	var changes []countChange
	resetIn := sets.New[int64]() // seconds since 1970
	for _, at := range p.resets(in) {
		changes = append(changes, countChange{at, false})
		resetIn.Insert(at.Unix())
	}
	edited := time.Time{} // the edit that the status reflects
	if !isEditUnseen(in.CronJob) {
		edited = in.EditedAt
	}
	for _, job := range p.newlyEnded {
		if at := endCondition(job).LastTransitionTime.Time; ResultOf(job) == v1.RunFailed && at.After(edited) && !resetIn.Has(at.Unix()) {
			changes = append(changes, countChange{at, true})
		}
	}
	slices.SortStableFunc(changes, func(a, b countChange) int { return a.at.Compare(b.at) })
	return changes
}

// resets returns when the count of failures was reset since the last recorded failure.
func (p *Plan) resets(in Input) []time.Time {
	failed := timeOf(in.CronJob.Status.LastFailureTime)
	resets := []time.Time{resumedAt(in), timeOf(p.Status.LastSuccessfulTime)}
	// A success counts from any Job: a manual run may have ended before it was observed.
	for _, job := range slices.Concat(in.Jobs, in.Gone) {
		resets = append(resets, timeOf(job.Status.CompletionTime))
	}
	resets = slices.DeleteFunc(resets, func(at time.Time) bool { return at.IsZero() || at.Before(failed) })
	// What the status does not reflect comes after what it does, whatever the clocks say.
	if isEditUnseen(in.CronJob) {
		resets = append(resets, latest(editedAt(in), failed))
	}
	for _, job := range p.newlyEnded {
		if ResultOf(job) == v1.RunSucceeded {
			resets = append(resets, latest(endCondition(job).LastTransitionTime.Time, failed))
		}
	}
	return resets
}

// stop starts nothing, as suspend does. It is recorded in the status alone: the spec belongs to the
// user.
func (p *Plan) stop(in Input, stoppedAt time.Time) {
	p.stops = append(p.stops, interval{stoppedAt, in.Now}) // no tick up to now can be due any more
	p.missPassed(in)
	p.setNext(in, time.Time{})
	message := stopMessage(limitAt(in, in.Now))
	if p.setReady(in, metav1.ConditionFalse, v1.ReasonStoppedAfterFailures, message) {
		// stoppedAt is zero if the stored status records the stop with another message.
		key := latest(stoppedAt, timeOf(in.CronJob.Status.LastFailureTime)).UTC().Format(time.RFC3339)
		p.Events = append(p.Events, warning(EventStoppedAfterFailures, actionSchedule, nil, key, message))
	}
}

// ends returns the Jobs whose end the stored status does not record, in the order in which they
// ended.
func (p *Plan) ends() []*batchv1.Job {
	return slices.SortedStableFunc(slices.Values(p.newlyEnded), func(a, b *batchv1.Job) int {
		return endCondition(a).LastTransitionTime.Compare(endCondition(b).LastTransitionTime.Time)
	})
}

// resumedAt returns when somebody resumed the CronJob by the annotation; zero if nobody did.
func resumedAt(in Input) time.Time {
	at, err := time.Parse(time.RFC3339, in.CronJob.Annotations[v1.ResumedAtAnnotation])
	if err != nil || at.After(in.Now.Add(maxClockSkew)) {
		return time.Time{} // a resume is never in the future
	}
	return at
}

// IsStopped reports whether the stored status says that a CronJob has stopped after failures.
func IsStopped(c *v1.CronJob) bool { return isReadyReason(c, v1.ReasonStoppedAfterFailures) }

func stopMessage(failures int32) string {
	runs := fmt.Sprintf("%d runs failed in a row", failures)
	if failures == 1 {
		runs = "A run failed"
	}
	return runs + ", as many as spec.stopAfterFailures allows: no Job is started until the spec is edited, " +
		"a manual run succeeds, or somebody resumes the CronJob by kubectl cronjob resume."
}
