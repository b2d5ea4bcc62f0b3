// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// play returns the playground's answer to what was typed.
func play(t *testing.T, typed ...string) string {
	t.Helper()
	query := url.Values{}
	for i := 0; i < len(typed); i += 2 {
		query.Set(typed[i], typed[i+1])
	}
	_, server := newSite(t)
	return show(t, server, "/playground?"+query.Encode())
}

// filled returns what the playground writes on the other side, fields that are empty left out.
func filled(body string) string {
	var values []string
	for _, match := range regexp.MustCompile(`<data value="([^"]+)" data-fill="(\w+)">`).FindAllStringSubmatch(body, -1) {
		values = append(values, match[2]+"="+match[1])
	}
	return strings.Join(values, " ")
}

func TestThePlaygroundWritesTextAsFieldsAndFieldsAsText(t *testing.T) {
	for name, tc := range map[string]struct {
		typed []string
		want  string
	}{
		"text":                {[]string{"text", "*/5 9-17 * * 1-5"}, "minute=*/5 hour=9-17 dayOfWeek=1-5"},
		"a macro":             {[]string{"text", "@daily"}, "minute=0 hour=0"},
		"an interval":         {[]string{"text", "@every 90m"}, "every=90m"},
		"fields":              {[]string{"by", "fields", "minute", "0", "hour", "9", "text", "old"}, "text=0 9 * * *"},
		"the field every":     {[]string{"by", "fields", "every", "90m"}, "text=@every 90m"},
		"a field of all":      {[]string{"by", "fields", "hour", "*", "minute", "5"}, "text=5 * * * *"},
		"days by rule":        {[]string{"text", "0 9 LW * *"}, "minute=0 hour=9 dayOfMonth=LW"},
		"a day of the month":  {[]string{"by", "fields", "minute", "0", "hour", "9", "dayOfWeek", "5#3"}, "text=0 9 * * 5#3"},
		"fields, with blanks": {[]string{"by", "fields", "minute", " 0 "}, "text=0 * * * *"},
	} {
		body := play(t, tc.typed...)
		assert.Equal(t, tc.want, filled(body), name)
		assert.NotContains(t, body, `class="problem"`, name)
	}
}

func TestThePlaygroundSaysWhatAScheduleMeansAndWhenItFires(t *testing.T) {
	body := play(t, "text", "30 2 * * *", "zone", "Europe/Paris", "exclude", "2027-01-17, --01-19")
	assert.Contains(t, body, "At 02:30, every day")
	assert.Equal(t, playgroundTicks+2, strings.Count(body, `<tr><th scope="row">`))
	assert.Contains(t, body, "Sat 2027-01-16 02:30:00 &#43;01:00")
	assert.Contains(t, body, "Sat 2027-01-16 07:00:00 &#43;05:30", "in the zone of the reader")
	assert.Equal(t, 2, strings.Count(body, "skipped: the day is excluded"))
	assert.Contains(t, body, "schedule:\n  hour: &#34;2&#34;\n  minute: &#34;30&#34;")
	assert.Contains(t, play(t, "text", "30 2 28 3 *", "zone", "Europe/Paris"), "instead of 02:30, which the clocks skip")
	assert.Contains(t, play(t, "text", "*/90 * * * *"), "Warning: ")
}

func TestThePlaygroundTakesAllThatSaysWhenACronJobRuns(t *testing.T) {
	body := play(t, "by", "fields", "hour", "0", "minute", "0", "dayOfMonth", "L", "further", "0 9 * * 5#3\n\n0 18 15W * *\n", "zone", "Europe/Paris",
		"exclude", "--03-31", "notBefore", "2027-02-01", "notAfter", "2027-04-30T12:00")
	for _, want := range []string{
		"on the last day of the month", "on the 3rd Friday of the month", "on the weekday nearest to the 15th of the month",
		"Mon 2027-02-15 18:00:00", "Fri 2027-02-19 09:00:00", "Sun 2027-02-28 00:00:00", "skipped: the day is excluded", "No time is left after these.",
		"additionalSchedules:\n- 0 9 * * 5#3\n", "- dayOfWeek: 5#3\n", "notBefore: &#34;2027-01-31T23:00:00Z&#34;", "timeZone: Europe/Paris",
	} {
		assert.Contains(t, body, want)
	}
	assert.Equal(t, 9, strings.Count(body, `<tr><th scope="row">`), "three of each month, and one in three that is skipped")
	assert.Contains(t, play(t, "by", "fields", "hour", "*", "minute", "5"), "hour: &#39;*&#39;\n")
	assert.Contains(t, play(t, "text", "0 9 * * *", "notAfter", "2027-01-14"), "No time is left after now.")
}

func TestThePlaygroundSaysWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		typed []string
		want  string
	}{
		"a text":      {[]string{"text", "61 * * * *"}, "minute"},
		"nothing":     {[]string{"by", "text", "text", ""}, "such as"},
		"a prefix":    {[]string{"text", "TZ=UTC * * * * *"}, "use timeZone"},
		"no time":     {[]string{"text", "0 0 30 2 *"}, "never fires"},
		"a field":     {[]string{"by", "fields", "hour", "25"}, "hour: Invalid value"},
		"no field":    {[]string{"by", "fields"}, "set at least one of minute"},
		"both":        {[]string{"by", "fields", "hour", "2", "every", "1h"}, "every can&#39;t be combined"},
		"a time zone": {[]string{"text", "@daily", "zone", "Mars/Olympus"}, "Mars/Olympus"},
		"a further":   {[]string{"text", "@daily", "further", "61 * * * *"}, "additionalSchedules[0]"},
		"an interval": {[]string{"text", "@daily", "further", "@every 1h"}, "additionalSchedules[0]"},
		"a time":      {[]string{"text", "@daily", "notAfter", "tomorrow"}, "notAfter &#34;tomorrow&#34; is neither"},
		"a day":       {[]string{"text", "@daily", "exclude", "2027-02-30"}, "2027-02-30"},
	} {
		body := play(t, tc.typed...)
		_, problem, found := strings.Cut(body, `<p class="problem" data-say>`)
		assert.True(t, found, name)
		assert.Contains(t, problem, tc.want, name)
		assert.NotContains(t, body, "The next times", name)
	}
}
