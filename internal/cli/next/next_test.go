// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/test/builders"
)

// terminal is where the tests look at the output: in Delhi, at noon of a winter's day.
type terminal struct {
	env         *env.Env
	out, errOut *bytes.Buffer
}

func newTerminal(t *testing.T, zone, input string) *terminal {
	t.Helper()
	location, err := schedule.LoadZone(zone)
	require.NoError(t, err)
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	streams.In = strings.NewReader(input)
	e := env.New(streams)
	e.Clock = testingclock.NewFakeClock(time.Date(2027, 1, 15, 12, 0, 0, 0, location))
	return &terminal{env: e, out: out, errOut: errOut}
}

func (tt *terminal) run(args ...string) error {
	cmd := NewCommand(tt.env)
	cmd.SetArgs(args)
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(context.Background())
}

// columns drops the blanks at the ends of lines, which align what is left.
func columns(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

func TestAnExpressionIsToldInItsZoneAndInYours(t *testing.T) {
	for name, tc := range map[string]struct {
		here string
		args []string
		want string
	}{
		"both zones": {
			here: "Asia/Kolkata",
			args: []string{"0 9 * * 1-5", "--time-zone", "Europe/Paris", "-c", "2"},
			want: `
At 09:00, Monday to Friday (Europe/Paris).

EUROPE/PARIS                  YOUR TIME                     IN
Fri 2027-01-15 09:00 +01:00   Fri 2027-01-15 13:30 +05:30   90m
Mon 2027-01-18 09:00 +01:00   Mon 2027-01-18 13:30 +05:30   3d1h
`,
		},
		"one column where both are the same": {
			here: "Europe/Berlin",
			args: []string{"0 9 * * 1-5", "--time-zone", "Europe/Paris", "-c", "1"},
			want: `
At 09:00, Monday to Friday (Europe/Paris).

EUROPE/PARIS                  IN
Mon 2027-01-18 09:00 +01:00   2d21h
`,
		},
		"UTC, if no zone is given": {
			here: "UTC",
			args: []string{"@daily", "-c", "1"},
			want: `
At 00:00, every day (UTC).

UTC                           IN
Sat 2027-01-16 00:00 +00:00   12h
`,
		},
		"a tick at the very time counts": {
			here: "UTC",
			args: []string{"0 12 * * *", "-c", "1"},
			want: `
At 12:00, every day (UTC).

UTC                           IN
Fri 2027-01-15 12:00 +00:00   0s
`,
		},
		"an interval shows its seconds": {
			here: "UTC",
			args: []string{"@every 45s", "-c", "2"},
			want: `
Every 45 seconds, counted from the last run (UTC).

UTC                              IN
Fri 2027-01-15 12:00:45 +00:00   45s
Fri 2027-01-15 12:01:30 +00:00   90s
`,
		},
		"from a date, which is midnight in the schedule's zone": {
			here: "UTC",
			args: []string{"0 * * * *", "--time-zone", "Asia/Tokyo", "-c", "1", "--from", "2027-05-01"},
			want: `
Every hour (Asia/Tokyo).

ASIA/TOKYO                    YOUR TIME
Sat 2027-05-01 00:00 +09:00   Fri 2027-04-30 15:00 +00:00
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt := newTerminal(t, tc.here, "")
			require.NoError(t, tt.run(tc.args...))
			assert.Equal(t, strings.TrimPrefix(tc.want, "\n"), columns(tt.out.String()))
		})
	}
}

func TestShiftsOfTheClocksAreMarked(t *testing.T) {
	for name, tc := range map[string]struct {
		expression, zone, here, from string
		count                        int
		want                         string
	}{
		"a time that spring skips": {
			expression: "30 2 * * *", zone: "Europe/Paris", here: "Europe/Paris", from: "2027-03-27", count: 3,
			want: `
EUROPE/PARIS                  NOTE
Sat 2027-03-27 02:30 +01:00
Sun 2027-03-28 03:00 +02:00   instead of 02:30, which the clocks skip: forward from 02:00 to 03:00
Mon 2027-03-29 02:30 +02:00
`,
		},
		"a time that autumn has twice": {
			expression: "30 2 * * *", zone: "Europe/Paris", here: "Europe/Paris", from: "2027-10-30", count: 3,
			want: `
EUROPE/PARIS                  NOTE
Sat 2027-10-30 02:30 +02:00
Sun 2027-10-31 02:30 +02:00
Mon 2027-11-01 02:30 +01:00   first after the clocks went back from 03:00 to 02:00 on Sun 2027-10-31
`,
		},
		"a rhythm goes on": {
			expression: "*/30 * * * *", zone: "Europe/Paris", here: "Europe/Paris", from: "2027-10-31T02:30:00+02:00", count: 3,
			want: `
EUROPE/PARIS                  NOTE
Sun 2027-10-31 02:30 +02:00
Sun 2027-10-31 02:00 +01:00   first after the clocks went back from 03:00 to 02:00
Sun 2027-10-31 02:30 +01:00
`,
		},
		"half an hour on Lord Howe": {
			expression: "15 2 * * *", zone: "Australia/Lord_Howe", here: "Australia/Lord_Howe", from: "2027-10-02", count: 2,
			want: `
AUSTRALIA/LORD_HOWE           NOTE
Sat 2027-10-02 02:15 +10:30
Sun 2027-10-03 02:30 +11:00   instead of 02:15, which the clocks skip: forward from 02:00 to 02:30
`,
		},
		"an interval is moved by no clock, and its wall time is": {
			expression: "@every 24h", zone: "Europe/Paris", here: "Europe/Paris", from: "2027-03-27T12:00:00+01:00", count: 2,
			want: `
EUROPE/PARIS                  NOTE
Sun 2027-03-28 13:00 +02:00   first after the clocks went forward from 02:00 to 03:00
Mon 2027-03-29 13:00 +02:00
`,
		},
		"your own clocks": {
			expression: "0 12 * * *", zone: "Asia/Tokyo", here: "America/New_York", from: "2027-03-14", count: 2,
			want: `
ASIA/TOKYO                    YOUR TIME                     NOTE
Sun 2027-03-14 12:00 +09:00   Sat 2027-03-13 22:00 -05:00
Mon 2027-03-15 12:00 +09:00   Sun 2027-03-14 23:00 -04:00   first after your clocks went forward from 02:00 to 03:00
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt := newTerminal(t, tc.here, "")
			require.NoError(t, tt.run(tc.expression, "--time-zone", tc.zone, "--from", tc.from, "-c", string(rune('0'+tc.count))))
			_, got, _ := strings.Cut(columns(tt.out.String()), "\n\n")
			assert.Equal(t, strings.TrimPrefix(tc.want, "\n"), got)
		})
	}
}

