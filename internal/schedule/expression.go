// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// searchMonths limits a search. The rarest day, a leap day on a given weekday, comes within 40
// years.
const searchMonths = 41 * 12

const (
	oneDay = 24 * time.Hour

	// maxOffset is more than any two offsets of a zone differ by.
	maxOffset = 2 * oneDay
)

// star is the bit that the parser sets in a field that is "*" or "?".
const star = 1 << 63

// Fields are the values of the fields of a cron expression, as bit sets: bit 5 of Hours is the hour
// 5, and bit 0 of Weekdays is Sunday.
type Fields struct {
	Minutes, Hours, Days, Months, Weekdays uint64

	// MonthDays are further days of the month, and NthWeekdays further weekdays.
	MonthDays   []MonthDay
	NthWeekdays []NthWeekday

	// EitherDay is whether a day matches if its day of month or its day of week does. Otherwise
	// both have to match. It is true if neither of the two fields is "*" (crontab(5)).
	EitherDay bool
}

// expression is a cron expression of five fields. The cron library parses it. The search is our
// own, because the library's loses a tick where clocks shift by half an hour and can't search
// backwards.
//
// The search is done in civil time (what a clock on the wall shows), as a time.Time in UTC. A
// period converts between civil times and instants, so only next and last deal with shifts of the
// clock.
type expression struct {
	Fields

	// wildcard is whether the minute or the hour starts with "*" or "?". Where clocks shift, a
	// wildcard fires at every instant whose civil time matches. A fixed time fires once a day:
	// right after the gap in spring if it lies in the gap, and only the first time in autumn. That
	// is vixie-cron's rule (cron(8), "Notes"), except that it ignores shifts of three hours and
	// more: here, the day that Samoa skipped in 2011 is a gap like any other.
	wildcard bool
}

// newExpression makes an expression from what the parser returned for a text, and from the
// MonthDays and NthWeekdays that the parser does not know.
func newExpression(parsed *cron.SpecSchedule, days Fields, text string) *expression {
	wildcard := parsed.Hour&star != 0 // of a macro: @hourly
	if fields := strings.Fields(text); len(fields) == 5 {
		wildcard = strings.ContainsAny(fields[0][:1]+fields[1][:1], "*?")
	}
	days.sortDays()
	return &expression{
		Fields: Fields{
			Minutes: parsed.Minute &^ star, Hours: parsed.Hour &^ star, Days: parsed.Dom &^ star,
			Months: parsed.Month &^ star, Weekdays: parsed.Dow &^ star,
			MonthDays: days.MonthDays, NthWeekdays: days.NthWeekdays,
			EitherDay: (parsed.Dom|parsed.Dow)&star == 0,
		},
		wildcard: wildcard,
	}
}

// next returns the first tick after an instant.
func (e *expression) next(after time.Time, zone *time.Location) (time.Time, bool) {
	from := after.Truncate(time.Second).Add(time.Second)
	for p := periodAt(from, zone); ; p = periodAt(from, zone) {
		if !e.wildcard && !from.After(p.start) && e.fallsInto(p.gap()) {
			return p.start.UTC(), true
		}
		civil, ok := e.ceil(e.skipRepeated(p, p.civil(from)))
		if !ok {
			return time.Time{}, false
		}
		tick := p.instant(civil)
		if p.end.IsZero() || tick.Before(p.end) {
			return tick, true
		}
		near := tick.Add(-maxOffset) // no earlier tick, unless the clock shifts backward
		if p.end.Sub(from) < maxOffset || near.Before(p.end) {
			near = p.end
		}
		from = near
	}
}

// last returns the last tick that is not later than an instant.
func (e *expression) last(notAfter time.Time, zone *time.Location) (time.Time, bool) {
	for p := periodAt(notAfter, zone); ; p = periodAt(notAfter, zone) {
		civil, ok := e.floor(p.civil(notAfter))
		if !ok {
			return time.Time{}, false
		}
		tick := p.instant(civil)
		if !tick.Before(p.start) && (e.wildcard || !civil.Before(p.repeatedUntil())) {
			return tick, true
		}
		if p.start.IsZero() {
			return time.Time{}, false
		}
		if !e.wildcard && e.fallsInto(p.gap()) {
			return p.start.UTC(), true
		}
		near := tick.Add(maxOffset) // no later tick, unless the clock shifted backward
		if notAfter.Sub(p.start) < maxOffset || !near.Before(p.start) {
			near = p.start.Add(-time.Second)
		}
		notAfter = near
	}
}

