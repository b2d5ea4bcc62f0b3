// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// calendar has the dates of a month: all, those from Monday to Friday, and those of each weekday by
// its name and number.
type calendar struct {
	all, weekdays []int
	on            map[string][]int
}

// calendars has the calendar of each month that was asked for, by its first day.
var calendars sync.Map

// calendarOf makes the calendar of the month of a day, and looks at each of its days for it.
func calendarOf(in time.Time) calendar {
	first := date(in.Year(), in.Month(), 1)
	if known, ok := calendars.Load(first); ok {
		return known.(calendar)
	}
	c := calendar{on: map[string][]int{}}
	for day := first; day.Month() == first.Month(); day = day.AddDate(0, 0, 1) {
		c.all = append(c.all, day.Day())
		if day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			c.weekdays = append(c.weekdays, day.Day())
		}
		for _, name := range []string{day.Weekday().String()[:3], strconv.Itoa(int(day.Weekday()))} {
			c.on[strings.ToUpper(name)] = append(c.on[strings.ToUpper(name)], day.Day())
		}
	}
	calendars.Store(first, c)
	return c
}

// modelDate returns the date of an item such as L-3, 15W, 5#3 or friL in the month of a day; 0 if
// the month does not have it.
func modelDate(item string, in time.Time) int {
	c := calendarOf(in)
	nth := func(dates []int, n int) int {
		if n < 0 || n >= len(dates) {
			return 0
		}
		return dates[n]
	}
	item = strings.ToUpper(item)
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	switch weekday, n, isNth := strings.Cut(item, "#"); {
	case isNth:
		return nth(c.on[weekday], number(n)-1)
	case item == "L" || strings.HasPrefix(item, "L-"):
		return nth(c.all, len(c.all)-1-number(strings.TrimPrefix(item, "L-")))
	case item == "LW":
		return nth(c.weekdays, len(c.weekdays)-1)
	case strings.HasSuffix(item, "L"):
		dates := c.on[strings.TrimSuffix(item, "L")]
		return nth(dates, len(dates)-1)
	}
	target, nearest := number(strings.TrimSuffix(item, "W")), 0
	if target > len(c.all) {
		return 0
	}
	for _, day := range c.weekdays {
		if nearest == 0 || max(day-target, target-day) < max(nearest-target, target-nearest) {
			nearest = day
		}
	}
	return nearest
}

// daysThatDependOnTheMonth are the day fields of the tests over all months.
func daysThatDependOnTheMonth() []string {
	days := []string{"L * *", "LW * *"}
	for n := 1; n <= 31; n++ {
		days = append(days, fmt.Sprintf("%dW * *", n))
		if n < 31 {
			days = append(days, fmt.Sprintf("L-%d * *", n))
		}
	}
	for weekday := range 7 {
		days = append(days, fmt.Sprintf("* * %dL", weekday))
		for n := 1; n <= 5; n++ {
			days = append(days, fmt.Sprintf("* * %d#%d", weekday, n))
		}
	}
	return append(days, "l,15 * *", "1,15w,L-1 1-6/2 ?", "*/10,LW * *", "13,LW * 5", "L * fri#3", "? 2 MON#5", "L-28 2 *",
		"29W 2 *", "L-2 2 1#5", "* jun-aug 1-3,satL", "*,L * 5#1", "L-30 * 0#5,0L")
}

// TestA1DaysThatDependOnTheMonthAreThoseOfTheModelInAllMonths walks all days of 1970 to 2100.
func TestA1DaysThatDependOnTheMonthAreThoseOfTheModelInAllMonths(t *testing.T) {
	t.Parallel()
	start, end := date(1970, time.January, 1), date(2101, time.January, 1)
	for _, days := range daysThatDependOnTheMonth() {
		text := "0 12 " + days
		entry, s := newVixie(t, text), mustParse(t, text, "")
		var want, forwards []time.Time
		for noon := start.Add(12 * time.Hour); noon.Before(end); noon = noon.AddDate(0, 0, 1) {
			if entry.matches(newCivil(noon.Unix() / 60)) {
				want = append(want, noon)
			}
		}
		require.NotEmpty(t, want, text)
		for tick, ok := s.Next(start); ok && tick.Before(end); tick, ok = s.Next(tick) {
			forwards = append(forwards, tick)
		}
		requireSameTicks(t, want, forwards, "forwards: "+text)
		tick, ok := s.Last(start, end)
		for _, before := range slices.Backward(want) {
			require.True(t, ok, text)
			require.Equal(t, before, tick, "backwards: %s", text)
			tick, ok = s.Last(start, tick.Add(-time.Nanosecond))
		}
		require.False(t, ok, text)
	}
}

