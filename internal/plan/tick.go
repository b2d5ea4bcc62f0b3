// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// MissedReason says why a tick will never run.
type MissedReason string

const (
	// MissedDeadline is for a tick that did not start within startingDeadlineSeconds.
	MissedDeadline MissedReason = "Deadline"

	// MissedSuperseded is for ticks that passed while no manager ran, as in an outage: only the
	// newest of them runs.
	MissedSuperseded MissedReason = "Superseded"

	// MissedForbidden is for a tick that waited for a Job to end until a newer one was due.
	MissedForbidden MissedReason = "Forbidden"

	// MissedCreationFailed is for a tick whose Job could not be created until a newer one was due.
	MissedCreationFailed MissedReason = "CreationFailed"

	// MissedEdited is for a tick that was due, but had not run, when the CronJob was edited.
	MissedEdited MissedReason = "Edited"

	// MissedStopped is for a tick that was due, but had not run, when the CronJob stopped after
	// failures.
	MissedStopped MissedReason = "Stopped"

	// MissedNameTaken is for a tick whose Job name another object has.
	MissedNameTaken MissedReason = "NameTaken"
)

// MaxMissedCount is how many missed ticks are counted at most. More are reported as this many.
const MaxMissedCount = 100

// Missed is an entry of status.missed: ticks that will never run, and why.
type Missed struct {
	Reason      MissedReason
	First, Last time.Time
	// Count is how many ticks there are from First to Last, at most MaxMissedCount.
	Count int
}

// MaxMissedRows is how many rows of missed ticks a status keeps.
const MaxMissedRows = 5

// miss adds ticks that will never run to the status. One write then moves the status past them and
// records them, so any process that reads it can report them, also after a crash of the writer.
func (p *Plan) miss(in Input, m Missed) {
	p.Missed = append(slices.Clip(p.Missed), m)
	row := v1.MissedTicks{
		Reason: string(m.Reason), Count: int32(m.Count), //nolint:gosec // at most MaxMissedCount
		First: metav1.NewTime(m.First), Last: metav1.NewTime(m.Last), Time: metav1.NewTime(in.Now.Truncate(time.Second)),
	}
	rows := append([]v1.MissedTicks{row}, p.Status.Missed...)
	p.Status.Missed = rows[:min(len(rows), MaxMissedRows)]
}

// MissedRow converts a row of the status.
func MissedRow(row v1.MissedTicks) Missed {
	return Missed{Reason: MissedReason(row.Reason), First: row.First.Time, Last: row.Last.Time, Count: int(row.Count)}
}

// missUpTo misses the ticks after from and not after until.
func (p *Plan) missUpTo(in Input, reason MissedReason, ticks schedule.Ticks, from, until time.Time) {
	first, ok := ticks.Next(from)
	if !ok || first.After(until) {
		return
	}
	last, _ := ticks.Last(from, until)
	p.miss(in, Missed{reason, first, last, ticks.Count(from, last.Add(time.Second), MaxMissedCount)})
}

// reasonForOlder returns why ticks did not run before a newer one was due.
func reasonForOlder(c *v1.CronJob) MissedReason {
	switch {
	case c.Status.NextScheduleTime == nil:
	case MaxConcurrency(c) > 0 && isReadyReason(c, v1.ReasonWaiting):
		return MissedForbidden
	case isReadyReason(c, v1.ReasonJobCreationFailed):
		return MissedCreationFailed
	}
	return MissedSuperseded
}

// missSkipped misses the ticks skipped by a run that the stored status does not record yet. The
// plan that started the run missed them too, but its status could not be written.
func (p *Plan) missSkipped(in Input) {
	c := in.CronJob
	last, newest := timeOf(c.Status.LastScheduleTime), timeOf(p.Status.LastScheduleTime)
	if !newest.After(last) {
		return
	}
	ran := ticksOf(in)
	unedited := in.ScheduleErr == nil && (!isEditUnseen(c) || newest.After(rescheduledAt(in))) // since the newest run
	if unedited && isWaitOver(in) && !ran.Has(timeOf(c.Status.NextScheduleTime).Unix()) {
		p.missWaiting(in, last)
	}
	recorded := slices.DeleteFunc(slices.Clone(p.stops), func(stop interval) bool { return !stop.from.IsZero() })
	from := handledUntil(in, recorded, last)
	ticks, first := schedule.Ticks{}, timeOf(c.Status.NextScheduleTime) // of an edited schedule no other is known
	if unedited || in.ScheduleErr == nil && isScheduleObserved(c) {
		ticks = in.Schedule.Anchored(anchorAt(in, from))
	}
	if unedited {
		first, _ = ticks.Next(from)
	}
	if !first.IsZero() && !first.After(in.ForgottenUntil) {
		first, _ = ticks.Next(in.ForgottenUntil)
	}
	p.missUnhandled(in, ticks, first, newest, ran)
}

