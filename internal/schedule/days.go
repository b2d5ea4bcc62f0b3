// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MonthDay is an item of the day of month whose date depends on the month. It takes no range and no
// step, and letters in either case.
//
//	L     the last day of the month
//	L-3   three days before it, in February the 25th or 26th; up to L-30, which only months of 31
//	      days have: it is their 1st
//	15W   the weekday, Monday to Friday, nearest to the 15th: the 14th if the 15th is a Saturday, the
//	      16th if it is a Sunday. It is always in the same month, so 1W is the 3rd if the 1st is a
//	      Saturday. A month without the day has none: April has no 31W
//	LW    the last weekday of the month
type MonthDay struct {
	// Day is from 1 for the 1st; or from 0 for the last day backwards: -3 is L-3.
	Day int

	// NearestWeekday is whether the item means the weekday nearest to Day.
	NearestWeekday bool
}

// NthWeekday is an item of the day of week that is one day of a month. The weekday is a number or a
// name as in other items, so Sunday is 0 or sun, not 7. It takes no range and no step.
//
//	5#3, fri#3   the third Friday of the month; most months have no fifth
//	5L, friL     the last Friday of the month
type NthWeekday struct {
	Weekday time.Weekday

	// Nth is 1 for the first of the month to 5, and 0 for the last.
	Nth int
}

// Patterns of the values of the two day fields, and of MonthDay and NthWeekday.
const (
	dayValue       = `[+]?0*([1-9]|[12][0-9]|3[01])`
	weekdayValue   = `[+]?0*[0-6]|(?i:sun|mon|tue|wed|thu|fr[iİ]|sat)`
	monthDayItem   = `[lL](-([1-9]|[12][0-9]|30))?|([lL]|` + dayValue + `)[wW]`
	nthWeekdayItem = `(` + weekdayValue + `)(#[1-5]|[lL])`
)

var (
	monthDayPattern   = regexp.MustCompile(`^(` + monthDayItem + `)$`)
	nthWeekdayPattern = regexp.MustCompile(`^(` + nthWeekdayItem + `)$`)
)

// parseMonthDay reads an item of the day of month, and reports whether it is a MonthDay.
func parseMonthDay(item string) (MonthDay, bool) {
	if !monthDayPattern.MatchString(item) {
		return MonthDay{}, false
	}
	text, nearest := strings.CutSuffix(strings.ToUpper(item), "W")
	day, _ := strconv.Atoi(strings.TrimPrefix(text, "L")) // 0 for L, of which nothing is left
	return MonthDay{day, nearest}, true
}

// parseNthWeekday reads an item of the day of week, and reports whether it is an NthWeekday.
func parseNthWeekday(item string) (NthWeekday, bool) {
	if !nthWeekdayPattern.MatchString(item) {
		return NthWeekday{}, false
	}
	name, nth, _ := strings.Cut(strings.TrimRight(item, "lL"), "#")
	set, ok := valuesOf(dayOfWeek, name)
	n, _ := strconv.Atoi(nth) // 0 for L, which has no number
	return NthWeekday{time.Weekday(bits.TrailingZeros64(set)), n}, ok
}

// takeDays moves the MonthDays and NthWeekdays of a field into f. It returns the rest of the field
// for the cron library, which accepts empty items of a list.
func (f *Fields) takeDays(i int, value string) string {
	items := strings.Split(value, ",")
	rest := slices.DeleteFunc(slices.Clone(items), func(item string) bool {
		switch i {
		case dayOfMonth:
			day, ok := parseMonthDay(item)
			f.MonthDays = appendNew(f.MonthDays, day, ok)
			return ok
		case dayOfWeek:
			day, ok := parseNthWeekday(item)
			f.NthWeekdays = appendNew(f.NthWeekdays, day, ok)
			return ok
		}
		return false
	})
	if len(rest) == len(items) {
		return value
	}
	return "," + strings.Join(rest, ",")
}

// appendNew appends a day if ok is true and days does not have it yet.
func appendNew[Day comparable](days []Day, day Day, ok bool) []Day {
	if !ok || slices.Contains(days, day) {
		return days
	}
	return append(days, day)
}

func (f *Fields) sortDays() {
	slices.SortFunc(f.MonthDays, func(a, b MonthDay) int { return a.rank() - b.rank() })
	slices.SortFunc(f.NthWeekdays, func(a, b NthWeekday) int { return a.rank() - b.rank() })
}

// rank orders days: 1W to 31W, LW, L-30 to L.
func (d MonthDay) rank() int {
	switch {
	case d.Day > 0:
		return d.Day
	case d.NearestWeekday:
		return 32
	}
	return 64 + d.Day
}

// rank orders days: all first weekdays of a month, then all second ones, and so on to the last.
func (d NthWeekday) rank() int { return (d.Nth+5)%6*7 + int(d.Weekday) }

// month has what the dates of a MonthDay and an NthWeekday depend on.
type month struct {
	days  int          // how many the month has
	first time.Weekday // of the 1st
}

// monthOf returns the month that begins at a civil midnight.
func monthOf(first time.Time) month {
	return month{days: first.AddDate(0, 1, -1).Day(), first: first.Weekday()}
}

// in returns the date of the day in a month; 0 if the month does not have it.
func (d MonthDay) in(m month) int {
	day := d.Day
	if day <= 0 {
		day += m.days
	}
	if day < 1 || day > m.days {
		return 0
	}
	switch weekday := (int(m.first) + day - 1) % 7; {
	case !d.NearestWeekday:
	case weekday == int(time.Saturday) && day == 1:
		return 3
	case weekday == int(time.Saturday):
		return day - 1
	case weekday == int(time.Sunday) && day == m.days:
		return day - 2
	case weekday == int(time.Sunday):
		return day + 1
	}
	return day
}

// in returns the date of the day in a month; 0 if the month does not have it.
func (d NthWeekday) in(m month) int {
	first := 1 + (int(d.Weekday)-int(m.first)+7)%7
	if d.Nth == 0 {
		return first + (m.days-first)/7*7
	}
	day := first + 7*(d.Nth-1)
	if day > m.days {
		return 0
	}
	return day
}

// allOn returns the dates of weekdays in a month, both as bits. The result may have dates beyond
// the end of the month.
func (m month) allOn(weekdays uint64) uint64 {
	week := (weekdays | weekdays<<7) >> m.first & (1<<7 - 1) // bit 0 is the weekday of the 1st
	return (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
}

// daysOf returns the days of a month that match, as bits: bit 1 is the 1st. The month begins at a
// civil midnight.
func (f *Fields) daysOf(first time.Time) uint64 {
	if f.Months&(1<<first.Month()) == 0 {
		return 0
	}
	m := monthOf(first)
	days, weekdays := f.Days, m.allOn(f.Weekdays)
	for _, day := range f.MonthDays {
		days |= 1 << day.in(m)
	}
	for _, day := range f.NthWeekdays {
		weekdays |= 1 << day.in(m)
	}
	matching := days & weekdays
	if f.EitherDay {
		matching = days | weekdays
	}
	return matching & (1<<(m.days+1) - 2) // bit 0 stands for days that the month lacks
}
