// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// missed is a report of missed ticks.
type missed struct {
	at          time.Time // when it was first seen
	first, last time.Time
	count       int
	why         string
	event       string // the name
	stored      bool   // whether etcd has it; otherwise it was only sent
}

// report adds an event. Several managers may send one event, several times: that is one report.
// What etcd has of it counts, or if the event was refused, what was sent first.
func (r *index) report(event *history.Event, at time.Time, stored bool) {
	s := r.timelines[event.UID]
	if event.Reason != "MissSchedule" || s == nil || r.stored[event.Name] {
		return
	}
	isSent := func(m *missed) bool { return m.event == event.Name }
	if first := slices.IndexFunc(s.missed, isSent); first >= 0 {
		if !stored {
			return
		}
		at = s.missed[first].at
		s.missed = slices.DeleteFunc(s.missed, isSent)
	}
	if stored {
		r.stored[event.Name] = true
	}
	for _, m := range parseMissed(event.Note) {
		m.at, m.event, m.stored = at, event.Name, stored
		s.missed = append(s.missed, m)
	}
}

// reportsOf returns the number of reports of a tick, and the last one. Reports that were only sent
// count as one, or as none if etcd has a report.
func (s *timeline) reportsOf(tick time.Time) (count int, last *missed) {
	sent := 0
	for _, m := range s.missed {
		switch {
		case tick.Before(m.first) || tick.After(m.last):
			continue
		case m.stored:
			count++
		default:
			sent++
		}
		if last == nil || m.stored || !last.stored {
			last = m
		}
	}
	if count == 0 {
		count = min(sent, 1)
	}
	return count, last
}

// isBetween reports whether a tick that ran lies between missed ones of a report that does not
// count it. A report counts ticks that ran if no process could know of their runs any more.
func (c *check) isBetween(s *timeline, span span, m *missed, tick time.Time) bool {
	if !tick.After(m.first) || !tick.Before(m.last) {
		return false
	}
	counted := span.ticks(m.first.Add(-time.Second), m.last, m.first)
	counted = slices.DeleteFunc(counted, func(tick time.Time) bool {
		return slices.ContainsFunc(s.runs, func(run *run) bool {
			return run.Tick.Equal(tick) && !c.isForgotten(s, run, m.at)
		})
	})
	return len(counted) >= m.count
}

// rowOf returns the first version whose status has a tick as missed, and until when a status had
// it; nil for none.
func (s *timeline) rowOf(tick time.Time) (first *version, until time.Time) {
	tells := func(v version) bool {
		return slices.ContainsFunc(v.Missed, func(m history.Missed) bool { return !tick.Before(m.First) && !tick.After(m.Last) })
	}
	i := slices.IndexFunc(s.versions, tells)
	if i < 0 {
		return nil, time.Time{}
	}
	for _, v := range s.versions[i:] {
		if !tells(v) {
			return &s.versions[i], v.at
		}
	}
	return &s.versions[i], s.until
}

// countOf returns the number of missed ticks in an event; 1 for another event.
func countOf(event *history.Event) int {
	count := 0
	for _, m := range parseMissed(event.Note) {
		count += m.count
	}
	return max(1, count)
}

// missedTicks matches a report of one or several ticks.
var missedTicks = regexp.MustCompile(`^Missed (?:scheduled time|(\d+)(?: or more)? scheduled times from) (\S+)(?: to (\S+))?: (.*)$`)

// parseMissed parses the reports in an event, which are separated by semicolons; none if it is
// another event.
func parseMissed(note string) (all []*missed) {
	for part := range strings.SplitSeq(note, "; ") {
		match := missedTicks.FindStringSubmatch(part)
		if match == nil {
			continue
		}
		m := &missed{why: match[4]}
		var errs [3]error
		m.count, errs[0] = strconv.Atoi(cmp.Or(match[1], "1"))
		m.first, errs[1] = time.Parse(time.RFC3339, match[2])
		m.last, errs[2] = time.Parse(time.RFC3339, cmp.Or(match[3], match[2]))
		if errs == [3]error{} {
			all = append(all, m)
		}
	}
	return all
}
