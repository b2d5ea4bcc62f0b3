// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// searchYears bounds a search: leap days are at most eight years apart.
const searchYears = 9

// star is the bit that the parser sets in a field that is "*" or "?".
const star = 1 << 63

// expression is a cron expression of five fields. The cron library reads it; the search is our own,
// as the library's loses a tick where clocks shift by half an hour and can't look backwards.
//
// It is done in civil time, that is, on the clock on the wall, as if in a zone that never shifts.
// A time.Time in UTC stands for it. Shifts come in when civil times are placed in a zone.
type expression struct {
	minutes, hours, days, months, weekdays uint64

	// eitherDay says that one of days and weekdays has to match, and not both: it is so when
	// neither of the two is "*" (crontab(5)).
	eitherDay bool

	// wildcard says that the minute or the hour starts with "*": "every so often" rather than "at
	// this time". Where clocks shift, a wildcard keeps real time, and a fixed time happens once a
	// day on the wall: in spring right after the gap if it is in it, in autumn the first time it is
	// seen. That is vixie-cron's rule (cron(8), "Notes"), but for shifts of three hours and more,
	// which it leaves alone: here, the day that Samoa skipped in 2011 is a gap as any other.
	wildcard bool
}

// newExpression takes over what the parser made of a text.
func newExpression(parsed *cron.SpecSchedule, text string) *expression {
	wildcard := parsed.Hour&star != 0 // of a macro: @hourly
	if fields := strings.Fields(text); len(fields) == 5 {
		wildcard = strings.ContainsAny(fields[0][:1]+fields[1][:1], "*?")
	}
	return &expression{
		minutes: parsed.Minute &^ star, hours: parsed.Hour &^ star, days: parsed.Dom &^ star,
		months: parsed.Month &^ star, weekdays: parsed.Dow &^ star,
		eitherDay: (parsed.Dom|parsed.Dow)&star == 0,
		wildcard:  wildcard,
	}
}

// next returns the first tick after an instant.
func (e *expression) next(after time.Time, zone *time.Location) (time.Time, bool) {
	from := after.Truncate(time.Second).Add(time.Second)
	for p := periodAt(from, zone); ; p = periodAt(p.end, zone) {
		if !e.wildcard && !from.After(p.start) && e.fallsInto(p.gap()) {
			return p.start.UTC(), true
		}
		civil, ok := e.ceil(e.skipRepeated(p, p.civil(from)))
		if !ok {
			return time.Time{}, false
		}
		if tick := p.instant(civil); p.end.IsZero() || tick.Before(p.end) {
			return tick, true
		}
		from = p.end
	}
}

// last returns the last tick that is not later than an instant.
func (e *expression) last(notAfter time.Time, zone *time.Location) (time.Time, bool) {
	for p := periodAt(notAfter, zone); ; p = periodAt(notAfter, zone) {
		civil, ok := e.floor(p.civil(notAfter))
		if !ok {
			return time.Time{}, false
		}
		if tick := p.instant(civil); !tick.Before(p.start) && (e.wildcard || !civil.Before(p.repeatedUntil())) {
			return tick, true
		}
		if p.start.IsZero() {
			return time.Time{}, false
		}
		if !e.wildcard && e.fallsInto(p.gap()) {
			return p.start.UTC(), true
		}
		notAfter = p.start.Add(-time.Second)
	}
}

// skipRepeated returns the civil time from which a fixed time may be looked for: one that the wall
// has shown before, in the period before, had its run.
func (e *expression) skipRepeated(p period, civil time.Time) time.Time {
	if until := p.repeatedUntil(); !e.wildcard && civil.Before(until) {
		return until
	}
	return civil
}

// fallsInto reports whether a civil time from start on and before end matches.
func (e *expression) fallsInto(start, end time.Time) bool {
	if !start.Before(end) {
		return false
	}
	civil, ok := e.ceil(start)
	return ok && civil.Before(end)
}

// ceil returns the first matching civil time that is not before this one.
func (e *expression) ceil(from time.Time) (time.Time, bool) {
	if whole := from.Truncate(time.Minute); whole.Before(from) {
		from = whole.Add(time.Minute)
	}
	year, month, day := from.Date()
	hour, minute, _ := from.Clock()
	for midnight := date(year, month, day); midnight.Year() <= year+searchYears; hour, minute = 0, 0 {
		switch {
		case e.months&(1<<midnight.Month()) == 0:
			midnight = date(midnight.Year(), midnight.Month()+1, 1)
			continue
		case e.matchesDay(midnight):
			if h, m, ok := e.clockFrom(hour, minute); ok {
				return midnight.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute), true
			}
		}
		midnight = midnight.AddDate(0, 0, 1)
	}
	return time.Time{}, false
}

// floor returns the last matching civil time that is not after this one.
func (e *expression) floor(until time.Time) (time.Time, bool) {
	year, month, day := until.Date()
	hour, minute, _ := until.Clock()
	for midnight := date(year, month, day); midnight.Year() >= year-searchYears; hour, minute = 23, 59 {
		switch {
		case e.months&(1<<midnight.Month()) == 0:
			midnight = date(midnight.Year(), midnight.Month(), 0) // the last day of the month before
			continue
		case e.matchesDay(midnight):
			if h, m, ok := e.clockUntil(hour, minute); ok {
				return midnight.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute), true
			}
		}
		midnight = midnight.AddDate(0, 0, -1)
	}
	return time.Time{}, false
}

// matchesDay reports whether the day of a civil time, whose month matches, does.
func (e *expression) matchesDay(t time.Time) bool {
	day, weekday := e.days&(1<<t.Day()) != 0, e.weekdays&(1<<t.Weekday()) != 0
	if e.eitherDay {
		return day || weekday
	}
	return day && weekday
}

// clockFrom returns the first matching hour and minute of a day that are not before these.
func (e *expression) clockFrom(hour, minute int) (int, int, bool) {
	if e.minutes == 0 {
		return 0, 0, false
	}
	if e.hours&(1<<hour) != 0 {
		if rest := e.minutes >> minute; rest != 0 {
			return hour, minute + bits.TrailingZeros64(rest), true
		}
	}
	later := e.hours >> (hour + 1)
	return hour + 1 + bits.TrailingZeros64(later), bits.TrailingZeros64(e.minutes), later != 0
}

// clockUntil returns the last matching hour and minute of a day that are not after these.
func (e *expression) clockUntil(hour, minute int) (int, int, bool) {
	if e.minutes == 0 {
		return 0, 0, false
	}
	if e.hours&(1<<hour) != 0 {
		if rest := e.minutes & (1<<(minute+1) - 1); rest != 0 {
			return hour, bits.Len64(rest) - 1, true
		}
	}
	earlier := e.hours & (1<<hour - 1)
	return bits.Len64(earlier) - 1, bits.Len64(e.minutes) - 1, earlier != 0
}

// date is midnight of a civil day. Days and months beyond their range count on, as in time.Date.
func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
