// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"fmt"
	"iter"
	"time"

	"tutorial.kubebuilder.io/project/internal/schedule"
)

// ParseTime reads a time from the value of a flag: one of RFC 3339, or a local one in the zone. A
// date is its midnight. Errors name the flag.
func ParseTime(flag, text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("--%s %q is neither a time as in RFC 3339, such as 2027-03-28T01:00:00+01:00, "+
		"nor one in the zone of the schedule, such as 2027-03-28T01:00, or 2027-03-28 for its midnight", flag, text)
}

// Between returns the ticks from an instant on and before another.
func Between(ticks schedule.Ticks, from, until time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		tick, ok := ticks.Next(from.Add(-time.Nanosecond)) // one at that instant counts
		for ok && tick.Before(until) && yield(tick) {
			tick, ok = ticks.Next(tick)
		}
	}
}
