// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the machine may have no time zones

	"tutorial.kubebuilder.io/project/test/history"
)

// schedule is the checker's own implementation of the few schedules that storms have. It must not
// share code with the operator.
type schedule struct {
	every []time.Duration // of each schedule
	fixed bool            // they count from the full hour, not from the creation or a run
	asked history.Ticks
	zone  *time.Location
}

// everyMinutes matches a schedule of every minute, or of each that a number divides.
var everyMinutes = regexp.MustCompile(`^\*(?:/(\d+))? \* \* \* \*$`)

// parse parses schedules in the form of v1.
func parse(asked history.Ticks) (s schedule, err error) {
	s.asked = asked
	if s.zone, err = time.LoadLocation(asked.TimeZone); err != nil {
		return schedule{}, err
	}
	for _, text := range append([]string{asked.Schedule}, asked.Additional...) {
		interval, isKnown := strings.CutPrefix(text, "@every ")
		if match := everyMinutes.FindStringSubmatch(text); match != nil {
			interval, isKnown, s.fixed = cmp.Or(match[1], "1")+"m", true, true
		}
		every, err := time.ParseDuration(interval)
		if !isKnown || err != nil || every < time.Second || every%time.Second != 0 {
			return schedule{}, fmt.Errorf("%q is not a schedule that the checker knows", text)
		}
		s.every = append(s.every, every)
	}
	return s, nil
}

func (s schedule) anchoredAt(anchor time.Time) time.Time {
	if s.fixed {
		return time.Unix(0, 0)
	}
	return anchor
}

// has reports whether an instant is a tick, apart from exclusions. An interval counts from its
// anchor.
func (s schedule) has(tick, anchor time.Time) bool {
	since := tick.Sub(s.anchoredAt(anchor))
	return slices.ContainsFunc(s.every, func(every time.Duration) bool { return since%every == 0 })
}

func (s schedule) isExcluded(tick time.Time) bool {
	date := tick.In(s.zone).Format(time.DateOnly)
	return tick.Before(s.asked.NotBefore) || !s.asked.NotAfter.IsZero() && tick.After(s.asked.NotAfter) ||
		slices.ContainsFunc(s.asked.Exclude, func(days string) bool {
			first, last, isRange := strings.Cut(days, "/")
			if !isRange {
				last = first
			}
			return first <= date && date <= last || "--"+date[len("2026-"):] == days
		})
}

// horizon is how far ahead to search for a tick: longer than any storm.
const horizon = 24 * time.Hour

// next returns the first tick after an instant; an instant beyond the horizon if there is none
// before.
func (s schedule) next(after, anchor time.Time) time.Time {
	anchor = s.anchoredAt(anchor)
	for end := after.Add(horizon); ; {
		first := time.Time{}
		for _, every := range s.every {
			tick := anchor.Add((after.Sub(anchor)/every - 1) * every)
			for !tick.After(after) {
				tick = tick.Add(every)
			}
			if first.IsZero() || tick.Before(first) {
				first = tick
			}
		}
		if first.After(end) || !s.isExcluded(first) {
			return first
		}
		after = first
	}
}

func (s schedule) ticks(after, until, anchor time.Time) []time.Time {
	var all []time.Time
	for tick := s.next(after, anchor); !tick.After(until); tick = s.next(tick, anchor) {
		all = append(all, tick)
	}
	return all
}

func delayOf(c *history.CronJob) time.Duration {
	if c.Jitter == 0 {
		return 0
	}
	hash := sha256.Sum256([]byte(c.Namespace + "/" + c.Name))
	return time.Duration(binary.BigEndian.Uint64(hash[:])%uint64(c.Jitter)) * time.Second //nolint:gosec // small
}
