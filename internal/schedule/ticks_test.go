// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustTick(t testing.TB, spec Spec) Ticks {
	t.Helper()
	ticks, err := spec.Ticks()
	require.NoError(t, err)
	return ticks
}

// isOn reports whether a local date is among the days of entries. The order of such texts is that of
// their dates.
func isOn(date string, entries []string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool {
		first, last, isRange := strings.Cut(entry, "/")
		if !isRange {
			return strings.HasSuffix(date, strings.TrimPrefix(entry, "-"))
		}
		return first <= date && date <= last
	})
}

// TestTicksOfExcludedDaysAroundShiftsOfClocksDoNotExist compares ticks with all those of their
// schedule that are on other days.
func TestTicksOfExcludedDaysAroundShiftsOfClocksDoNotExist(t *testing.T) {
	t.Parallel()
	for _, name := range append(oddZones, "America/St_Johns", "Europe/Paris", "UTC") {
		zone, err := LoadZone(name)
		require.NoError(t, err)
		shifts := append(shiftsOf(zone), shift{at: at("2026-12-25T00:00:00Z")})
		for _, s := range shifts[max(0, len(shifts)-8):] {
			day := func(n int) string { return s.at.In(zone).AddDate(0, 0, n).Format(time.DateOnly) }
			for _, exclude := range [][]string{
				{day(0)}, {day(-1)}, {day(0) + "/" + day(5)}, {day(-5) + "/" + day(0)}, {"-" + day(0)[4:], day(1), day(-1)},
				{day(2) + "/" + day(4), day(-3), day(0) + "/" + day(1)},
			} {
				for _, text := range []string{"*/30 */2 * * *", "30 2 * * *", "0 0 L * 5", "@every 170m"} {
					spec := Spec{Schedule: text, TimeZone: name, Exclude: exclude}
					w := window{s.at.AddDate(0, 0, -6), s.at.AddDate(0, 0, 7)}
					all := mustParse(t, text, name).Anchored(w.from)
					var want []time.Time
					for tick, _ := all.Next(w.from.Add(-time.Second)); tick.Before(w.until); tick, _ = all.Next(tick) {
						if !isOn(tick.In(zone).Format(time.DateOnly), exclude) {
							want = append(want, tick)
						}
					}
					w.requireTicks(t, mustTick(t, spec).Anchored(w.from), want, []time.Time{s.at}, fmt.Sprint(spec, exclude))
				}
			}
		}
	}
}

func TestExcludedDays(t *testing.T) {
	for name, tc := range map[string]struct {
		spec        Spec
		after, want string
	}{
		"a date":                    {Spec{Schedule: "@daily", Exclude: []string{"2026-12-25"}}, "2026-12-24T00:00:00Z", "2026-12-26T00:00:00Z"},
		"a range with both ends":    {Spec{Schedule: "@daily", Exclude: []string{"2026-12-24/2027-01-02"}}, "2026-12-23T00:00:00Z", "2027-01-03T00:00:00Z"},
		"a day of each year":        {Spec{Schedule: "@daily", Exclude: []string{"--12-25"}}, "2031-12-24T00:00:00Z", "2031-12-26T00:00:00Z"},
		"29 February":               {Spec{Schedule: "@daily", Exclude: []string{"--02-29"}}, "2028-02-28T00:00:00Z", "2028-03-01T00:00:00Z"},
		"in the time zone":          {Spec{Schedule: "0 * * * *", TimeZone: "Asia/Tokyo", Exclude: []string{"2026-12-25"}}, "2026-12-24T14:00:00Z", "2026-12-25T15:00:00Z"},
		"an interval":               {Spec{Schedule: "@every 1s", Exclude: []string{"2026-12-25"}}, "2026-12-24T23:59:59Z", "2026-12-26T00:00:00Z"},
		"several schedules":         {Spec{Schedule: "0 9 24 12 *", Additional: []string{"0 12 25 12 *", "0 6 26 12 *"}, Exclude: []string{"--12-25"}}, "2026-12-24T09:00:00Z", "2026-12-26T06:00:00Z"},
		"ranges that meet":          {Spec{Schedule: "@daily", Exclude: []string{"2026-12-27/2026-12-28", "2026-12-25/2026-12-27", "2026-12-29"}}, "2026-12-24T00:00:00Z", "2026-12-30T00:00:00Z"},
		"a range in another":        {Spec{Schedule: "@daily", Exclude: []string{"2026-12-20/2026-12-31", "2026-12-24/2026-12-25"}}, "2026-12-19T00:00:00Z", "2027-01-01T00:00:00Z"},
		"centuries":                 {Spec{Schedule: "* * * * *", TimeZone: "Europe/Paris", Exclude: []string{"2026-01-01/2425-12-31"}}, "2025-12-31T22:59:00Z", "2425-12-31T23:00:00Z"},
		"a leap day that is far":    {Spec{Schedule: "0 0 29 2 *", Exclude: []string{"2027-01-01/2060-03-01"}}, "2026-01-01T00:00:00Z", "2064-02-29T00:00:00Z"},
		"all but one day of a year": {Spec{Schedule: "0 9 24-26 12 *", Exclude: []string{"--12-24", "--12-25"}}, "2026-12-26T09:00:00Z", "2027-12-26T09:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			ticks := mustTick(t, tc.spec)
			next, ok := ticks.Next(at(tc.after))
			assert.True(t, ok)
			assert.Equal(t, at(tc.want), next)
			assert.Equal(t, 1, ticks.Count(at(tc.after), next.Add(time.Second), 100))
			last, ok := ticks.Last(at(tc.after), next)
			assert.True(t, ok)
			assert.Equal(t, next, last)
			_, ok = ticks.Last(at(tc.after), next.Add(-time.Nanosecond))
			assert.False(t, ok, "nothing lies between")
			skipped, ok := ticks.Unexcluded().Next(at(tc.after))
			assert.True(t, ok)
			assert.True(t, skipped.Before(next))
		})
	}
}

