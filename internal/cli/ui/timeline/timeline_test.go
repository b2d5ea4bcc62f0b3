// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/test/builders"
)

var noon = time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)

// hourly makes a CronJob that was created two days before.
func hourly(name string) *builders.CronJob {
	return builders.MakeCronJob(name).Schedule("0 * * * *").Created(noon.Add(-48 * time.Hour))
}

// ofKind returns the marks of a kind.
func ofKind(marks []Mark, kind string) []Mark {
	var found []Mark
	for _, mark := range marks {
		if mark.Kind == kind {
			found = append(found, mark)
		}
	}
	return found
}

// rowOf returns the row of a CronJob that has Jobs.
func rowOf(c *v1.CronJob, w Window, jobs ...*batchv1.Job) Row {
	return NewRow(c, history.New(c, jobs, w.Now, 1), w)
}

func TestAWindowReachesAsFarBackAsAhead(t *testing.T) {
	for _, reach := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 30 * 24 * time.Hour} {
		w := NewWindow(noon.Add(17*time.Second), reach, reach)
		assert.InDelta(t, 50, w.At(w.Now), 1, reach)
		assert.False(t, w.From.After(w.Now.Add(-reach)))
		assert.False(t, w.Until.Before(w.Now.Add(reach)))
		assert.Zero(t, w.At(w.From.Add(-time.Hour)))
		assert.InDelta(t, 100, w.At(w.Until.Add(time.Hour)), 0)
	}
}

func TestTheBeginningOfAWindowMovesInSteps(t *testing.T) {
	assert.Equal(t, NewWindow(noon, 24*time.Hour, 24*time.Hour).From, NewWindow(noon.Add(time.Minute), 24*time.Hour, 24*time.Hour).From)
}

func TestTheAxisHasAFewRoundTimesOfTheZone(t *testing.T) {
	kolkata, err := schedule.LoadZone("Asia/Kolkata")
	require.NoError(t, err)
	for reach, want := range map[time.Duration]string{time.Hour: "16:45", 24 * time.Hour: "00:00", 30 * 24 * time.Hour: "23 Dec"} {
		labels := NewWindow(noon, reach, reach).Labels(kolkata)
		assert.LessOrEqual(t, len(labels), 11, reach)
		assert.GreaterOrEqual(t, len(labels), 4, reach)
		assert.Equal(t, "now", labels[0].Text)
		for _, label := range labels {
			assert.InDelta(t, 50, label.At, 45, "none is cut at an end")
		}
		assert.Equal(t, want, labels[1].Text, reach)
	}
}

func TestTheAxisHasEachTimeOnceWhereClocksShift(t *testing.T) {
	for zone, day := range map[string]string{ // with a shift of its clocks
		"America/New_York":    "2027-03-14",
		"Europe/Berlin":       "2027-10-31",
		"America/Havana":      "2027-03-14", // at midnight
		"Australia/Lord_Howe": "2027-10-03", // by half an hour
		"Pacific/Apia":        "2011-12-30", // a day that did not exist
	} {
		location, err := schedule.LoadZone(zone)
		require.NoError(t, err)
		start, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		for hour := range 60 {
			for _, reach := range []time.Duration{time.Hour, 3 * time.Hour, 6 * time.Hour, 24 * time.Hour} {
				labels := NewWindow(start.Add(time.Duration(hour-24)*time.Hour), reach, reach).Labels(location)
				assert.LessOrEqual(t, len(labels), 11)
				for i := 2; i < len(labels); i++ {
					assert.Greater(t, labels[i].At, labels[i-1].At)
				}
			}
		}
	}
}

