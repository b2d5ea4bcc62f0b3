// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func at(text string) time.Time {
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return parsed
}

// date is midnight of a civil day.
func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func mustParse(t testing.TB, text, zone string) Schedule {
	t.Helper()
	s, err := Parse(text, zone)
	require.NoError(t, err)
	return s
}

func TestA1ParseRefusesWhatIsNoSchedule(t *testing.T) {
	for name, tc := range map[string]struct {
		text, zone  string
		wantErr     error
		wantMessage string
	}{
		"nothing":              {"", "", ErrSyntax, "not a schedule: must not be empty: write five fields"},
		"a word":               {"garbage", "", ErrSyntax, "not a schedule: found 1 field, want 5: minute"},
		"six fields":           {"0 0 0 * * *", "", ErrSyntax, "found 6 fields, want 5"},
		"a minute too late":    {"60 * * * *", "", ErrSyntax, `minute "60": must be a minute from 0 to 59`},
		"TZ= without a blank":  {"TZ=UTC", "", ErrSyntax, "not a schedule: TZ= and CRON_TZ= are not supported, use timeZone"},
		"CRON_TZ= with fields": {"CRON_TZ=UTC 0 0 * * *", "", ErrSyntax, "use timeZone"},
		"too long":             {strings.Repeat("1,", 600) + "1 * * * *", "", ErrSyntax, "not a schedule: longer than 1024 characters"},
		"30 February":          {"0 0 30 2 *", "", ErrNeverFires, "never fires: no day has this day of month, month, hour and minute"},
		"a minute of commas":   {", * * * *", "", ErrNeverFires, "never fires"},
		"an unknown zone":      {"* * * * *", "Europe/Pariss", ErrTimeZone, `unknown time zone "Europe/Pariss": use a name of the IANA database such as Europe/Paris`},
		"the machine's zone":   {"* * * * *", "Local", ErrTimeZone, "depends on the machine"},
		"leap-second zones":    {"* * * * *", "right/UTC", ErrTimeZone, "depends on the machine"},
		"a path":               {"* * * * *", "../etc/passwd", ErrTimeZone, "unknown time zone"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(tc.text, tc.zone)
			require.ErrorIs(t, err, tc.wantErr)
			assert.ErrorContains(t, err, tc.wantMessage)
		})
	}
}

