// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// MissedReason says why a tick will never run.
type MissedReason string

const (
	// MissedDeadline is for a tick that did not start within startingDeadlineSeconds.
	MissedDeadline MissedReason = "Deadline"

	// MissedSuperseded is for ticks of a gap in which nobody looked, as during an outage: only the
	// newest runs.
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

	// MissedNameTaken is for a tick whose Job's name a stranger has.
	MissedNameTaken MissedReason = "NameTaken"
)

// MaxMissedCount is how many ticks of a gap are counted. More are reported as this many.
const MaxMissedCount = 100

// Missed is a row of ticks that will never run.
type Missed struct {
	Reason      MissedReason
	First, Last time.Time
	// Count is how many they are, at most MaxMissedCount.
	Count int
}

// Equal reports whether two rows are of the same ticks, for the same reason.
func (m Missed) Equal(other Missed) bool {
	return m.Reason == other.Reason && m.First.Equal(other.First) && m.Last.Equal(other.Last)
}

// MaxMissedRows is how many rows of missed ticks a status keeps.
const MaxMissedRows = 5

// miss notes ticks that will never run. They are kept in the status, which so moves past them and
// says so in one write: whoever reads it can report them, whatever became of the process that wrote
// it.
func (p *Plan) miss(in Input, m Missed) {
	p.Missed = append(slices.Clip(p.Missed), m)
	row := v1.MissedTicks{
		Reason: string(m.Reason), Count: int32(m.Count), //nolint:gosec // at most MaxMissedCount
		First: metav1.NewTime(m.First), Last: metav1.NewTime(m.Last), Time: metav1.NewTime(in.Now.Truncate(time.Second)),
	}
	rows := append([]v1.MissedTicks{row}, p.Status.Missed...)
	p.Status.Missed = rows[:min(len(rows), MaxMissedRows)]
}

// MissedRow returns a row of the status as a plan has it.
func MissedRow(row v1.MissedTicks) Missed {
	return Missed{Reason: MissedReason(row.Reason), First: row.First.Time, Last: row.Last.Time, Count: int(row.Count)}
}

// missOlder notes the ticks after an instant that a newer one, the one that is due, leaves behind.
func (p *Plan) missOlder(in Input, ticks schedule.Ticks, from, due time.Time) {
	count := ticks.Count(from, due, MaxMissedCount)
	if count == 0 {
		return
	}
	first, _ := ticks.Next(from)
	last, _ := ticks.Last(from, due.Add(-time.Second))
	p.miss(in, Missed{reasonForOlder(in.CronJob), first, last, count})
}

// reasonForOlder says why ticks did not run that a newer one has left behind.
func reasonForOlder(c *v1.CronJob) MissedReason {
	switch {
	case c.Status.NextScheduleTime == nil:
	case isHeld(c):
		return MissedForbidden
	case isReadyReason(c, v1.ReasonJobCreationFailed):
		return MissedCreationFailed
	}
	return MissedSuperseded
}

// missOvertaken notes the ticks that a newer one has left behind whose Job there is, if the status
// does not tell of that Job: it could not be written, and the plan that had missed them was lost
// with it.
func (p *Plan) missOvertaken(in Input) {
	c := in.CronJob
	last, newest := timeOf(c.Status.LastScheduleTime), timeOf(p.Status.LastScheduleTime)
	if !newest.After(last) {
		return
	}
	ran := ticksOf(in)
	unedited := in.ScheduleErr == nil && newest.After(editedAt(in)) // since the newest was started
	if unedited && isWaitOver(in) && !ran.has(timeOf(c.Status.NextScheduleTime)) {
		p.missWaiting(in, last)
	}
	first, next := passedBy(in, last, unedited)
	if !first.IsZero() && !first.After(in.ForgottenUntil) {
		first, _ = next(in.ForgottenUntil)
	}
	lost := Missed{Reason: reasonForOlder(c)}
	for tick, ok := first, !first.IsZero(); ok && tick.Before(newest) && lost.Count < MaxMissedCount; tick, ok = next(tick) {
		if ran.has(tick) {
			continue
		}
		if lost.Count == 0 {
			lost.First = tick
		}
		lost.Last = tick
		lost.Count++
	}
	if lost.Count == MaxMissedCount { // there may be more, which are not counted
		lost.Last = lastWithoutJob(in, ran, lost.Last, newest)
	}
	if lost.Count > 0 {
		p.miss(in, lost)
	}
}

// passedBy returns the first tick that was open when the newest that has run was started, given the
// last that the status tells of, and what finds the next. If the schedule was edited since, only
// the one is known that the status waits for.
func passedBy(in Input, last time.Time, unedited bool) (first time.Time, next func(time.Time) (time.Time, bool)) {
	c := in.CronJob
	first = timeOf(c.Status.NextScheduleTime)
	next = func(time.Time) (time.Time, bool) { return time.Time{}, false }
	if unedited || in.ScheduleErr == nil && c.Status.ObservedSchedule == observedSchedule(c) {
		next = in.Schedule.Anchored(anchorAt(in, handledUntil(in, last))).Next
	}
	if unedited {
		first, _ = next(handledUntil(in, last))
	}
	return first, next
}

