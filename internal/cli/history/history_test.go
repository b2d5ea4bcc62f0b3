// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

// at returns a time on the day of the tests, in UTC.
func at(clock string) time.Time {
	t, err := time.Parse(time.DateTime, "2027-03-28 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

// started sets when a Job has started, which is also when it was made.
func started(job *batchv1.Job, start time.Time) *batchv1.Job {
	job.CreationTimestamp = metav1.NewTime(start)
	job.Status.StartTime = &metav1.Time{Time: start}
	return job
}

// aDay is a CronJob in the middle of a day on which a lot has happened.
func aDay() (c *v1.CronJob, jobs []*batchv1.Job) {
	c = builders.MakeCronJob("c").Schedule("0 * * * *").TimeZone("Asia/Tokyo").Created(at("00:00:00")).Obj()
	failed := builders.MakeJob(c, at("02:00:00")).Failed(at("02:02:00")).Obj()
	failed.Status.Conditions[0].Reason, failed.Status.Conditions[0].Message = "BackoffLimitExceeded", "Job has\treached it\x1b"
	manual := builders.MakeJob(c, at("03:30:00")).Manual().Succeeded(at("03:31:00")).Obj()
	manual.Name = "c-manual-x"
	jobs = []*batchv1.Job{
		started(builders.MakeJob(c, at("01:00:00")).Succeeded(at("01:10:00")).Obj(), at("01:00:01")),
		started(failed, at("02:01:00")),
		started(manual, at("03:30:00")),
		started(builders.MakeJob(c, at("05:00:00")).Obj(), at("05:00:00")),
	}
	four := metav1.NewTime(at("04:00:00"))
	c.Status.Missed = []v1.MissedTicks{{Reason: string(plan.MissedForbidden), First: four, Last: four, Count: 1}}
	return c, jobs
}

func TestTheTimelineShowsWhatWasIsAndComes(t *testing.T) {
	c, jobs := aDay()
	h := New(c, jobs, at("05:05:00"), 2)
	assert.Equal(t, strings.TrimPrefix(`
CronJob c: Every hour (Asia/Tokyo)
✔ 2027-03-28 10:00  c-1806195600  Succeeded  1s       9m59s
✘ 2027-03-28 11:00  c-1806199200  Failed     60s      60s
  BackoffLimitExceeded: Job has reached it
✔ 2027-03-28 12:30  c-manual-x    Succeeded  by hand  60s
! 2027-03-28 13:00  Missed scheduled time 2027-03-28T04:00:00Z: a Job was stil…
▶ 2027-03-28 14:00  c-1806210000  Running    0s       5m
── now, 2027-03-28 14:05 ──
○ 2027-03-28 15:00  in 55m
○ 2027-03-28 16:00  in 115m
`, "\n"), screen{width: 79}.timeline(h))
}

func TestTimesArePrintedInTheZoneOfTheSchedule(t *testing.T) {
	c, jobs := aDay()
	h := New(c, jobs, at("05:05:00"), 0)
	for i, want := range map[int]string{
		0: `{"state":"Succeeded","tick":"2027-03-28T10:00:00+09:00","job":"c-1806195600","start":"2027-03-28T10:00:01+09:00",` +
			`"end":"2027-03-28T10:10:00+09:00","delaySeconds":1,"durationSeconds":599}`,
		2: `{"state":"Succeeded","job":"c-manual-x","start":"2027-03-28T12:30:00+09:00","end":"2027-03-28T12:31:00+09:00",` +
			`"durationSeconds":60}`,
		4: `{"state":"Running","tick":"2027-03-28T14:00:00+09:00","job":"c-1806210000","start":"2027-03-28T14:00:00+09:00",` +
			`"delaySeconds":0,"durationSeconds":300}`,
	} {
		printed, err := json.Marshal(h.Entries[i])
		require.NoError(t, err)
		assert.Equal(t, want, string(printed))
	}
}

func TestNoTickComesBeforeTheEndOfASuspension(t *testing.T) {
	c, jobs := aDay()
	c.Spec.SuspendUntil = new(metav1.NewTime(at("07:00:00")))
	h := New(c, jobs, at("05:05:00"), 1)
	assert.True(t, h.Entries[len(h.Entries)-1].at.Equal(at("07:00:00")))
	over := New(c, jobs, at("07:00:00"), 1)
	assert.False(t, over.Suspended, "it has ended")
	assert.True(t, over.Entries[len(over.Entries)-1].at.Equal(at("08:00:00")))
}

func TestTheTimelineFitsTheTerminal(t *testing.T) {
	c, jobs := aDay()
	h := New(c, jobs, at("05:05:00"), 2)
	for _, width := range []int{1, 20, 40, 80, 200} {
		for row := range strings.Lines(screen{width: width}.timeline(h)) {
			assert.LessOrEqual(t, len([]rune(row)), width+1, "width %d: %q", width, row)
		}
	}
}

func TestColoursAreOnlyForTerminalsThatShowThem(t *testing.T) {
	c, jobs := aDay()
	h := New(c, jobs, at("05:05:00"), 1)
	assert.NotContains(t, screen{width: 80}.timeline(h), "\x1b")
	colored := screen{width: 80, colored: true}.timeline(h)
	assert.Contains(t, colored, "\x1b[32m✔", "green")
	assert.Contains(t, colored, "\x1b[31m✘", "red")
}

func TestATerminalThatShowsNoColoursGetsNone(t *testing.T) {
	for name, tc := range map[string]struct {
		noColor, term string
		wantColored   bool
	}{
		"colours":                 {"", "xterm", true},
		"NO_COLOR":                {"1", "xterm", false},
		"one that shows no other": {"", "dumb", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NO_COLOR", tc.noColor)
			t.Setenv("TERM", tc.term)
			assert.Equal(t, screen{width: 80, colored: tc.wantColored}, newScreen(80))
		})
	}
}

// tableOf is what a pipe gets.
func tableOf(t *testing.T, h History, headers bool) string {
	t.Helper()
	out := &strings.Builder{}
	require.NoError(t, (&command{single: true, noHeaders: !headers}).printTable(out, []History{h}))
	return out.String()
}

func TestWhatIsNoTerminalGetsATableAlignedAsKubectls(t *testing.T) {
	c, jobs := aDay()
	h := New(c, jobs, at("05:05:00"), 1)
	assert.Equal(t, strings.TrimPrefix(`
TICK                        JOB            RESULT      START                       DELAY   DURATION   TRIGGER    MESSAGE
2027-03-28T10:00:00+09:00   c-1806195600   Succeeded   2027-03-28T10:00:01+09:00   1s      9m59s      Schedule   -
2027-03-28T11:00:00+09:00   c-1806199200   Failed      2027-03-28T11:01:00+09:00   1m0s    1m0s       Schedule   BackoffLimitExceeded: Job has reached it
-                           c-manual-x     Succeeded   2027-03-28T12:30:00+09:00   -       1m0s       Manual     -
2027-03-28T13:00:00+09:00   -              Missed      -                           -       -          -          Missed scheduled time 2027-03-28T04:00:00Z: a Job was still running when a newer time was due
2027-03-28T14:00:00+09:00   c-1806210000   Running     2027-03-28T14:00:00+09:00   0s      5m0s       Schedule   -
2027-03-28T15:00:00+09:00   -              Coming      -                           -       -          -          -
`, "\n"), tableOf(t, h, true))
	assert.NotContains(t, tableOf(t, h, false), "TICK")
}

// Kueue suspends the Job of a run at its creation, and again if it takes the place of a running one
// away.
func TestARunIsQueuedWhileItsJobIsSuspendedAndNoPodRuns(t *testing.T) {
	c, _ := aDay()
	made := builders.MakeJob(c, at("05:00:00")).Obj()
	for name, tc := range map[string]struct {
		change    func(*batchv1.Job)
		wantState v1.RunResult
		wantTook  *int64
	}{
		"held from the start": {func(*batchv1.Job) {}, Queued, nil},
		"while its Pods end":  {func(job *batchv1.Job) { job.Status.Active = 1 }, v1.RunRunning, new(int64(300))},
		"let start": {func(job *batchv1.Job) {
			job.Spec.Suspend, job.Status.StartTime = new(false), new(metav1.NewTime(at("05:04:00")))
		}, v1.RunRunning, new(int64(60))},
		"ended while held": {func(job *batchv1.Job) {
			job.Status = builders.MakeJob(c, at("05:00:00")).Failed(at("05:01:00")).Obj().Status
		}, v1.RunFailed, new(int64(60))},
	} {
		job := made.DeepCopy()
		job.Spec.Suspend = new(true)
		tc.change(job)
		entries := New(c, []*batchv1.Job{job}, at("05:05:00"), 0).Entries
		entry := entries[len(entries)-1]
		assert.Equal(t, job.Name, entry.Job, name)
		assert.Equal(t, tc.wantState, entry.State, name)
		assert.Equal(t, tc.wantTook, entry.DurationSeconds, name)
		assert.Equal(t, v1.RunResult("Running"), plan.RunOf(made).Result, "as the status has it")
	}
}

func TestTheTableSaysWhatHasStartedARunAndWhatKeepsTicksFromRunning(t *testing.T) {
	c, jobs := aDay()
	jobs[0].Annotations[v1.TriggerAnnotation] = string(v1.TriggerBackfill)
	c.Spec.SuspendUntil = new(metav1.NewTime(at("07:00:00")))
	c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonStoppedAfterFailures}}
	c.Status.Missed = nil
	assert.Equal(t, strings.TrimPrefix(`
TICK                        JOB            RESULT      START                       DELAY   DURATION   TRIGGER    MESSAGE
2027-03-28T10:00:00+09:00   c-1806195600   Succeeded   2027-03-28T10:00:01+09:00   -       9m59s      Backfill   -
-                           -              Suspended   -                           -       -          -          It is suspended: nothing starts before 2027-03-28 16:00:00 +09:00.
-                           -              Stopped     -                           -       -          -          It has stopped after failures: nothing starts until it is resumed, or a manual run succeeds.
`, "\n"), tableOf(t, New(c, jobs[:1], at("05:05:00"), 1), true))
}