func TestARowHasRunsMissedTicksAndTicksToCome(t *testing.T) {
	c := hourly("c").Obj()
	c.Status.RecentRuns = []v1.Run{
		{Result: v1.RunFailed, Reason: "DeadlineExceeded", Trigger: v1.TriggerSchedule, JobName: "c-2", ScheduledTime: metav1.NewTime(noon.Add(-2 * time.Hour)),
			StartTime: new(metav1.NewTime(noon.Add(-2 * time.Hour))), CompletionTime: new(metav1.NewTime(noon.Add(-90 * time.Minute)))},
		{Result: v1.RunSucceeded, Trigger: v1.TriggerSchedule, JobName: "old", ScheduledTime: metav1.NewTime(noon.Add(-48 * time.Hour)),
			StartTime: new(metav1.NewTime(noon.Add(-48 * time.Hour))), CompletionTime: new(metav1.NewTime(noon.Add(-47 * time.Hour)))},
	}
	c.Status.Missed = []v1.MissedTicks{
		{Reason: "Forbidden", First: metav1.NewTime(noon.Add(-5 * time.Hour)), Last: metav1.NewTime(noon.Add(-3 * time.Hour)), Count: 3},
		{Reason: "Forbidden", First: metav1.NewTime(noon.Add(-45 * time.Hour)), Last: metav1.NewTime(noon.Add(-44 * time.Hour)), Count: 2},
	}
	job := builders.MakeJob(c, noon.Add(-time.Hour)).Obj()
	row := rowOf(c, NewWindow(noon, 6*time.Hour, 6*time.Hour), job)
	assert.Equal(t, "1 failed, 1 running, 3 missed, 6 coming", row.Summary)
	for _, mark := range row.Marks {
		assert.Positive(t, mark.Width, "of none, nothing is drawn: %s", mark.Title)
	}

	failed := ofKind(row.Marks, "failed")
	require.Len(t, failed, 1)
	assert.InDelta(t, 100*4./12, failed[0].At, 0.5)
	assert.InDelta(t, 100*.5/12, failed[0].Width, 0.1)
	assert.Contains(t, failed[0].Title, "DeadlineExceeded")
	running := ofKind(row.Marks, "running")
	require.Len(t, running, 1)
	assert.InDelta(t, 50, running[0].At+running[0].Width, 1, "up to now")
	missed := ofKind(row.Marks, "missed")
	require.Len(t, missed, 1)
	assert.Contains(t, missed[0].Title, "a Job was still running")
	assert.InDelta(t, 100*2./12, missed[0].Width, 0.3)
}

func TestARowHasNoTicksToComeOfWhatStartsNothing(t *testing.T) {
	w := NewWindow(noon, 6*time.Hour, 6*time.Hour)
	suspended, deleted, until, invalid := hourly("a").Suspend(true).Obj(), hourly("b").Obj(), hourly("c").Obj(), hourly("d").Schedule("x").Obj()
	stopped := hourly("e").StopAfterFailures(1).Obj()
	stopped.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonStoppedAfterFailures}}
	deleted.DeletionTimestamp = new(metav1.NewTime(noon))
	until.Spec.SuspendUntil = new(metav1.NewTime(noon.Add(4 * time.Hour)))
	for _, c := range []*v1.CronJob{suspended, deleted, invalid, stopped} {
		assert.Equal(t, "nothing", rowOf(c, w).Summary)
	}
	assert.Equal(t, "3 coming", rowOf(until, w).Summary, "the tick at its end runs")
}

func TestWhatIsBeforeTheFirstRecordIsMarkedAsNotKnown(t *testing.T) {
	w := NewWindow(noon, 4*time.Hour, 2*time.Hour)
	c := hourly("c").Obj()
	unknown := ofKind(rowOf(c, w).Marks, Unknown)
	require.Len(t, unknown, 1)
	assert.InDelta(t, w.At(noon), unknown[0].At+unknown[0].Width, 0.1, "nothing is known of it")
	unknown = ofKind(rowOf(c, w, builders.MakeJob(c, noon.Add(-time.Hour)).Obj()).Marks, Unknown)
	require.Len(t, unknown, 1)
	assert.Zero(t, unknown[0].At)
	assert.InDelta(t, w.At(noon.Add(-time.Hour)), unknown[0].Width, 0.1)
	assert.Equal(t, "No record before 2027-01-15T11:00:00Z", unknown[0].Title)
	c.Status.Missed = []v1.MissedTicks{{First: metav1.NewTime(noon.Add(-5 * time.Hour)), Last: metav1.NewTime(noon), Count: 2}}
	assert.Empty(t, ofKind(rowOf(c, w).Marks, Unknown), "it is known further back than what is shown")
}

