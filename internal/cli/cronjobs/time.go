// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"fmt"
	"time"

	"tutorial.kubebuilder.io/project/internal/schedule"
)

// TimeForms describes the values that ParseTime accepts, for the help of a flag.
const TimeForms = timeForms + ". A local time is in the zone of the schedule."

const timeForms = "a time as in RFC 3339, such as 2026-06-01T22:00:00+02:00; a local one, such as 2026-06-01T22:00, or 2026-06-01 for " +
	"its midnight; now, or a duration from now, such as 6h or -2h"

// ParseTime parses the value of a flag: a time of RFC 3339, a local time in the zone, "now", or a
// duration from now. A date is its midnight. Where the clocks shift, a local time is the tick that
// a schedule has: the first of two, or the end of the gap. Errors name the flag.
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
	return time.Time{}, fmt.Errorf("--%s %q is not a time: want %s", flag, text, timeForms)
}

// tickAt returns the tick of a yearly schedule for a local time. time.Date does not define which of
// two times it returns, and which side of a gap.
func tickAt(local time.Time, zone *time.Location) time.Time {
	yearly := fmt.Sprintf("%d %d %d %d *", local.Minute(), local.Hour(), local.Day(), local.Month())
	s, err := schedule.Parse(yearly, zone.String())
	tick, ok := s.Next(local.AddDate(0, 0, -2)) // no offset from UTC is as large
	if err != nil || !ok {
		// The local zone of the terminal has no name, and there are no ticks after the year 9999.
		return time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, zone)
	}
	return tick.Add(time.Duration(local.Second()) * time.Second).In(zone)
}
