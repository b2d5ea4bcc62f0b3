// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// span is a time in which a CronJob had one schedule and was not suspended.
type span struct {
	spec
	to    int64     // the revision that ended it; 0 for none
	until time.Time // its time, or the end of the history
}

func (s *timeline) spans() []span {
	var spans []span
	for i, spec := range s.specs {
		last := len(spans) - 1
		switch {
		case i > 0 && !rescheduled(s.specs[i-1].CronJob, spec.CronJob):
			if !spec.Suspend { // the span continues
				spans[last].delay, spans[last].backlog = max(spans[last].delay, spec.delay), max(spans[last].backlog, spec.backlog)
			}
			continue
		case i > 0 && !s.specs[i-1].Suspend:
			spans[last].to, spans[last].until = spec.revision, spec.Edited
		}
		if !spec.Suspend {
			spans = append(spans, span{spec: spec, to: s.gone, until: s.until})
		}
	}
	return spans
}

func (c *check) ticks(s *timeline) {
	runs := map[int64]*run{} // by tick, in seconds
	for _, run := range s.runs {
		runs[run.Tick.Unix()] = run
	}
	for _, span := range s.spans() {
		for _, tick := range c.due(s, span) {
			c.Due++
			c.account(s, span, tick, runs[tick.Unix()])
			c.refusedTick(s, span, tick)
		}
	}
}

// due returns the ticks of a span. An interval counts from the newest earlier run that a manager
// could know when it observed the edit. If an earlier run of the schedule appears later, because it
// was in progress during the edit, it counts from that one.
func (c *check) due(s *timeline, span span) []time.Time {
	anchor, from, observed := span.Created, span.since, s.observed(span, c.end)
	for _, run := range s.anchors(math.MaxInt64) {
		switch {
		case !s.wasLast(run) && c.isForgotten(s, run, observed):
		case run.created < span.revision:
			anchor = run.Tick
		case span.to > 0 && run.created > span.to:
		case !span.fixed && !span.has(run.Tick, anchor):
			anchor = run.Tick
			if anchor.After(from) {
				from = anchor
			}
		}
	}
	return span.ticks(from, span.until, anchor)
}

// anchors returns the runs before a revision that an interval may count from: those of the
// schedule, and backfilled ones that a status had as the last run.
func (s *timeline) anchors(revision int64) []*run {
	neverLast := func(run *run) bool { return !s.wasLast(run) }
	runs := slices.Concat(s.runs, slices.DeleteFunc(slices.Clone(s.backfills), neverLast))
	runs = slices.DeleteFunc(runs, func(run *run) bool { return run.created >= revision })
	slices.SortFunc(runs, func(a, b *run) int { return cmp.Compare(a.created, b.created) })
	return runs
}

// wasLast reports whether a status had a run as the last one, even if only after its Job was
// deleted.
func (s *timeline) wasLast(run *run) bool {
	return slices.ContainsFunc(s.versions, func(v version) bool { return v.LastSchedule.Equal(run.Tick) })
}

// observed returns when a status first showed that a manager had observed a span; the end for
// never.
func (s *timeline) observed(span span, end time.Time) time.Time {
	for _, v := range s.versions {
		if v.revision >= span.revision && v.ObservedGeneration >= span.Generation {
			return v.at
		}
	}
	return end
}

// account checks one tick: it must have a Job, or one report of why it has none, or an excuse.
func (c *check) account(s *timeline, span span, tick time.Time, ran *run) {
	reports, last := s.reportsOf(tick)
	switch {
	case ran != nil && reports == 1 && c.isForgotten(s, ran, last.at):
		c.Forgotten++
		c.DueAndRun++
	case ran != nil && reports == 1 && c.isBetween(s, span, last, tick):
		c.DueAndRun++
	case ran != nil && reports > 0 && !c.isSkewed(span, tick):
		c.violate(RunAndReported, s, tick, "it ran, and %d events say that it was missed: %s", reports, last.why)
	case reports > 1 && !c.isSkewed(span, tick):
		c.violate(ReportedTwice, s, tick, "%d events say that it was missed, at last: %s", reports, last.why)
	case ran != nil:
		c.DueAndRun++
	case reports > 0:
		c.Reported[last.why]++
	default:
		c.unaccounted(s, span, tick)
	}
}