func TestATableOfSeveralSaysOfWhichCronJobEachRunIs(t *testing.T) {
	c, jobs := aDay()
	shop, bank := New(c, jobs[:1], at("05:05:00"), 0), New(c, nil, at("05:05:00"), 1)
	shop.title, bank.title = "shop/c", "bank/c"
	out := &strings.Builder{}
	require.NoError(t, (&command{}).printTable(out, []History{shop, bank}))
	assert.Equal(t, strings.TrimPrefix(`
CRONJOB   TICK                        JOB            RESULT      START                       DELAY   DURATION   TRIGGER    MESSAGE
shop/c    2027-03-28T10:00:00+09:00   c-1806195600   Succeeded   2027-03-28T10:00:01+09:00   1s      9m59s      Schedule   -
shop/c    2027-03-28T13:00:00+09:00   -              Missed      -                           -       -          -          Missed scheduled time 2027-03-28T04:00:00Z: a Job was still running when a newer time was due
bank/c    2027-03-28T13:00:00+09:00   -              Missed      -                           -       -          -          Missed scheduled time 2027-03-28T04:00:00Z: a Job was still running when a newer time was due
bank/c    2027-03-28T15:00:00+09:00   -              Coming      -                           -       -          -          -
`, "\n"), out.String())
}

func TestRunsWhoseJobsAreGoneAreShownAsTheStatusRemembersThem(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("0 * * * *").Created(at("00:00:00")).Suspend(true).Obj()
	when := func(clock string) *metav1.Time { return new(metav1.NewTime(at(clock))) }
	run := func(tick, end string, result v1.RunResult, trigger v1.RunTrigger) v1.Run {
		run := v1.Run{ScheduledTime: *when(tick), Trigger: trigger, Result: result, JobName: "c-" + tick[:2], StartTime: when(tick[:7] + "2")}
		if end != "" {
			run.CompletionTime = when(end)
		}
		return run
	}
	failed := run("02:00:00", "02:02:02", v1.RunFailed, v1.TriggerSchedule)
	failed.Reason = "BackoffLimitExceeded"
	there := builders.MakeJob(c, at("05:00:00")).Succeeded(at("05:01:00")).Obj()
	c.Status.RecentRuns = []v1.Run{
		{ScheduledTime: *when("05:00:00"), JobName: there.Name, Trigger: v1.TriggerSchedule, Result: v1.RunRunning},
		run("04:00:00", "", v1.RunRunning, v1.TriggerSchedule),
		run("03:30:00", "03:31:02", v1.RunSucceeded, v1.TriggerManual),
		{ScheduledTime: *when("03:00:00"), Trigger: v1.TriggerSchedule, Result: v1.RunMissed, Count: 1},
		failed,
		run("01:00:00", "", v1.RunDeleted, v1.TriggerSchedule),
	}
	h := New(c, []*batchv1.Job{there}, at("05:05:00"), 0)
	assert.Equal(t, strings.TrimPrefix(`
CronJob c: Every hour (UTC)
It is suspended: nothing starts until it is resumed.
∅ 2027-03-28 01:00  c-01          Deleted    2s       0s
✘ 2027-03-28 02:00  c-02          Failed     2s       2m
  BackoffLimitExceeded
✔ 2027-03-28 03:30  c-03          Succeeded  by hand  60s
∅ 2027-03-28 04:00  c-04          Deleted    2s       0s
✔ 2027-03-28 05:00  c-1806210000  Succeeded  0s       60s
`, "\n"), screen{width: 72}.timeline(h), "it is deleted if the status does not know its end")
	for _, e := range h.Entries {
		assert.Equal(t, e.Job != there.Name, e.JobIsGone, e.Job)
	}
}

