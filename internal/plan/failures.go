// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Stop is why a CronJob has stopped after failures.
type Stop struct {
	// Failures is how many runs failed in a row, and At when the last of them did. countFailures
	// leaves At zero if the stored status tells of it.
	Failures int32
	At       time.Time
}

// countFailures has the status say how many runs have failed in a row since the last success, edit
// or resume, and returns why the CronJob stops, if that is as many as its spec allows. If it had
// stopped before, it also returns the instant up to which ticks passed meanwhile.
func (p *Plan) countFailures(in Input) (stop *Stop, stoppedUntil time.Time) {
	p.Status.FailuresTowardsStop = 0
	stored, limit := in.CronJob.Status, in.CronJob.Spec.StopAfterFailures
	if IsStopped(in.CronJob) {
		stoppedUntil = restartedAfter(in, timeOf(stored.LastFailureTime))
	}
	if limit == nil {
		return nil, stoppedUntil
	}
	// A manual run may have ended before anybody saw it run: all that succeeded count.
	since := latest(restartedAt(in), timeOf(p.Status.LastSuccessfulTime))
	before, count := stored.FailuresTowardsStop, int32(0)
	if !isEditUnseen(in.CronJob) && timeOf(stored.LastFailureTime).After(since) {
		before, count = 0, before
	}
	stop = &Stop{Failures: max(*limit, 1)}
	for _, job := range p.ends() {
		end := endCondition(job)
		switch {
		case end.Type == batchv1.JobComplete:
			continue
		case end.LastTransitionTime.After(since):
			count++
			if count == stop.Failures {
				stop.At = end.LastTransitionTime.Time
			}
		default:
			before++
			if before == stop.Failures && stoppedUntil.IsZero() { // and no status could tell of it
				stoppedUntil = restartedAfter(in, end.LastTransitionTime.Time)
			}
		}
	}
	p.Status.FailuresTowardsStop = count
	if count < stop.Failures {
		stop = nil
	}
	return stop, stoppedUntil
}

// stop starts nothing, as suspend does. Nothing but the status and the Jobs says so: the spec is its
// user's.
func (p *Plan) stop(in Input, stop *Stop) {
	last := timeOf(p.Status.LastScheduleTime)
	p.missUpTo(in, MissedStopped, in.Schedule.Anchored(Anchor(in.CronJob, p.Status)), handledUntil(in, last), stop.At)
	p.setNext(in, time.Time{})
	p.Status.ObservedSchedule = observedSchedule(in.CronJob)
	if p.setReady(in, metav1.ConditionFalse, v1.ReasonStoppedAfterFailures, stop.message()) {
		// The stored status may have told of the failures and, while suspended, not of the stop.
		p.Stopped = &Stop{stop.Failures, latest(stop.At, timeOf(in.CronJob.Status.LastFailureTime))}
	}
}

// ends returns the Jobs whose end the stored status does not say, in the order in which they ended.
func (p *Plan) ends() []*batchv1.Job {
	return slices.SortedStableFunc(slices.Values(p.newlyEnded), func(a, b *batchv1.Job) int {
		return endCondition(a).LastTransitionTime.Compare(endCondition(b).LastTransitionTime.Time)
	})
}

// restartedAt returns when an edit, or somebody by the annotation, has last started a CronJob again
// that may have stopped; zero if it is not known of any. Edits that the stored status has observed
// are reflected there.
func restartedAt(in Input) time.Time {
	at, err := time.Parse(time.RFC3339, in.CronJob.Annotations[v1.ResumedAtAnnotation])
	switch {
	case err != nil || at.After(in.Now.Add(maxClockSkew)):
		at = time.Time{} // nobody has resumed it in the future
	case at.After(in.Now):
		at = in.Now
	}
	if isEditUnseen(in.CronJob) {
		at = latest(at, editedAt(in))
	}
	return at
}

// IsStopped reports whether the stored status says that a CronJob has stopped after failures.
func IsStopped(c *v1.CronJob) bool { return isReadyReason(c, v1.ReasonStoppedAfterFailures) }

// isEditUnseen reports whether the stored status is of an earlier spec.
func isEditUnseen(c *v1.CronJob) bool { return c.Status.ObservedGeneration != c.Generation }

// restartedAfter returns when a CronJob that had stopped was started again. The first run that
// succeeds does so when it ends. If it has not been, it is now.
func restartedAfter(in Input, stopped time.Time) time.Time {
	success := time.Time{}
	for _, job := range slices.Concat(in.Jobs, in.Gone) {
		if end := timeOf(job.Status.CompletionTime); end.After(stopped) {
			success = earliest(success, end)
		}
	}
	if restarted := latest(success, restartedAt(in)); restarted.After(stopped) {
		return restarted
	}
	return in.Now // a tick too few is better than one that nobody expects
}

func (s Stop) message() string {
	runs := fmt.Sprintf("%d runs failed in a row", s.Failures)
	if s.Failures == 1 {
		runs = "A run failed"
	}
	return runs + ", as many as spec.stopAfterFailures allows: no Job is started until the spec is edited, " +
		"a manual run succeeds, or somebody resumes the CronJob by kubectl cronjob resume."
}

// Event returns the event of a CronJob that has stopped.
func (s Stop) Event() Event {
	return warning(EventStoppedAfterFailures, actionSchedule, nil, s.At.UTC().Format(time.RFC3339), s.message())
}
