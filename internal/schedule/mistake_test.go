// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	wantFields = "minute, hour, day of month, month, day of week"
	wantMacros = "must be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, " +
		"or @every and a duration, such as @every 90m"
	wantMinute = "must be a minute from 0 to 59, a range (0-30), *, any of these with a step (*/15), or a comma-separated list of these"
	wantHour   = "must be an hour from 0 to 23, a range (9-17), *, any of these with a step (*/6), or a comma-separated list of these"
	wantDay    = "must be a day from 1 to 31, a range (1-15), *, any of these with a step (*/10), " +
		"L for the last day, L-3 for three days before it, 15W for the weekday nearest to the 15th, LW for the last weekday, or a comma-separated list of these"
	wantMonth   = "must be a month from 1 to 12 or jan to dec, a range (jan-mar), *, any of these with a step (*/3), or a comma-separated list of these"
	wantWeekday = "must be a day from 0 (Sunday) to 6 or sun to sat, a range (mon-fri), *, any of these with a step (*/2), " +
		"5#3 for the third Friday of the month, 5L for its last Friday, or a comma-separated list of these"
	wantDuration = "must be a duration such as 45s, 90m or 1h30m; a day is 24h"
	wantNoH      = "H, a value that Jenkins chooses, is not supported: choose one, such as 5, or 5/10 for H/10"
	wantNoL      = "L alone is not a day of the week: 5L is the last Friday of the month, 6 is each Saturday, " +
		"and the last day of the month is L as day of month"
	wantNoSeven = "Sunday is 0 or sun, not 7; a range to 7 is two, such as 5-6,0 for 5-7"
)