func TestNextTick(t *testing.T) {
	for name, tc := range map[string]struct {
		text, zone  string
		after, want string
	}{
		"strictly after":            {"*/5 * * * *", "", "2026-01-01T00:05:00Z", "2026-01-01T00:10:00Z"},
		"a nanosecond before":       {"*/5 * * * *", "", "2026-01-01T00:04:59.999999999Z", "2026-01-01T00:05:00Z"},
		"A2: no zone is UTC":        {"0 9 * * *", "", "2026-07-01T00:00:00+09:00", "2026-07-01T09:00:00Z"},
		"in a zone":                 {"0 9 * * *", "Europe/Paris", "2026-07-01T00:00:00Z", "2026-07-01T07:00:00Z"},
		"half-hour offsets":         {"0 9 * * *", "Asia/Kolkata", "2026-07-01T00:00:00Z", "2026-07-01T03:30:00Z"},
		"29 February after 2100":    {"0 0 29 2 *", "", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		"29 February":               {"0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		"day of month or weekday":   {"0 0 13 * 5", "", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
		"day of month and any day?": {"0 0 13 * ?", "", "2026-01-01T00:00:00Z", "2026-01-13T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			next, ok := mustParse(t, tc.text, tc.zone).Next(at(tc.after))
			assert.True(t, ok)
			assert.Equal(t, at(tc.want), next)
		})
	}
}

// TestA1AQuestionMarkIsTheStar compares both where a star matters: around a shift of the clocks,
// and between the days of a month and of a week.
func TestA1AQuestionMarkIsTheStar(t *testing.T) {
	for _, text := range []string{
		"? ? ? ? ?", "? 2 * * *", "30 ? * * *", "?/20 2 * * *", "30 ?/2 * * *", "30 2 ? * 0", "30 2 29 * ?", "30 2 ?/2 * 0",
	} {
		t.Run(text, func(t *testing.T) {
			question := mustParse(t, text, "Europe/Paris")
			star := mustParse(t, strings.ReplaceAll(text, "?", "*"), "Europe/Paris")
			for _, shift := range []string{"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"} {
				start, end := at(shift).AddDate(0, 0, -8), at(shift).AddDate(0, 0, 8)
				for now := start; now.Before(end); now = now.Add(10 * time.Minute) {
					want, ok := star.Next(now)
					require.True(t, ok)
					next, ok := question.Next(now)
					require.True(t, ok)
					require.Equal(t, want, next, "after %s", now)
					want, _ = star.Last(start, now)
					last, _ := question.Last(start, now)
					require.Equal(t, want, last, "until %s", now)
				}
			}
		})
	}
}

func TestA5ANewIntervalIsAboveZero(t *testing.T) {
	for _, text := range []string{"@every 0s", "@every -5m", "@every +0h"} {
		_, err := ParseNew(text, "")
		require.ErrorIs(t, err, ErrNoInterval, text)
		stored := mustParse(t, text, "")
		assert.Equal(t, time.Second, stored.Interval(), "what is stored goes on")
	}
	for _, text := range []string{"@every 1ms", "@every 90m", "@hourly", "0 0 * * *"} {
		_, err := ParseNew(text, "")
		assert.NoError(t, err, text)
	}
	_, err := ParseNew("0 0 30 2 *", "")
	assert.ErrorIs(t, err, ErrNeverFires)
}

func TestIntervalsCountFromTheirAnchor(t *testing.T) {
	s := mustParse(t, "@every 90m", "Europe/Paris").Anchored(at("2026-01-01T10:00:00.7Z"))
	assert.Equal(t, 90*time.Minute, s.Interval())
	for after, want := range map[string]string{
		"2020-01-01T00:00:00Z":           "2026-01-01T11:30:00Z", // before the anchor: the first
		"2026-01-01T10:00:00Z":           "2026-01-01T11:30:00Z",
		"2026-01-01T11:29:59.999999999Z": "2026-01-01T11:30:00Z",
		"2026-01-01T11:30:00Z":           "2026-01-01T13:00:00Z",
		"2026-01-01T13:00:00.5Z":         "2026-01-01T14:30:00Z",
	} {
		next, ok := s.Next(at(after))
		assert.True(t, ok)
		assert.Equal(t, at(want), next, "after %s", after)
	}
	last, ok := s.Last(at("2026-01-01T10:00:00Z"), at("2036-01-01T10:00:00Z"))
	assert.True(t, ok)
	assert.Equal(t, at("2036-01-01T10:00:00Z"), last)
	_, ok = s.Last(at("2026-01-01T10:00:00Z"), at("2026-01-01T11:29:00Z"))
	assert.False(t, ok)
}

func TestIntervalsFarFromTheirAnchorAreCountedAsThoseNearIt(t *testing.T) {
	for name, tc := range map[string]struct{ text, anchor, now, wantLast, wantNext string }{
		"centuries":                        {"@every 24h", "0001-01-01T00:00:00Z", "2026-01-01T12:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
		"the longest interval":             {"@every 2562047h", "2026-01-01T00:00:00Z", "9000-01-01T00:00:00Z", "8748-05-16T01:00:00Z", "9040-08-25T00:00:00Z"},
		"the end of what the API can tell": {"@every 1s", "1970-01-01T00:00:00Z", "9999-12-31T23:59:58Z", "9999-12-31T23:59:58Z", "9999-12-31T23:59:59Z"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, tc.text, "").Anchored(at(tc.anchor))
			last, ok := s.Last(at(tc.anchor), at(tc.now))
			assert.True(t, ok)
			assert.Equal(t, at(tc.wantLast), last)
			next, ok := s.Next(at(tc.now))
			assert.True(t, ok)
			assert.Equal(t, at(tc.wantNext), next)
		})
	}
}

