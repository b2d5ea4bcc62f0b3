// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// schedule is the checker's own idea of the few schedules that storms are made of: it must not be
// the operator's.
type schedule struct {
	every time.Duration
	fixed bool // it counts from the full hour, and not from the creation or a run
}

// everyMinutes is a schedule of each minute, or of each that a number divides.
var everyMinutes = regexp.MustCompile(`^\*(?:/(\d+))? \* \* \* \*$`)

// parse reads a schedule as v1 writes it.
func parse(text string) (s schedule, err error) {
	interval, isKnown := strings.CutPrefix(text, "@every ")
	if match := everyMinutes.FindStringSubmatch(text); match != nil {
		interval, isKnown, s.fixed = cmp.Or(match[1], "1")+"m", true, true
	}
	s.every, err = time.ParseDuration(interval)
	if !isKnown || err != nil || s.every < time.Second || s.every%time.Second != 0 {
		return schedule{}, fmt.Errorf("%q is no schedule that the checker knows", text)
	}
	return s, nil
}

// anchoredAt returns what the schedule counts from.
func (s schedule) anchoredAt(anchor time.Time) time.Time {
	if s.fixed {
		return time.Unix(0, 0)
	}
	return anchor
}

// has reports whether an instant is a tick. An interval counts from its anchor.
func (s schedule) has(tick, anchor time.Time) bool {
	return tick.Sub(s.anchoredAt(anchor))%s.every == 0
}

// next returns the first tick after an instant.
func (s schedule) next(after, anchor time.Time) time.Time {
	anchor = s.anchoredAt(anchor)
	tick := anchor.Add((after.Sub(anchor)/s.every - 1) * s.every)
	for !tick.After(after) {
		tick = tick.Add(s.every)
	}
	return tick
}

// ticks returns the ticks after one instant and not after another.
func (s schedule) ticks(after, until, anchor time.Time) []time.Time {
	var all []time.Time
	for tick := s.next(after, anchor); !tick.After(until); tick = s.next(tick, anchor) {
		all = append(all, tick)
	}
	return all
}