func TestTicksOutsideOfTheWindowDoNotExist(t *testing.T) {
	ticks := mustTick(t, Spec{Schedule: "0 9 * * *", NotBefore: at("2026-06-01T09:00:00Z"), NotAfter: at("2026-06-30T09:00:00Z")})
	for after, want := range map[string]string{
		"2026-01-01T00:00:00Z": "2026-06-01T09:00:00Z", // a tick at its beginning exists
		"2026-06-01T09:00:00Z": "2026-06-02T09:00:00Z",
		"2026-06-29T09:00:00Z": "2026-06-30T09:00:00Z", // and one at its end
		"2026-06-30T09:00:00Z": "",
		"2030-01-01T00:00:00Z": "",
	} {
		next, ok := ticks.Next(at(after))
		assert.Equal(t, want != "", ok, after)
		if ok {
			assert.Equal(t, at(want), next, after)
		}
	}
	for until, want := range map[string]string{
		"2026-06-01T08:59:59Z": "",
		"2026-06-01T09:00:00Z": "2026-06-01T09:00:00Z",
		"2030-01-01T00:00:00Z": "2026-06-30T09:00:00Z",
	} {
		last, ok := ticks.Last(at("2026-01-01T00:00:00Z"), at(until))
		assert.Equal(t, want != "", ok, until)
		if ok {
			assert.Equal(t, at(want), last, until)
		}
	}
	assert.Equal(t, 30, ticks.Count(at("2000-01-01T00:00:00Z"), at("2030-01-01T00:00:00Z"), 100))
}