const manifests = `# ours, v2
apiVersion: batch.tutorial.kubebuilder.io/v2
kind: CronJob
metadata: {name: two, namespace: team}
spec: {schedule: {minute: "30", hour: "2"}, timeZone: Asia/Tokyo}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: v1
kind: List
items:
- apiVersion: batch.tutorial.kubebuilder.io/v1
  kind: CronJob
  metadata: {name: one}
  spec: {schedule: "@hourly", suspend: true}
- apiVersion: batch/v1
  kind: CronJob
  metadata: {name: builtin}
  spec: {schedule: 0 0 * * 0}
`

func TestManifestsOfEachKindAreTold(t *testing.T) {
	tt := newTerminal(t, "UTC", manifests)
	require.NoError(t, tt.run("-f", "-", "-c", "1"))
	assert.Equal(t, strings.TrimPrefix(`
CronJob two: At 02:30, every day (Asia/Tokyo).

ASIA/TOKYO                    YOUR TIME                     IN
Sat 2027-01-16 02:30 +09:00   Fri 2027-01-15 17:30 +00:00   5h30m

CronJob one: Every hour (UTC).
It is suspended: nothing starts at these times unless it is resumed before.

UTC                           IN
Fri 2027-01-15 12:00 +00:00   0s

CronJob builtin: At 00:00, on Sundays (UTC).

UTC                           IN
Sun 2027-01-17 00:00 +00:00   36h
`, "\n"), columns(tt.out.String()))
}

const several = `
apiVersion: batch.tutorial.kubebuilder.io/v2
kind: CronJob
metadata: {name: c}
spec:
  timeZone: Europe/Paris
  schedule: {minute: "30", hour: "2"}
  additionalSchedules:
  - {minute: "0", hour: "3,12", dayOfWeek: "0"}
  - {minute: "15", hour: "2"}
`

