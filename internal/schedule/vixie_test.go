// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
)

// These tests compare the search with a model that does none: it looks at the clock on the wall
// once a minute, as vixie-cron does, and asks whether this minute matches. The model shares the
// parser of the cron library with the search, and time.Time.In, and nothing else. It has its own
// implementation of L, W and #: see modelDate.
//
// zonesVariable says how much is compared: a sample of the time zones, or allZones around each of
// their shifts, which takes up to a minute, or everyMinute of all zones, which takes a quarter of
// an hour.
const (
	zonesVariable = "SCHEDULE_ZONES"
	allZones      = "all"
	everyMinute   = "every-minute"
)

// sampledZones has every so many zones in the sample, beside the odd ones.
const sampledZones = 16

// oddZones are in every sample: offsets and shifts of half an hour and of 45 minutes, shifts at
// midnight, of two hours, of a day, four a year, and a rule that begins before the last shift that
// is listed.
var oddZones = []string{
	"Asia/Kathmandu", "Pacific/Chatham", "Australia/Lord_Howe", "Asia/Beirut", "Antarctica/Troll",
	"Pacific/Apia", "Africa/Casablanca", "Africa/Cairo", "America/Ciudad_Juarez", "America/Guyana",
}

// The years that are walked.
const firstWalked, lastWalked = 1990, 2040

// walked are the schedules of these tests.
var walked = []string{
	"30 2 * * *", "0 0 * * *", "59 23 * * *", "15,45 0-3 * * *", // fixed times
	"0 0 29 2 *", "0 0 31 * *", "59 23 31 12 *", "30 0 1 1,3 0", // of some days
	"*/15 * * * *", "0 * * * *", "*/20 2 * * *", "@hourly", // wildcards
	"30 2 L * *", "0 0 1W,L-3 * *", "15 1 * * 0L,sun#1", "*/30 * LW * 0#5", // of days that depend on the month
}

// civil is a minute that a clock on the wall shows.
type civil struct {
	// number counts the minutes of a wall that never shifts.
	number                            int64
	minute, hour, day, month, weekday uint
}

func newCivil(number int64) civil {
	t := time.Unix(number*60, 0).UTC()
	return civil{
		number: number, minute: uint(t.Minute()), hour: uint(t.Hour()),
		day: uint(t.Day()), month: uint(t.Month()), weekday: uint(t.Weekday()),
	}
}

// vixie is vixie-cron with one entry.
type vixie struct {
	entry *cron.SpecSchedule
	// days and weekdays are the items with L, W or #.
	days, weekdays []string
	// wildcard is for an entry whose minute or hour starts with a star: it runs whenever the wall
	// matches.
	wildcard bool
	// shown is the latest minute that the wall has shown. Entries of a fixed time have run up to
	// it.
	shown int64
}

func newVixie(t testing.TB, text string) *vixie {
	t.Helper()
	v := &vixie{wildcard: text == "@hourly"}
	if fields := strings.Fields(text); len(fields) == 5 {
		v.wildcard = strings.ContainsAny(fields[0][:1]+fields[1][:1], "*?")
		fields[2], v.days = cutItems(fields[2], func(item string) bool { return strings.ContainsAny(item, "LlWw") })
		fields[4], v.weekdays = cutItems(fields[4], func(item string) bool { return strings.ContainsAny(item, "Ll#") })
		text = strings.Join(fields, " ")
	}
	parsed, err := cron.ParseStandard(text)
	require.NoError(t, err)
	v.entry = parsed.(*cron.SpecSchedule)
	return v
}

// cutItems takes some items out of a list.
func cutItems(list string, isCut func(string) bool) (rest string, cut []string) {
	kept := []string{"", ""} // a list of nothing
	for item := range strings.SplitSeq(list, ",") {
		if isStar := strings.HasPrefix(item, "*") || strings.HasPrefix(item, "?"); !isStar && isCut(item) {
			cut = append(cut, item)
		} else {
			kept = append(kept, item)
		}
	}
	if cut == nil {
		return list, nil
	}
	return strings.Join(kept, ","), cut
}

func (v *vixie) matches(c civil) bool {
	has := func(field uint64, value uint) bool { return field&(1<<value) != 0 }
	if !has(v.entry.Minute, c.minute) || !has(v.entry.Hour, c.hour) || !has(v.entry.Month, c.month) {
		return false
	}
	on := func(item string) bool { return modelDate(item, time.Unix(c.number*60, 0).UTC()) == int(c.day) }
	day := has(v.entry.Dom, c.day) || slices.ContainsFunc(v.days, on)
	weekday := has(v.entry.Dow, c.weekday) || slices.ContainsFunc(v.weekdays, on)
	if has(v.entry.Dom, 63) || has(v.entry.Dow, 63) {
		return day && weekday
	}
	return day || weekday
}