func (c *check) unaccounted(s *timeline, span span, tick time.Time) {
	at, passed := s.passed(span, tick)
	row, until := s.rowOf(tick)
	switch {
	case c.isSkewed(span, tick):
		c.Excused[ClockStepped]++
	case row != nil:
		c.unreported(s, tick, row.at, until)
	case passed && s.isBackfilled(tick, s.versions[at].revision):
		c.DueAndRun++
	case s.mayStop(tick, tick):
		c.Excused[StoppedThen]++
	case !passed && c.statusBy(s, span, tick).After(span.until):
		c.Excused[EndedBefore]++
	case !passed:
		c.violate(Stuck, s, tick, "nothing had become of it after %v", span.until.Sub(tick).Round(time.Second))
	default:
		c.violate(Lost, s, tick, "no Job and no report, but at %s (revision %d) the status had gone past it",
			stamp(s.versions[at].at), s.versions[at].revision)
	}
}

func (s *timeline) isBackfilled(tick time.Time, revision int64) bool {
	return slices.ContainsFunc(s.backfills, func(run *run) bool { return run.Tick.Equal(tick) && run.created < revision })
}

// statusBy returns by when a status must have passed a tick. It is later while the status can't be
// written, while refused reads leave the status unknown, and while the Job can't be created and no
// newer tick is due. Time without a leader does not count.
func (c *check) statusBy(s *timeline, span span, tick time.Time) time.Time {
	patience := c.patience(tick) + span.delay + span.backlog
	by := tick.Add(patience)
	for _, pause := range c.leaderless {
		from := pause.from
		if tick.After(from) {
			from = tick
		}
		if from.Before(by) && pause.to.After(from) {
			by = by.Add(min(pause.to.Sub(from), longestLeaderless))
		}
	}
	for _, r := range c.refusals {
		if r.isOf(s, tick, by, history.Statuses, history.Reads, history.Creates) && r.to.Add(patience).After(by) {
			by = r.to.Add(patience)
		}
	}
	return by
}

// unreported checks a missed tick that a status has between two instants, but no event. The next
// leader reports what the status has, so an excuse is needed: a process ended soon after the status
// was written, or soon before the status dropped the tick while an outage delayed events.
func (c *check) unreported(s *timeline, tick, from, until time.Time) {
	switch {
	case until.Before(from.Add(c.slow(lastWords))):
		c.Excused[EndedBefore]++
	case until.Before(from.Add(c.patience(tick))) && (c.died(from) || c.died(until) && c.wasOut(from, until)):
		c.Excused[ReporterDied]++
	default:
		c.violate(Untold, s, tick, "no event tells of it, which the status did from %s to %s", stamp(from), stamp(until))
	}
}

// passed returns the first version whose status, computed from this schedule, has passed a tick: it
// has that tick as the last, or a later one.
func (s *timeline) passed(span span, tick time.Time) (int, bool) {
	for i, v := range s.versions {
		if v.revision < span.revision || v.ObservedGeneration < span.Generation {
			continue
		}
		if span.to > 0 && v.revision >= span.to {
			break
		}
		if v.NextSchedule.After(tick) || !v.LastSchedule.Before(tick) {
			return i, true
		}
	}
	return 0, false
}

// How long a tick may stay unhandled: in the storm, where leaders are killed and the API server is
// down at times, and without faults.
const (
	patienceInStorm = time.Minute
	patienceInCalm  = 10 * time.Second
)

func (c *check) patience(tick time.Time) time.Duration {
	if c.isCalm(tick) {
		return c.slow(patienceInCalm)
	}
	return c.slow(patienceInStorm)
}

func (c *check) isCalm(tick time.Time) bool {
	from, ok := c.phases[history.Calm]
	return ok && tick.After(from)
}

// lastWords is how long after a status its events may be sent.
const lastWords = 5 * time.Second

// died reports whether a process ended, or was frozen, when it may have had to report a status that
// was written at an instant.
func (c *check) died(written time.Time) bool {
	lastWords := c.slow(lastWords)
	return c.hasEnded(written.Add(-lastWords), written.Add(lastWords))
}

// wasOut reports whether an outage may have delayed the events of a status.
func (c *check) wasOut(from, until time.Time) bool {
	return slices.ContainsFunc(c.outages, func(at time.Time) bool {
		return at.After(from.Add(-c.slow(lastWords))) && at.Before(until)
	})
}

// longestInterval is the longest "@every" interval of a storm. A timer of that length may be
// running when the clock is stepped.
const longestInterval = 16 * time.Second

// isSkewed reports whether a tick was due while the clocks were stepped, or was skipped by a step.
// Such a tick need neither run nor be reported.
func (c *check) isSkewed(span span, tick time.Time) bool {
	start := tick.Add(span.delay + span.backlog)
	for _, w := range c.clocks {
		after := w.step + longestInterval
		if w.step < 0 { // a timer set during the step ends late
			after = max(longestInterval, slices.Max(span.every), span.NotBefore.Sub(w.to)-w.step)
		}
		if start.After(w.from.Add(min(w.step, 0)-longestInterval)) && tick.Before(w.to.Add(after)) {
			return true
		}
	}
	return false
}