func TestS19TheTicksOfSeveralSchedulesAreTold(t *testing.T) {
	tt := newTerminal(t, "Europe/Paris", several)
	require.NoError(t, tt.run("-f", "-", "-c", "6", "--from", "2027-03-27"))
	assert.Equal(t, strings.TrimPrefix(`
CronJob c: At 02:30, every day; and at 03:00 and 12:00, on Sundays; and at 02:15, every day (Europe/Paris).

EUROPE/PARIS                  NOTE
Sat 2027-03-27 02:15 +01:00
Sat 2027-03-27 02:30 +01:00
Sun 2027-03-28 03:00 +02:00   first after the clocks went forward from 02:00 to 03:00
Sun 2027-03-28 12:00 +02:00
Mon 2027-03-29 02:15 +02:00
Mon 2027-03-29 02:30 +02:00
`, "\n"), columns(tt.out.String()))

	tt = newTerminal(t, "Europe/Paris", strings.Replace(several, "3,12", "4", 1))
	require.NoError(t, tt.run("-f", "-", "-c", "1", "--from", "2027-03-28"))
	assert.Contains(t, tt.out.String(), "instead of 02:15, which the clocks skip: forward from 02:00 to 03:00")

	tt = newTerminal(t, "UTC", several)
	require.NoError(t, tt.run("-f", "-", "-c", "1", "-o", "json"))
	assert.Contains(t, tt.out.String(), `"additionalSchedules": [`)
}

func TestS19AWarningNamesTheAdditionalScheduleThatItIsAbout(t *testing.T) {
	tt := newTerminal(t, "UTC", strings.Replace(several, `"15"`, `"*/90"`, 1))
	require.NoError(t, tt.run("-f", "-"))
	assert.Contains(t, tt.errOut.String(), "CronJob c: spec.additionalSchedules[1].minute: the step of */90 leads beyond 59")
}

func TestATimeZoneInTheScheduleOfABuiltInIsReadAsImportReadsIt(t *testing.T) {
	for _, prefix := range []string{"CRON_TZ=Europe/Paris", "TZ=Europe/Paris"} {
		tt := newTerminal(t, "UTC", `
apiVersion: batch/v1
kind: CronJob
metadata: {name: c, creationTimestamp: "2027-01-01T00:00:00Z"}
spec: {schedule: "`+prefix+` 30 2 * * *"}
`)
		require.NoError(t, tt.run("-f", "-", "-c", "1"))
		assert.Equal(t, strings.TrimPrefix(`
CronJob c: At 02:30, every day (Europe/Paris).

EUROPE/PARIS                  YOUR TIME                     IN
Sat 2027-01-16 02:30 +01:00   Sat 2027-01-16 01:30 +00:00   13h
`, "\n"), columns(tt.out.String()))
	}
	tt := newTerminal(t, "UTC", `
apiVersion: batch/v1
kind: CronJob
metadata: {name: c, creationTimestamp: "2027-01-01T00:10:00Z"}
spec: {schedule: "@every 90m"}
`)
	require.NoError(t, tt.run("-f", "-", "-c", "1", "-o", "json"))
	assert.Contains(t, tt.out.String(), `"time": "2027-01-15T12:10:00Z"`, "an interval counts from the creation")
}

