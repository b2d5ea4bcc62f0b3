// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// schedule is the checker's own idea of the few schedules that storms are made of: it must not be
// the operator's.
type schedule struct {
	every   time.Duration // an interval; or
	minutes int           // each minute that it divides
}

// parse reads a schedule as v1 writes it.
func parse(text string) (schedule, error) {
	if interval, ok := strings.CutPrefix(text, "@every "); ok {
		every, err := time.ParseDuration(interval)
		if err != nil || every < time.Second || every%time.Second != 0 {
			return schedule{}, fmt.Errorf("%q is no interval that the checker knows", text)
		}
		return schedule{every: every}, nil
	}
	minutes, ok := strings.CutSuffix(text, " * * * *")
	if !ok {
		return schedule{}, fmt.Errorf("%q is no schedule that the checker knows", text)
	}
	if minutes == "*" {
		return schedule{minutes: 1}, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(minutes, "*/"))
	if err != nil || n < 1 || !strings.HasPrefix(minutes, "*/") {
		return schedule{}, fmt.Errorf("%q is no schedule that the checker knows", text)
	}
	return schedule{minutes: n}, nil
}

// has reports whether an instant is a tick. An interval counts from its anchor.
func (s schedule) has(tick, anchor time.Time) bool {
	if s.every > 0 {
		return tick.Sub(anchor)%s.every == 0
	}
	return tick.Second() == 0 && tick.Nanosecond() == 0 && tick.Minute()%s.minutes == 0
}

// next returns the first tick after an instant.
func (s schedule) next(after, anchor time.Time) time.Time {
	if s.every > 0 {
		n := after.Sub(anchor) / s.every
		for tick := anchor.Add((n - 1) * s.every); ; tick = tick.Add(s.every) {
			if tick.After(after) {
				return tick
			}
		}
	}
	for tick := after.Truncate(time.Minute).Add(time.Minute); ; tick = tick.Add(time.Minute) {
		if s.has(tick, anchor) {
			return tick
		}
	}
}

// ticks returns the ticks after one instant and not after another.
func (s schedule) ticks(after, until, anchor time.Time) []time.Time {
	var all []time.Time
	for tick := s.next(after, anchor); !tick.After(until); tick = s.next(tick, anchor) {
		all = append(all, tick)
	}
	return all
}
