// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/test/bounds"
)

// lastSecond is the last time that the API can express, less the years that a search may look
// ahead.
var lastSecond = at("9950-01-01T00:00:00Z").Unix()

// FuzzParse parses any text, and searches for ticks at any time if it is a schedule.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"* * * * *", "@every 5m", "@every 2562047h47m16.854775807s", "@daily", "TZ=", "0 0 30 2 *", "0 0 29 2 1-5/9", "1-5/2 ? * jan MON",
		"0 0 L * *", "0 0 L-30,LW ? *", "0 0 31w 2-12/2 5#5", "0 0 * 2 mon#5,FRİL", "0 0 , * ſunL", "H/15 * * * *", "0 0 * * 5#3,7", "0 0 1W nov-feb fri-mon", "0 0 0 * * *", "@Daily", "@EVERY  1d", "@every 9999999h",
		"*/90 */25 */40 */13 */8", "0-10/20,5/70 0 13 * 5",
		"*-x * * * *", ",1, * * * *", "0,* 2 * * *", strings.Repeat("1,", 500) + "1 * * * *", "٣ * * * *",
	} {
		f.Add(text, "Europe/Paris", at("2026-03-29T01:30:00Z").Unix())
	}
	f.Add("30 12 31 12 *", "Africa/Cairo", at("2040-12-31T00:00:00Z").Unix())
	f.Add("0 0 1 1 *", "../../etc/localtime", int64(0))
	f.Fuzz(func(t *testing.T, text, zone string, seconds int64) {
		if !utf8.ValidString(text + zone) {
			t.Skip("JSON, which schedules come in, is UTF-8")
		}
		now := time.Unix(seconds%lastSecond, 0).UTC()
		bounds.Hold(t, len(text)+len(zone), func() {
			s, err := Parse(text, zone)
			if err != nil {
				assertSaysWhatIsWrong(t, err)
				assertTellsNothingOfTheParser(t, text, err)
				return
			}
			for _, warning := range Warnings(text) {
				assertIsShort(t, warning)
			}
			assertTicksAreInOrder(t, Ticks{schedule: s}.Anchored(now.Add(-36*time.Hour)), now)
			today, tomorrow := now.In(s.zone).Format(time.DateOnly), now.In(s.zone).AddDate(0, 0, 1).Format(time.DateOnly)
			for _, exclude := range [][]string{{today}, {"-" + today[4:], tomorrow}, {today + "/" + tomorrow, "--02-29"}} {
				if ticks, err := (Spec{Schedule: text, TimeZone: zone, Exclude: exclude}).Ticks(); err == nil {
					assertTicksAreInOrder(t, ticks.Anchored(now.Add(-36*time.Hour)), now)
				} else {
					require.ErrorIs(t, err, ErrAllExcluded)
				}
			}
		})
	})
}

func assertSaysWhatIsWrong(t *testing.T, err error) {
	t.Helper()
	known := slices.ContainsFunc([]error{ErrSyntax, ErrNeverFires, ErrTimeZone}, func(kind error) bool {
		return errors.Is(err, kind)
	})
	assert.True(t, known, "%v is of no kind", err)
	assert.True(t, utf8.ValidString(err.Error()), "%q", err)
}

// assertTicksAreInOrder checks the tick after an instant and the one before it against each other.
func assertTicksAreInOrder(t *testing.T, s Ticks, now time.Time) {
	t.Helper()
	next, ok := s.Next(now)
	require.True(t, ok, "a schedule always has a next tick")
	require.True(t, next.After(now), "the next tick after %s is %s", now, next)
	again, ok := s.Last(now, next)
	require.True(t, ok)
	require.Equal(t, next, again, "and found backwards")
	_, ok = s.Last(now, next.Add(-time.Nanosecond))
	require.False(t, ok, "there is a tick before the next after %s", now)

	last, ok := s.Last(now.AddDate(-1, 0, 0), now)
	if !ok {
		return
	}
	require.False(t, last.After(now), "the last tick by %s is %s", now, last)
	after, ok := s.Next(last)
	require.True(t, ok)
	require.Equal(t, next, after, "nothing lies between the last tick and the next")
	require.Equal(t, 1, s.Count(last.Add(-time.Second), next, 2))
}

// FuzzTicksAreThoseOfVixieCron compares any expression with the model, around any shift of any
// clock.
func FuzzTicksAreThoseOfVixieCron(f *testing.F) {
	f.Add("30", "2", "*", "*", "*", uint16(0), uint16(0))
	f.Add("*/7", "1-3", "*", "*", "*", uint16(300), uint16(17))
	f.Add("5,25", "*/3", "1-7", "*", "0", uint16(77), uint16(3))
	f.Add("0", "0", "?", "mar,oct", "sun", uint16(400), uint16(40))
	f.Add("30", "*/2", "L,1w", "*", "?", uint16(300), uint16(17))
	f.Add("30", "2", "lW,L-6", "mar,oct", "sunL,0#1", uint16(300), uint16(17))
	names := zoneNames(f)
	f.Fuzz(func(t *testing.T, minute, hour, day, month, weekday string, zone, which uint16) {
		text, name := strings.Join([]string{minute, hour, day, month, weekday}, " "), names[int(zone)%len(names)]
		s, err := Parse(text, name)
		if err != nil || len(s.expressions) == 0 || len(strings.Fields(text)) != 5 {
			return
		}
		shifts := shiftsOf(s.zone)
		if len(shifts) == 0 {
			return
		}
		i := int(which) % len(shifts)
		windows, instants := aroundShifts(shifts[i : i+1])
		ticks := windows[0].walk(t, []*vixie{newVixie(t, text)}, s.zone)
		windows[0].requireTicks(t, s, ticks[0], instants, text+" in "+name)
	})
}