func TestOutputForPrograms(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an expression is an object": {
			args: []string{"@daily", "-c", "1", "-o", "json"},
			want: `{"schedule": "@daily", "timeZone": "UTC", "description": "At 00:00, every day",
				"ticks": [{"time": "2027-01-16T00:00:00Z", "localTime": "2027-01-16T05:30:00+05:30"}]}`,
		},
		"manifests are items": {
			args: []string{"-f", "-", "-c", "1", "-o", "yaml", "--time-zone", "Europe/Paris"},
			want: `{"items": [
				{"source": "standard input", "namespace": "team", "name": "two", "schedule": "30 2 * * *", "timeZone": "Europe/Paris",
				 "description": "At 02:30, every day",
				 "ticks": [{"time": "2027-01-16T02:30:00+01:00", "localTime": "2027-01-16T07:00:00+05:30", "job": "two-1800063000"}]},
				{"source": "standard input", "name": "one", "schedule": "@hourly", "timeZone": "Europe/Paris", "suspended": true,
				 "description": "Every hour",
				 "ticks": [{"time": "2027-01-15T08:00:00+01:00", "localTime": "2027-01-15T12:30:00+05:30", "job": "one-1799996400"}]},
				{"source": "standard input", "name": "builtin", "schedule": "0 0 * * 0", "timeZone": "Europe/Paris",
				 "description": "At 00:00, on Sundays",
				 "ticks": [{"time": "2027-01-17T00:00:00+01:00", "localTime": "2027-01-17T04:30:00+05:30", "job": "builtin-1800140400"}]}
			]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt := newTerminal(t, "Asia/Kolkata", manifests)
			require.NoError(t, tt.run(tc.args...))
			got, err := yaml.YAMLToJSON(tt.out.Bytes())
			require.NoError(t, err)
			assert.JSONEq(t, tc.want, string(got))
		})
	}
	t.Run("names are those of the Jobs", func(t *testing.T) {
		tt := newTerminal(t, "UTC", manifests)
		require.NoError(t, tt.run("-f", "-", "-c", "1", "-o", "name"))
		assert.Equal(t, "job.batch/two-1800034200\njob.batch/one-1800014400\njob.batch/builtin-1800144000\n", tt.out.String())
	})
}

// TestAMistakeIsNamedAndTheOthersAreTold has one mistake that the schema refuses, one that its
// rules refuse, and one that the webhook refuses. The tests of lint, which finds them, have all
// others.
func TestAMistakeIsNamedAndTheOthersAreTold(t *testing.T) {
	tt := newTerminal(t, "UTC", `
apiVersion: batch.tutorial.kubebuilder.io/v2
kind: CronJob
metadata: {name: number}
spec: {schedule: {minute: 0}}
---
apiVersion: batch.tutorial.kubebuilder.io/v2
kind: CronJob
metadata: {name: both}
spec: {schedule: {minute: "0", every: 1h}}
---
apiVersion: batch.tutorial.kubebuilder.io/v2
kind: CronJob
metadata: {name: minute}
spec: {schedule: {minute: "61", hour: "2"}}
---
apiVersion: batch.tutorial.kubebuilder.io/v2
kind: CronJob
metadata: {name: quantity}
spec:
  schedule: {minute: "0"}
  jobTemplate: {spec: {template: {spec: {containers: [{}, {resources: {limits: {cpu: few}}}]}}}}
---
apiVersion: batch.tutorial.kubebuilder.io/v1
kind: CronJob
metadata: {name: good}
spec: {schedule: "@daily"}
`)
	err := tt.run("-f", "-", "-c", "1", "-o", "name")
	assert.Equal(t, 1, env.ExitCode(err))
	assert.Equal(t, "job.batch/quantity-1800014400\njob.batch/good-1800057600\n", tt.out.String(), "a template changes no tick")
	for _, want := range []string{
		`CronJob number: spec.schedule.minute: want a string: put "0" in quotes`,
		`CronJob both: spec.schedule: Invalid value: every can't be combined with minute, hour, dayOfMonth, month or dayOfWeek`,
		`CronJob minute: spec.schedule.minute: Invalid value: "61": must be a minute from 0 to 59, a range (0-30), *,`,
	} {
		assert.Contains(t, tt.errOut.String(), "error: standard input: "+want)
	}
}

func TestAScheduleThatDoesSomethingElseThanItSeemsToIsWarnedOf(t *testing.T) {
	const either = `day of month "13" beside day of week "5": a day that matches either of them matches; ` +
		"if it has to match both, leave one out and let the Job check it\n"
	tt := newTerminal(t, "UTC", "")
	require.NoError(t, tt.run("*/90 9 13 * 5", "-c", "1"))
	assert.Equal(t, `Warning: the expression "*/90 9 13 * 5": minute "*/90": the step of */90 leads beyond 59, so that only minute 0 matches`+"\n"+
		`Warning: the expression "*/90 9 13 * 5": `+either, tt.errOut.String())

	tt = newTerminal(t, "UTC", `
apiVersion: batch.tutorial.kubebuilder.io/v1
kind: CronJob
metadata: {name: text}
spec: {schedule: "0 */25 * * *"}
---
apiVersion: batch.tutorial.kubebuilder.io/v2
kind: CronJob
metadata: {name: fields}
spec: {schedule: {minute: "0", hour: "*/25"}}
`)
	require.NoError(t, tt.run("-f", "-", "-c", "1"))
	const only = "the step of */25 leads beyond 23, so that only hour 0 matches; for an interval write @every 25h, or every: 25h in v2\n"
	assert.Equal(t, `Warning: standard input: CronJob text: spec.schedule: hour "*/25": `+only+
		"Warning: standard input: CronJob fields: spec.schedule.hour: "+only, tt.errOut.String())
}