// missUnhandled misses those of some ticks from the first on and before the newest run that have
// not run and at which the CronJob was not stopped.
func (p *Plan) missUnhandled(in Input, ticks schedule.Ticks, first, newest time.Time, ran sets.Set[int64]) {
	lost := Missed{Reason: reasonForOlder(in.CronJob)}
	for tick, ok := first, !first.IsZero(); ok && tick.Before(newest) && lost.Count < MaxMissedCount; tick, ok = ticks.Next(tick) {
		if over := p.handledAt(tick, ran); over != nil {
			tick = over.until
			continue
		}
		if lost.Count == 0 {
			lost.First = tick
		}
		lost.Last = tick
		lost.Count++
	}
	if lost.Count == 0 {
		return
	}
	tick, ok := ticks.Last(lost.Last, newest.Add(-time.Nanosecond))
	for ok && lost.Count == MaxMissedCount { // there may be more
		over := p.handledAt(tick, ran)
		if over == nil {
			lost.Last = tick
			break
		}
		tick, ok = ticks.Last(lost.Last, over.from)
	}
	p.miss(in, lost)
}

// anchorAt returns what an interval counted from at an instant: the newest run up to then, whether
// or not the status records it.
func anchorAt(in Input, instant time.Time) time.Time {
	anchor := Anchor(in.CronJob, in.CronJob.Status)
	if in.Schedule.Interval() == 0 {
		return anchor // the ticks of a cron expression don't depend on it
	}
	for _, job := range slices.Concat(in.Jobs, in.Gone) {
		if tick, ok := TickOf(job); ok && !tick.After(instant) {
			anchor = latest(anchor, tick)
		}
	}
	return anchor
}

// handledAt returns a time up to whose end all ticks are handled, and in which a tick lies: that of
// a stop after failures, or only that of the tick, if it has run; nil if there is none.
func (p *Plan) handledAt(tick time.Time, ran sets.Set[int64]) *interval {
	if ran.Has(tick.Unix()) {
		return &interval{tick.Add(-time.Nanosecond), tick}
	}
	for i, stop := range p.stops {
		if tick.After(stop.from) && !tick.After(stop.until) {
			return &p.stops[i]
		}
	}
	return nil
}

// ticksOf returns the ticks of the Jobs that the schedule started, in seconds since 1970.
func ticksOf(in Input) sets.Set[int64] {
	ticks := make(sets.Set[int64], len(in.Jobs))
	for _, job := range slices.Concat(in.Jobs, in.Gone) {
		if tick, ok := TickOf(job); ok {
			ticks.Insert(tick.Unix())
		}
	}
	return ticks
}

