// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// refusal is a time in which managers were refused one kind of requests in a namespace.
type refusal struct {
	*history.Refusal
	from, to time.Time
}

// try is a request for the Job of a tick, with any result.
type try struct {
	*create
	tick time.Time
}

func (r *index) refusal(rec *history.Record) {
	if !rec.Refusal.Ended {
		r.faults[rec.Refusal.Kind]++
		r.refusals = append(r.refusals, &refusal{Refusal: rec.Refusal, from: rec.At, to: never})
		return
	}
	r.refused += rec.Refusal.Refused
	for _, open := range r.refusals {
		if open.to.Equal(never) && open.Kind == rec.Refusal.Kind && open.Namespace == rec.Refusal.Namespace {
			open.to = rec.At
		}
	}
}

// try adds a request for a Job, by the CronJob's namespace/name. The tick is in the Job's name.
func (r *index) try(c *create) {
	at := strings.LastIndexByte(c.Job, '-')
	if at < 0 {
		return
	}
	if seconds, err := strconv.ParseInt(c.Job[at+1:], 10, 64); err == nil {
		r.tries[c.Job[:at]] = append(r.tries[c.Job[:at]], try{c, time.Unix(seconds, 0)})
	}
}

// struckBy returns the namespace/name of the CronJob whose request a fault struck; "" if it is
// unknown or there is none.
func struckBy(fault *history.Fault) string {
	parts := strings.Split(fault.Detail, "/")
	at := slices.Index(parts, "namespaces")
	if at < 0 || len(parts) < at+4 {
		return ""
	}
	name := parts[at+3]
	if end := strings.LastIndexByte(name, '-'); end >= 0 && parts[at+2] == "jobs" {
		name = name[:end]
	}
	return parts[at+1] + "/" + name
}

// isRefused reports whether a CronJob is refused one of some kinds of requests between two
// instants.
func (c *check) isRefused(s *timeline, from, to time.Time, of ...string) bool {
	return slices.ContainsFunc(c.refusals, func(r *refusal) bool { return r.isOf(s, from, to, of...) })
}

// isOf reports whether the refusal is one of some kinds, and concerns a CronJob between two
// instants.
func (r *refusal) isOf(s *timeline, from, to time.Time, of ...string) bool {
	return r.Namespace == s.namespace() && slices.Contains(of, r.Of) && r.from.Before(to) && r.to.After(from)
}

func (s *timeline) namespace() string { return s.name[:strings.IndexByte(s.name, '/')] }

// anything has all kinds of refusals.
var anything = []string{history.Creates, history.Deletes, history.Statuses, history.Events, history.Reads}

// How soon after its tick the Job, or that of a newer tick, must be requested although other
// requests are refused; how soon a refused creation must be retried at first; and how long after a
// refusal both are checked.
const (
	onTime    = 5 * time.Second
	againBy   = 3 * time.Second
	aftermath = time.Minute
)

// refusedTick checks whether a tick was reconciled on time during a refusal in its namespace, or
// shortly after one: a refusal costs its own retry and nothing else.
func (c *check) refusedTick(s *timeline, span span, tick time.Time) {
	tries, start := c.tries[s.name], tick.Add(span.delay)
	by := start.Add(c.slow(onTime))
	if !c.isRefused(s, tick.Add(-aftermath), tick, anything...) || c.isSkewed(span, tick) ||
		!c.isSteady(s, span, tick, by) || !c.othersRun(tick.Add(-c.slow(onTime)), by, span.revision) {
		return
	}
	first := slices.IndexFunc(tries, func(t try) bool {
		return !t.tick.Before(tick.Add(-span.backlog)) && t.Asked.After(start.Add(-time.Second)) && !t.Asked.After(by)
	})
	switch {
	case first >= 0 && tries[first].tick.Equal(tick):
		c.Tried++
		c.triedAgain(s, span, tries[first:])
	case first >= 0:
		c.Tried++
	case !c.mayWait(s, start, by):
		c.violate(NotTried, s, tick, "no Job was asked for by %s, while others' were on time", stamp(by))
	}
}

// isSteady reports whether from before a tick until an instant a CronJob was unchanged, no other
// fault struck its requests, and no manager ended, was told to, or was frozen.
func (c *check) isSteady(s *timeline, span span, tick, by time.Time) bool {
	settled := tick.Add(-2 * onTime)
	before, now := s.versionAt(settled), s.versionAt(by)
	if before == nil || now.Generation != before.Generation || by.After(span.until) || !tick.After(span.since) {
		return false
	}
	if deadlineOf(now.CronJob) < c.slow(onTime) {
		return false
	}
	for _, t := range c.tries[s.name] {
		unanswered := t.Code == 0 || t.Code == http.StatusTooManyRequests || t.Code >= http.StatusInternalServerError
		if unanswered && t.Asked.After(settled) && t.Asked.Before(by) {
			return false
		}
	}
	if delayOf(now.CronJob) != span.delay || s.mayStop(tick, by.Add(c.slow(againBy))) {
		return false
	}
	struck := func(at time.Time) bool { return at.After(settled) && at.Before(by) }
	return !slices.ContainsFunc(slices.Concat(c.struck[s.name], c.stops, c.ends), struck)
}