func TestA1DaysThatDependOnTheMonth(t *testing.T) {
	for name, tc := range map[string]struct{ text, after, want string }{
		"the last day of a short month":              {"0 0 L * *", "2026-02-01T00:00:00Z", "2026-02-28T00:00:00Z"},
		"of a leap year's":                           {"0 0 l * *", "2028-02-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		"three days before the last of 28":           {"0 0 L-3 * *", "2026-02-01T00:00:00Z", "2026-02-25T00:00:00Z"},
		"the 1st of a month of 31 days, not of 30":   {"0 0 L-30 * *", "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"},
		"the 15th is a Saturday: the 14th":           {"0 0 15W * *", "2026-08-01T00:00:00Z", "2026-08-14T00:00:00Z"},
		"the 15th is a Sunday: the 16th":             {"0 0 15W * *", "2026-03-01T00:00:00Z", "2026-03-16T00:00:00Z"},
		"the 1st is a Saturday: not in July":         {"0 0 1W * *", "2026-07-02T00:00:00Z", "2026-08-03T00:00:00Z"},
		"the 31st is a Sunday: not in June":          {"0 0 31W * *", "2026-05-01T00:00:00Z", "2026-05-29T00:00:00Z"},
		"a month of 30 days has no 31st":             {"0 0 31W * *", "2026-05-30T00:00:00Z", "2026-07-31T00:00:00Z"},
		"the last weekday, before a Sunday":          {"0 0 LW * *", "2026-05-01T00:00:00Z", "2026-05-29T00:00:00Z"},
		"the third Friday":                           {"0 0 * * FRI#3", "2026-12-01T00:00:00Z", "2026-12-18T00:00:00Z"},
		"the fifth Friday, which not each month has": {"0 0 * * 5#5", "2026-11-01T00:00:00Z", "2027-01-29T00:00:00Z"},
		"the last Friday":                            {"0 0 * * friL", "2026-12-01T00:00:00Z", "2026-12-25T00:00:00Z"},
		"in a list":                                  {"0 0 10,L * *", "2026-12-10T00:00:00Z", "2026-12-31T00:00:00Z"},
		"beside each other, either matches":          {"0 0 L * 5#3", "2026-12-01T00:00:00Z", "2026-12-18T00:00:00Z"},
		"a leap day that is a Monday":                {"0 0 * 2 MON#5", "2072-03-01T00:00:00Z", "2112-02-29T00:00:00Z"},
		"the same in a zone whose clocks shift":      {"0 1 * 2 MON#5", "2072-03-01T00:00:00Z", "2112-02-29T01:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, tc.text, "Europe/London")
			next, ok := s.Next(at(tc.after))
			assert.True(t, ok)
			assert.Equal(t, at(tc.want), next.In(time.UTC).Add(offsetOf(next.In(s.zone))))
			last, ok := s.Last(at(tc.after), next)
			assert.True(t, ok)
			assert.Equal(t, next, last)
		})
	}
}

func TestA5ADayThatNoMonthHasIsRefused(t *testing.T) {
	for _, text := range []string{"0 0 L-29 2 *", "0 0 30W 2 *", "0 0 31W 4,6,9,11 *"} {
		_, err := Parse(text, "")
		assert.ErrorIs(t, err, ErrNeverFires, text)
	}
}

func BenchmarkS3NextTickAfterFortyYears(b *testing.B) {
	s, after := mustParse(b, "0 0 * 2 MON#5", "Europe/Paris"), at("2072-03-01T00:00:00Z")
	b.ReportAllocs()
	for b.Loop() {
		s.Next(after)
	}
}