// mistakes are invalid schedules, each with the field that is wrong, its text, and the reason.
var mistakes = map[string]struct{ field, value, reason string }{
	"0 0 L-31 * *":    {"dayOfMonth", "L-31", wantDay},
	"0 0 L-0 * *":     {"dayOfMonth", "L-0", wantDay},
	"0 0 L-3W * *":    {"dayOfMonth", "L-3W", wantDay},
	"0 0 L/2 * *":     {"dayOfMonth", "L/2", wantDay},
	"0 0 1-L * *":     {"dayOfMonth", "1-L", wantDay},
	"0 0 W * *":       {"dayOfMonth", "W", wantDay},
	"0 0 32W * *":     {"dayOfMonth", "32W", wantDay},
	"0 0 10-15W * *":  {"dayOfMonth", "10-15W", wantDay},
	"0 0 15L * *":     {"dayOfMonth", "15L", wantDay},
	"0 0 5#3 * *":     {"dayOfMonth", "5#3", wantDay},
	"0 0 * * 5#6":     {"dayOfWeek", "5#6", wantWeekday},
	"0 0 * * 5#0":     {"dayOfWeek", "5#0", wantWeekday},
	"0 0 * * 1-5#2":   {"dayOfWeek", "1-5#2", wantWeekday},
	"0 0 * * 5#3/2":   {"dayOfWeek", "5#3/2", wantWeekday},
	"0 0 * * fri-5L":  {"dayOfWeek", "fri-5L", wantWeekday},
	"0 0 * * 15W":     {"dayOfWeek", "15W", wantWeekday},
	"0 0 * * ſunL":    {"dayOfWeek", "ſunL", wantWeekday},
	"0 L * * *":       {"hour", "L", wantHour},
	"0 0 * L *":       {"month", "L", wantMonth},
	"0 0 * * L":       {"dayOfWeek", "L", wantNoL},
	"0 0 L,17-9 * *":  {"dayOfMonth", "L,17-9", "the range 17-9 ends before it begins: write 17-31,1-9"},
	"0 0 L * 7":       {"dayOfWeek", "7", wantNoSeven},
	"0 0 15W 13 5#3":  {"month", "13", wantMonth},
	" TZ=UTC 0 L * *": {"minute", "TZ=UTC", wantMinute},
	"H * * * *":       {"minute", "H", wantNoH},
	"0 h * * *":       {"hour", "h", wantNoH},
	"0 0 H * *":       {"dayOfMonth", "H", wantNoH},
	"0 0 1 H *":       {"month", "H", wantNoH},
	"0 0 * * H":       {"dayOfWeek", "H", wantNoH},
	"H/15 * * * *":    {"minute", "H/15", wantNoH},

	"H(0-29)/10 * * * *": {"minute", "H(0-29)/10", wantNoH},

	"0 0 * * 7":   {"dayOfWeek", "7", wantNoSeven},
	"0 0 * * 5-7": {"dayOfWeek", "5-7", wantNoSeven},
	"0 0 * * 7,1": {"dayOfWeek", "7,1", wantNoSeven},
	"0 0 * * 7-1": {"dayOfWeek", "7-1", wantNoSeven},
	"0 0 * * 7#1": {"dayOfWeek", "7#1", wantNoSeven},
	"0 0 * * 7L":  {"dayOfWeek", "7L", wantNoSeven},

	"60 * * * *":                   {"minute", "60", wantMinute},
	"* 24 * * *":                   {"hour", "24", wantHour},
	"* * 0 * *":                    {"dayOfMonth", "0", wantDay},
	"* * * 13 *":                   {"month", "13", wantMonth},
	"* * * * 17":                   {"dayOfWeek", "17", wantWeekday},
	"noon * * * *":                 {"minute", "noon", wantMinute},
	"* * * January *":              {"month", "January", wantMonth},
	"* * * * monday":               {"dayOfWeek", "monday", wantWeekday},
	"*/0 * * * *":                  {"minute", "*/0", wantMinute},
	"*/-5 * * * *":                 {"minute", "*/-5", wantMinute},
	"1- * * * *":                   {"minute", "1-", wantMinute},
	"1-2-3 * * * *":                {"minute", "1-2-3", wantMinute},
	"5-* * * * *":                  {"minute", "5-*", wantMinute},
	"99999999999999999999 * * * *": {"minute", "99999999999999999999", wantMinute},
	"17-9,x * * * *":               {"minute", "17-9,x", wantMinute},
	"61 25 * * *":                  {"minute", "61", wantMinute},

	"30-10 * * * *":    {"minute", "30-10", "the range 30-10 ends before it begins: write 30-59,0-10"},
	"* 0,17-9/2 * * *": {"hour", "0,17-9/2", "the range 17-9/2 ends before it begins: write 17-23/2,0-9/2"},
	"* * 28-3 * *":     {"dayOfMonth", "28-3", "the range 28-3 ends before it begins: write 28-31,1-3"},
	"* * * nov-feb *":  {"month", "nov-feb", "the range nov-feb ends before it begins: write nov-dec,jan-feb"},
	"* * * * fri-mon":  {"dayOfWeek", "fri-mon", "the range fri-mon ends before it begins: write fri-sat,sun-mon"},
	"* * * * SAT-0":    {"dayOfWeek", "SAT-0", "the range SAT-0 ends before it begins: write SAT,sun"},

	"":              {"", "", `must not be empty: write five fields such as 0 9 * * 1-5, a macro such as @daily, or @every 90m`},
	" \t ":          {"", "", `must not be empty: write five fields such as 0 9 * * 1-5, a macro such as @daily, or @every 90m`},
	"garbage":       {"", "", "found 1 field, want 5: " + wantFields + ", such as 0 9 * * 1-5; or a macro such as @daily, or @every 90m"},
	"0 9 * *":       {"", "", "found 4 fields, want 5: " + wantFields + "; write * for any"},
	"0 0 0 * * *":   {"", "", "found 6 fields, want 5: " + wantFields + "; is the first one seconds? Leave seconds and years out; every 30 seconds is @every 30s"},
	"0 0 0 * * ? *": {"", "", "found 7 fields, want 5: " + wantFields + "; is the first one seconds? Leave seconds and years out; every 30 seconds is @every 30s"},

	"@reboot":         {"", "", "@reboot is not supported, as a cluster does not boot: create a Job for what runs once"},
	"@Reboot":         {"", "", "@reboot is not supported, as a cluster does not boot: create a Job for what runs once"},
	"@Daily":          {"", "", "macros are in lower case, without further blanks: write @daily"},
	" @daily ":        {"", "", "macros are in lower case, without further blanks: write @daily"},
	"@EVERY  5m":      {"", "", "macros are in lower case, without further blanks: write @every 5m"},
	"@fortnightly":    {"", "", wantMacros},
	"@hourly * * * *": {"", "", wantMacros},
	"@every5m":        {"", "", wantMacros},
	"@every":          {"every", "", wantDuration},
	"@every 5x":       {"every", "5x", wantDuration},
	"@every 1d":       {"every", "1d", wantDuration},
	"@every 1h 30m":   {"every", "1h 30m", wantDuration},
	"@every 9999999h": {"every", "9999999h", "must be shorter: the longest duration is 2562047h"},
}

func TestA1MistakesAreToldInTheWordsOfTheUser(t *testing.T) {
	words := map[string]string{
		"minute": "minute", "hour": "hour", "dayOfMonth": "day of month", "month": "month", "dayOfWeek": "day of week", "every": "interval",
	}
	for text, want := range mistakes {
		t.Run(text, func(t *testing.T) {
			_, err := Parse(text, "")
			require.ErrorIs(t, err, ErrSyntax)
			var mistake *Mistake
			require.ErrorAs(t, err, &mistake)
			assert.Equal(t, want.field, mistake.Field)
			assert.Equal(t, want.value, mistake.Value)
			assert.Equal(t, want.reason, mistake.Reason)
			message := "not a schedule: " + want.reason
			if want.field != "" {
				message = "not a schedule: " + words[want.field] + ` "` + want.value + `": ` + want.reason
			}
			assert.EqualError(t, err, message)
		})
	}
}

