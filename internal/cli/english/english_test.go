// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package english

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/internal/schedule"
)

func TestASentenceSaysWhenAScheduleFires(t *testing.T) {
	for text, want := range map[string]string{
		// Rhythms.
		"* * * * *":      "Every minute",
		"*/1 * * * *":    "Every minute",
		"*/5 * * * *":    "Every 5 minutes",
		"0/15 * * * *":   "Every 15 minutes",
		"0,30 * * * *":   "Every 30 minutes",
		"0 * * * *":      "Every hour",
		"7 * * * *":      "At minute 7 of every hour",
		"0 */2 * * *":    "Every 2 hours from 00:00 to 22:00, every day",
		"15 9-17 * * *":  "Every hour from 09:15 to 17:15, every day",
		"0 9-17/2 * * *": "Every 2 hours from 09:00 to 17:00, every day",

		// Steps that do not go on evenly in the next hour.
		"*/7 * * * *":     "At every 7th minute from 0 to 56 of every hour",
		"*/45 * * * *":    "At minutes 0 and 45 of every hour",
		"5/15 * * * *":    "At every 15th minute from 5 to 50 of every hour",
		"10-30/5 * * * *": "At every 5th minute from 10 to 30 of every hour",

		// Parts of the day.
		"*/15 9-17 * * *":     "Every 15 minutes from 09:00 to 17:45, every day",
		"* 9 * * *":           "Every minute from 09:00 to 09:59, every day",
		"*/20 8,12,13 * * *":  "Every 20 minutes of the hours 8, 12 and 13, every day",
		"*/30 */6 * * *":      "Every 30 minutes of every 6th hour from 0 to 18, every day",
		"3,4,5,9 */12 * * *":  "At minutes 3 to 5 and 9 of the hours 0 and 12, every day",
		"1-10 9 * * *":        "At minutes 1 to 10 of the hour 9, every day",
		"30 2 * * *":          "At 02:30, every day",
		"0,30 9,17 * * *":     "At 09:00, 09:30, 17:00 and 17:30, every day",
		"30 10,11,12 * * 1-5": "At 10:30, 11:30 and 12:30, Monday to Friday",

		// Days.
		"0 9 * * 1":                  "At 09:00, on Mondays",
		"0 9 * * MON":                "At 09:00, on Mondays",
		"0 9 * * 0,6":                "At 09:00, on Saturdays and Sundays",
		"0 9 * * SUN-THU":            "At 09:00, Sunday to Thursday",
		"0 9 * * 5,6,0":              "At 09:00, Friday to Sunday",
		"0 9 * * 1,3,5":              "At 09:00, on Mondays, Wednesdays and Fridays",
		"0 9 * * 0-6":                "At 09:00, every day",
		"0 9 1 * ,":                  "At 09:00, on the 1st of the month", // a list of nothing beside it
		"0 9 , 1 1":                  "At 09:00, on Mondays in January",
		"0 0 1 * *":                  "At 00:00, on the 1st of the month",
		"0 0 1,15 * ?":               "At 00:00, on the 1st and 15th of the month",
		"0 0 22-31 * *":              "At 00:00, on the 22nd to 31st of the month",
		"0 0 */10 * *":               "At 00:00, every 10th day of the month from the 1st to the 31st",
		"0 0 2,3,11,12,13,21,23 * *": "At 00:00, on the 2nd, 3rd, 11th to 13th, 21st and 23rd of the month",

		// Days that depend on the month.
		"0 0 L * *":            "At 00:00, on the last day of the month",
		"0 0 L-1,l-3,LW * *":   "At 00:00, on the last weekday, the 3rd day before the last and the 1st day before the last of the month",
		"0 9 LW 3,6,9,12 *":    "At 09:00, on the last weekday of March, June, September and December",
		"0 9 1,L,15W * ?":      "At 09:00, on the 1st, the weekday nearest to the 15th and the last day of the month",
		"0 9 */2,L * *":        "At 09:00, on the 1st, 3rd, 5th, 7th, 9th, 11th, 13th, 15th, 17th, 19th, 21st, 23rd, 25th, 27th, 29th, 31st and the last day of the month",
		"0 9 * * FRI#3":        "At 09:00, on the 3rd Friday of the month",
		"0 9 * 1 0L,1#2,fri#2": "At 09:00, on the 2nd Monday, the 2nd Friday and the last Sunday of January",
		"0 9 * 1 5L,1-3":       "At 09:00, Monday to Wednesday in January, and also on the last Friday of January",
		"0 9 L * 5L":           "At 09:00, on the last day of the month, and also on the last Friday of the month",
		"0 9 L * 0-6":          "At 09:00, every day",
		"0 9 , * 5L":           "At 09:00, on the last Friday of the month",

		// Months.
		"0 0 1 1 *":        "At 00:00, on the 1st of January",
		"0 0 1 1,4,7,10 *": "At 00:00, on the 1st of January, April, July and October",
		"0 0 * JUN-AUG *":  "At 00:00, every day in June to August",
		"0 9 * 3,9 1-5":    "At 09:00, Monday to Friday in March and September",
		"*/10 * * 12 *":    "Every 10 minutes, every day in December",
		"0 0 31 2,3 *":     "At 00:00, on the 31st of February and March",

		// Day of month or day of week: one of them is enough, unless one is "*".
		"0 0 13 * 5":   "At 00:00, on the 13th of the month, and also on Fridays",
		"0 0 13 1 1-5": "At 00:00, on the 13th of January, and also Monday to Friday in January",
		"0 0 */2 * 1":  "At 00:00, every 2nd day of the month from the 1st to the 31st, and also on Mondays",
		"0 0 1-31 * 1": "At 00:00, every day",
		"0 0 13 2 0-6": "At 00:00, every day in February",
		"0 0 ? * 1":    "At 00:00, on Mondays",

		// Macros and intervals.
		"@yearly":          "At 00:00, on the 1st of January",
		"@annually":        "At 00:00, on the 1st of January",
		"@monthly":         "At 00:00, on the 1st of the month",
		"@weekly":          "At 00:00, on Sundays",
		"@daily":           "At 00:00, every day",
		"@midnight":        "At 00:00, every day",
		"@hourly":          "Every hour",
		"@every 90m":       "Every 1 hour and 30 minutes, counted from the last run",
		"@every 1h":        "Every hour, counted from the last run",
		"@every 36h":       "Every 36 hours, counted from the last run",
		"@every 1s":        "Every second, counted from the last run",
		"@every 1h2m3s":    "Every 1 hour, 2 minutes and 3 seconds, counted from the last run",
		"@every 1h0m1s":    "Every 1 hour and 1 second, counted from the last run",
		"@every -5m":       "Every second, counted from the last run",
		"  0   9 \t* * 1 ": "At 09:00, on Mondays",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := Describe(text)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestS19SeveralSchedulesAreOneSentence(t *testing.T) {
	sentence, err := Describe("0 9 * * 1-5", "0 12 * * 6", "@monthly")
	require.NoError(t, err)
	assert.Equal(t, "At 09:00, Monday to Friday; and at 12:00, on Saturdays; and at 00:00, on the 1st of the month", sentence)
	for _, texts := range [][]string{{"garbage", "@daily"}, {"@daily", "garbage"}} {
		_, err = Describe(texts[0], texts[1:]...)
		assert.ErrorContains(t, err, "not a schedule")
	}
}

func TestWhatIsNoScheduleIsNotDescribed(t *testing.T) {
	for text, want := range map[string]error{
		"":                   schedule.ErrSyntax,
		"61 * * * *":         schedule.ErrSyntax,
		"TZ=":                schedule.ErrSyntax,
		"CRON_TZ=Asia/Tokyo": schedule.ErrSyntax,
		"0 0 30 2 *":         schedule.ErrNeverFires,
		"@every":             schedule.ErrSyntax,
		"@reboot":            schedule.ErrSyntax,
		"0 0 * * 7":          schedule.ErrSyntax,
	} {
		_, err := Describe(text)
		assert.ErrorIs(t, err, want, text)
	}
}

// when is what two schedules have in common that fire at the same times.
func when(t *testing.T, text string) string {
	t.Helper()
	parsed, err := schedule.Parse(text, "")
	require.NoError(t, err)
	f, ok := parsed.Fields()
	require.True(t, ok)
	allDays, allWeekdays := len(valuesOf(f.Days)) == 31, len(valuesOf(f.Weekdays)) == 7
	if f.EitherDay && (allDays || allWeekdays) || allDays && allWeekdays {
		f.Days, f.Weekdays = 0, 0
	}
	return fmt.Sprint(f.Minutes, f.Hours, f.Days, f.Weekdays, f.Months)
}

func TestTwoSchedulesHaveTheSameDescriptionIfAndOnlyIfTheyFireAtTheSameTimes(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	byTimes, byText := map[string]string{}, map[string]string{}
	for range 50_000 {
		text := randomExpression(random)
		got, err := Describe(text)
		if err != nil {
			require.ErrorIs(t, err, schedule.ErrNeverFires, text)
			continue
		}
		times := when(t, text)
		if other, ok := byTimes[times]; ok {
			require.Equal(t, other, got, "seed %d: %s", seed, text)
		}
		if other, ok := byText[got]; ok {
			require.Equal(t, other, times, "seed %d: %s is described as %s", seed, text, got)
		}
		byTimes[times], byText[got] = got, times
	}
}

// randomExpression makes five fields, each mostly of the kinds that people write.
func randomExpression(random *rand.Rand) string {
	fields := make([]string, 5)
	for i, bounds := range [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}} {
		value := func() int { return bounds[0] + random.IntN(bounds[1]-bounds[0]+1) }
		a, b := value(), value()
		switch random.IntN(7) {
		case 0, 1:
			fields[i] = "*"
		case 2:
			fields[i] = fmt.Sprint(a)
		case 3:
			fields[i] = fmt.Sprintf("*/%d", 1+random.IntN(bounds[1]))
		case 4:
			fields[i] = fmt.Sprintf("%d-%d", min(a, b), max(a, b))
		case 5:
			fields[i] = fmt.Sprintf("%d-%d/%d", min(a, b), max(a, b), 1+random.IntN(4))
		case 6:
			fields[i] = fmt.Sprintf("%d,%d,%d-%d", value(), value(), min(a, b), max(a, b))
		}
	}
	return strings.Join(fields, " ")
}

func FuzzDescribe(f *testing.F) {
	for _, text := range []string{"* * * * *", "@every 1h", "0 0 13 * 5", "*/7 1-3,5 ? JAN SUN"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, invalid := schedule.Parse(text, "")
		got, err := Describe(text)
		assert.Equal(t, invalid == nil, err == nil)
		assert.Equal(t, err == nil, got != "")
	})
}
