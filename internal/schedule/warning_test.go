// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// eitherDay is what is said of a day of month beside a day of week.
func eitherDay(day, weekday string) Warning {
	return Warning{Reason: `day of month "` + day + `" beside day of week "` + weekday + `": a day that matches either of them matches; ` +
		"if it has to match both, leave one out and let the Job check it"}
}

func TestWhatIsAcceptedAndDoesSomethingElseThanItSeemsToIsTold(t *testing.T) {
	for text, want := range map[string][]Warning{
		"*/90 * * * *": {{"minute", "*/90", "the step of */90 leads beyond 59, so that only minute 0 matches; " +
			"for an interval write @every 90m, or every: 90m in v2"}},
		"0 */25 * * *": {{"hour", "*/25", "the step of */25 leads beyond 23, so that only hour 0 matches; " +
			"for an interval write @every 25h, or every: 25h in v2"}},
		"*/90 9-17 * * *":    {{"minute", "*/90", "the step of */90 leads beyond 59, so that only minute 0 matches"}},
		"0 */25 * * 1-5":     {{"hour", "*/25", "the step of */25 leads beyond 23, so that only hour 0 matches"}},
		"*/5 */25 * * *":     {{"hour", "*/25", "the step of */25 leads beyond 23, so that only hour 0 matches"}},
		"5/90 * * * *":       {{"minute", "5/90", "the step of 5/90 leads beyond 59, so that only minute 5 matches"}},
		"0-10/20 * * * *":    {{"minute", "0-10/20", "the step of 0-10/20 leads beyond 10, so that only minute 0 matches"}},
		"30,*/90 * * * *":    {{"minute", "30,*/90", "the step of */90 leads beyond 59, so that only minute 0 matches"}},
		"0 0 */40 * *":       {{"dayOfMonth", "*/40", "the step of */40 leads beyond 31, so that only day of month 1 matches"}},
		"0 0 1 */13 *":       {{"month", "*/13", "the step of */13 leads beyond 12, so that only month 1 matches"}},
		"0 0 1 nov/3 *":      {{"month", "nov/3", "the step of nov/3 leads beyond 12, so that only month 11 matches"}},
		"0 0 * * */8":        {{"dayOfWeek", "*/8", "the step of */8 leads beyond 6, so that only day of week 0 matches"}},
		"0 0 13 * 5":         {eitherDay("13", "5")},
		"0 0 */2 * 1":        {eitherDay("*/2", "1")},
		"0 0 15-21 * FRI":    {eitherDay("15-21", "FRI")},
		"0 0 L * 5#3":        {eitherDay("L", "5#3")},
		"*/90 0 13 * 5":      {{"minute", "*/90", "the step of */90 leads beyond 59, so that only minute 0 matches"}, eitherDay("13", "5")},
		"*/99999999 * * * *": {{"minute", "*/99999999", "the step of */99999999 leads beyond 59, so that only minute 0 matches"}},

		// A step as long as the range is what it seems to be: once in each.
		"*/60 * * * *": nil, "0/60 * * * *": nil, "0 */24 * * *": nil, "0 0 */31 * *": nil, "0 0 1 */12 *": nil, "0 0 * * */7": nil,

		"*/5 * * * *": nil, "*/45 * * * *": nil, "*/30 */12 * * *": nil, "59/1 * * * *": nil, "5-5/2 * * * *": nil, "*/0059 * * * *": nil,
		"0 0 13 * *": nil, "0 0 * * 5": nil, "0 0 ? * 5": nil, "0 0 13 * ?": nil, "0 0 */1 * 5": nil, "0 0 1,* * 5": nil, "* * * * *": nil,
		"@daily": nil, "@weekly": nil, "@every 90m": nil, "garbage": nil, "0 0 L * *": nil, "0 0 * * 5#3": nil, "": nil,
	} {
		assert.Equal(t, want, Warnings(text), text)
	}
}

func TestWhatIsToldOfAScheduleNamesItsFieldInTheWordsOfV1(t *testing.T) {
	found := Warnings("*/90 0 13 * 5")
	assert.Equal(t, `minute "*/90": the step of */90 leads beyond 59, so that only minute 0 matches`, found[0].String())
	assert.Equal(t, eitherDay("13", "5").Reason, found[1].String())
	assert.Equal(t, `path: minute "*/90": the step of */90 leads beyond 59, so that only minute 0 matches`, found[0].At("path", false))
	assert.Equal(t, `path.minute: the step of */90 leads beyond 59, so that only minute 0 matches`, found[0].At("path", true))
	assert.Equal(t, "path: "+eitherDay("13", "5").Reason, found[1].At("path", true))
}

// TestAWarningIsShort holds that the API server passes on the warnings of the longest schedule: it
// cuts each at 256 characters when all together are long.
func TestAWarningIsShort(t *testing.T) {
	long := strings.Repeat("1,", 90) + "2"
	text := strings.Repeat("1,", 90) + "*/999 " + long + " " + long + " */13 " + strings.Repeat("1,", 90) + "1/6"
	found := Warnings(text)
	assert.Len(t, found, 4)
	for _, s := range found {
		assertIsShort(t, s)
	}
}

func assertIsShort(t *testing.T, s Warning) {
	t.Helper()
	assert.LessOrEqual(t, utf8.RuneCountInString("spec.schedule.dayOfMonth: "+s.String()), 256, s)
}
