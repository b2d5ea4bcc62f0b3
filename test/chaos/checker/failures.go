// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// restart is what ends a stop after failures: an edit, a resume, or a successful run.
type restart struct {
	at     time.Time // in whole seconds, except for an edit
	stored time.Time // when etcd stored it
	unsure bool      // whether a manager may have missed it: somebody deleted the Job
}

// findRestarts finds the restarts, and the times in which the CronJob may have been stopped. acts
// has the Jobs that others than managers deleted.
func (s *timeline) findRestarts(acts map[string]bool) {
	for i, v := range s.versions {
		switch {
		case i == 0 || v.Generation > s.versions[i-1].Generation:
			s.restarts = append(s.restarts, restart{at: v.Edited, stored: v.at})
		case v.Resumed.After(s.versions[i-1].Resumed):
			s.restarts = append(s.restarts, restart{at: v.Resumed, stored: v.at})
		}
	}
	for _, run := range slices.Concat(s.runs, s.backfills) {
		if run.result == history.Succeeded {
			s.restarts = append(s.restarts, restart{run.over, run.endedAt, acts[run.UID]})
		}
	}
	slices.SortFunc(s.restarts, func(a, b restart) int { return a.at.Compare(b.at) })
	for _, run := range slices.Concat(s.runs, s.backfills) {
		if run.result == history.Failed {
			s.findStop(run)
		}
	}
	for i, v := range s.versions {
		if v.Stopped { // even if briefly, before another end was known
			to := never
			if i+1 < len(s.versions) {
				to = s.versions[i+1].at
			}
			s.stops = append(s.stops, window{from: v.at.Add(-lagInStorm), to: to})
		}
	}
}

// findStop finds the time in which the CronJob may have been stopped after a run failed. A manager
// that reconciles late uses the spec of that time.
func (s *timeline) findStop(run *run) {
	known := s.failures(s.restartedAt(run.endedAt, false).Add(-time.Second), run.endedAt, nil)
	for i, spec := range s.specs {
		isOver := i+1 < len(s.specs) && !s.specs[i+1].at.After(run.endedAt)
		if spec.StopAfter > 0 && spec.StopAfter <= known && !isOver && spec.at.Before(run.endedAt.Add(patienceInStorm)) {
			s.stops = append(s.stops, window{from: run.over.Add(-time.Second), to: s.goesOn(run.over)})
		}
	}
}

// never is later than any time in a history.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// restartedAt returns the last restart that etcd stored by an instant.
func (s *timeline) restartedAt(storedBy time.Time, orUnsure bool) (at time.Time) {
	for _, r := range s.restarts {
		if !r.stored.After(storedBy) && (orUnsure || !r.unsure) {
			at = r.at
		}
	}
	return at
}

// failures counts the runs that failed after one instant and were stored by another, except some.
func (s *timeline) failures(after, storedBy time.Time, but map[string]bool) int {
	count := 0
	for _, run := range slices.Concat(s.runs, s.backfills) {
		if run.result == history.Failed && run.over.After(after) && !run.endedAt.After(storedBy) && !but[run.UID] {
			count++
		}
	}
	return count
}

// goesOn returns when a status first showed the first restart after a stop.
func (s *timeline) goesOn(stopped time.Time) time.Time {
	for _, r := range s.restarts {
		if r.unsure || !r.at.After(stopped) {
			continue
		}
		generation := s.versionAt(r.stored).Generation
		for _, v := range s.versions {
			if v.at.After(r.stored) && !v.Stopped && v.ObservedGeneration >= generation {
				return v.at
			}
		}
		break
	}
	return never
}

// mayStop reports whether a CronJob may have been stopped after failures at any time between two
// instants. Its ticks pass then.
func (s *timeline) mayStop(from, to time.Time) bool {
	return slices.ContainsFunc(s.stops, func(w window) bool { return !to.Before(w.from) && !from.After(w.to) })
}

// hasStopped reports whether a manager had to know that a CronJob had stopped when it decided on a
// request for a Job. It need not know how deleted Jobs ended.
func (c *check) hasStopped(s *timeline, spec spec, run *run, create *create) bool {
	since := s.restartedAt(run.createdAt, true).Add(c.slow(unsure))
	known := s.failures(since, create.Decided.Add(-2*c.lag(run.Tick)), c.acts)
	return spec.StopAfter > 0 && known >= spec.StopAfter
}

// stopped checks the first status that says that the CronJob has stopped after failures. If the
// manager's clock was behind when it saw an edit, it uses its own clock for the time of the edit.
func (c *check) stopped(s *timeline, v version) {
	since := s.restartedAt(v.at.Add(-c.slow(lagInStorm)), false)
	behind, _ := c.steps(since, v.at)
	known := s.failures(since.Add(behind-time.Second), v.at, nil)
	if v.ObservedGeneration == v.Generation && known < v.StopAfter {
		c.violate(AfterFailures, s, time.Time{}, "it had stopped at %s (revision %d), when %d runs had failed in a row",
			stamp(v.at), v.revision, known)
	}
}