func TestAScheduleWithoutTheQuotesThatYAMLWantsIsToldToHaveThem(t *testing.T) {
	for schedule, want := range map[string]string{
		"*/5 * * * *":   `in YAML, * begins an alias: put the value in quotes, such as "*/5 * * * *", or "*/5" in a field of v2`,
		"{minute: */5}": `in YAML, * begins an alias: put the value in quotes, such as "*/5 * * * *", or "*/5" in a field of v2`,
		"@daily":        `put a schedule that starts with @ in quotes, such as "@daily", and indent with blanks, not tabs`,
	} {
		manifest := filepath.Join(t.TempDir(), "c.yaml")
		text := "apiVersion: batch.tutorial.kubebuilder.io/v1\nkind: CronJob\nmetadata: {name: c}\nspec:\n  schedule: " + schedule + "\n"
		require.NoError(t, os.WriteFile(manifest, []byte(text), 0o600))
		assert.ErrorContains(t, newTerminal(t, "UTC", "").run("-f", manifest), want)
		assert.ErrorContains(t, newTerminal(t, "UTC", text).run("-f", "-"), want)
	}
}

func TestTheTicksEndWithTheYearsThatTheAPICanTell(t *testing.T) {
	tt := newTerminal(t, "UTC", "")
	require.NoError(t, tt.run("0 0 29 2 *", "--from", "9992-03-01", "-c", "3", "-o", "json"))
	assert.Contains(t, tt.out.String(), `"time": "9996-02-29T00:00:00Z"`)
	assert.NotContains(t, tt.out.String(), `10000`)
}

func TestAnIntervalCountsFromTheLastRun(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("@every 90m").Created(time.Date(2027, 1, 1, 0, 10, 0, 0, time.UTC)).Obj()
	now := time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
	f, err := makeForecast(c, now, time.UTC, 1)
	require.NoError(t, err)
	assert.Equal(t, now.Add(10*time.Minute), f.Ticks[0].Time, "or from the creation")
	c.Status.LastScheduleTime = &metav1.Time{Time: now.Add(-time.Minute)}
	f, err = makeForecast(c, now, time.UTC, 1)
	require.NoError(t, err)
	assert.Equal(t, now.Add(89*time.Minute), f.Ticks[0].Time)
}

func TestTicksBeforeTheEndOfASuspensionAreNotAmongTheNext(t *testing.T) {
	now := time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
	c := builders.MakeCronJob("c").Schedule("0 * * * *").Created(now).Obj()
	c.Spec.SuspendUntil = new(metav1.NewTime(now.Add(3 * time.Hour)))
	f, err := makeForecast(c, now, time.UTC, 2)
	require.NoError(t, err)
	assert.Equal(t, now.Add(3*time.Hour), f.Ticks[0].Time)
	assert.Equal(t, []string{"first after the suspension"}, f.Ticks[0].Notes)
	assert.Empty(t, f.Ticks[1].Notes)
}

func TestSeveralCronJobsAreToldOneAfterTheOther(t *testing.T) {
	now := time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
	tt := newTerminal(t, "UTC", "")
	cmd := &command{Env: tt.env, count: 1, selection: cronjobs.Selection{AllNamespaces: true}}
	var forecasts []Forecast
	for _, namespace := range []string{"bank", "shop"} {
		f, err := Stored(builders.MakeCronJob("c").Namespace(namespace).Schedule("@daily").Created(now).Obj(), now)
		require.NoError(t, err)
		forecasts = append(forecasts, f)
	}
	require.NoError(t, cmd.print(forecasts, now))
	assert.Equal(t, strings.TrimPrefix(`
CronJob bank/c: At 00:00, every day (UTC).

UTC                           IN
Sat 2027-01-16 00:00 +00:00   12h

CronJob shop/c: At 00:00, every day (UTC).

UTC                           IN
Sat 2027-01-16 00:00 +00:00   12h
`, "\n"), columns(tt.out.String()))

	tt.out.Reset()
	cmd.output.Format = "json"
	require.NoError(t, cmd.print(forecasts[:1], now))
	assert.Contains(t, tt.out.String(), `"items": [`, "whatever number they are")
	tt.out.Reset()
	cmd.single = true
	require.NoError(t, cmd.print(forecasts[:1], now))
	assert.NotContains(t, tt.out.String(), `"items": [`, "one that is named is one object")
}