func TestWhatTheStatusSaysRunsIsNotTakenForDeletedWhereTheJobsAreNotKnown(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("0 * * * *").Obj()
	c.Status.RecentRuns = []v1.Run{
		{ScheduledTime: metav1.NewTime(at("05:00:00")), JobName: "c-5", Trigger: v1.TriggerSchedule, Result: v1.RunRunning},
		{ScheduledTime: metav1.NewTime(at("04:00:00")), JobName: "c-4", Trigger: v1.TriggerSchedule, Result: v1.RunDeleted},
	}
	assert.Equal(t, strings.TrimPrefix(`
CronJob c: Every hour (UTC)
∅ 2027-03-28 04:00  c-4  Deleted  0s  0s
▶ 2027-03-28 05:00  c-5  Running  0s  5m
── now, 2027-03-28 05:05 ──
○ 2027-03-28 06:00  in 55m
`, "\n"), screen{width: 64}.timeline(FromStatus(c, at("05:05:00"), 1)))
	assert.False(t, FromStatus(c, at("05:05:00"), 0).Entries[0].JobIsGone)
}

func TestTheHistorySaysWhyNothingComes(t *testing.T) {
	waiting := builders.MakeCronJob("c").Schedule("0 * * * *").Obj()
	waiting.Status.NextScheduleTime = &metav1.Time{Time: at("05:00:00")}
	waiting.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Message: "The tick waits."}}
	suspended := builders.MakeCronJob("c").Schedule("0 * * * *").Obj()
	suspended.Spec.SuspendUntil = new(metav1.NewTime(at("07:00:00")))
	suspended.Annotations = map[string]string{suspend.SuspendedByAnnotation: "alice", suspend.SuspendReasonAnnotation: "storage is moved"}
	for name, tc := range map[string]struct {
		cronJob *v1.CronJob
		want    string
	}{
		"it is suspended": {
			cronJob: builders.MakeCronJob("c").Suspend(true).Obj(),
			want: "CronJob c: Every minute (UTC)\nIt is suspended: nothing starts until it is resumed.\n" +
				"It has no runs yet, and none to come.\n",
		},
		"it is suspended for a time, by somebody": {
			cronJob: suspended,
			want: "CronJob c: Every hour (UTC)\nIt is suspended by alice (storage is moved): nothing starts before 2027-03-28 07:00:00 +00:00.\n" +
				"── now, 2027-03-28 05:05 ──\n○ 2027-03-28 07:00  in 115m\n",
		},
		"its schedule is none": {
			cronJob: builders.MakeCronJob("c").Schedule("61 * * * *").Obj(),
			want: `CronJob c: spec.schedule: Invalid value: "61 * * * *": not a schedule: minute "61": must be a minute from 0 to 59, ` +
				`a range (0-30), *, any of these with a step (*/15), or a comma-separated list of the…` +
				"\nIt has no runs yet, and none to come.\n",
		},
		"a tick waits": {
			cronJob: waiting,
			want: "CronJob c: Every hour (UTC)\n… 2027-03-28 05:00  The tick waits.\n── now, 2027-03-28 05:05 ──\n" +
				"○ 2027-03-28 06:00  in 55m\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(tc.cronJob, nil, at("05:05:00"), 1)
			assert.Equal(t, tc.want, screen{width: 200}.timeline(h))
		})
	}
}