// skipRepeated returns the civil time from which to search in a period. For a fixed time it skips
// the civil times that repeat those of the period before, where it has fired already.
func (e *expression) skipRepeated(p period, civil time.Time) time.Time {
	if until := p.repeatedUntil(); !e.wildcard && civil.Before(until) {
		return until
	}
	return civil
}

// fallsInto reports whether a civil time not before start and before end matches.
func (e *expression) fallsInto(start, end time.Time) bool {
	if !start.Before(end) {
		return false
	}
	civil, ok := e.ceil(start)
	return ok && civil.Before(end)
}

// ceil returns the first matching civil time that is not before from.
func (e *expression) ceil(from time.Time) (time.Time, bool) {
	if whole := from.Truncate(time.Minute); whole.Before(from) {
		from = whole.Add(time.Minute)
	}
	first, day := monthAndDay(from)
	days := e.daysOf(first) >> day << day
	if days&(1<<day) != 0 {
		hour, minute, _ := from.Clock()
		if hour, minute, ok := e.clockFrom(hour, minute); ok {
			return clockOn(first, day, hour, minute), true
		}
		days &^= 1 << day
	}
	hour, minute, ok := e.clockFrom(0, 0)
	for range searchMonths {
		if ok && days != 0 {
			return clockOn(first, bits.TrailingZeros64(days), hour, minute), true
		}
		first = first.AddDate(0, 1, 0)
		days = e.daysOf(first)
	}
	return time.Time{}, false
}

// floor returns the last matching civil time that is not after until.
func (e *expression) floor(until time.Time) (time.Time, bool) {
	first, day := monthAndDay(until)
	days := e.daysOf(first) & (2<<day - 1)
	if days&(1<<day) != 0 {
		hour, minute, _ := until.Clock()
		if hour, minute, ok := e.clockUntil(hour, minute); ok {
			return clockOn(first, day, hour, minute), true
		}
		days &^= 1 << day
	}
	hour, minute, ok := e.clockUntil(23, 59)
	for range searchMonths {
		if ok && days != 0 {
			return clockOn(first, bits.Len64(days)-1, hour, minute), true
		}
		first = first.AddDate(0, -1, 0)
		days = e.daysOf(first)
	}
	return time.Time{}, false
}

// monthAndDay returns the first midnight of a civil time's month, and its day of the month.
func monthAndDay(civil time.Time) (time.Time, int) {
	day := civil.Day()
	return civil.Truncate(oneDay).AddDate(0, 0, 1-day), day
}

// clockOn returns a civil time of a day, given the first midnight of its month.
func clockOn(first time.Time, day, hour, minute int) time.Time {
	return first.Add(time.Duration(24*(day-1)+hour)*time.Hour + time.Duration(minute)*time.Minute)
}

// clockFrom returns the first matching hour and minute of a day that are not before the given ones.
func (e *expression) clockFrom(hour, minute int) (int, int, bool) {
	if e.Minutes == 0 {
		return 0, 0, false
	}
	if e.Hours&(1<<hour) != 0 {
		if rest := e.Minutes >> minute; rest != 0 {
			return hour, minute + bits.TrailingZeros64(rest), true
		}
	}
	later := e.Hours >> (hour + 1)
	return hour + 1 + bits.TrailingZeros64(later), bits.TrailingZeros64(e.Minutes), later != 0
}

// clockUntil returns the last matching hour and minute of a day that are not after the given ones.
func (e *expression) clockUntil(hour, minute int) (int, int, bool) {
	if e.Minutes == 0 {
		return 0, 0, false
	}
	if e.Hours&(1<<hour) != 0 {
		if rest := e.Minutes & (1<<(minute+1) - 1); rest != 0 {
			return hour, bits.Len64(rest) - 1, true
		}
	}
	earlier := e.Hours & (1<<hour - 1)
	return bits.Len64(earlier) - 1, bits.Len64(e.Minutes) - 1, earlier != 0
}
