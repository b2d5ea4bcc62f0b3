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

	"tutorial.kubebuilder.io/project/test/chaos/history"
)

// missed is a report of ticks that will never run.
type missed struct {
	at          time.Time // when it was seen first
	first, last time.Time
	count       int
	why         string
	event       string // its name
	stored      bool   // whether etcd has it, and it was not only sent
}

// report takes an event. The same event may be sent several times, by several managers: it is one
// report. What etcd has of it counts; if it has nothing, as the event was refused, what was sent
// first.
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

// reportsOf returns how many reports there are of a tick, and the last of them. One that was only
// sent is none where there is one that etcd has, and else all that were only sent are one.
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

// isBetween reports whether a tick that ran lies between missed ones, and the report of those does
// not count it. It counts those that ran and that nobody could know of any more.
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

// rowOf returns the first version whose status tells that a tick was missed, and until when it did;
// nil if none does.
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

// countOf returns how many things an event tells of: ticks that were missed, or one of anything
// else.
func countOf(event *history.Event) int {
	count := 0
	for _, m := range parseMissed(event.Note) {
		count += m.count
	}
	return max(1, count)
}

// missedTicks is a report of one tick or of several.
var missedTicks = regexp.MustCompile(`^Missed (?:scheduled time|(\d+)(?: or more)? scheduled times from) (\S+)(?: to (\S+))?: (.*)$`)

// parseMissed reads an event, which has one report or several with semicolons between; none if it
// is about something else.
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
