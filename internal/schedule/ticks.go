// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import "time"

// Spec is all that decides when a CronJob fires, as its spec has it.
type Spec struct {
	// Schedule is the text of the schedule, and TimeZone the name of its time zone, as Parse reads
	// them.
	Schedule, TimeZone string
}

// Ticks returns the ticks of the spec. Errors are those of Parse.
func (s Spec) Ticks() (Ticks, error) {
	parsed, err := Parse(s.Schedule, s.TimeZone)
	return Ticks{schedule: parsed}, err
}

// String returns the spec as a status remembers it. Specs that fire at other times have other
// texts.
func (s Spec) String() string {
	if s.TimeZone == "" {
		return s.Schedule
	}
	return s.Schedule + " (" + s.TimeZone + ")"
}

// Ticks are the instants at which a CronJob fires. The zero value has none; Spec.Ticks makes them.
// They are immutable.
type Ticks struct {
	schedule Schedule
}

// Anchored returns the ticks as they are for something that happened last, or came into being, at
// the anchor: see Schedule.Anchored.
func (t Ticks) Anchored(anchor time.Time) Ticks {
	t.schedule = t.schedule.Anchored(anchor)
	return t
}

// Interval returns the interval of an "@every" schedule, at least one second, and 0 for others.
func (t Ticks) Interval() time.Duration { return t.schedule.Interval() }

// Next returns the first tick after an instant, in UTC, and reports whether there is one.
func (t Ticks) Next(after time.Time) (time.Time, bool) { return t.schedule.Next(after) }

// Last returns the last tick that is later than after and not later than notAfter, in UTC, and
// reports whether there is one. It does not matter how far apart the two are.
func (t Ticks) Last(after, notAfter time.Time) (time.Time, bool) {
	return t.schedule.Last(after, notAfter)
}

// Count returns how many ticks lie after the one instant and before the other, at most limit.
func (t Ticks) Count(after, before time.Time, limit int) int {
	count := 0
	for count < limit {
		next, ok := t.Next(after)
		if !ok || !next.Before(before) {
			break
		}
		after = next
		count++
	}
	return count
}
