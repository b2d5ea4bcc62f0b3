// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// slack is how long a manager may take from a decision to its request.
const slack = 2 * time.Second

func (c *check) starts(s *timeline) {
	ticks := map[int64]*run{} // by tick, in seconds
	for i, run := range s.runs {
		switch other := ticks[run.Tick.Unix()]; {
		case other == nil:
		case c.isForgotten(s, other, run.createdAt):
			c.Forgotten++
		case s.gone > 0 && run.created > s.gone: // a manager that did not know of the deletion did not know that of the Job either
		default:
			c.violate(Doubled, s, run.Tick, "Job %s was created twice, at revisions %d and %d", run.Name, other.created, run.created)
		}
		ticks[run.Tick.Unix()] = run
		c.label(s, run)
		c.start(s, run, s.runs[:i])
	}
	c.backfills(s, ticks)
}

// backfills checks the Jobs that users backfilled, given the runs of the schedule by tick. They
// backfill only missed ticks, and so never one that runs.
func (c *check) backfills(s *timeline, ticks map[int64]*run) {
	for _, run := range s.backfills {
		switch other := ticks[run.Tick.Unix()]; {
		case other == nil, c.isUnrecorded(s, other, run.created), c.isForgotten(s, other, run.createdAt):
		case c.isUnseen(s, run, other):
			c.Forgotten++
		default:
			c.violate(Doubled, s, run.Tick, "Job %s was backfilled, and created at revision %d", run.Name, other.created)
		}
		ticks[run.Tick.Unix()] = run
		c.label(s, run)
		c.Backfilled++
	}
}

// isUnrecorded reports whether nothing stored at a revision shows a run: its Job was deleted, by
// somebody else or by a manager that could not write the status, and no status had it. Only a write
// before each creation could prevent that.
func (c *check) isUnrecorded(s *timeline, run *run, revision int64) bool {
	booked := func(v version) bool { return !v.LastSchedule.Before(run.Tick) && v.revision < revision }
	deleted := c.acts[run.UID] || c.isRefused(s, run.createdAt, run.deletedAt, history.Statuses)
	return run.deleted > 0 && run.deleted <= revision && deleted && !slices.ContainsFunc(s.versions, booked)
}

// isUnseen reports whether a user backfilled a tick and deleted the Job before the managers that
// requested another one had received it, or whether a process that had received it may have ended
// since.
func (c *check) isUnseen(s *timeline, backfilled, other *run) bool {
	knew := func(create *create) bool { return create.Knew >= backfilled.created }
	return c.isUnrecorded(s, backfilled, other.created) &&
		(!slices.ContainsFunc(other.creates, knew) || c.hasEnded(backfilled.createdAt, other.createdAt))
}

// isForgotten reports whether no process could know of a run any more at an instant, when its tick
// ran again or was reported as missed: the run was unrecorded when its Job was deleted, and the
// process that had requested it had ended, was frozen, or had no answer. A process that has lost
// its lease ends some seconds later.
func (c *check) isForgotten(s *timeline, run *run, by time.Time) bool {
	asked := run.createdAt
	for _, create := range run.creates {
		if create.Asked.Before(asked) {
			asked = create.Asked
		}
	}
	asked = asked.Add(-c.slow(slack)) // a request may be on its way when its process is frozen
	answered := func(create *create) bool { return create.Code == http.StatusCreated }
	isUnknown := c.hasEnded(asked, by.Add(c.slow(lastWords))) || !slices.ContainsFunc(run.creates, answered)
	return c.isUnrecorded(s, run, run.deleted) && isUnknown
}

func (c *check) hasEnded(from, to time.Time) bool {
	return slices.ContainsFunc(c.ends, func(end time.Time) bool { return end.After(from) && end.Before(to) })
}

func (c *check) label(s *timeline, run *run) {
	want := fmt.Sprintf("%s-%d", s.name[strings.IndexByte(s.name, '/')+1:], run.Tick.Unix())
	switch {
	case run.Tick.IsZero() || !run.PodTick.Equal(run.Tick):
		c.violate(Unlabelled, s, run.Tick, "Job %s carries the tick %s and its Pods %s", run.Name, stamp(run.Tick), stamp(run.PodTick))
	case run.Name != want:
		c.violate(Unlabelled, s, run.Tick, "Job %s of this tick should be called %s", run.Name, want)
	}
}