// runsAt is told what the wall shows, minute by minute, and reports whether the entry runs then. A
// wall that jumps ahead has a fixed time run at once that was jumped over; one that jumps back has
// none run until it is ahead of all that it has shown.
func (v *vixie) runsAt(now civil) bool {
	if v.wildcard {
		return v.matches(now)
	}
	if now.number == v.shown+1 {
		v.shown++
		return v.matches(now)
	}
	runs := false
	for v.shown < now.number {
		v.shown++
		runs = v.matches(newCivil(v.shown)) || runs
	}
	return runs
}

// window is a time to be walked, from and until whole minutes. No clock shifts in the day before
// it.
type window struct{ from, until time.Time }

// walk returns the ticks of each entry, and what the wall shows is what Go says it does.
func (w window) walk(t testing.TB, entries []*vixie, zone *time.Location) [][]time.Time {
	t.Helper()
	wall := func(at time.Time) int64 {
		_, offset := at.In(zone).Zone()
		if offset%60 != 0 {
			t.Fatalf("%s is not whole minutes from UTC at %s: walk its seconds", zone, at)
		}
		return (at.Unix() + int64(offset)) / 60
	}
	for _, entry := range entries {
		entry.shown = wall(w.from) - 1
	}
	ticks := make([][]time.Time, len(entries))
	for at := w.from; at.Before(w.until); at = at.Add(time.Minute) {
		now := newCivil(wall(at))
		for i, entry := range entries {
			if entry.runsAt(now) {
				ticks[i] = append(ticks[i], at)
			}
		}
	}
	return ticks
}

// searchable is a Schedule or Ticks.
type searchable interface {
	Next(after time.Time) (time.Time, bool)
	Last(after, notAfter time.Time) (time.Time, bool)
}

// requireTicks compares the search with the ticks of a window: forwards, backwards, and from some
// instants.
func (w window) requireTicks(t testing.TB, s searchable, ticks, instants []time.Time, name string) {
	t.Helper()
	before, last := w.from.Add(-time.Second), w.until.Add(-time.Second)
	var forwards, backwards []time.Time
	for tick, ok := s.Next(before); ok && tick.Before(w.until); tick, ok = s.Next(tick) {
		forwards = append(forwards, tick)
	}
	requireSameTicks(t, ticks, forwards, "forwards: "+name)
	for tick, ok := s.Last(before, last); ok; tick, ok = s.Last(before, tick.Add(-time.Nanosecond)) {
		backwards = append(backwards, tick)
	}
	slices.Reverse(backwards)
	requireSameTicks(t, ticks, backwards, "backwards: "+name)
	for _, at := range instants {
		i, isTick := slices.BinarySearchFunc(ticks, at, time.Time.Compare)
		if isTick {
			i++
		}
		if next, ok := s.Next(at); ok && next.Before(w.until) {
			require.Less(t, i, len(ticks), "%s: %s is no tick", name, next)
			require.Equal(t, ticks[i], next, "%s after %s", name, at)
		} else {
			require.Len(t, ticks, i, "%s after %s", name, at)
		}
		previous, ok := s.Last(before, at)
		require.Equal(t, i > 0, ok, "%s by %s", name, at)
		if ok {
			require.Equal(t, ticks[i-1], previous, "%s by %s", name, at)
		}
	}
}

func requireSameTicks(t testing.TB, want, got []time.Time, message string) {
	t.Helper()
	if !slices.Equal(want, got) { // which is much faster than to have it explained
		require.Equal(t, want, got, message)
	}
}

// requireAgreement walks the windows with all schedules.
func requireAgreement(t *testing.T, zone string, windows []window, instants []time.Time) {
	t.Helper()
	entries, schedules := make([]*vixie, len(walked)), make([]Schedule, len(walked))
	for i, text := range walked {
		entries[i], schedules[i] = newVixie(t, text), mustParse(t, text, zone)
	}
	location := schedules[0].zone
	for _, w := range windows {
		ticks := w.walk(t, entries, location)
		within := instants[:0:0]
		for _, at := range instants {
			if !at.Before(w.from) && at.Before(w.until) {
				within = append(within, at)
			}
		}
		for i, s := range schedules {
			w.requireTicks(t, s, ticks[i], within, walked[i]+" in "+zone)
		}
	}
}

// zoneNames returns the names of all time zones.
func zoneNames(t testing.TB) []string {
	t.Helper()
	archive, err := database()
	require.NoError(t, err)
	var names []string
	for _, file := range archive.File {
		if !file.FileInfo().IsDir() {
			names = append(names, file.Name)
		}
	}
	require.Greater(t, len(names), 500)
	return names
}

// shift is an instant at which the clock of a zone is set, and by how much.
type shift struct {
	at time.Time
	by time.Duration
}

