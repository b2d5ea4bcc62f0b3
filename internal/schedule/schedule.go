// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package schedule computes when a schedule fires: it parses the text, loads the time zone, and
// finds the next tick after an instant and the last one before it. It reads no clock and knows
// nothing of Kubernetes.
//
// The parser is github.com/robfig/cron/v3, the one of Kubernetes, so a schedule means the same in
// both. It does not support L, W and #. Libraries that do give other texts another meaning, and
// can't search backwards:
//   - github.com/adhocore/gronx tries one day after another up to a limit, and returned wrong ticks
//     for the 31st, leap days and 31W, and where clocks shift (its issues 26, 55, 68, 71, 73, 74);
//   - github.com/netresearch/go-cron, a fork of robfig/cron, lets a day match only if both fields
//     of days do, and writes 5#L for 5L;
//   - github.com/hashicorp/cronexpr has no L-3, reads six fields as ones with a year, and is not
//     maintained.
//
// So this package parses those days itself: see MonthDay and NthWeekday.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

var (
	// ErrSyntax is wrapped by the errors for a text that is not a schedule.
	ErrSyntax = errors.New("not a schedule")

	// ErrNeverFires is wrapped by the errors for a schedule whose days never come.
	ErrNeverFires = errors.New("never fires")

	// ErrTimeZone is wrapped by the errors for an unknown time zone.
	ErrTimeZone = errors.New("unknown time zone")
)

// MaxLength is how many bytes a schedule may have. A schedule that lists every minute, hour, day,
// month and weekday has fewer than half of them.
const MaxLength = 1024

// Schedule is one or more cron expressions in a time zone, or an interval. Parse makes it; the zero
// value is not a schedule. It is immutable.
type Schedule struct {
	// expressions are the cron expressions, read in zone; none for an interval. The ticks are those
	// of all of them.
	expressions []*expression
	zone        *time.Location

	// interval is that of "@every"; 0 for cron expressions. Its ticks are anchor + n × interval,
	// for n from 1.
	interval time.Duration
	anchor   time.Time
}

// Parse reads a schedule: five cron fields, a macro such as @daily, or "@every" and a duration. It
// accepts what cron.ParseStandard does, except the prefixes TZ= and CRON_TZ=. Lists of days may
// also have items that are a MonthDay or an NthWeekday. The zone is a name of the IANA database; ""
// is UTC. Errors wrap ErrSyntax, ErrNeverFires or ErrTimeZone, and a Mistake if a field or the form
// of the text is wrong.
func Parse(text, zone string) (Schedule, error) {
	location, err := LoadZone(zone)
	if err != nil {
		return Schedule{}, err
	}
	parsed, days, err := parseText(text)
	if err != nil {
		return Schedule{}, err
	}
	if every, ok := parsed.(cron.ConstantDelaySchedule); ok {
		return Schedule{interval: every.Delay, zone: location}, nil
	}
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Schedule{}, fmt.Errorf("%w: the parser gave a %T", ErrSyntax, parsed)
	}
	s := Schedule{expressions: []*expression{newExpression(fields, days, text)}, zone: location}
	// A fixed start makes the answer the same on every day.
	if _, ok := s.Next(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)); !ok {
		return Schedule{}, fmt.Errorf("%w: no day has this day of month, month, hour and minute", ErrNeverFires)
	}
	return s, nil
}

// parseText reads the text without the time zone. The cron library parses all but the MonthDays and
// NthWeekdays, which are returned as Fields.
func parseText(text string) (cron.Schedule, Fields, error) {
	days := Fields{}
	switch {
	case len(text) > MaxLength:
		return nil, days, fmt.Errorf("%w: longer than %d characters", ErrSyntax, MaxLength)
	case strings.HasPrefix(text, "TZ="), strings.HasPrefix(text, "CRON_TZ="):
		// The parser would accept the prefix, and panics if no blank follows.
		return nil, days, fmt.Errorf("%w: TZ= and CRON_TZ= are not supported, use timeZone", ErrSyntax)
	}
	if parsed, err := cron.ParseStandard(text); err == nil {
		return parsed, days, nil
	}
	words := strings.Fields(text)
	for i := range min(len(words), len(parts)) {
		words[i] = days.takeDays(i, words[i])
	}
	parsed, err := fieldParser.Parse("0 " + strings.Join(words, " "))
	if err != nil {
		return nil, days, explain(text)
	}
	return parsed, days, nil
}

// Anchored returns the schedule with an anchor: an interval counts from it. The ticks of a cron
// expression don't depend on it.
func (s Schedule) Anchored(anchor time.Time) Schedule {
	s.anchor = anchor.Truncate(time.Second)
	return s
}

// Fields returns the fields of the first cron expression; false for an interval.
func (s Schedule) Fields() (Fields, bool) {
	if len(s.expressions) == 0 {
		return Fields{}, false
	}
	return s.expressions[0].Fields, true
}

// Interval returns the interval of an "@every" schedule, at least one second, and 0 for others.
func (s Schedule) Interval() time.Duration { return s.interval }

// lastYear is the last one that RFC 3339, and so the API, can express.
const lastYear = 9999

// Next returns the first tick after an instant, in UTC. It returns false if there is none until the
// end of the year 9999. Parse refuses schedules that never fire, so that only happens near that
// end.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	if s.interval != 0 {
		return withinYears(s.nextInterval(after), true)
	}
	first, found := time.Time{}, false
	for _, e := range s.expressions {
		if tick, ok := e.next(after, s.zone); ok && (!found || tick.Before(first)) {
			first, found = tick, true
		}
	}
	return withinYears(first, found)
}

// withinYears returns false for a tick after lastYear.
func withinYears(tick time.Time, ok bool) (time.Time, bool) {
	if !ok || tick.Year() > lastYear {
		return time.Time{}, false
	}
	return tick, true
}

// Last returns the last tick that is later than after and not later than notAfter, in UTC, and
// reports whether there is one. It searches backwards from notAfter, so its cost does not depend on
// how far apart the two are.
func (s Schedule) Last(after, notAfter time.Time) (time.Time, bool) {
	if s.interval != 0 {
		last := s.afterIntervals(s.intervalsBy(notAfter))
		return last, last.After(after) && last.After(s.anchor)
	}
	last := time.Time{}
	for _, e := range s.expressions {
		if tick, ok := e.last(notAfter, s.zone); ok && tick.After(last) {
			last = tick
		}
	}
	return last, last.After(after)
}

// nextInterval returns the first anchor + n × interval, n from 1, after an instant.
func (s Schedule) nextInterval(after time.Time) time.Time {
	return s.afterIntervals(max(s.intervalsBy(after), 0) + 1)
}

// intervalsBy returns how many whole intervals have passed since the anchor; -1 before the anchor.
// It counts seconds, because a time.Duration ends at 292 years.
func (s Schedule) intervalsBy(instant time.Time) int64 {
	passed, interval := instant.Unix()-s.anchor.Unix(), int64(s.interval/time.Second)
	if passed < 0 {
		return -1
	}
	return passed / interval
}

func (s Schedule) afterIntervals(count int64) time.Time {
	return time.Unix(s.anchor.Unix()+count*int64(s.interval/time.Second), 0).UTC()
}