func TestA5ASpecThatLeavesNoTickIsRefused(t *testing.T) {
	everyDay := make([]string, 0, 366)
	for day := date(2000, time.January, 1); day.Year() == 2000; day = day.AddDate(0, 0, 1) {
		everyDay = append(everyDay, day.Format("--01-02"))
	}
	june, july := at("2026-06-01T00:00:00Z"), at("2026-07-01T00:00:00Z")
	for name, tc := range map[string]struct {
		spec Spec
		want error
	}{
		"its only day":                      {Spec{Schedule: "0 9 25 12 *", Exclude: []string{"--12-25"}}, ErrAllExcluded},
		"its only two, of which one moves":  {Spec{Schedule: "0 9 * 2 1#5", Exclude: []string{"--02-29"}}, ErrAllExcluded},
		"the days of several":               {Spec{Schedule: "0 9 25 12 *", Additional: []string{"0 9 26 12 *"}, Exclude: []string{"--12-25", "--12-26"}}, ErrAllExcluded},
		"the days of one of several":        {Spec{Schedule: "0 9 25 12 *", Additional: []string{"0 9 26 12 *"}, Exclude: []string{"--12-25"}}, nil},
		"each day of the year":              {Spec{Schedule: "* * * * *", TimeZone: "Europe/Paris", Exclude: everyDay}, ErrAllExcluded},
		"all years":                         {Spec{Schedule: "@hourly", Exclude: []string{"0001-01-01/9999-12-31"}}, ErrAllExcluded},
		"a window without a tick":           {Spec{Schedule: "0 9 25 12 *", NotBefore: june, NotAfter: july}, ErrEmptyWindow},
		"a window of excluded days":         {Spec{Schedule: "@daily", NotBefore: june, NotAfter: july, Exclude: []string{"2026-06-01/2026-07-01"}}, ErrEmptyWindow},
		"a window that ends before":         {Spec{Schedule: "@daily", NotBefore: july, NotAfter: june}, ErrEmptyWindow},
		"a date that there is not":          {Spec{Schedule: "@daily", Exclude: []string{"2026-12-25", "2026-02-30"}}, ErrExclude},
		"the schedule itself":               {Spec{Schedule: "@sometimes", Exclude: []string{"2026-12-25"}}, ErrSyntax},
		"a day of the year":                 {Spec{Schedule: "0 9 24,25 12 *", Exclude: []string{"--12-25"}}, nil},
		"all but leap days":                 {Spec{Schedule: "0 9 * 2 0L", Exclude: everyFebruaryDayBut29(everyDay)}, nil},
		"an end in the past":                {Spec{Schedule: "@daily", NotAfter: at("1999-01-01T00:00:00Z")}, nil},
		"years to come":                     {Spec{Schedule: "@daily", Exclude: []string{"2026-01-01/9999-12-31"}}, nil},
		"an interval in a window":           {Spec{Schedule: "@every 8760h", NotBefore: june, NotAfter: july}, nil},
		"an interval, on each day":          {Spec{Schedule: "@every 90m", Exclude: everyDay}, nil},
		"a window of a single tick":         {Spec{Schedule: "@daily", NotBefore: june, NotAfter: june}, nil},
		"a window after all excluded years": {Spec{Schedule: "@daily", NotBefore: june, Exclude: []string{"2026-06-01/2480-12-31"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.spec.Ticks()
			assert.ErrorIs(t, err, tc.want)
		})
	}
}

func everyFebruaryDayBut29(everyDay []string) []string {
	return slices.DeleteFunc(slices.Clone(everyDay), func(day string) bool {
		return !strings.HasPrefix(day, "--02") || day == "--02-29"
	})
}

func TestA5AnEntryOfExcludeIsADayThatThereIs(t *testing.T) {
	for _, entry := range []string{"2026-12-25", "2028-02-29", "--02-29", "--01-01", "2026-12-25/2026-12-25", "0001-01-01/9999-12-31"} {
		assert.NoError(t, CheckDays(entry), entry)
	}
	for entry, want := range map[string]string{
		"": mustBeDays, "tomorrow": mustBeDays, "2026-02-29": mustBeDays, "--02-30": mustBeDays, "2026-1-1": mustBeDays, "26-01-01": mustBeDays,
		"2026-12-25T00:00:00Z": mustBeDays, "2026-12-24/28": mustBeDays, "2026-12-24/": mustBeDays, "/2026-12-24": mustBeDays, "2026-12-24/--12-26": mustBeDays,
		"12-25": mustBeDays, "-12-25": mustBeDays, "---12-25": mustBeDays, "2026-12": mustBeDays, "2026-01-01/2026-01-02/2026-01-03": mustBeDays,
		"2027-01-02/2026-12-24": "the range ends before it begins: write 2026-12-24/2027-01-02",
		"--12-24/--12-26":       "a range needs years, such as 2026-12-24/2026-12-26; of each year, write its days one by one",
	} {
		assert.EqualError(t, CheckDays(entry), want, entry)
	}
	_, err := Spec{Schedule: "@daily", Exclude: []string{"--12-25", "tomorrow"}}.Ticks()
	assert.EqualError(t, err, `not a day: exclude[1] "tomorrow": `+mustBeDays)
}

func TestS7SpecsThatFireAtOtherTimesHaveOtherTexts(t *testing.T) {
	june, july := at("2026-06-01T00:00:00Z"), at("2026-07-01T00:00:00Z")
	for want, spec := range map[string]Spec{
		"@daily":                            {Schedule: "@daily"},
		"@daily (Europe/Paris)":             {Schedule: "@daily", TimeZone: "Europe/Paris"},
		"@daily from 2026-06-01T00:00:00Z":  {Schedule: "@daily", NotBefore: june},
		"@daily until 2026-06-01T00:00:00Z": {Schedule: "@daily", NotAfter: june},
		"@daily except cdb5fa473e748ce9":    {Schedule: "@daily", Exclude: []string{"2026-12-25"}},
		"@daily (UTC) from 2026-06-01T00:00:00Z until 2026-07-01T00:00:00Z except fcff63e6835154fe": {
			Schedule: "@daily", TimeZone: "UTC", NotBefore: june, NotAfter: july, Exclude: []string{"2026-12-25", "--01-01"},
		},
	} {
		assert.Equal(t, want, spec.String())
	}
}

func TestS7AnotherOrderOfExcludedDaysIsNoEdit(t *testing.T) {
	one, other := Spec{Exclude: []string{"2026-12-25", "--01-01"}}, Spec{Exclude: []string{"--01-01", "2026-12-25"}}
	assert.Equal(t, one.String(), other.String())
	assert.Equal(t, []string{"2026-12-25", "--01-01"}, one.Exclude, "the spec stays as it is")
}

func BenchmarkS3NextTickAfterAYearOfExcludedDays(b *testing.B) {
	spec := Spec{Schedule: "* * * * *", TimeZone: "Europe/Paris"}
	for day := date(2026, time.January, 1); day.Year() == 2026; day = day.AddDate(0, 0, 1) {
		spec.Exclude = append(spec.Exclude, day.Format("--01-02"))
	}
	ticks, after := mustTick(b, spec), at("2027-01-01T00:00:00Z") // only leap days are left
	b.ReportAllocs()
	for b.Loop() {
		ticks.Next(after)
	}
}
