// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

// noon is when the tests look, in Delhi.
var noon = time.Date(2027, 1, 15, 12, 0, 0, 0, time.FixedZone("", 5*3600+1800))

// agendaOf is the agenda of some CronJobs, from noon on.
func agendaOf(t *testing.T, within time.Duration, all ...*v1.CronJob) *Agenda {
	t.Helper()
	a := newAgenda(noon, within)
	for _, c := range all {
		require.NoError(t, a.add(c))
	}
	a.finish()
	return a
}

// printed is what a reader gets, without the blanks at the ends of lines.
func printed(t *testing.T, a *Agenda, selection cronjobs.Selection) string {
	t.Helper()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	require.NoError(t, (&command{Env: env.New(streams), selection: selection}).print(a))
	var text strings.Builder
	for line := range strings.Lines(out.String()) {
		text.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return text.String()
}

// daily makes a CronJob of a schedule that was created a day before.
func daily(name, schedule string) *builders.CronJob {
	return builders.MakeCronJob(name).Schedule(schedule).Created(noon.Add(-24 * time.Hour))
}

func TestTheAgendaHasTheRunsOfAllInTheOrderOfTimeAndThenTheBusiestMinutes(t *testing.T) {
	later := daily("later", "0 * * * *").TimeZone("Asia/Kolkata").Obj()
	later.Spec.SuspendUntil = new(metav1.NewTime(noon.Add(2 * time.Hour)))
	held := daily("held", "30 * * * *").TimeZone("Asia/Kolkata").Obj()
	held.Status.NextScheduleTime = new(metav1.NewTime(noon.Add(-30 * time.Minute)))
	deleted := daily("deleted", "* * * * *").Obj()
	deleted.DeletionTimestamp = new(metav1.NewTime(noon))
	a := agendaOf(t, 3*time.Hour, later, held, deleted,
		daily("backup", "0 9 * * *").TimeZone("Europe/Paris").Obj(),
		daily("sync", "0,30 13 * * *").TimeZone("Asia/Kolkata").Obj(),
		daily("off", "0 14 * * *").TimeZone("Asia/Kolkata").Suspend(true).Obj())
	assert.Equal(t, strings.TrimPrefix(`
YOUR TIME                     IN     CRONJOB   ITS TIME                 NOTE
Fri 2027-01-15 11:30 +05:30   0s     held      Fri 11:30 Asia/Kolkata   is due, and has not started
Fri 2027-01-15 12:30 +05:30   30m    held      Fri 12:30 Asia/Kolkata
Fri 2027-01-15 13:00 +05:30   60m    sync      Fri 13:00 Asia/Kolkata
Fri 2027-01-15 13:30 +05:30   90m    backup    Fri 09:00 Europe/Paris
Fri 2027-01-15 13:30 +05:30   90m    held      Fri 13:30 Asia/Kolkata
Fri 2027-01-15 13:30 +05:30   90m    sync      Fri 13:30 Asia/Kolkata
Fri 2027-01-15 14:00 +05:30   120m   later     Fri 14:00 Asia/Kolkata   first after the suspension
Fri 2027-01-15 14:00 +05:30   120m   off       Fri 14:00 Asia/Kolkata   suspended
Fri 2027-01-15 14:30 +05:30   150m   held      Fri 14:30 Asia/Kolkata

BUSIEST MINUTES               STARTS
Fri 2027-01-15 13:30 +05:30   3        ████████████████████████████████████████
`, "\n"), printed(t, a, cronjobs.Selection{}), "the end is not part of it")
}

func TestACronJobThatFiresEachSecondIsSummedUp(t *testing.T) {
	a := agendaOf(t, 24*time.Hour, daily("fast", "@every 1s").Obj(), daily("slow", "0 0 * * *").TimeZone("Asia/Kolkata").Obj())
	require.Len(t, a.Runs, maxRuns+1)
	assert.Equal(t, 24*60*60-maxRuns, a.Runs[maxRuns-1].More)
	assert.Equal(t, Minute{noon.Add(12 * time.Hour), 61}, a.BusiestMinutes[0])
	assert.Equal(t, 60, a.BusiestMinutes[1].Starts)
	assert.Len(t, a.BusiestMinutes, maxBusiest)
	text := printed(t, a, cronjobs.Selection{AllNamespaces: true})
	assert.Contains(t, text, "Fri 2027-01-15 12:00:23 +05:30   23s   default/fast   Fri 06:30:23 UTC            and 86376 more\n")
	assert.Contains(t, text, "Sat 2027-01-16 00:00:00 +05:30   12h   default/slow   Sat 00:00:00 Asia/Kolkata\n")
}

func TestAMinuteThatHasBegunCountsWhatIsLeftOfIt(t *testing.T) {
	a := newAgenda(noon.Add(30*time.Second), time.Minute)
	require.NoError(t, a.add(daily("fast", "@every 10s").Obj()))
	a.finish()
	assert.Equal(t, []Minute{
		{noon, 3},
		{noon.Add(time.Minute), 3},
	}, a.BusiestMinutes)
}

func TestEachOfAThousandCronJobsCounts(t *testing.T) {
	a := newAgenda(noon, time.Hour)
	for i := range 1_000 {
		require.NoError(t, a.add(daily(fmt.Sprint("c", i), "* * * * *").Obj()))
	}
	a.finish()
	assert.Len(t, a.Runs, 1_000*maxRuns)
	assert.Equal(t, 1_000, a.BusiestMinutes[0].Starts)
}

func TestDelayedStartsCountWhenTheyComeAndWhatHasStoppedDoesNotCount(t *testing.T) {
	late := daily("late", "0 13 * * *").TimeZone("Asia/Kolkata").Jitter(3000).Obj()
	late.Status.NextScheduleTime = new(metav1.NewTime(noon.Add(-time.Second)))
	late.Status.NextStartTime = new(metav1.NewTime(noon.Add(time.Second)))
	stopped := daily("stopped", "0 13 * * *").TimeZone("Asia/Kolkata").Obj()
	stopped.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonStoppedAfterFailures}}
	a := agendaOf(t, 3*time.Hour, late, late, stopped, stopped)
	delay := plan.Jitter(late)
	require.Greater(t, delay, time.Minute)
	start := noon.Add(time.Hour + delay).Truncate(time.Minute)
	assert.Equal(t, []Minute{{start, 2}}, a.BusiestMinutes)
	var notes []string
	for _, run := range a.Runs {
		notes = append(notes, run.note())
	}
	later := fmt.Sprintf("starts %v later", delay)
	assert.Equal(t, []string{later, later, later, later, "stopped after failures", "stopped after failures"}, notes)
}