func TestNothingTicksInYearsThatTheAPICanNotTell(t *testing.T) {
	for _, text := range []string{"* * * * *", "0 0 1 1 *", "@every 90m"} {
		next, ok := mustParse(t, text, "Asia/Kathmandu").Anchored(at("2026-01-01T00:00:00Z")).Next(at("9999-12-31T23:59:59Z"))
		assert.False(t, ok, "%s ticks at %s", text, next)
	}
}

func TestIntervalsBelowASecondAreASecond(t *testing.T) {
	for _, text := range []string{"@every 1ms", "@every 0", "@every -5m", "@every 1.9s"} {
		assert.Equal(t, time.Second, mustParse(t, text, "").Interval(), text)
	}
}

func TestS3LastTick(t *testing.T) {
	for name, tc := range map[string]struct {
		text, zone            string
		after, notAfter, want string // want "" for none
	}{
		"the very instant":             {"*/5 * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z", "2026-01-01T00:10:00Z"},
		"just before it":               {"*/5 * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:09:59.999Z", "2026-01-01T00:05:00Z"},
		"none yet":                     {"*/5 * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:04:59Z", ""},
		"never the lower bound":        {"*/5 * * * *", "", "2026-01-01T00:05:00Z", "2026-01-01T00:05:00Z", ""},
		"bounds the wrong way round":   {"*/5 * * * *", "", "2026-01-02T00:00:00Z", "2026-01-01T00:05:00Z", ""},
		"ten years of minutes":         {"* * * * *", "", "2016-01-01T00:00:00Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:00Z"},
		"office hours, on the weekend": {"30 10,11,12 * * 1-5", "", "2016-01-01T00:00:00Z", "2026-11-22T08:00:00Z", "2026-11-20T12:30:00Z"},
		"two minutes of one hour":      {"0,1 9 * * *", "", "2026-11-01T09:00:30Z", "2026-11-20T08:00:00Z", "2026-11-19T09:01:00Z"},
		"leap days":                    {"0 0 29 2 *", "", "2000-01-01T00:00:00Z", "2027-12-31T00:00:00Z", "2024-02-29T00:00:00Z"},
		"once a year":                  {"@yearly", "Asia/Kathmandu", "2000-01-01T00:00:00Z", "2027-06-01T00:00:00Z", "2026-12-31T18:15:00Z"},
		"the 31st":                     {"0 0 31 * *", "", "2026-01-01T00:00:00Z", "2026-07-30T23:59:00Z", "2026-05-31T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			last, ok := mustParse(t, tc.text, tc.zone).Last(at(tc.after), at(tc.notAfter))
			assert.Equal(t, tc.want != "", ok)
			if tc.want != "" {
				assert.Equal(t, at(tc.want), last)
			}
		})
	}
}

// TestS3LastTickAgreesWithAWalk compares the search backwards with walking every tick forwards.
func TestS3LastTickAgreesWithAWalk(t *testing.T) {
	start := at("2026-02-20T00:00:00Z")
	for _, text := range []string{"* * * * *", "30 10,11,12 * * 1-5", "0,1 9 * * *", "7-9,50 */7 1,15 * *", "59 23 28-31 * 0", "30 2 * * *", "@hourly"} {
		for _, zone := range []string{"", "America/St_Johns", "Australia/Lord_Howe", "Europe/Paris"} {
			s := mustParse(t, text, zone)
			walked, upcoming := start, start
			for now := start; now.Before(start.AddDate(0, 0, 60)); now = now.Add(13 * time.Minute) {
				for !upcoming.After(now) {
					walked = upcoming
					upcoming, _ = s.Next(walked)
					require.True(t, upcoming.After(walked), "%s in %q after %s", text, zone, walked)
				}
				last, ok := s.Last(start, now)
				require.Equal(t, walked != start, ok, "%s in %q at %s", text, zone, now)
				if ok {
					require.Equal(t, walked, last, "%s in %q at %s", text, zone, now)
				}
			}
		}
	}
}

