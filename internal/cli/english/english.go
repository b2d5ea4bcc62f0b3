// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package english describes schedules in plain English.
//
// Existing libraries describe the text of an expression in other cron dialects: they join day of
// month and day of week by "and", and read */7 as every seven minutes. This package describes the
// parsed sets that decide when a Job starts. So two schedules have the same description if and only
// if they fire at the same times, except for days such as L or 5#3, which are described as written:
// 28-31,L and 28-31 differ.
package english

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/internal/schedule"
)

// Describe returns a sentence without a full stop, such as "At 09:00, Monday to Friday; and at
// 12:00, on Saturdays" for two schedules. It returns the error of schedule.Parse for an invalid
// one.
func Describe(text string, additional ...string) (string, error) {
	sentence, err := describe(text)
	for _, text := range additional {
		var also string
		if err == nil {
			also, err = describe(text)
		}
		if err != nil {
			return "", err
		}
		sentence += "; and " + strings.ToLower(also[:1]) + also[1:]
	}
	return sentence, err
}

func describe(text string) (string, error) {
	parsed, err := schedule.Parse(text, "")
	if err != nil {
		return "", err
	}
	fields, ok := parsed.Fields()
	if !ok {
		return "Every " + interval(parsed.Interval()) + ", counted from the last run", nil
	}
	sentence := expression(fields)
	return strings.ToUpper(sentence[:1]) + sentence[1:], nil
}

func expression(f schedule.Fields) string {
	times, isPart := timesOfDay(valuesOf(f.Minutes), valuesOf(f.Hours))
	days := days(f)
	switch {
	case days != "":
		return times + ", " + days
	case isPart:
		return times + ", every day"
	}
	return times
}

// timesOfDay describes the times of a day. isPart is whether they are in just some of its hours.
func timesOfDay(minutes, hours values) (text string, isPart bool) {
	const few, several = 3, 6
	allDay, count := len(hours) == 24, len(minutes)*len(hours)
	every, isEven := minutes.evenStep(60)
	switch {
	case count <= few:
		return "at " + and(times(minutes, hours)), true
	case isEven && allDay:
		return "every " + counted(every, "minute"), false
	case isEven && hours.isRange():
		return fmt.Sprintf("every %s from %s to %s", counted(every, "minute"),
			clockTime(hours[0], minutes[0]), clockTime(hours.last(), minutes.last())), true
	case count <= several && len(minutes) > 1:
		return "at " + and(times(minutes, hours)), true
	case isEven:
		return fmt.Sprintf("every %s of %s", counted(every, "minute"), hourList(hours)), true
	case len(minutes) == 1 && allDay && minutes[0] == 0:
		return "every hour", false
	case len(minutes) == 1 && allDay:
		return fmt.Sprintf("at minute %d of every hour", minutes[0]), false
	}
	if step, ok := hours.progression(); ok && len(minutes) == 1 && len(hours) > 3 {
		return fmt.Sprintf("every %s from %s to %s", counted(step, "hour"),
			clockTime(hours[0], minutes[0]), clockTime(hours.last(), minutes[0])), true
	}
	if len(minutes) == 1 {
		return "at " + and(times(minutes, hours)), true
	}
	if allDay {
		return "at " + minuteList(minutes) + " of every hour", false
	}
	return "at " + minuteList(minutes) + " of " + hourList(hours), true
}

func times(minutes, hours values) []string {
	var list []string
	for _, hour := range hours {
		for _, minute := range minutes {
			list = append(list, clockTime(hour, minute))
		}
	}
	return list
}

func minuteList(minutes values) string {
	return cmp.Or(minutes.steps("minute"), plural(len(minutes), "minute")+" "+and(minutes.runs(strconv.Itoa)))
}

func hourList(hours values) string {
	return cmp.Or(hours.steps("hour"), "the "+plural(len(hours), "hour")+" "+and(hours.runs(strconv.Itoa)))
}

// days describes the days; "" for every day.
//
// If neither day of month nor day of week is "*", a day has to match one of them, not both. Either
// one may then be empty, ",".
func days(f schedule.Fields) string {
	monthDays, weekdays, months := valuesOf(f.Days), valuesOf(f.Weekdays), valuesOf(f.Months)
	anyMonthDay, anyWeekday := len(monthDays) == 31, len(weekdays) == 7
	switch {
	case anyMonthDay && anyWeekday, f.EitherDay && (anyMonthDay || anyWeekday):
		if len(months) == 12 {
			return ""
		}
		return "every day in " + monthList(months)
	case anyWeekday, len(weekdays)+len(f.NthWeekdays) == 0:
		return onMonthDays(monthDays, f.MonthDays, months)
	case anyMonthDay, len(monthDays)+len(f.MonthDays) == 0:
		return onDaysOfWeek(weekdays, f.NthWeekdays, months)
	}
	return onMonthDays(monthDays, f.MonthDays, months) + ", and also " + onDaysOfWeek(weekdays, f.NthWeekdays, months)
}

