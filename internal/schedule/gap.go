// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

const (
	// gapYears is for how long gaps are looked at: after 28 years weekdays and leap days recur.
	gapYears = 28

	// maxGaps is how many gaps are looked at where clocks don't shift: those of 13 years for a tick a
	// day, and those of half a year for a tick an hour, whose days hardly differ.
	maxGaps = 5_000
)

// ShortestGap returns the shortest time from a tick to the next. Where clocks shift, ticks may come
// closer than on other days: a fixed time that the wall skips moves towards the next one, and a
// wildcard fires again in the hour that comes twice.
func (s Schedule) ShortestGap() time.Duration {
	if s.interval != 0 {
		return s.interval
	}
	// Whether a CronJob is valid must not depend on the day, and shifts of the past don't matter.
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	end := start.AddDate(gapYears, 0, 0)
	unshifted := Schedule{expressions: s.expressions, zone: time.UTC} // which takes a fraction of the time
	shortest := end.Sub(start)
	schedules := len(s.expressions)
	for _, e := range s.expressions {
		// Of a union, each by itself: one day in four years is not found among the ticks of every minute.
		// Around each tick, all are searched, so that many take no longer than one.
		one := Schedule{expressions: []*expression{e}, zone: time.UTC}
		shortest = min(shortest, unshifted.shortestGapAround(one, start, end, maxGaps/(schedules*schedules)))
	}
	for p := periodAt(start, s.zone); !p.end.IsZero() && p.end.Before(end); p = periodAt(p.end, s.zone) {
		if last, ok := s.Last(start, p.end.Add(-time.Second)); ok {
			shortest = min(shortest, s.shortestGapAround(s, last.Add(-time.Second), end, 2)) // before the shift, and after
		}
	}
	return shortest
}

// shortestGapAround returns the shortest of the gaps beside so many ticks of a part of the schedule,
// after an instant and before another. No two ticks are less than a minute apart: it looks no further
// when it has found that.
func (s Schedule) shortestGapAround(part Schedule, from, until time.Time, count int) time.Duration {
	shortest := until.Sub(from)
	tick, ok := part.Next(from)
	for ; ok && tick.Before(until) && count > 0 && shortest > time.Minute; count-- {
		if before, ok := s.Last(from, tick.Add(-time.Second)); ok {
			shortest = min(shortest, tick.Sub(before))
		}
		if after, ok := s.Next(tick); ok {
			shortest = min(shortest, after.Sub(tick))
		}
		tick, ok = part.Next(tick)
	}
	return shortest
}