// TestTheLastDayOfALeapYearComes holds that a search goes on after the last shift that a zone's
// data lists: beyond it, Go takes each year for one of 365 days.
func TestTheLastDayOfALeapYearComes(t *testing.T) {
	for _, year := range []int{2000, 2024, 2028, 2096, 2400} {
		s := mustParse(t, "30 12 31 12 *", "Europe/Paris")
		want := time.Date(year, time.December, 31, 11, 30, 0, 0, time.UTC)
		for _, before := range []time.Duration{time.Second, 11 * time.Hour, 12 * time.Hour, 36 * time.Hour} {
			next, ok := s.Next(want.Add(-before))
			assert.True(t, ok)
			assert.Equal(t, want, next)
		}
		last, ok := s.Last(want.AddDate(-1, 0, 0), want.Add(12*time.Hour))
		assert.True(t, ok)
		assert.Equal(t, want, last)
		next, ok := s.Next(want)
		assert.True(t, ok)
		assert.Equal(t, want.AddDate(1, 0, 0), next)
	}
}

// TestDaylightSavingTime holds what vixie-cron does (its manual, cron(8), "Notes").
func TestDaylightSavingTime(t *testing.T) {
	for name, tc := range map[string]struct {
		text, zone string
		after      string
		want       []string
	}{
		"spring: a fixed time in the gap runs once, right after it": {
			"30 2 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
		},
		"spring: so do several in the gap": {
			"0,30 2 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"},
		},
		"spring: a wildcard of minutes goes on": {
			"*/30 * * * *", "Europe/Paris", "2026-03-29T00:15:00Z", []string{"2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"},
		},
		"spring: a wildcard within the hour that is not there rests": {
			"*/30 2 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", []string{"2026-03-30T00:00:00Z", "2026-03-30T00:30:00Z"},
		},
		"autumn: a fixed time in the fold runs once, the first time": {
			"30 2 * * *", "Europe/Paris", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
		},
		"autumn: an hourly wildcard goes on": {
			"0 * * * *", "Europe/Paris", "2026-10-24T23:30:00Z", []string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"},
		},
		"spring: a star that is not the first in its field makes no wildcard": {
			"0,* 2 * * *", "Europe/Paris", "2026-03-29T00:59:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"},
		},
		"half an hour of it": {
			"0,1 9 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", []string{"2026-04-04T22:30:00Z", "2026-04-04T22:31:00Z"},
		},
		"midnight that is not there": {
			"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z", []string{"2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		},
		"a day that is not there": {
			"30 2 * * *", "Pacific/Apia", "2011-12-29T13:00:00Z", []string{"2011-12-30T10:00:00Z", "2011-12-30T12:30:00Z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, tc.text, tc.zone)
			tick := at(tc.after)
			for _, want := range tc.want {
				next, ok := s.Next(tick)
				require.True(t, ok)
				assert.Equal(t, at(want), next)
				last, ok := s.Last(tick, next)
				assert.True(t, ok)
				assert.Equal(t, next, last, "and found backwards")
				tick = next
			}
		})
	}
}

func TestCountStopsAtItsLimit(t *testing.T) {
	s, err := Spec{Schedule: "* * * * *"}.Ticks()
	require.NoError(t, err)
	assert.Equal(t, 4, s.Count(at("2026-01-01T00:00:00Z"), at("2026-01-01T00:05:00Z"), 100))
	assert.Equal(t, 100, s.Count(at("2016-01-01T00:00:00Z"), at("2026-01-01T00:05:00Z"), 100))
	assert.Zero(t, s.Count(at("2026-01-01T00:00:00Z"), at("2026-01-01T00:01:00Z"), 100))
}

func BenchmarkLastTickAcrossTenYearsOfMinutes(b *testing.B) {
	s := mustParse(b, "* * * * *", "Europe/Paris")
	after, now := at("2016-01-01T00:00:00Z"), at("2026-01-01T00:00:30Z")
	b.ReportAllocs()
	for b.Loop() {
		s.Last(after, now)
	}
}