func TestAnAgendaOfNothingSaysUntilWhen(t *testing.T) {
	a := agendaOf(t, time.Hour, daily("later", "0 0 * * *").Obj())
	assert.Equal(t, "Nothing is going to run before Fri 2027-01-15 13:00 +05:30.\n", printed(t, a, cronjobs.Selection{}))
}

func TestWhatCanNotRunIsAnErrorThatNamesTheField(t *testing.T) {
	a := newAgenda(noon, time.Hour)
	assert.ErrorContains(t, a.add(daily("bad", "61 * * * *").Obj()), "CronJob bad: spec.schedule: Invalid value")
	assert.Empty(t, a.Runs)
}

func TestOutputForProgramsSaysTheSame(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	c := &command{Env: env.New(streams), output: cronjobs.Output{Format: "json"}}
	a := agendaOf(t, time.Hour, daily("off", "0 7 * * *").Suspend(true).Obj(), daily("on", "0 7 * * *").Obj(), daily("too", "0 7 * * *").Obj())
	a.Runs = a.Runs[:1]
	require.NoError(t, c.output.Write(c.Out, a))
	assert.JSONEq(t, `{
		"from": "2027-01-15T12:00:00+05:30", "until": "2027-01-15T13:00:00+05:30",
		"runs": [{
			"namespace": "default", "name": "off", "timeZone": "UTC", "suspended": true,
			"time": "2027-01-15T07:00:00Z", "localTime": "2027-01-15T12:30:00+05:30", "job": "off-1799996400"
		}],
		"busiestMinutes": [{"time": "2027-01-15T12:30:00+05:30", "starts": 2}]
	}`, out.String())
}

func TestABadCommandLineIsAnsweredWithWhatWouldBeRight(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--within", "0s"}, "--within must be above 0 and at most 744h, not 0s"},
		{[]string{"--within", "745h"}, "at most 744h"},
		{[]string{"--within", "tomorrow"}, `invalid argument "tomorrow"`},
		{[]string{"a", "-l", "b"}, "give NAMEs or -l SELECTOR, not both"},
		{[]string{"a", "-A"}, "-A goes without NAMEs"},
		{[]string{"-l", "a in ("}, `-l "a in ("`},
		{[]string{"-o", "wide"}, `output format "wide", allowed formats are: json,yaml`},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			cmd := NewCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()))
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(tc.args)
			assert.ErrorContains(t, cmd.ExecuteContext(t.Context()), tc.want)
		})
	}
}