func TestRunsThatWouldHideEachOtherShareAMarkThatIsRedAsFarAsTheyFailed(t *testing.T) {
	c := hourly("c").Obj()
	for i, result := range []v1.RunResult{v1.RunSucceeded, v1.RunFailed, v1.RunSucceeded, v1.RunSucceeded, v1.RunFailed} {
		start := metav1.NewTime(noon.Add(-time.Hour - time.Duration(4*i)*time.Minute))
		c.Status.RecentRuns = append(c.Status.RecentRuns, v1.Run{
			Result: result, Trigger: v1.TriggerSchedule, JobName: fmt.Sprint("job-", i), ScheduledTime: start, StartTime: &start,
			CompletionTime: new(metav1.NewTime(start.Add(time.Minute))),
		})
	}
	row := rowOf(c, NewWindow(noon, 16*time.Hour, 8*time.Hour), builders.MakeJob(c, noon.Add(-10*time.Hour)).Succeeded(noon.Add(-9*time.Hour)).Obj())
	assert.Len(t, row.Runs, 6)
	var cells []Mark
	for _, mark := range row.Marks {
		if mark.Job != "" {
			cells = append(cells, mark)
		}
	}
	require.Len(t, cells, 2, "of 20 minutes each")
	assert.Zero(t, cells[0].Red())
	assert.Equal(t, "succeeded", cells[1].Kind)
	assert.Equal(t, 40, cells[1].Red(), "two of five failed")
	assert.Equal(t, "job-1", cells[1].Job, "the newest of those that failed")
	for i := range 5 {
		assert.Contains(t, cells[1].Title, fmt.Sprint("job-", i))
	}
}

func TestATickToComeReachesToTheStartThatJitterDelays(t *testing.T) {
	c := hourly("c").Jitter(3599).Obj()
	delay := plan.Jitter(c)
	require.NotZero(t, delay)
	first := ofKind(rowOf(c, NewWindow(noon, 6*time.Hour, 6*time.Hour)).Marks, "coming")[0]
	assert.InDelta(t, 100*delay.Hours()/12, first.Width, 0.1)
	assert.Equal(t, "Tick 2027-01-15T13:00:00Z, starts "+delay.String()+" later", first.Title)
}

func TestTicksThatAreTooManyToDrawAreOneBar(t *testing.T) {
	row := rowOf(hourly("c").Schedule("* * * * *").Obj(), NewWindow(noon, 24*time.Hour, 24*time.Hour))
	assert.Len(t, ofKind(row.Marks, "coming"), 1)
	assert.InDelta(t, 50, row.Marks[0].Width, 1)
	assert.Equal(t, "200 or more coming", row.Summary)
}

func TestAChangeOfClocksIsDrawnWhereItIs(t *testing.T) {
	spring := time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC)
	row := rowOf(hourly("c").TimeZone("Europe/Paris").Suspend(true).Obj(), NewWindow(spring, 6*time.Hour, 6*time.Hour))
	require.Len(t, ofKind(row.Marks, "clocks"), 1)
	assert.InDelta(t, 50, row.Marks[0].At, 1)
	assert.Equal(t, "The clocks of Europe/Paris go forward, to Sun 2027-03-28 03:00 +02:00", row.Marks[0].Title)
	autumn := time.Date(2027, 10, 31, 0, 0, 0, 0, time.UTC)
	row = rowOf(hourly("c").TimeZone("Europe/Paris").Suspend(true).Obj(), NewWindow(autumn, 6*time.Hour, 6*time.Hour))
	assert.Contains(t, row.Marks[0].Title, "go back, to Sun 2027-10-31 02:00 +01:00")
}