// anchorAt returns what an interval counted from at an instant: the newest run up to then, be it
// one that the status does not tell of.
func anchorAt(in Input, instant time.Time) time.Time {
	anchor := Anchor(in.CronJob, in.CronJob.Status)
	if in.Schedule.Interval() == 0 {
		return anchor // a cron expression has its ticks wherever it is anchored
	}
	for _, job := range slices.Concat(in.Jobs, in.Gone) {
		if tick, ok := TickOf(job); ok && !tick.After(instant) {
			anchor = latest(anchor, tick)
		}
	}
	return anchor
}

// lastWithoutJob returns the last tick without a Job that is later than one and before the newest
// that has run; the one itself if there is none.
func lastWithoutJob(in Input, ran tickSet, from, newest time.Time) time.Time {
	ticks := in.Schedule.Anchored(anchorAt(in, from))
	for {
		tick, ok := ticks.Last(from, newest.Add(-time.Nanosecond))
		if !ok {
			return from
		}
		if !ran.has(tick) {
			return tick
		}
		newest = tick
	}
}

// tickSet is a set of ticks, in UTC.
type tickSet map[time.Time]struct{}

// ticksOf returns the ticks that have run, as far as there are Jobs that say so.
func ticksOf(in Input) tickSet {
	ticks := make(tickSet, len(in.Jobs))
	for _, job := range slices.Concat(in.Jobs, in.Gone) {
		if tick, ok := TickOf(job); ok {
			ticks[tick.UTC()] = struct{}{}
		}
	}
	return ticks
}

// has reports whether a tick is in the set.
func (s tickSet) has(tick time.Time) bool {
	_, ok := s[tick.UTC()]
	return ok
}

// verify names the Jobs of ticks that would be missed, but that the manager which led before may
// have run: of its last Jobs this one knows by the cache alone, which may be stale.
func (p *Plan) verify(in Input) {
	since := in.LeadingSince.Add(-MaxCacheLag - Jitter(in.CronJob))
	if catchUpLimit(in.CronJob) > 1 && in.Now.Before(in.LeadingSince.Add(MaxCacheLag)) {
		since = time.Time{} // it may have run older ones as well
	}
	for _, tick := range missedFrom(in, p.Missed, since) {
		if !tick.After(in.LeadingSince) {
			p.Verify = append(p.Verify, JobName(in.CronJob, tick))
		}
	}
}