func (s *timeline) versionAt(at time.Time) *version {
	for i := len(s.versions) - 1; i >= 0; i-- {
		if !s.versions[i].at.After(at) {
			return &s.versions[i]
		}
	}
	return nil
}

// How long there may be no Job of other CronJobs if a manager is at work, and how many of them may
// be late, by more than this.
const (
	longestGap = 2 * time.Second
	lateShare  = 0.2
	lateBy     = 2 * time.Second
)

// othersRun reports whether between two instants the CronJobs without a refusal had their Jobs on
// time, from a manager that had received a revision; its watch may be broken otherwise.
func (c *check) othersRun(from, by time.Time, revision int64) bool {
	last := from
	first, _ := slices.BinarySearchFunc(c.witnesses, last, func(w try, at time.Time) int { return w.answered.Compare(at) })
	count, late := 0, 0
	for _, w := range c.witnesses[first:] {
		if w.answered.After(by) || w.answered.Sub(last) > c.slow(longestGap) {
			break
		}
		if w.Knew < revision {
			continue
		}
		count++
		if w.onTime(c.slow(lateBy)) {
			last = w.answered
		} else {
			late++
		}
	}
	return by.Sub(last) <= c.slow(longestGap) && float64(late) <= lateShare*float64(count)
}

// onTime reports whether the Job was requested on time, and created.
func (t try) onTime(late time.Duration) bool {
	return t.Code == http.StatusCreated && !t.answered.After(t.tick.Add(late))
}

// witness finds the first request for each tick of the CronJobs that start Jobs at their ticks and
// have no refusal then.
func (c *check) witness() {
	delayed := map[string]bool{}
	for _, s := range c.timelines {
		isDelayed := func(spec spec) bool { return spec.delay+spec.backlog > 0 }
		delayed[s.name] = delayed[s.name] || slices.ContainsFunc(s.specs, isDelayed)
	}
	for name, tries := range c.tries {
		if delayed[name] {
			continue
		}
		s := &timeline{name: name}
		seen := map[int64]bool{}
		for _, t := range tries {
			if seen[t.tick.Unix()] || c.isRefused(s, t.tick.Add(-onTime), t.tick.Add(onTime), anything...) {
				continue
			}
			seen[t.tick.Unix()] = true
			c.witnesses = append(c.witnesses, t)
		}
	}
	slices.SortFunc(c.witnesses, func(a, b try) int { return a.answered.Compare(b.answered) })
}

// mayWait reports whether a tick may wait from its start on: for a running Job if no more may run,
// under Replace for one that can't be deleted, and in both cases for one that may exist while reads
// are refused.
func (c *check) mayWait(s *timeline, start, by time.Time) bool {
	now := s.versionAt(by)
	_, limit := concurrency(now.CronJob)
	recently := start.Add(-c.slow(lagInStorm))
	there := 0
	for _, run := range slices.Concat(s.runs, s.backfills) {
		if !run.createdAt.After(by) && (run.ended == 0 || run.endedAt.After(recently)) &&
			(run.deleted == 0 || run.deletedAt.After(recently)) {
			there++
		}
	}
	switch {
	case limit == 0 || c.isRefused(s, start.Add(-patienceInStorm), by, history.Reads):
		return limit > 0
	case now.Policy == "Replace" && !c.isRefused(s, recently, by, history.Deletes):
		return false
	}
	return there >= limit
}

// triedAgain checks the times between the first requests of a tick. A refused creation must be
// retried soon, however often those of earlier ticks were refused, if others' Jobs are on time
// then. An invalid one must be tried once per tick.
func (c *check) triedAgain(s *timeline, span span, tries []try) {
	first, end := tries[0], c.triesEnd(s, span, tries[0].tick)
	tries = slices.DeleteFunc(slices.Clone(tries[1:]), func(t try) bool { return !t.tick.Equal(first.tick) })
	isAgain := len(tries) > 0
	switch first.Code {
	case http.StatusUnprocessableEntity: // at the next tick, it may be due again
		again := isAgain && tries[0].Manager == first.Manager && tries[0].Code == first.Code && tries[0].Asked.Before(end)
		if again && !s.editedBetween(first.Asked, tries[0].Asked) {
			c.violate(RetriedInvalid, s, first.tick, "%s tried again at %s", first.Manager, stamp(tries[0].Asked))
		}
	case http.StatusForbidden, http.StatusNotFound:
		by := first.answered.Add(c.slow(againBy))
		if isAgain && !tries[0].Asked.After(by) || by.After(end) ||
			!c.isSteady(s, span, first.tick, by) || !c.othersRun(first.answered, by, span.revision) {
			return
		}
		c.violate(RetriedLate, s, first.tick, "refused at %s, and not tried again by %s", stamp(first.answered), stamp(by))
	}
}

// triesEnd returns until when a refused tick must be retried.
func (c *check) triesEnd(s *timeline, span span, tick time.Time) time.Time {
	end := span.next(tick, tick).Add(span.delay)
	if deadline := tick.Add(span.delay + deadlineOf(s.versionAt(tick).CronJob)); deadline.Before(end) {
		return deadline
	}
	return end
}

func (s *timeline) editedBetween(from, to time.Time) bool {
	before, now := s.versionAt(from), s.versionAt(to)
	return before == nil || now.Generation != before.Generation
}