func TestWhatIsToBeWrittenInsteadIsASchedule(t *testing.T) {
	for text := range mistakes {
		_, err := Parse(text, "")
		_, advice, ok := strings.Cut(err.Error(), ": write ")
		switch {
		case !ok || strings.Contains(advice, " and let ") || strings.Contains(advice, "five fields"):
			continue
		case strings.HasPrefix(advice, "@"):
		default:
			var mistake *Mistake
			require.ErrorAs(t, err, &mistake)
			instead := advice
			advice = strings.Replace(text, mistake.Value, advice, 1)
			if before, _, isList := strings.Cut(mistake.Value, ","); isList {
				advice = strings.Replace(text, mistake.Value, before+","+instead, 1)
			}
		}
		_, err = Parse(advice, "")
		assert.NoError(t, err, "%s instead of %s", advice, text)
	}
}

func TestAFieldIsCheckedByItself(t *testing.T) {
	for _, tc := range []struct{ name, value, want string }{
		{"minute", "0", ""}, {"dayOfWeek", "fri", ""}, {"every", "5m", ""}, {"seconds", "61", ""},
		{"minute", "0 5", wantMinute}, {"minute", " 5", wantMinute}, {"minute", "", wantMinute}, {"minute", "@daily", wantMinute},
		{"dayOfMonth", "L", ""}, {"dayOfMonth", "L-31", wantDay}, {"dayOfWeek", "L", wantNoL}, {"every", "often", wantDuration}, {"every", "-5m", "must be an interval above 0, such as 90m"},
	} {
		mistake := CheckField(tc.name, tc.value)
		if tc.want == "" {
			assert.Nil(t, mistake, tc.value)
		} else if assert.NotNil(t, mistake, tc.value) {
			assert.Equal(t, Mistake{Field: tc.name, Value: tc.value, Reason: tc.want, kind: mistake.kind}, *mistake)
		}
	}
}

func TestALongFieldIsQuotedInPart(t *testing.T) {
	_, err := Parse(strings.Repeat("1,", 400)+"x * * * *", "")
	assert.ErrorContains(t, err, `minute "1,1,1,`)
	assert.ErrorContains(t, err, `1,…": `+wantMinute)
	assert.Less(t, len(err.Error()), 250)
}

func TestA5AnIntervalOfNothingIsAMistakeOfItsField(t *testing.T) {
	_, err := ParseNew("@every -5m", "")
	require.EqualError(t, err, "must be an interval above 0, such as @every 90m")
	var mistake *Mistake
	require.ErrorAs(t, err, &mistake)
	assert.Equal(t, "every", mistake.Field)
	assert.Equal(t, "-5m", mistake.Value)
	assert.Equal(t, "must be an interval above 0, such as 90m", mistake.Reason)
}

func TestA4AllFieldsThatAreWrongAreNamed(t *testing.T) {
	for _, tc := range []struct {
		fields map[string]string
		want   []string // the field and the reason
	}{
		{map[string]string{}, nil},
		{map[string]string{"minute": "0", "hour": "*", "second": "61"}, nil},
		{map[string]string{"every": "90m"}, nil},
		{map[string]string{"dayOfWeek": "L", "minute": "61", "hour": "9"}, []string{"minute: " + wantMinute, "dayOfWeek: " + wantNoL}},
		{map[string]string{"every": "5m", "minute": "0"}, []string{": " + mustNotHaveBoth}},
		{map[string]string{"every": "5x", "minute": ""}, []string{": " + mustNotHaveBoth, "every: " + wantDuration, "minute: " + wantMinute}},
	} {
		var got []string
		for _, mistake := range CheckFields(tc.fields) {
			got = append(got, mistake.Field+": "+mistake.Reason)
			assert.Equal(t, tc.fields[mistake.Field], mistake.Value)
		}
		assert.Equal(t, tc.want, got, "%v", tc.fields)
	}
}

// assertTellsNothingOfTheParser checks that an error names the field that is wrong, without the
// words of the parser.
func assertTellsNothingOfTheParser(t *testing.T, text string, err error) {
	t.Helper()
	if errors.Is(err, ErrTimeZone) {
		return
	}
	for _, word := range []string{"strconv", "failed to parse", "expected exactly", "[", "%!", "unrecognized descriptor"} {
		if !strings.Contains(text, word) {
			assert.NotContains(t, err.Error(), word, "%q", text)
		}
	}
	var mistake *Mistake
	if !errors.As(err, &mistake) {
		return
	}
	assert.NotEmpty(t, mistake.Reason, "%q", text)
	words := strings.Fields(text)
	if len(words) == len(parts) && !strings.HasPrefix(words[0], "@") {
		assert.Contains(t, words, mistake.Value, "%q: the field that is wrong", text)
		assert.NotEmpty(t, mistake.Field, "%q", text)
	}
}