func TestExcludedDaysAreShownAsSkipped(t *testing.T) {
	for name, tc := range map[string]struct{ spec, want string }{
		"one tick a day": {`
  schedule: "0 9 * * *"
  exclude: ["2027-01-17", "--01-20"]`, `
CronJob c: At 09:00, every day (UTC).

UTC                           IN      NOTE
Sat 2027-01-16 09:00 +00:00   21h
Sun 2027-01-17 09:00 +00:00   45h     skipped: the day is excluded
Mon 2027-01-18 09:00 +00:00   2d21h
Tue 2027-01-19 09:00 +00:00   3d21h
Wed 2027-01-20 09:00 +00:00   4d21h   skipped: the day is excluded
Thu 2027-01-21 09:00 +00:00   5d21h
`},
		"more than one, and some until the end": {`
  schedule: "0 9,18 * * *"
  exclude: ["2027-01-16/2027-01-18"]
  notBefore: "2027-01-15T15:00:00Z"
  notAfter: "2027-01-19T12:00:00Z"`, `
CronJob c: At 09:00 and 18:00, every day (UTC).
Times left: 2.

UTC                           IN      NOTE
Fri 2027-01-15 18:00 +00:00   6h
Sat 2027-01-16 09:00 +00:00   21h     skipped, and 5 more until Mon 2027-01-18 18:00: the days are excluded
Tue 2027-01-19 09:00 +00:00   3d21h
`},
		"none is left": {`
  schedule: "0 9 * * *"
  notAfter: "2027-01-10T12:00:00Z"`, `
CronJob c: At 09:00, every day (UTC).
Times left: 0.

UTC   IN
`},
	} {
		t.Run(name, func(t *testing.T) {
			tt := newTerminal(t, "UTC", "apiVersion: batch.tutorial.kubebuilder.io/v1\nkind: CronJob\nmetadata: {name: c}\nspec:"+tc.spec+"\n")
			require.NoError(t, tt.run("-f", "-", "-c", "4"))
			assert.Equal(t, strings.TrimPrefix(tc.want, "\n"), columns(tt.out.String()))
		})
	}
}

func TestWhatIsStoredIsToldWhateverAdmissionWouldSayToday(t *testing.T) {
	tt := newTerminal(t, "UTC", "")
	now := time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
	cmd := &command{Env: tt.env, count: 1}
	f, err := cmd.forecast(target{cronJob: builders.MakeCronJob("c").Schedule("@every 0s").Created(now).Obj()}, now)
	require.NoError(t, err)
	assert.Equal(t, now.Add(time.Second), f.Ticks[0].Time, "it runs every second")
}

func TestATickThatIsDueAndHasNotStartedIsTold(t *testing.T) {
	now := time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		next, start time.Time // zero if the status does not say
		suspend     bool
		want        string
		wantUntil   string
	}{
		"it waits":           {next: now.Add(-time.Minute), want: "2027-01-15T11:59:00Z"},
		"its start is to be": {next: now.Add(-time.Minute), start: now.Add(time.Second), want: "2027-01-15T11:59:00Z", wantUntil: "2027-01-15T12:00:01Z"},
		"its start has come": {next: now.Add(-time.Minute), start: now, want: "2027-01-15T11:59:00Z"},
		"it is yet to be":    {next: now.Add(time.Minute)},
		"neither is":         {next: now.Add(time.Minute), start: now.Add(time.Hour)},
		"it is suspended":    {next: now.Add(-time.Minute), suspend: true},
		"nobody has looked":  {},
	} {
		t.Run(name, func(t *testing.T) {
			c, f := builders.MakeCronJob("c").Suspend(tc.suspend).Obj(), Forecast{}
			if !tc.next.IsZero() {
				c.Status.NextScheduleTime = &metav1.Time{Time: tc.next}
			}
			if !tc.start.IsZero() {
				c.Status.NextStartTime = &metav1.Time{Time: tc.start}
			}
			f.addWaiting(c, now)
			assert.Equal(t, tc.want, f.Waiting)
			assert.Equal(t, tc.wantUntil, f.WaitingUntil)
		})
	}
}

func TestOfAManifestItIsToldByHowMuchAStartWillBeDelayed(t *testing.T) {
	for metadata, want := range map[string]string{
		"{name: c, namespace: default}": "Each start is delayed by 4m53s, as spec.jitterSeconds asks.\n",
		"{name: c}":                     "Each start is delayed by less than 5m0s, as spec.jitterSeconds asks.\n",
	} {
		tt := newTerminal(t, "UTC",
			`{apiVersion: batch.tutorial.kubebuilder.io/v1, kind: CronJob, metadata: `+metadata+`, spec: {schedule: "@hourly", jitterSeconds: 300}}`)
		require.NoError(t, tt.run("-f", "-"))
		assert.Contains(t, tt.out.String(), want)
	}
}
