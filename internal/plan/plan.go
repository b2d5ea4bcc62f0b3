// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what a CronJob needs, as a pure function: from what was observed at one
// instant to what is to be started, deleted and written. It reads no clock and talks to nobody, so
// that each policy can be tested as a table and a day of ticks in a millisecond.
//
//	Decide ─┬─ jobs.go         which Jobs run, which have ended, what that means for the status
//	        ├─ history.go      which ended Jobs are one too many
//	        ├─ backfill.go     what a Job of a tick means that the schedule did not start
//	        ├─ jitter.go       by how much starts are delayed
//	        ├─ tick.go         which tick is due, which ones were missed
//	        ├─ catchup.go      how many of those that have not run do
//	        ├─ concurrency.go  what a due tick does about Jobs that still run
//	        ├─ suspend.go      whether ticks pass without a run
//	        ├─ completed.go    what is done when no tick is left
//	        ├─ failures.go     whether so many runs have failed that nothing more is started
//	        └─ conditions.go   what the Ready condition says
//	Conclude ┬─ outcome.go     what follows from what was done: the status, the events, the next look
//	         └─ runs.go        what the status says about the newest runs
package plan

import (
	"errors"
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// Input is all that a decision is made from.
type Input struct {
	// CronJob as observed, with its defaults. Decide does not change it.
	CronJob *v1.CronJob

	// Jobs that the CronJob controls, by UID, whether they run or have ended.
	Jobs []*batchv1.Job

	// Gone has Jobs of ticks that the status does not tell of, as they were when they were last
	// seen: they are there no more.
	Gone []*batchv1.Job

	// ForgottenUntil is the newest tick of a run that is forgotten and whose Job is gone. Ticks up to
	// then are not taken for missed: some of them ran.
	ForgottenUntil time.Time

	// NameTaken has ticks of whose Jobs something else has the name, and which the status does not tell
	// of.
	NameTaken []time.Time

	// Outdated says that some of the Jobs are of an earlier time than others: what has ended since
	// is among them, and what was deleted since may be, too.
	Outdated bool

	// Uncertain says that some Job may exist that is not among the Jobs: its creation or its
	// look-up got no answer.
	Uncertain bool

	// Unrecordable says that the status which Plan.RecordFirst asks for can't be written.
	Unrecordable bool

	// LeadingSince is when this manager began to lead; zero if it has always led. Verified says
	// that the Jobs which Plan.Verify names have been looked up.
	LeadingSince time.Time
	Verified     bool

	// Now is the one instant that the decision is made at.
	Now time.Time

	// EditedAt is when the spec was last edited as the managed fields say, in whole seconds rounded
	// down. Zero when unknown. They do not say it of an edit that only removes fields.
	EditedAt time.Time

	// LabelledAt is what EditedAt was before this generation, if a label was edited of which the
	// status does not tell; zero if not.
	LabelledAt time.Time

	// SeenAt is when this manager first saw this generation, or one before it with the same schedule
	// if it has seen each edit since. It stands in for an EditedAt that is not known, or that an edit
	// of something else has moved, so that ticks after it run even while no status can be written.
	SeenAt time.Time

	// EditSeenAt is when this manager saw this generation follow another that the status does not tell
	// of; zero if it did not.
	EditSeenAt time.Time

	// stoppedUntil is the instant up to which ticks passed while the CronJob had stopped after
	// failures; zero if it had not. Decide fills it in.
	stoppedUntil time.Time

	// Schedule has the ticks of the CronJob, unless ScheduleErr says why there are none.
	Schedule    schedule.Ticks
	ScheduleErr error
}

// NewInput makes the input of a decision about a CronJob as it is stored: it fills in the defaults
// and parses the schedule. It does not change the CronJob.
func NewInput(stored *v1.CronJob, now, editedAt time.Time, jobs ...*batchv1.Job) Input {
	defaulted := *stored // Default sets fields, and changes nothing that they point to
	defaulted.Default()
	in := Input{CronJob: &defaulted, Jobs: jobs, Now: now, EditedAt: editedAt, SeenAt: now}
	in.Schedule, in.ScheduleErr = SpecOf(&stored.Spec).Ticks()
	return in
}

// Plan is what is to be done. Nobody changes it: Conclude makes a Result of it and of what was
// done.
type Plan struct {
	// Status to write if nothing is done.
	Status v1.CronJobStatus

	// Verify names Jobs to be looked up, after which it is to be decided again: those that the
	// status lists and that were not observed, and those of ticks that would be missed, but that
	// the manager which led before may have run.
	Verify []string

	// RecordFirst says that a tick is due that waits until the status is written: it tells of runs
	// whose Jobs are to be deleted. If it can't be written, it is to be decided again.
	RecordFirst bool

	// Start says which tick is to be started; nil for none.
	Start *Start

	// Replace has the Jobs to delete before the start. If one can't be deleted, nothing is started.
	Replace []*batchv1.Job

	// Prune has the ended Jobs to delete because the history limits are reached.
	Prune []*batchv1.Job

	// Ended has the Jobs whose end the stored status lacks. If more run than it lists, it also has
	// unlisted Jobs that ended in the last 10 minutes, which may be reported twice.
	Ended []Ended

	// ReplacedCount counts the listed Jobs that are gone because they were deleted for the next run.
	ReplacedCount int

	// DeletedCount counts the listed Jobs that are gone because somebody else deleted them.
	DeletedCount int

	// Missed has the ticks that will never run, as they are added to the status.
	Missed []Missed

	// HeldBy is the Job that a due tick has begun to wait for; nil when there is none, or when the
	// status says so already.
	HeldBy *batchv1.Job

	// Stopped says why nothing is started after failures; nil when something may be, or when the
	// status says so already.
	Stopped *Stop

	// Rejected says why the schedule can't be followed; nil when it can, or when the status says so
	// already.
	Rejected *Rejection

	// WakeAt is when to decide again if nothing happens before. Zero for never.
	WakeAt time.Time

	// Again asks for another decision as soon as the status is written: only then may some Job be
	// deleted.
	Again bool

	// running has the Jobs that run, oldest first. unobserved is how many more are believed to run.
	running    []jobState
	unobserved int

	// jobs has the Jobs that were observed.
	jobs sortedJobs

	// newlyEnded has the Jobs whose end the stored status does not say, each of them once.
	newlyEnded []*batchv1.Job

	// unrecorded has Jobs of ticks that the stored status does not tell of.
	unrecorded []*batchv1.Job
}

// Start is a tick to be started.
type Start struct {
	// Tick is the scheduled time, and At when it was to start: the same but for the jitter.
	Tick, At time.Time
	Job      *batchv1.Job

	// Newest is the newest tick that is due; with catchUpPolicy All it may be a later one.
	Newest time.Time

	// Next is the tick after it, which may be due too, and GiveUpAt when it may be too late for this
	// one: the end of the starting deadline, or the start of the next tick that is not due yet. Both
	// are zero for never.
	Next, GiveUpAt time.Time
}

// Rejection is why a schedule can't be followed.
type Rejection struct {
	// Reason is that of the Ready condition: InvalidSchedule or InvalidTimeZone.
	Reason string
	Err    error
}

// Decide makes the plan.
func Decide(in Input) Plan {
	p := Plan{Status: *in.CronJob.Status.DeepCopy()}
	if in.CronJob.DeletionTimestamp != nil {
		return p // it starts nothing any more, and its Jobs are the garbage collector's
	}
	jobs := sortJobs(in)
	p.observe(in, jobs)
	stop, stoppedUntil := p.countFailures(in)
	in.stoppedUntil = stoppedUntil
	p.missOvertaken(in)
	switch {
	case in.ScheduleErr != nil:
		p.reject(in)
	case isSuspended(in.CronJob, in.Now):
		p.suspend(in)
	case stop != nil:
		p.stop(in, stop)
		in.stoppedUntil = in.Now // no tick up to now comes due any more
	default:
		p.follow(in, jobs.active)
	}
	p.prune(in, jobs)
	p.observeEdit(in)
	if !in.Verified {
		p.verify(in)
	}
	return p
}

// reject stops at a schedule that can't be followed. An edit is what it takes to go on.
func (p *Plan) reject(in Input) {
	p.missWaiting(in, timeOf(p.Status.LastScheduleTime))
	p.setNext(in, time.Time{})
	p.Status.ObservedSchedule = ""
	reason := v1.ReasonInvalidSchedule
	if errors.Is(in.ScheduleErr, schedule.ErrTimeZone) {
		reason = v1.ReasonInvalidTimeZone
	}
	if p.setReady(in, metav1.ConditionFalse, reason, in.ScheduleErr.Error()) {
		p.Rejected = &Rejection{Reason: reason, Err: in.ScheduleErr}
	}
}

// follow finds the tick that is due, if any, and says what is to be done about it.
func (p *Plan) follow(in Input, active []jobState) {
	ticks := in.Schedule.Anchored(Anchor(in.CronJob, p.Status))
	last := timeOf(p.Status.LastScheduleTime)
	from := handledUntil(in, last)
	if isWaitOver(in) {
		p.missWaiting(in, last)
	}
	if isEditedUnseen(in.CronJob) {
		// Whether ticks before they were seen count is not known: one of the edits may have been a
		// resume, and the managed fields do not tell of each. So none of them runs.
		p.missUpTo(in, MissedEdited, ticks, from, in.SeenAt)
		from = latest(from, in.SeenAt)
	}
	p.Status.ObservedSchedule = observedSchedule(in.CronJob)

	newest, isDue := ticks.Last(from, in.Now.Add(-Jitter(in.CronJob)))
	if !isDue {
		next, _ := ticks.Next(from)
		p.await(in, next)
		return
	}
	due := oldestDue(in, ticks, from, newest)
	p.missOlder(in, ticks, from, due)
	next, _ := ticks.Next(due)
	for p.isBackfilled(in, due) || isNameTaken(in, due) {
		p.passOver(in, due)
		if due.Equal(newest) {
			p.await(in, next)
			return
		}
		due = next
		next, _ = ticks.Next(due)
	}
	if isLate(in, due) {
		p.miss(in, Missed{MissedDeadline, due, due, 1})
		p.await(in, next)
		return
	}
	coming, _ := ticks.Next(newest)
	giveUp := startOf(in.CronJob, coming)
	if deadline, hasDeadline := deadlineOf(in, due); hasDeadline {
		// The deadline itself is in time, so the first instant that is not comes after it.
		giveUp = earliest(giveUp, deadline.Add(time.Millisecond))
	}
	p.setNext(in, due)
	if !isReadyReason(in.CronJob, v1.ReasonWaiting) && !isReadyReason(in.CronJob, v1.ReasonJobCreationFailed) {
		// Whatever becomes of the tick: were it Suspended still, the next plan would miss the same
		// ticks again.
		p.setReady(in, metav1.ConditionTrue, v1.ReasonScheduled, messageScheduled)
	}
	p.run(in, active, Start{Tick: due, At: startOf(in.CronJob, due), Newest: newest, Next: next, GiveUpAt: giveUp})
}

// passOver leaves out a tick that is due and is not to be started.
func (p *Plan) passOver(in Input, due time.Time) {
	if isNameTaken(in, due) {
		p.miss(in, Missed{MissedNameTaken, due, due, 1})
		return
	}
	p.Status.LastScheduleTime = maxTime(p.Status.LastScheduleTime, due)
}

// await has nothing to do until the next tick, which is zero if none is left.
func (p *Plan) await(in Input, next time.Time) {
	if next.IsZero() {
		p.complete(in)
		return
	}
	p.setNext(in, next)
	p.wakeBy(startOf(in.CronJob, next))
	p.setReady(in, metav1.ConditionTrue, v1.ReasonScheduled, messageScheduled)
}

// wakeBy has the next decision made at an instant at the latest; zero asks for nothing.
func (p *Plan) wakeBy(at time.Time) { p.WakeAt = earliest(p.WakeAt, at) }

// deadlineOf returns the last instant at which a tick may start, if there is one.
func deadlineOf(in Input, tick time.Time) (time.Time, bool) {
	seconds := in.CronJob.Spec.StartingDeadlineSeconds
	if seconds == nil || *seconds > math.MaxInt64/int64(time.Second) {
		return time.Time{}, false
	}
	// Below 0, which only a stored object can be, no tick is in time; far below, the sum would
	// overflow.
	return startOf(in.CronJob, tick).Add(time.Duration(max(*seconds, -1)) * time.Second), true
}

// earliest returns the earlier of two instants; zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// latest returns the latest of some instants.
func latest(times ...time.Time) time.Time {
	newest := time.Time{}
	for _, t := range times {
		if t.After(newest) {
			newest = t
		}
	}
	return newest
}

// timeOf returns an optional time of the API; zero for none.
func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