func TestATickThatHasItsJobDoesNotWait(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("0 * * * *").Obj()
	c.Status.NextScheduleTime = &metav1.Time{Time: at("05:00:00")} // the status is not written yet
	job := started(builders.MakeJob(c, at("05:00:00")).Obj(), at("05:00:00"))
	h := New(c, []*batchv1.Job{job}, at("05:00:00"), 0)
	require.Len(t, h.Entries, 1)
	assert.Equal(t, v1.RunRunning, h.Entries[0].State)
}

func TestWhatIsOddIsShownAllTheSame(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("@every 90s").Created(at("00:00:00")).TimeZone("Mars").Obj()
	never := builders.MakeJob(c, at("01:00:00")).Obj() // has not started
	before := started(builders.MakeJob(c, at("02:00:30")).Succeeded(at("02:00:00")).Obj(), at("02:00:10"))
	deleting := builders.MakeJob(c, at("03:00:00")).Deleting(at("03:00:01")).Obj()
	half := metav1.NewTime(at("02:30:00"))
	c.Status.Missed = []v1.MissedTicks{{Reason: "New", First: half, Last: half, Count: 1}}
	h := New(c, []*batchv1.Job{never, before, deleting}, at("05:05:00"), 3)
	var states []v1.RunResult
	for _, e := range h.Entries {
		states = append(states, e.State)
	}
	assert.Equal(t, []v1.RunResult{v1.RunRunning, v1.RunSucceeded, v1.RunMissed, v1.RunRunning}, states)
	assert.Contains(t, h.Problem, "spec.timeZone")
	assert.Equal(t, int64(-20), *h.Entries[1].DelaySeconds)
	assert.NotPanics(t, func() { screen{width: 100}.timeline(h) })
	assert.Equal(t, "It is being deleted.", h.Entries[3].Message)
}

var errClosed = errors.New("closed")

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errClosed }

func TestAnOutputThatIsClosedIsAnError(t *testing.T) {
	c := &command{Env: &env.Env{}}
	assert.ErrorIs(t, c.print(closedPipe{}, []History{{}}), errClosed)
}