// missedFrom returns the ticks of some rows from an instant on, at most MaxMissedCount.
func missedFrom(in Input, rows []Missed, since time.Time) []time.Time {
	var ticks []time.Time
	for _, row := range rows {
		if row.Count == 1 { // it may be of a schedule that was edited since
			if !row.First.Before(since) {
				ticks = append(ticks, row.First)
			}
			continue
		}
		next := in.Schedule.Anchored(row.First.Add(-in.Schedule.Interval())).Next
		tick, ok := next(latest(row.First, since).Add(-time.Second))
		for ; ok && !tick.After(row.Last) && len(ticks) < MaxMissedCount; tick, ok = next(tick) {
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// missPassed misses the ticks that were due, but had not run, when the CronJob was edited, and at
// each stop after failures that the stored status does not record. The clock that stamped the
// failure may be ahead of ours: no later tick was due.
func (p *Plan) missPassed(in Input) {
	ticks, last := in.Schedule.Anchored(Anchor(in.CronJob, p.Status)), timeOf(p.Status.LastScheduleTime)
	for i, stop := range p.stops {
		if !stop.from.IsZero() {
			p.missUpTo(in, MissedStopped, ticks, handledUntil(in, p.stops[:i], last), earliest(stop.from, in.Now))
		}
	}
	if isWaitOver(in) {
		p.missWaiting(in, last)
	}
}

// missWaiting misses the ticks that were due when the CronJob was edited and had not run; last is
// the newest run. Only the tick that the status waits for is known if the schedule was edited, if the
// CronJob may have been suspended and resumed, or if a newer tick has run since.
func (p *Plan) missWaiting(in Input, last time.Time) {
	c, edited := in.CronJob, rescheduledAt(in)
	if !isReschedule(in) && !IsSuspended(c, in.Now) {
		edited = earliest(edited, suspendedUntil(in)) // what has waited since then runs
	}
	waiting := c.Status.NextScheduleTime
	isSame := last.Equal(timeOf(p.Status.LastScheduleTime)) && in.ScheduleErr == nil && isScheduleObserved(c) &&
		(in.RescheduledAt.IsZero() || !isEditedMoreThanOnce(c))
	switch {
	case waiting == nil || waiting.After(edited):
	case isSame:
		p.missUpTo(in, MissedEdited, in.Schedule.Anchored(Anchor(c, p.Status)), latest(waiting.Add(-time.Second), last), edited)
	case waiting.After(last):
		p.miss(in, Missed{MissedEdited, waiting.Time, waiting.Time, 1})
	}
}

// isWaitOver reports whether the tick that the status waits for must not run any more because the
// CronJob was edited or suspended.
func isWaitOver(in Input) bool {
	return isReschedule(in) || timeOf(in.CronJob.Status.NextScheduleTime).Before(suspendedUntil(in))
}

// handledUntil returns the instant up to which all ticks are handled, given the newest run: they
// have run, were missed, passed while the CronJob was suspended or stopped, or lie before its
// creation or an edit of its schedule.
//
// The status remembers it as nextScheduleTime, the first tick that is not handled, and as
// observedSchedule, the schedule of that tick. So an edit of the schedule can be told from other
// edits: ticks from before it don't run after it, but a tick that waits for a Job still runs after
// an edit of the template.
func handledUntil(in Input, stops []interval, last time.Time) time.Time {
	c := in.CronJob
	until := latest(c.CreationTimestamp.Time, last, suspendedUntil(in))
	for _, stop := range stops {
		until = latest(until, stop.until)
	}
	waiting := c.Status.NextScheduleTime
	switch {
	case c.Status.ObservedGeneration <= 0, isReschedule(in): // the former: never reconciled
		until = latest(until, rescheduledAt(in))
	case waiting != nil:
		until = latest(until, waiting.Add(-time.Second))
	case isReadyReason(c, v1.ReasonCompleted):
		until = latest(until, in.Now) // no tick was left: all up to now are handled
		if len(c.Status.Missed) > 0 { // they may lie ahead, if the clock was set back
			until = latest(until, c.Status.Missed[0].Last.Time)
		}
	}
	return until
}

// Anchor returns what an interval counts from, given a status of the CronJob: the last run, or the
// creation before the first run.
func Anchor(c *v1.CronJob, status v1.CronJobStatus) time.Time {
	if status.LastScheduleTime != nil {
		return status.LastScheduleTime.Time
	}
	return c.CreationTimestamp.Time
}

// SpecOf returns all fields of a spec that decide when a CronJob fires. No other code picks them.
func SpecOf(spec *v1.CronJobSpec) schedule.Spec {
	s := schedule.Spec{
		Schedule: spec.Schedule, Additional: spec.AdditionalSchedules,
		NotBefore: timeOf(spec.NotBefore), NotAfter: timeOf(spec.NotAfter),
	}
	if spec.TimeZone != nil {
		s.TimeZone = *spec.TimeZone
	}
	for _, days := range spec.Exclude {
		s.Exclude = append(s.Exclude, string(days))
	}
	return s
}

// observedSchedule returns the text of SpecOf that the status keeps.
func observedSchedule(c *v1.CronJob) string { return SpecOf(&c.Spec).String() }

// maxTime returns the later of an optional time of the API and another time; zero is none.
func maxTime(current *metav1.Time, other time.Time) *metav1.Time {
	if other.IsZero() || current != nil && !other.After(current.Time) {
		return current
	}
	return &metav1.Time{Time: other}
}
