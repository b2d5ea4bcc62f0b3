// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"time"
)

// gapYears is how many years are searched: the calendar repeats after 28.
const gapYears = 28

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
	shortest := s.shortestCivilGap(start, end)
	for p := periodAt(start, s.zone); !p.end.IsZero() && p.end.Before(end); p = periodAt(p.end, s.zone) {
		tick, ok := s.Last(start, p.end.Add(-time.Second))
		for gap := 0; ok && gap < 2; gap++ { // the one around the shift, and the one after it
			before := tick
			if tick, ok = s.Next(before); ok {
				shortest = min(shortest, tick.Sub(before))
			}
		}
	}
	return shortest
}

// shortestCivilGap returns the shortest time between two ticks where clocks don't shift. It looks
// at all days from the first of one month until the first of another: two schedules may come close
// only on a leap day.
func (s Schedule) shortestCivilGap(start, end time.Time) time.Duration {
	shortest := int(end.Sub(start) / time.Minute)
	last, midnight := -shortest, 0 // in minutes since start
	days := make([]uint64, len(s.expressions))
	for first := start; first.Before(end) && shortest > 1; first = first.AddDate(0, 1, 0) {
		for i, e := range s.expressions {
			days[i] = e.daysOf(first)
		}
		for day := 1; day <= monthOf(first).days; day++ {
			for hour, minutes := range s.clockOf(days, day) {
				for ; minutes != 0; minutes &= minutes - 1 {
					tick := midnight + 60*hour + bits.TrailingZeros64(minutes)
					shortest, last = min(shortest, tick-last), tick
				}
			}
			midnight += 24 * 60
		}
	}
	return time.Duration(shortest) * time.Minute
}

// clockOf returns the minutes of each hour at which a schedule fires on a day of a month, as bits.
// It takes the days of that month on which each expression fires.
func (s Schedule) clockOf(days []uint64, day int) [24]uint64 {
	clock := [24]uint64{}
	for i, e := range s.expressions {
		if days[i]&(1<<day) == 0 {
			continue
		}
		for hour := range clock {
			if e.Hours&(1<<hour) != 0 {
				clock[hour] |= e.Minutes
			}
		}
	}
	return clock
}
