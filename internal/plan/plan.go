// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides what to start, delete and write for a CronJob. Its functions are pure: they
// take what was observed at one instant, read no clock and make no requests. So each policy can be
// tested as a table, and a day of ticks in a millisecond.
//
//	Decide ─┬─ ask.go          what must be looked up first
//	        ├─ jobs.go         which Jobs run and which have ended, in the status
//	        ├─ history.go      which ended Jobs are beyond the history limits
//	        ├─ backfill.go     Jobs that somebody else created for a tick
//	        ├─ jitter.go       by how much starts are delayed
//	        ├─ tick.go         which tick is due, which ones were missed
//	        ├─ catchup.go      how many ticks run after an outage
//	        ├─ concurrency.go  whether a due tick waits for, or replaces, running Jobs
//	        ├─ suspend.go      whether ticks pass without a run
//	        ├─ completed.go    what happens when no tick is left
//	        ├─ failures.go     whether the CronJob stops after failures
//	        └─ conditions.go   what the Ready condition says
//	Conclude ┬─ outcome.go     the status and the next reconcile
//	         ├─ event.go       the events
//	         └─ runs.go        the newest runs in the status
package plan

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// Input is all that a decision is made from.
type Input struct {
	// CronJob as observed, with its defaults. Decide does not change it.
	CronJob *v1.CronJob

	// Jobs that the CronJob controls, running and ended.
	Jobs []*batchv1.Job

	// Gone has Jobs that no longer exist and whose ticks or ends the stored status does not record,
	// as they were last seen.
	Gone []*batchv1.Job

	// ForgottenUntil is the newest tick of the runs that the controller no longer remembers and
	// whose Jobs are gone. Ticks up to it do not count as missed, because some of them ran.
	ForgottenUntil time.Time

	// NameTaken has the ticks whose Job name another object has, and that the stored status does
	// not record.
	NameTaken []time.Time

	// Outdated is whether Jobs comes from a stale cache. Jobs then has each Job that has ended, but
	// may also have Jobs that were deleted.
	Outdated bool

	// Uncached is whether Jobs has one that the cache lacks. If it was deleted before the cache had
	// it, no watch event says so.
	Uncached bool

	// Uncertain is whether a Job may exist that is not in Jobs, or may have ended: the request that
	// created it, or the read of it, got no answer.
	Uncertain bool

	// Refusals has the reasons for which the Job of the newest due tick was refused, of those that the
	// stored status had at some time.
	Refusals []string

	// Unrecordable is whether no status can be written: then a due tick does not wait for a status
	// that records the runs whose Jobs it replaces.
	Unrecordable bool

	// Stale is whether the CronJob may differ from what is stored, because a status write failed.
	Stale bool

	// Confirmed is whether this manager has looked up the CronJob before.
	Confirmed bool

	// Doubtful names Jobs of which it is unknown whether they exist.
	Doubtful []string

	// Asked names the Jobs that have been looked up. Those that exist are in Jobs.
	Asked sets.Set[string]

	// Unanswered is whether a question got no answer.
	Unanswered bool

	// LeadingSince is when this manager became the leader; zero if it has always been.
	LeadingSince time.Time

	// Now is the instant of the decision.
	Now time.Time

	// EditedAt is when the spec was last edited, and RescheduledAt when the fields were that decide
	// whether an instant is a tick that may run: at the latest at the creation. They are zero if the
	// mutating webhook did not see the edit.
	EditedAt, RescheduledAt time.Time

	// SeenAt is when this manager first saw this generation, and ScheduleSeenAt when it first saw it
	// or an earlier one with the same schedule, if it has seen each edit since. They replace times
	// above that are unknown, or that lie ahead because clocks differ. So ticks after them run even
	// while no status can be written.
	SeenAt, ScheduleSeenAt time.Time

	// Schedule has the ticks of the CronJob, unless ScheduleErr says why there are none.
	Schedule    schedule.Ticks
	ScheduleErr error
}