func TestTheHeatIsTheBusiestMinuteOfEachColumn(t *testing.T) {
	all := []*v1.CronJob{
		hourly("a").Obj(), hourly("b").Obj(), hourly("c").Schedule("30 * * * *").Obj(), hourly("suspended").Suspend(true).Obj(),
		hourly("invalid").Schedule("x").Obj(), hourly("d").Schedule("@every 1h").Obj(),
	}
	all[0].Status.RecentRuns = []v1.Run{{Result: v1.RunSucceeded, StartTime: new(metav1.NewTime(noon.Add(-30 * time.Minute)))}}
	heat := NewHeat(all, NewWindow(noon.Add(time.Second), time.Hour, time.Hour), time.UTC)
	found := heat.Columns
	titles := []string{}
	for _, column := range found {
		titles = append(titles, column.Title)
	}
	assert.Equal(t, []string{
		"Fri 2027-01-15 11:30: 1 in this minute", // the run that is remembered
		"Fri 2027-01-15 12:30: 1 in this minute",
		"Fri 2027-01-15 13:00: 3 in this minute",
	}, titles)
	assert.InDelta(t, 100, found[2].Starts, 0)
	assert.InDelta(t, 100./3, found[1].Starts, 0.1)
}

func TestTheHeatShowsWhatJitterMakesOfAPileUp(t *testing.T) {
	var all []*v1.CronJob
	for i := range 100 {
		all = append(all, hourly(fmt.Sprintf("c-%d", i)).Jitter(600).Obj())
	}
	found := NewHeat(all, NewWindow(noon.Add(time.Second), time.Hour, time.Hour), time.UTC).Columns
	starts := 0.
	for _, column := range found {
		starts = max(starts, column.Starts)
	}
	assert.InDelta(t, 100, found[len(found)-1].Ticks, 0)
	assert.Less(t, starts, 30., "ten minutes share what one had")
	assert.Len(t, found, 10, "nine minutes of this hour, and the first of the next, at which the window ends")
	assert.Regexp(t, `13:00: \d+ in this minute, 100 without jitter`, found[len(found)-1].Title)
}

func TestTheHeatTellsOfThePastWhatFailedAndOfTheFutureThePeak(t *testing.T) {
	failing, other := hourly("a").Schedule("*/30 * * * *").Obj(), hourly("b").Obj()
	for i, result := range []v1.RunResult{v1.RunFailed, v1.RunSucceeded, v1.RunSucceeded, v1.RunFailed} {
		failing.Status.RecentRuns = append(failing.Status.RecentRuns, v1.Run{Result: result, StartTime: new(metav1.NewTime(noon.Add(-time.Duration(i+4) * time.Minute)))})
	}
	heat := NewHeat([]*v1.CronJob{failing, other}, NewWindow(noon, time.Hour, 5*time.Hour), time.UTC)
	assert.EqualValues(t, 4, heat.Runs)
	assert.EqualValues(t, 2, heat.Failed)
	assert.EqualValues(t, 2, heat.Peak, "at the full hour both start")
	assert.Equal(t, noon.Add(time.Hour), heat.PeakAt)
	first := heat.Columns[0]
	assert.Equal(t, "succeeded", first.Kind)
	assert.InDelta(t, first.Starts/2, first.Failed, 0.1, "one of two")
	assert.Contains(t, first.Title, "1 of 2 runs failed in 5m")
	for _, column := range heat.Columns[2:] {
		assert.Equal(t, "coming", column.Kind)
		assert.Zero(t, column.Failed)
	}
	assert.Empty(t, NewHeat(nil, NewWindow(noon, time.Hour, time.Hour), time.UTC).Columns)
	assert.Empty(t, NewHeat([]*v1.CronJob{hourly("a").Suspend(true).Obj()}, NewWindow(noon, time.Hour, time.Hour), time.UTC).Columns)
}

func BenchmarkTheHeatOf10000CronJobs(b *testing.B) {
	var all []*v1.CronJob
	for i := range 10_000 {
		schedules := []string{"0 * * * *", "*/5 * * * *", "30 2 * * *", "@every 90m"}
		all = append(all, hourly(fmt.Sprintf("c-%d", i)).Schedule(schedules[i%len(schedules)]).Jitter(299).Obj())
	}
	for b.Loop() {
		NewHeat(all, NewWindow(noon, 20*24*time.Hour, 10*24*time.Hour), time.UTC)
	}
}
