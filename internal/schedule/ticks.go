// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

var (
	// ErrAllExcluded is the error for a schedule whose ticks are all on days of Spec.Exclude.
	ErrAllExcluded = fmt.Errorf("%w: each tick is on a day of exclude", ErrNeverFires)

	// ErrEmptyWindow is the error for a schedule without a tick between Spec.NotBefore and NotAfter.
	ErrEmptyWindow = fmt.Errorf("%w: no tick lies between notBefore and notAfter on a day that is not excluded", ErrNeverFires)
)

// MaxExcluded is how many entries Spec.Exclude may have.
const MaxExcluded = 366

// Spec has all fields of a CronJob's spec that decide when it fires.
type Spec struct {
	// Schedule is the text of the schedule, and TimeZone the name of its time zone, as Parse reads
	// them.
	Schedule, TimeZone string

	// Additional has the texts of further schedules in that time zone: the ticks are those of all.
	Additional []string

	// Exclude has days in the forms of ISO 8601: a date, a range of dates including both ends, or a
	// day of each year. Ticks whose date in the time zone is such a day do not exist.
	Exclude []string

	// NotBefore and NotAfter are bounds: ticks before the one and after the other do not exist.
	// Zero means no bound.
	NotBefore, NotAfter time.Time
}

// Ticks returns the ticks of the spec. Errors are those of Parse or With, or wrap ErrExclude,
// ErrAllExcluded or ErrEmptyWindow.
func (s Spec) Ticks() (Ticks, error) {
	parsed, err := ParseAll(s.Schedule, s.Additional, s.TimeZone)
	if err != nil {
		return Ticks{}, err
	}
	excluded, err := newExclusion(s.Exclude, parsed.zone)
	if err != nil {
		return Ticks{}, err
	}
	t := Ticks{schedule: parsed, excluded: excluded, notBefore: s.NotBefore, notAfter: s.NotAfter}
	if len(s.Exclude) == 0 && s.NotBefore.IsZero() {
		return t, nil // Parse refuses what never fires
	}
	return t, t.check()
}

// String returns the spec as text for status.observedSchedule. Specs that fire at different times
// have different texts: "|", which separates schedules, is part of no schedule. Long parts are
// hashed, so that the status stays small.
func (s Spec) String() string {
	text := s.Schedule
	if len(s.Additional) > 0 {
		additional := strings.Join(s.Additional, " | ")
		if len(additional) > MaxLength {
			additional = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(additional)))
		}
		text += " | " + additional
	}
	if s.TimeZone != "" {
		text += " (" + s.TimeZone + ")"
	}
	if !s.NotBefore.IsZero() {
		text += " from " + s.NotBefore.UTC().Format(time.RFC3339)
	}
	if !s.NotAfter.IsZero() {
		text += " until " + s.NotAfter.UTC().Format(time.RFC3339)
	}
	if len(s.Exclude) > 0 {
		sorted := slices.Sorted(slices.Values(s.Exclude)) // a set: server-side apply changes its order
		hash := sha256.Sum256([]byte(strings.Join(sorted, ",")))
		text += fmt.Sprintf(" except %x", hash[:8])
	}
	return text
}

// Ticks are the instants at which a CronJob fires. Spec.Ticks makes them; the zero value has none.
// They are immutable.
type Ticks struct {
	schedule            Schedule
	excluded            exclusion
	notBefore, notAfter time.Time
}

// check returns an error if there is no tick.
func (t Ticks) check() error {
	if t.Interval() != 0 {
		return nil // it depends on the anchor
	}
	unbounded := t
	unbounded.notBefore, unbounded.notAfter = time.Time{}, time.Time{}
	// A fixed start makes the answer the same on every day.
	if _, ok := unbounded.Next(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)); !ok {
		return ErrAllExcluded
	}
	if _, ok := t.Next(time.Time{}); !ok && !t.notBefore.IsZero() {
		return ErrEmptyWindow
	}
	return nil
}

// Unexcluded returns the ticks as they would be without excluded days.
func (t Ticks) Unexcluded() Ticks {
	t.excluded = exclusion{}
	return t
}

// Anchored returns the ticks with an anchor, from which an interval counts.
func (t Ticks) Anchored(anchor time.Time) Ticks {
	t.schedule = t.schedule.Anchored(anchor)
	return t
}

// Interval returns the interval of an "@every" schedule, at least one second, and 0 for others.
func (t Ticks) Interval() time.Duration { return t.schedule.Interval() }

// Next returns the first tick after an instant, in UTC, and reports whether there is one.
func (t Ticks) Next(after time.Time) (time.Time, bool) {
	if !t.notBefore.IsZero() {
		after = latest(after, t.notBefore.Add(-time.Nanosecond))
	}
	limit := t.excluded.limit(after)
	for {
		tick, ok := t.schedule.Next(after)
		if !ok || !t.notAfter.IsZero() && tick.After(t.notAfter) {
			return time.Time{}, false
		}
		within, isExcluded := t.excluded.around(tick)
		switch {
		case !isExcluded:
			return tick, true
		case tick.After(limit):
			return time.Time{}, false
		}
		after = t.excluded.after(within, tick).Add(-time.Nanosecond)
	}
}

// Last returns the last tick that is later than after and not later than notAfter, in UTC, and
// reports whether there is one. Its cost does not depend on how far apart the two are.
func (t Ticks) Last(after, notAfter time.Time) (time.Time, bool) {
	if !t.notBefore.IsZero() {
		after = latest(after, t.notBefore.Add(-time.Nanosecond))
	}
	if !t.notAfter.IsZero() && t.notAfter.Before(notAfter) {
		notAfter = t.notAfter
	}
	for {
		tick, ok := t.schedule.Last(after, notAfter)
		if !ok {
			return time.Time{}, false
		}
		within, isExcluded := t.excluded.around(tick)
		if !isExcluded {
			return tick, true
		}
		notAfter = t.excluded.before(within, tick)
	}
}

// Count returns how many ticks lie after one instant and before another, at most limit.
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