// NewInput makes the input of a decision about a stored CronJob that is seen for the first time: it
// sets the defaults and parses the schedule. It does not change the CronJob.
func NewInput(stored *v1.CronJob, now time.Time, jobs ...*batchv1.Job) Input {
	defaulted := *stored // a shallow copy: Default replaces pointers
	defaulted.Default()
	in := Input{CronJob: &defaulted, Jobs: jobs, Now: now, SeenAt: now, ScheduleSeenAt: now}
	in.EditedAt, in.RescheduledAt = editTimes(stored)
	in.Schedule, in.ScheduleErr = SpecOf(&stored.Spec).Ticks()
	return in
}

// Plan is what to do. It is never changed: Conclude makes a Result from it and from what was done.
type Plan struct {
	// Status is what to write if nothing is done.
	Status v1.CronJobStatus

	// Ask is what to look up before the decision is made again. If it asks for something, nothing
	// else of the plan is to be done.
	Ask Question

	// Start is the tick to start; nil for none.
	Start *Start

	// Replace has the Jobs to delete before the start. If one can't be deleted, nothing is started.
	Replace []*batchv1.Job

	// Prune has the ended Jobs to delete because they are beyond the history limits.
	Prune []*batchv1.Job

	// Ended has the Jobs whose end the stored status lacks. If more run than it lists, it also has
	// unlisted Jobs that ended in the last 10 minutes, which may be reported twice.
	Ended []*batchv1.Job

	// ReplacedCount counts the listed Jobs that are gone because they were deleted for the next
	// run.
	ReplacedCount int

	// DeletedCount counts the listed Jobs that are gone because somebody else deleted them.
	DeletedCount int

	// Missed has the ticks that are added to status.missed.
	Missed []Missed

	// Events to record, whether or not the status can be written. Those of Ended are not among
	// them.
	Events []Event

	// WakeAt is when to decide again if no watch event comes before; zero for never.
	WakeAt time.Time

	// Again is whether to decide again as soon as the status is written. Only then may some Jobs be
	// deleted.
	Again bool

	// running has the Jobs that run, oldest first.
	running []jobState

	// stops are the times in which the CronJob was stopped after failures, oldest first.
	stops []interval

	// unseen names the Jobs that the status lists and that were not observed.
	unseen []string

	// unobserved is how many Jobs probably run but were not observed.
	unobserved int

	// jobs has the observed Jobs.
	jobs sortedJobs

	// newlyEnded has the Jobs whose end the stored status does not record.
	newlyEnded []*batchv1.Job

	// unrecorded has the Jobs of ticks that the stored status does not record.
	unrecorded []*batchv1.Job

	// maybeDue has the ended Jobs of backfills whose tick may be due.
	maybeDue []jobState
}

// Start is a tick to start.
type Start struct {
	// Tick is the scheduled time.
	Tick time.Time
	Job  *batchv1.Job

	// Newest is the newest due tick: with catchUpPolicy All it may be later than Tick.
	Newest time.Time

	// Next is the tick after Tick, which may be due too; zero for none.
	Next time.Time

	// GiveUpAt is when this tick may be missed: the end of the starting deadline, or the start of
	// the next tick that is not due yet; zero for never.
	GiveUpAt time.Time
}

// Decide makes the plan, or asks for what it must know first.
func Decide(in Input) Plan {
	p := Plan{Status: *in.CronJob.Status.DeepCopy(), Ask: in.unsettled()}
	if in.CronJob.DeletionTimestamp != nil || !p.Ask.IsEmpty() {
		return p // once it is being deleted it starts nothing, and the garbage collector deletes its Jobs
	}
	p.noteJobs(in)
	stoppedAt, isStopped := p.countFailures(in)
	p.missSkipped(in)
	spec := SpecOf(&in.CronJob.Spec)
	p.Status.ObservedSchedule, p.Status.TimeZone = spec.String(), cmp.Or(spec.TimeZone, time.UTC.String())
	switch {
	case in.ScheduleErr != nil:
		p.reject(in)
	case IsSuspended(in.CronJob, in.Now):
		p.suspend(in)
	case isStopped:
		p.stop(in, stoppedAt)
	default:
		p.decideDue(in)
	}
	p.prune(in)
	p.Status.ObservedGeneration = in.CronJob.Generation
	if in.Uncached {
		p.wakeBy(in.Now.Add(recheckUncached))
	}
	p.Ask = p.ask(in)
	return p
}

// recheckUncached is how long after a decision the next one follows if the cache lacked a Job.
const recheckUncached = time.Second