func onMonthDays(days values, further []schedule.MonthDay, months values) string {
	of := monthsOfDays(months)
	if step, ok := days.progression(); ok && step > 1 && len(days) > 3 && len(further) == 0 {
		return fmt.Sprintf("every %s day of %s from the %s to the %s", ordinal(step), of, ordinal(days[0]), ordinal(days.last()))
	}
	var names []string
	if len(days) > 0 {
		names = days.runs(ordinal)
		names[0] = "the " + names[0]
	}
	for _, day := range further {
		names = append(names, "the "+monthDay(day))
	}
	return "on " + and(names) + " of " + of
}

// monthDay describes a day that depends on the month.
func monthDay(d schedule.MonthDay) string {
	switch {
	case d.Day > 0:
		return "weekday nearest to the " + ordinal(d.Day)
	case d.NearestWeekday:
		return "last weekday"
	case d.Day == 0:
		return "last day"
	}
	return ordinal(-d.Day) + " day before the last"
}

func monthsOfDays(months values) string {
	if len(months) == 12 {
		return "the month"
	}
	return monthList(months)
}

func onDaysOfWeek(days values, nth []schedule.NthWeekday, months values) string {
	var parts, names []string
	if len(days) > 0 {
		parts = append(parts, onWeekdays(days)+inMonths(months))
	}
	for _, day := range nth {
		which := "last"
		if day.Nth > 0 {
			which = ordinal(day.Nth)
		}
		names = append(names, "the "+which+" "+day.Weekday.String())
	}
	if len(nth) > 0 {
		parts = append(parts, "on "+and(names)+" of "+monthsOfDays(months))
	}
	return strings.Join(parts, ", and also ")
}

func onWeekdays(days values) string {
	name := func(day int) string { return time.Weekday(day % 7).String() }
	if first, ok := days.weekRange(); ok {
		return name(first) + " to " + name(first+len(days)-1)
	}
	var names []string
	for i := range 7 { // Monday first
		if day := (i + 1) % 7; days.has(day) {
			names = append(names, name(day)+"s")
		}
	}
	return "on " + and(names)
}

// inMonths describes the months; "" for all.
func inMonths(months values) string {
	if len(months) == 12 {
		return ""
	}
	return " in " + monthList(months)
}

func monthList(months values) string {
	return and(months.runs(func(month int) string { return time.Month(month).String() }))
}

// interval describes a duration of whole seconds, such as "1 hour and 30 minutes".
func interval(d time.Duration) string {
	units := []struct {
		name string
		size time.Duration
	}{{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}
	var parts []string
	for _, unit := range units {
		if n := int(d / unit.size); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, plural(n, unit.name)))
		}
		d %= unit.size
	}
	if len(parts) == 1 {
		return strings.TrimPrefix(parts[0], "1 ") // every hour
	}
	return and(parts)
}

// values is a non-empty set of small numbers, in ascending order.
type values []int

func valuesOf(field uint64) values {
	var list values
	for rest := field; rest != 0; rest &= rest - 1 {
		list = append(list, bits.TrailingZeros64(rest))
	}
	return list
}

func (v values) last() int { return v[len(v)-1] }

func (v values) has(n int) bool { return slices.Contains(v, n) }

// progression returns the step of an arithmetic progression; false for other sets.
func (v values) progression() (int, bool) {
	if len(v) < 2 {
		return 0, false
	}
	step := v[1] - v[0]
	for i := range v[1:] {
		if v[i+1]-v[i] != step {
			return 0, false
		}
	}
	return step, true
}

// steps describes a progression of more than three numbers with a step of more than one, such as
// "every 7th minute from 0 to 56"; "" for other sets.
func (v values) steps(unit string) string {
	step, ok := v.progression()
	if !ok || step == 1 || len(v) <= 3 {
		return ""
	}
	return fmt.Sprintf("every %s %s from %d to %d", ordinal(step), unit, v[0], v.last())
}

// isRange reports whether the numbers are consecutive.
func (v values) isRange() bool { return v.last()-v[0] == len(v)-1 }

// evenStep returns the step of a progression from 0 that divides the cycle; false for other sets.
func (v values) evenStep(cycle int) (int, bool) {
	step, ok := v.progression()
	return step, ok && v[0] == 0 && v.last()+step == cycle
}

// weekRange returns the first of three to six consecutive weekdays, which may span the end of the
// week; false for other sets.
func (v values) weekRange() (int, bool) {
	if len(v) < 3 || len(v) == 7 {
		return 0, false
	}
	for _, first := range v {
		if v.has((first + 6) % 7) {
			continue
		}
		for i := range v {
			if !v.has((first + i) % 7) {
				return 0, false
			}
		}
		return first, true
	}
	return 0, false
}

// runs names the numbers, with three or more consecutive ones as "a to b".
func (v values) runs(name func(int) string) []string {
	var parts []string
	for i := 0; i < len(v); {
		end := i
		for end+1 < len(v) && v[end+1] == v[end]+1 {
			end++
		}
		if end-i >= 2 {
			parts = append(parts, name(v[i])+" to "+name(v[end]))
			i = end + 1
			continue
		}
		parts = append(parts, name(v[i]))
		i++
	}
	return parts
}

func clockTime(hour, minute int) string { return fmt.Sprintf("%02d:%02d", hour, minute) }

// counted returns "minute" for 1, and "5 minutes" for 5, to follow "every".
func counted(n int, unit string) string {
	if n == 1 {
		return unit
	}
	return fmt.Sprintf("%d %s", n, plural(n, unit))
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

func and(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