// start checks whether a Job was to be created. The manager may have used any spec from the one it
// knew when it decided to the one that was stored when the Job was. Of several requests for one
// Job, any may have created it. It is enough if one spec and one request allow it.
func (c *check) start(s *timeline, run *run, before []*run) {
	if len(run.creates) == 0 {
		c.violate(Unasked, s, run.Tick, "Job %s is there, but no manager has asked for it", run.Name)
		return
	}
	var first *problem // that of the newest spec and the first request explains most
	for _, create := range run.creates {
		if s.gone > 0 && s.gone <= create.Knew {
			first = cmp.Or(first, &problem{AfterDelete,
				fmt.Sprintf("%s knew revision %d, and the CronJob was deleted at %d", create.Manager, create.Knew, s.gone)})
			continue
		}
		specs := s.between(create.Knew, run.created)
		for i, spec := range slices.Backward(specs) {
			p := c.judge(s, spec, run, before, create)
			if p == nil {
				c.started(run, create, spec.delay, i < len(specs)-1 || s.gone > 0 && s.gone < run.created)
				return
			}
			first = cmp.Or(first, p)
		}
	}
	c.violate(first.law, s, run.Tick, "Job %s: %s", run.Name, first.text)
}

// problem is why a Job should not have been created.
type problem struct {
	law  Law
	text string
}

// judge returns why a spec does not allow a request for a Job; nil if it does.
func (c *check) judge(s *timeline, spec spec, run *run, before []*run, create *create) *problem {
	slack := c.slow(slack)
	earliest, latest := c.stepsIn(create)
	decided, start := create.Decided.Add(earliest), run.Tick.Add(spec.delay)
	switch {
	case start.After(create.Asked.Add(latest)):
		return &problem{Early, fmt.Sprintf("asked for %v before its start", start.Sub(create.Asked.Add(latest)))}
	case latest == 0 && earliest == 0 && run.Created.Before(start):
		return &problem{Early, "created at " + stamp(run.Created)}
	case spec.Suspend:
		return &problem{AfterSuspend, fmt.Sprintf("suspended since %s, which %s knew: revision %d of %d",
			stamp(spec.since), create.Manager, spec.revision, create.Knew)}
	case !run.Tick.After(c.floor(spec)):
		return &problem{AfterEdit, fmt.Sprintf("the schedule counts since %s, which %s knew: revision %d of %d",
			stamp(spec.since), create.Manager, spec.revision, create.Knew)}
	case spec.isExcluded(run.Tick):
		return &problem{Excluded, fmt.Sprintf("excluded are %v, all before %s and all after %s",
			spec.Exclude, stamp(spec.NotBefore), stamp(spec.NotAfter))}
	case !c.isTick(s, spec, run):
		return &problem{NoTick, fmt.Sprintf("it is not a tick of %q", spec.Schedule)}
	case decided.After(start.Add(deadlineOf(spec.CronJob) + slack)):
		return &problem{PastDeadline,
			fmt.Sprintf("decided %v after its start, with a deadline of %ds", decided.Sub(start), deadlineOf(spec.CronJob)/time.Second)}
	case c.hasStopped(s, spec, run, create):
		return &problem{AfterFailures, fmt.Sprintf("stopped after %d failures, the last restart being at %s",
			spec.StopAfter, stamp(s.restartedAt(run.createdAt, true)))}
	}
	newer := run.Tick
	for range max(1, spec.CatchUp) {
		newer = spec.next(newer, run.Tick)
	}
	if decided.After(newer.Add(spec.delay + slack)) {
		law := NotNewest
		if spec.CatchUp > 0 {
			law = BeyondLimit
		}
		return &problem{law, fmt.Sprintf("decided %v after its start, when newer ones were due", decided.Sub(start))}
	}
	running := 0
	for _, other := range before {
		if other.runsAt(run.created) {
			running++
		}
	}
	if law, limit := concurrency(spec.CronJob); limit > 0 && running >= limit {
		return &problem{law, fmt.Sprintf("%d others still ran", running)}
	}
	return nil
}

// concurrency returns how many Jobs may run at once, and the law; 0 for any number.
func concurrency(c *history.CronJob) (Law, int) {
	switch c.Policy {
	case "Forbid":
		return ForbidOverlaps, 1
	case "Replace":
		return ReplaceLeavesOne, 1
	}
	return TooMany, c.MaxConcurrency
}

// floor returns the instant up to which ticks don't count. If an edit is in the future by the
// manager's clock, it counts from when the manager sees it, by that clock.
func (c *check) floor(spec spec) time.Time {
	floor, unsure := spec.since, c.slow(unsure)
	for _, w := range c.clocks {
		if w.step >= 0 || spec.since.Before(w.from.Add(w.step-unsure)) || spec.since.After(w.to.Add(unsure)) {
			continue
		}
		seen := spec.since
		if seen.Before(w.from) {
			seen = w.from
		}
		if earlier := seen.Add(w.step - unsure); earlier.Before(floor) {
			floor = earlier
		}
	}
	return floor
}

// edits checks the times of edits that the webhook wrote. Without the right time, a manager can't
// know which ticks were before the edit.
func (c *check) edits(s *timeline) {
	for i, v := range s.versions {
		if i == 0 || v.Generation == s.versions[i-1].Generation {
			continue
		}
		if v.Edited.After(v.at) || v.Edited.Before(v.at.Add(-c.slow(patienceInStorm))) {
			c.violate(AfterEdit, s, time.Time{}, "the edit that was stored at %s (revision %d) is said to be of %s",
				stamp(v.at), v.revision, stamp(v.Edited))
		}
	}
}