// reject starts nothing because the schedule is invalid, until somebody edits it.
func (p *Plan) reject(in Input) {
	p.missWaiting(in, timeOf(p.Status.LastScheduleTime))
	p.setNext(in, time.Time{})
	p.Status.ObservedSchedule = ""
	reason, eventReason, note := v1.ReasonInvalidSchedule, EventUnparseableSchedule, in.ScheduleErr.Error()
	if errors.Is(in.ScheduleErr, schedule.ErrTimeZone) {
		reason, eventReason = v1.ReasonInvalidTimeZone, EventUnknownTimeZone
	}
	if p.setReady(in, metav1.ConditionFalse, reason, note) {
		p.Events = append(p.Events, warning(eventReason, actionSchedule, nil, keyOf(in.CronJob, note), note))
	}
}

// decideDue finds the due tick, if any, and decides what to do about it.
func (p *Plan) decideDue(in Input) {
	ticks := in.Schedule.Anchored(Anchor(in.CronJob, p.Status))
	p.missPassed(in)
	from := handledUntil(in, p.stops, timeOf(p.Status.LastScheduleTime))
	first, ok := ticks.Next(from)
	if !ok || StartOf(in.CronJob, first).After(in.Now) {
		p.await(in, first)
		return
	}
	newest, ok := ticks.Last(first, in.Now.Add(-Jitter(in.CronJob)))
	if !ok {
		newest = first
	}
	due := oldestDue(in, ticks, from, newest)
	p.missUpTo(in, reasonForOlder(in.CronJob), ticks, from, due.Add(-time.Second))
	next, _ := ticks.Next(due)
	for p.passOver(in, due) {
		if due.Equal(newest) {
			p.await(in, next)
			return
		}
		due = next
		next, _ = ticks.Next(due)
	}
	coming, _ := ticks.Next(newest)
	giveUp := StartOf(in.CronJob, coming)
	if deadline := deadlineOf(in, due); !deadline.IsZero() {
		giveUp = earliest(giveUp, deadline.Add(time.Millisecond)) // at the deadline it is still in time
	}
	p.setNext(in, due)
	if !isReadyReason(in.CronJob, v1.ReasonWaiting) && !isReadyReason(in.CronJob, v1.ReasonJobCreationFailed) {
		// Whether or not the tick can start: if Ready stayed Suspended, the next plan would miss
		// the same ticks again.
		p.setReady(in, metav1.ConditionTrue, v1.ReasonScheduled, messageScheduled)
	}
	p.run(in, Start{Tick: due, Newest: newest, Next: next, GiveUpAt: giveUp})
}

// passOver reports whether a due tick must not be started. It then has run, or is missed.
func (p *Plan) passOver(in Input, due time.Time) bool {
	switch {
	case slices.ContainsFunc(in.NameTaken, due.Equal): // the stored status may lack it, if it can't be written
		p.miss(in, Missed{MissedNameTaken, due, due, 1})
	case p.isBackfilled(in, due):
		p.Status.LastScheduleTime = maxTime(p.Status.LastScheduleTime, due)
	case isLate(in, due):
		p.miss(in, Missed{MissedDeadline, due, due, 1})
	default:
		return false
	}
	return true
}

// await waits for the next tick; zero if none is left.
func (p *Plan) await(in Input, next time.Time) {
	if next.IsZero() {
		p.complete(in)
		return
	}
	p.setNext(in, next)
	p.wakeBy(StartOf(in.CronJob, next))
	p.setReady(in, metav1.ConditionTrue, v1.ReasonScheduled, messageScheduled)
}

// wakeBy asks for the next decision at an instant, or earlier; zero asks for nothing.
func (p *Plan) wakeBy(at time.Time) { p.WakeAt = earliest(p.WakeAt, at) }

// deadlineOf returns the last instant at which a tick may start; zero for none.
func deadlineOf(in Input, tick time.Time) time.Time {
	seconds := in.CronJob.Spec.StartingDeadlineSeconds
	if seconds == nil || *seconds > math.MaxInt64/int64(time.Second) {
		return time.Time{}
	}
	// No tick is in time for a negative deadline, which only a CronJob stored without the schema
	// can have. One far below 0 would overflow the sum.
	return StartOf(in.CronJob, tick).Add(time.Duration(max(*seconds, -1)) * time.Second)
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
