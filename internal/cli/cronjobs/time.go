// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"fmt"
	"time"

	"tutorial.kubebuilder.io/project/internal/schedule"
)

// TimeForms says in the help of a flag which times ParseTime reads.
const TimeForms = timeForms + ". A local time is in the zone of the schedule."

const timeForms = "a time as in RFC 3339, such as 2026-06-01T22:00:00+02:00; a local one, such as 2026-06-01T22:00, or 2026-06-01 for " +
	"its midnight; now, or a duration from now, such as 6h or -2h"

// ParseTime reads a time from the value of a flag: one of RFC 3339, a local one in the zone, "now",
// or a duration from now. A date is its midnight. Where the clocks shift, a local time is that of a
// schedule's tick: the first of two, and the end of the gap for one that the clocks skip. Errors
// name the flag.
func ParseTime(flag, text string, zone *time.Location, now time.Time) (time.Time, error) {
	if text == "now" {
		return now.In(zone), nil
	}
	if after, err := time.ParseDuration(text); err == nil {
		return now.Add(after).In(zone), nil
	}
	if at, err := time.ParseInLocation(time.RFC3339, text, zone); err == nil {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if local, err := time.Parse(layout, text); err == nil {
			return tickAt(local, zone), nil
		}
	}
	return time.Time{}, fmt.Errorf("--%s %q is no time: want %s", flag, text, timeForms)
}

// tickAt returns the tick of a schedule that fires each year at a local time. time.Date takes the
// first or the second of two times, and either side of a gap, depending on the zone.
func tickAt(local time.Time, zone *time.Location) time.Time {
	yearly := fmt.Sprintf("%d %d %d %d *", local.Minute(), local.Hour(), local.Day(), local.Month())
	s, err := schedule.Parse(yearly, zone.String())
	tick, ok := s.Next(local.AddDate(0, 0, -2)) // no zone is as far from UTC
	if err != nil || !ok {
		// The terminal's own zone has no name, and no tick comes after the year 9999.
		return time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, zone)
	}
	return tick.Add(time.Duration(local.Second()) * time.Second).In(zone)
}
