// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

const (
	// gapYears is how many years are searched: the calendar repeats after 28.
	gapYears = 28

	// maxGaps is how many gaps are searched where clocks don't shift: those of 13 years for daily
	// ticks, and those of half a year for hourly ones, whose days hardly differ.
	maxGaps = 5_000
)

// ShortestGap returns the shortest time between two ticks. Ticks may be closer where clocks shift:
// a fixed time in the spring gap moves towards the next one, and a wildcard fires again in the hour
// that autumn repeats.
func (s Schedule) ShortestGap() time.Duration {
	if s.interval != 0 {
		return s.interval
	}
	// A fixed start, as the validity of a CronJob must not depend on the day. Past shifts don't
	// matter.
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	end := start.AddDate(gapYears, 0, 0)
	unshifted := Schedule{expressions: s.expressions, zone: time.UTC} // faster without shifts
	shortest := end.Sub(start)
	schedules := len(s.expressions)
	for _, e := range s.expressions {
		// Take the ticks of each expression in turn: those of every minute would hide those of a
		// leap day. Each tick is compared with those of all expressions, so dividing by the square
		// of their number makes many as fast as one.
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

// shortestGapAround returns the shortest gap before or after a tick of part. It looks at up to
// count ticks between two instants, and stops at a gap of one minute: no two ticks are closer.
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