// shiftsOf returns the shifts of a zone in the years that are walked.
func shiftsOf(zone *time.Location) []shift {
	var shifts []shift
	for at := date(firstWalked, time.January, 1).In(zone); ; {
		_, end := at.ZoneBounds()
		if end.IsZero() || end.Year() > lastWalked {
			return shifts
		}
		_, before := end.Add(-time.Second).Zone()
		_, after := end.Zone()
		if before != after {
			shifts = append(shifts, shift{end.UTC(), time.Duration(after-before) * time.Second})
		}
		if !end.After(at) { // the last day of a leap year: see boundsAt
			end = at.AddDate(0, 0, 1)
		}
		at = end
	}
}

// zonesToCompare returns the shifts of zones by name: of the sample or of all, without those that
// are others by another name.
func zonesToCompare(t testing.TB) map[string][]shift {
	t.Helper()
	known, chosen := map[string]bool{}, map[string][]shift{}
	for i, name := range slices.Concat(oddZones, zoneNames(t)) {
		if os.Getenv(zonesVariable) == "" && i >= len(oddZones) && i%sampledZones != 0 {
			continue
		}
		zone, err := LoadZone(name)
		require.NoError(t, err, name)
		shifts := shiftsOf(zone)
		key := fmt.Sprint(date(firstWalked, time.January, 1).In(zone).Format("-0700"), shifts)
		if !known[key] {
			known[key] = true
			chosen[name] = shifts
		}
	}
	return chosen
}

// aroundShifts returns windows around each shift, wide enough for what it skips or repeats and two
// hours more, and the instants next to the shifts. Windows that are near each other are one.
func aroundShifts(shifts []shift) ([]window, []time.Time) {
	var windows []window
	var instants []time.Time
	for _, s := range shifts {
		margin := s.by.Abs() + 2*time.Hour
		w := window{s.at.Add(-margin), s.at.Add(margin)}
		if last := len(windows) - 1; last >= 0 && w.from.Before(windows[last].until.AddDate(0, 0, 1)) {
			windows[last].until = w.until
		} else {
			windows = append(windows, w)
		}
		instants = append(instants, s.at.Add(-time.Second), s.at, s.at.Add(time.Second))
	}
	return windows, instants
}

func TestTicksAroundEveryShiftOfEveryClockAreThoseOfVixieCron(t *testing.T) {
	t.Parallel()
	count := 0
	for name, shifts := range zonesToCompare(t) {
		windows, instants := aroundShifts(shifts)
		requireAgreement(t, name, windows, instants)
		count += len(shifts)
	}
	most := map[string]int{"": 1_000, allZones: 9_000, everyMinute: 9_000}
	require.Contains(t, most, os.Getenv(zonesVariable), "the values of "+zonesVariable)
	require.Greater(t, count, most[os.Getenv(zonesVariable)], "the database has more shifts than that")
}

func TestYearEndsAndLeapDaysComeInEveryZone(t *testing.T) {
	t.Parallel()
	for name, shifts := range zonesToCompare(t) {
		zone, err := LoadZone(name)
		require.NoError(t, err)
		hasShift := func(w window) bool {
			return slices.ContainsFunc(shifts, func(s shift) bool { return s.at.After(w.from.AddDate(0, 0, -1)) && s.at.Before(w.until) })
		}
		var windows []window
		for year := firstWalked; year <= lastWalked; year++ {
			for _, midnight := range []time.Time{
				time.Date(year, time.February, 29, 0, 0, 0, 0, zone), time.Date(year, time.March, 1, 0, 0, 0, 0, zone),
				time.Date(year+1, time.January, 1, 0, 0, 0, 0, zone),
			} {
				w := window{midnight.Add(-10 * time.Minute).UTC(), midnight.Add(40 * time.Minute).UTC()}
				if !hasShift(w) { // else it is another test's
					windows = append(windows, w)
				}
			}
		}
		requireAgreement(t, name, windows, nil)
	}
}

func TestEveryMinuteOfSomeMonthsIsThatOfVixieCron(t *testing.T) {
	t.Parallel()
	for name, month := range map[string]time.Time{
		"UTC": date(2000, time.January, 1), "Asia/Kathmandu": date(2023, time.November, 1),
		"Pacific/Chatham": date(2024, time.March, 1), "Australia/Lord_Howe": date(2028, time.March, 1),
		"Asia/Beirut": date(2023, time.March, 1), "Africa/Cairo": date(2014, time.May, 1),
		"Pacific/Apia": date(2011, time.November, 1), "Africa/Casablanca": date(2012, time.July, 1),
	} {
		requireAgreement(t, name, []window{{month, month.AddDate(0, 4, 0)}}, nil)
	}
}

func TestEveryMinuteOfAllYearsIsThatOfVixieCron(t *testing.T) {
	if os.Getenv(zonesVariable) != everyMinute {
		t.Skipf("takes a quarter of an hour: set %s=%s", zonesVariable, everyMinute)
	}
	for name := range zonesToCompare(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireAgreement(t, name, []window{{date(firstWalked, time.January, 1), date(lastWalked+1, time.January, 1)}}, nil)
		})
	}
}