// unsure is the error of times that are rounded to seconds and come from several processes.
const unsure = 3 * time.Second

// lastAnchors is how many of the last runs an interval may count from, as a manager may not know
// all of them yet.
const lastAnchors = 3

// isTick reports whether a run is of a tick, for a manager that knows all earlier runs, or all but
// the last few and those that no process could know of.
func (c *check) isTick(s *timeline, spec spec, run *run) bool {
	first, left := s.versions[0].Created, lastAnchors
	if spec.fixed {
		return spec.has(run.Tick, first)
	}
	for _, other := range slices.Backward(s.anchors(run.created)) {
		if spec.has(run.Tick, other.Tick) {
			return true
		}
		isUnknown := !s.wasLast(other) && c.isUnrecorded(s, other, run.created) && c.isForgotten(s, other, run.createdAt)
		if !isUnknown {
			left--
		}
		if left == 0 {
			return false
		}
	}
	return spec.has(run.Tick, first)
}

func (c *check) started(run *run, create *create, delay time.Duration, raced bool) {
	c.Run++
	if raced {
		c.Raced++
	}
	if least, most := c.stepsIn(create); least == 0 && most == 0 {
		late := create.Asked.Sub(run.Tick) - delay
		c.late = append(c.late, late)
		if c.isCalm(run.Tick) {
			c.lateInCalm = append(c.lateInCalm, late)
		}
	}
}

// stepUnsure is how long after a step of the clocks a manager may have read either time.
const stepUnsure = time.Second

// stepsIn returns the least and the most by which the manager's clock may have been stepped when it
// decided on a request.
func (c *check) stepsIn(create *create) (least, most time.Duration) {
	return c.steps(create.Decided.Add(-stepUnsure), create.Asked)
}

// steps returns the least and the most by which the managers' clock was stepped between two
// instants.
func (c *check) steps(from, to time.Time) (least, most time.Duration) {
	for _, w := range c.clocks {
		switch {
		case w.from.Before(from) && w.to.After(to):
			return w.step, w.step
		case !w.from.After(to) && !w.to.Before(from):
			least, most = min(least, w.step), max(most, w.step)
		}
	}
	return least, most
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.UTC().Format("15:04:05")
}

func (c *check) deletions(s *timeline) {
	for _, run := range s.runs {
		if run.deleted == 0 || c.acts[run.UID] {
			continue
		}
		remembering := c.slow(remembering)
		specs := s.inForce(run.deletedAt.Add(-remembering), run.deleted)
		replaced := slices.ContainsFunc(specs, func(spec spec) bool { return spec.Policy == "Replace" })
		switch runs := run.ended == 0 || run.ended > run.deleted; {
		case runs && !replaced:
			c.violate(DeletedWhileRunning, s, run.Tick, "Job %s ran, and the policy is not Replace", run.Name)
		case runs, replaced && run.endedAt.After(run.deletedAt.Add(-remembering)): // its end may not be known yet
		default:
			c.pruned(s, run, specs)
		}
	}
}

// remembering is how long a manager may use a spec after an edit.
const remembering = 30 * time.Second

// inForce returns the specs that were in force from an instant to a revision.
func (s *timeline) inForce(from time.Time, to int64) []spec {
	var specs []spec
	for i, spec := range s.specs {
		if spec.revision < to && (i+1 == len(s.specs) || s.specs[i+1].at.After(from)) {
			specs = append(specs, spec)
		}
	}
	return specs
}

// How long a manager may not know what became of a Job: in the storm, where watches lag and
// requests wait, and without faults.
const (
	lagInStorm = 10 * time.Second
	lagInCalm  = 2 * time.Second
)

// lag returns that time for a tick.
func (c *check) lag(tick time.Time) time.Duration {
	if c.isCalm(tick) || len(c.faults) == 0 {
		return c.slow(lagInCalm)
	}
	return c.slow(lagInStorm)
}

// pruned checks whether a Job was beyond the history limit: as many newer ones had to exist.
func (c *check) pruned(s *timeline, run *run, specs []spec) {
	lag, newer := c.lag(run.Tick), 0
	for _, other := range s.runs {
		isThere := other.deleted == 0 || other.deletedAt.After(run.deletedAt.Add(-lag))
		if isThere && other.result == run.result && other.Tick.After(run.Tick) && other.ended < run.deleted {
			newer++
		}
	}
	for _, spec := range specs {
		if newer >= limit(spec.CronJob, run.result) {
			return
		}
	}
	c.violate(PrunedTooMuch, s, run.Tick, "Job %s, which %s, was deleted with %d newer ones there", run.Name, run.result, newer)
}

func limit(c *history.CronJob, result string) int {
	if result == history.Failed {
		return c.FailedLimit
	}
	return c.SucceededLimit
}