// missedFrom returns the ticks of some rows from an instant on; at most MaxMissedCount of them.
func missedFrom(in Input, rows []Missed, since time.Time) []time.Time {
	var ticks []time.Time
	for _, row := range rows {
		if row.Count == 1 { // maybe of a schedule that was edited since
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

// missUpTo notes the ticks after one instant up to another.
func (p *Plan) missUpTo(in Input, reason MissedReason, ticks schedule.Ticks, from, until time.Time) {
	last, ok := ticks.Last(from, until)
	if !ok {
		return
	}
	first, _ := ticks.Next(from)
	p.miss(in, Missed{reason, first, last, ticks.Count(from, last.Add(time.Second), MaxMissedCount)})
}

// missWaiting notes the ticks that were due when the CronJob was edited, and had not run by the last
// that has. Of another schedule, of one that was edited more than once, and before a tick that has
// run since, only the one is noted that the status waits for.
func (p *Plan) missWaiting(in Input, last time.Time) {
	c, edited := in.CronJob, editedAt(in)
	if !isReschedule(c) && !isSuspended(c, in.Now) {
		edited = earliest(edited, suspendedUntil(in)) // what has waited since then runs
	}
	waiting := c.Status.NextScheduleTime
	isSame := last.Equal(timeOf(p.Status.LastScheduleTime)) && in.ScheduleErr == nil &&
		c.Status.ObservedSchedule == observedSchedule(c) && !isEditedUnseen(c)
	switch {
	case waiting == nil || waiting.After(edited):
	case isSame:
		p.missUpTo(in, MissedEdited, in.Schedule.Anchored(Anchor(c, p.Status)), latest(waiting.Add(-time.Second), last), edited)
	case waiting.After(last):
		p.miss(in, Missed{MissedEdited, waiting.Time, waiting.Time, 1})
	}
}

// isWaitOver reports whether the tick that the status waits for is not to run any more, as the
// CronJob was edited, or suspended for some time.
func isWaitOver(in Input) bool {
	return isReschedule(in.CronJob) || timeOf(in.CronJob.Status.NextScheduleTime).Before(suspendedUntil(in))
}

// handledUntil returns the instant up to which ticks need nothing more, given the last that has
// run: they have run, were missed, passed while suspended or stopped, or lie before the CronJob was
// created or its schedule edited.
//
// The status remembers it as nextScheduleTime, the first tick that needs something still, together
// with the schedule that this tick is one of. So an edit is told from all other changes, and ticks
// from before it don't run after it, while a tick that waits for a Job survives an edit of the
// template.
func handledUntil(in Input, last time.Time) time.Time {
	c := in.CronJob
	until := latest(c.CreationTimestamp.Time, last, suspendedUntil(in), in.stoppedUntil)
	waiting := c.Status.NextScheduleTime
	switch {
	case c.Status.ObservedGeneration <= 0: // nobody has looked yet
		if c.Generation > 1 {
			until = latest(until, editedAt(in))
		}
	case isReschedule(c):
		until = latest(until, editedAt(in))
	case waiting != nil:
		until = latest(until, waiting.Add(-time.Second))
	case isReadyReason(c, v1.ReasonCompleted):
		until = latest(until, in.Now) // none is left: whatever passed since the last run was handled
		if len(c.Status.Missed) > 0 { // also before the clock was set back
			until = latest(until, c.Status.Missed[0].Last.Time)
		}
	}
	return until
}

// isReschedule reports whether ticks from before the last edit don't count: the schedule or its
// zone was edited, the CronJob resumed, or it was edited more than once since it was looked at, so
// that it may have been suspended in between.
func isReschedule(c *v1.CronJob) bool {
	return c.Status.ObservedSchedule != observedSchedule(c) ||
		isReadyReason(c, v1.ReasonSuspended) || isEditedUnseen(c)
}

// isEditedUnseen reports whether the spec was edited more than once since it was looked at.
func isEditedUnseen(c *v1.CronJob) bool {
	observed := c.Status.ObservedGeneration
	if observed <= 0 && c.Status.LastScheduleTime == nil { // no status was ever written
		observed = 1
	}
	return observed > 0 && c.Generation-observed > 1
}

// editedAt returns when the spec was last edited. When that is not known, or said to be later than
// when it was first seen, it is then: a tick too few is better than one that nobody expects.
//
// The managed fields may tell of the edit of a label, and not of one that only removes a field. If
// the spec is the one that the status has observed, or was seen before, what they tell of since is
// the edit of a label.
func editedAt(in Input) time.Time {
	edited, status := in.EditedAt, in.CronJob.Status
	if status.ObservedGeneration == in.CronJob.Generation && status.ObservedEditTime != nil {
		edited = status.ObservedEditTime.Time
	}
	if edited.IsZero() || edited.After(in.SeenAt) || isUnstamped(in) {
		return in.SeenAt
	}
	return edited
}

// isUnstamped reports whether the last edit left the managed fields' times as they were: when the
// status was written or a label edited since, or at the creation if nobody has looked yet. The API
// server stamps an edit only if it sets a field: one that removes the time zone, or v2's hour, is
// not stamped. Nor is one that is made while the conversion webhook does not answer
// (FieldManager.UpdateNoErrors in k8s.io/apimachinery keeps the managed fields of before).
func isUnstamped(in Input) bool {
	c, status := in.CronJob, in.CronJob.Status
	if status.ObservedGeneration <= 0 {
		return c.Generation > 1 && !in.EditedAt.After(c.CreationTimestamp.Time)
	}
	return status.ObservedGeneration != c.Generation &&
		(status.ObservedEditTime == nil || !in.EditedAt.After(latest(status.ObservedEditTime.Time, in.LabelledAt)))
}

// observeEdit notes of which spec the status is made. The time of the edit is noted in each status
// that is written, so that the edit of a label, which moves it, is not taken for a later one. A
// status is written for that alone only while the CronJob leaves ticks out: nothing else may be
// written then until an edit brings them back, which may remove a field and so not be stamped.
func (p *Plan) observeEdit(in Input) {
	p.Status.ObservedGeneration = in.CronJob.Generation
	observed := p.Status.ObservedEditTime
	if in.EditedAt.IsZero() || observed != nil && observed.Time.Equal(in.EditedAt) {
		return
	}
	spec := &in.CronJob.Spec
	leavesTicksOut := observed != nil && (isReadyReason(in.CronJob, v1.ReasonSuspended) || IsStopped(in.CronJob) ||
		len(spec.Exclude) > 0 || spec.NotBefore != nil || spec.NotAfter != nil)
	if leavesTicksOut || !apiequality.Semantic.DeepEqual(p.Status, in.CronJob.Status) {
		p.Status.ObservedEditTime = &metav1.Time{Time: in.EditedAt}
	}
}

// Anchor returns what an interval counts from, as of a status of the CronJob: the last run, and
// before the first the creation.
func Anchor(c *v1.CronJob, status v1.CronJobStatus) time.Time {
	if status.LastScheduleTime != nil {
		return status.LastScheduleTime.Time
	}
	return c.CreationTimestamp.Time
}

// SpecOf returns what decides when a CronJob fires: the one place that takes it from its spec.
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

// observedSchedule returns what decides when a CronJob fires, as the status remembers it.
func observedSchedule(c *v1.CronJob) string { return SpecOf(&c.Spec).String() }

// maxTime moves an optional time of the API forwards to another, and never back.
func maxTime(current *metav1.Time, other time.Time) *metav1.Time {
	if current != nil && !other.After(current.Time) {
		return current
	}
	return &metav1.Time{Time: other}
}
