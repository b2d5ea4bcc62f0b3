// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
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

// hourly is a CronJob that was created at half past midnight, and has run at noon last.
func hourly() *v1.CronJob {
	c := builders.MakeCronJob("c").Schedule("0 * * * *").Created(at("00:30:00")).Obj()
	c.Status.LastScheduleTime = &metav1.Time{Time: at("12:00:00")}
	c.Status.NextScheduleTime = &metav1.Time{Time: at("14:00:00")}
	return c
}

// run is an entry of status.recentRuns.
func run(c *v1.CronJob, clock string, trigger v1.RunTrigger, result v1.RunResult) v1.Run {
	tick := metav1.NewTime(at(clock))
	entry := v1.Run{ScheduledTime: tick, Result: result, Trigger: trigger, StartTime: &tick}
	if result != v1.RunMissed {
		entry.JobName = plan.JobName(c, tick.Time)
	}
	return entry
}

// states returns what is known of each hour of the day up to 14:00.
func states(t *testing.T, c *v1.CronJob, jobs ...*batchv1.Job) map[string]state {
	t.Helper()
	ticks, err := scheduleFrom(c, at("00:00:00"))
	require.NoError(t, err)
	k, found := learn(c, ticks, jobs), map[string]state{}
	for _, tick := range ticksIn(ticks, at("00:00:00"), at("14:00:00"), 100) {
		found[tick.Format("15:04")] = k.of(tick)
	}
	return found
}

func TestWhatIsKnownOfATick(t *testing.T) {
	const tick = "10:00:00"
	for name, tc := range map[string]struct {
		change func(*v1.CronJob)
		jobs   func(*v1.CronJob) []*builders.Job
		want   state
	}{
		"nothing": {want: unknown},
		"a Job succeeded": {
			jobs: func(c *v1.CronJob) []*builders.Job {
				return []*builders.Job{builders.MakeJob(c, at(tick)).Succeeded(at("10:01:00"))}
			}, want: succeeded,
		},
		"a Job failed": {
			jobs: func(c *v1.CronJob) []*builders.Job {
				return []*builders.Job{builders.MakeJob(c, at(tick)).Failed(at("10:01:00"))}
			}, want: failed,
		},
		"a Job runs": {
			jobs: func(c *v1.CronJob) []*builders.Job { return []*builders.Job{builders.MakeJob(c, at(tick))} }, want: running,
		},
		"a manual run of that time is no run of it": {
			jobs: func(c *v1.CronJob) []*builders.Job {
				return []*builders.Job{builders.MakeJob(c, at(tick)).Manual().Succeeded(at("10:01:00"))}
			}, want: unknown,
		},
		"a backfill of it succeeded": {
			jobs: func(c *v1.CronJob) []*builders.Job {
				return []*builders.Job{builders.MakeJob(c, at(tick)).Backfilled(at("13:00:00")).Succeeded(at("13:01:00"))}
			}, want: succeeded,
		},
		"the status remembers that it succeeded": {
			change: func(c *v1.CronJob) {
				c.Status.RecentRuns = []v1.Run{run(c, tick, v1.TriggerSchedule, v1.RunSucceeded)}
			}, want: succeeded,
		},
		"the status remembers that its Job was deleted": {
			change: func(c *v1.CronJob) {
				c.Status.RecentRuns = []v1.Run{run(c, tick, v1.TriggerSchedule, v1.RunDeleted)}
			}, want: failed,
		},
		"the status is behind its Job": {
			change: func(c *v1.CronJob) {
				c.Status.RecentRuns = []v1.Run{run(c, tick, v1.TriggerSchedule, v1.RunRunning)}
			},
			jobs: func(c *v1.CronJob) []*builders.Job {
				return []*builders.Job{builders.MakeJob(c, at(tick)).Failed(at("10:01:00"))}
			}, want: failed,
		},
		"a backfill succeeded where the schedule failed": {
			change: func(c *v1.CronJob) {
				c.Status.RecentRuns = []v1.Run{run(c, tick, v1.TriggerBackfill, v1.RunSucceeded)}
				c.Status.RecentRuns[0].JobName += "-2"
			},
			jobs: func(c *v1.CronJob) []*builders.Job {
				return []*builders.Job{builders.MakeJob(c, at(tick)).Failed(at("10:01:00"))}
			}, want: succeeded,
		},
		"the status remembers older ones, and not it": {
			change: func(c *v1.CronJob) {
				c.Status.RecentRuns = []v1.Run{run(c, "12:00:00", v1.TriggerSchedule, v1.RunSucceeded), run(c, "09:00:00", v1.TriggerSchedule, v1.RunFailed)}
			}, want: missed,
		},
		"the status remembers older backfills, and not it": {
			change: func(c *v1.CronJob) {
				c.Status.RecentRuns = []v1.Run{run(c, "12:00:00", v1.TriggerSchedule, v1.RunSucceeded), run(c, "09:00:00", v1.TriggerBackfill, v1.RunFailed)}
			}, want: unknown,
		},
		"it is the first of a gap": {
			change: func(c *v1.CronJob) {
				c.Status.RecentRuns = []v1.Run{run(c, tick, v1.TriggerSchedule, v1.RunMissed)}
			}, want: missed,
		},
		"a row of missed ticks has it": {
			change: func(c *v1.CronJob) {
				c.Status.Missed = []v1.MissedTicks{{First: metav1.NewTime(at("09:00:00")), Last: metav1.NewTime(at("11:00:00")), Count: 3}}
			}, want: missed,
		},
		"a row of missed ticks around some that ran is not believed": {
			change: func(c *v1.CronJob) {
				c.Status.Missed = []v1.MissedTicks{{First: metav1.NewTime(at("09:00:00")), Last: metav1.NewTime(at("11:00:00")), Count: 2}}
			}, want: unknown,
		},
		"nothing has ever run": {
			change: func(c *v1.CronJob) { c.Status.LastScheduleTime = nil }, want: missed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := hourly()
			if tc.change != nil {
				tc.change(c)
			}
			var jobs []*batchv1.Job
			if tc.jobs != nil {
				for _, job := range tc.jobs(c) {
					jobs = append(jobs, job.Obj())
				}
			}
			assert.Equal(t, tc.want, states(t, c, jobs...)[tick[:5]])
		})
	}
	t.Run("the schedule runs it yet", func(t *testing.T) { assert.Equal(t, waiting, states(t, hourly())["14:00"]) })
	t.Run("the schedule has passed it", func(t *testing.T) { assert.Equal(t, missed, states(t, hourly())["13:00"]) })
	t.Run("it lies before the creation", func(t *testing.T) {
		c := hourly()
		c.Status.LastScheduleTime = nil
		assert.Equal(t, unknown, states(t, c)["00:00"], "another CronJob of its name may have run it")
	})
}

// pick makes the plan of a call at 14:30 for all ticks from 08:00 to 13:00.
func pick(t *testing.T, c *v1.CronJob, only state, jobs ...*batchv1.Job) *work {
	t.Helper()
	call := &command{
		Env: &env.Env{Clock: clocktesting.NewFakeClock(at("14:30:00"))}, from: "2027-03-28T08:00", to: "2027-03-28T13:30", only: only,
	}
	w, err := call.plan(c, jobs)
	require.NoError(t, err)
	return w
}

// names returns the names of the Jobs that a call starts.
func names(c *v1.CronJob, w *work) []string {
	var found []string
	for _, next := range w.wanted {
		found = append(found, w.newJob(c, next).Name)
	}
	return found
}

func TestASecondCallStartsNothingTwiceThoughMostJobsAreDeleted(t *testing.T) {
	c := hourly()
	c.Status.RecentRuns = []v1.Run{run(c, "12:00:00", v1.TriggerSchedule, v1.RunSucceeded)}
	jobOf := func(clock string) string { return plan.JobName(c, at(clock)) }
	failedAt9 := builders.MakeJob(c, at("09:00:00")).Failed(at("09:01:00")).Obj()
	first := pick(t, c, all, failedAt9)
	assert.Equal(t, []string{jobOf("08:00:00"), jobOf("09:00:00") + "-2", jobOf("10:00:00"), jobOf("11:00:00"), jobOf("13:00:00")}, names(c, first))

	// It has started those up to 11:00, and of its Jobs only that is left.
	last := first.newJob(c, first.wanted[3])
	last.Status = builders.MakeJob(c, at("11:00:00")).Failed(at("14:31:00")).Obj().Status
	for name, tc := range map[string]struct {
		only state
		jobs []*batchv1.Job
		want []string
	}{
		"goes on, and repeats what has failed since":     {all, []*batchv1.Job{failedAt9, last}, []string{jobOf("11:00:00") + "-2", jobOf("13:00:00")}},
		"for what was missed alone, too":                 {missed, []*batchv1.Job{failedAt9, last}, []string{jobOf("13:00:00")}},
		"for what has failed alone, too":                 {failed, []*batchv1.Job{failedAt9, last}, []string{jobOf("11:00:00") + "-2"}},
		"takes a failure that came later for one to run": {failed, []*batchv1.Job{builders.MakeJob(c, at("09:00:00")).Failed(at("14:31:00")).Obj(), last}, []string{jobOf("09:00:00") + "-2", jobOf("11:00:00") + "-2"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, names(c, pick(t, c, tc.only, tc.jobs...))) })
	}
	t.Run("of the missed ones leaves the others to the next", func(t *testing.T) {
		c := hourly()
		c.Status.Missed = []v1.MissedTicks{{First: metav1.NewTime(at("10:00:00")), Last: metav1.NewTime(at("10:00:00")), Count: 1}}
		first := pick(t, c, missed)
		assert.Equal(t, []string{jobOf("10:00:00"), jobOf("13:00:00")}, names(c, first))
		last := first.newJob(c, first.wanted[1])
		last.Status = builders.MakeJob(c, at("13:00:00")).Succeeded(at("14:31:00")).Obj().Status
		assert.Equal(t, []string{jobOf("08:00:00"), jobOf("09:00:00"), jobOf("11:00:00"), jobOf("12:00:00")}, names(c, pick(t, c, all, last)))
	})
}

// startedBy returns the Jobs that a call starts, which end at 14:31: those of some ticks have failed.
func startedBy(c *v1.CronJob, w *work, failedAt ...string) []*batchv1.Job {
	var jobs []*batchv1.Job
	for _, next := range w.wanted {
		w.record.read(jobs)
		job := w.newJob(c, next)
		job.CreationTimestamp = metav1.NewTime(at("14:30:00").Add(time.Duration(len(jobs)) * time.Second))
		end := builders.MakeJob(c, next.tick).Succeeded(at("14:31:00"))
		if slices.Contains(failedAt, next.tick.Format(time.TimeOnly)) {
			end = builders.MakeJob(c, next.tick).Failed(at("14:31:00"))
		}
		job.Status = end.Obj().Status
		jobs = append(jobs, job)
	}
	return jobs
}

func TestTheNewestJobOfAnotherCallSaysWhatTheCallsBeforeItHaveDone(t *testing.T) {
	c := hourly()
	c.Status.RecentRuns = []v1.Run{run(c, "12:00:00", v1.TriggerSchedule, v1.RunSucceeded)}
	failedJob := plan.JobName(c, at("09:00:00"))
	first := startedBy(c, pick(t, c, all), "09:00:00")
	night := &command{Env: &env.Env{Clock: clocktesting.NewFakeClock(at("14:30:00"))}, from: "2027-03-28", to: "2027-03-28T07:00", only: all}
	for name, another := range map[string]func() *batchv1.Job{
		"a call for another range": func() *batchv1.Job {
			w, err := night.plan(c, first)
			require.NoError(t, err)
			return startedBy(c, w)[7]
		},
		"run --tick": func() *batchv1.Job {
			job, err := OneTick(c, first, "2027-03-28T07:00", false, at("14:30:00"))
			require.NoError(t, err)
			return job
		},
	} {
		t.Run(name, func(t *testing.T) {
			newest := another()
			assert.Equal(t, []string{failedJob + "-2"}, names(c, pick(t, c, all, newest)), "the others have succeeded")
			assert.Equal(t, []string{failedJob + "-2"}, names(c, pick(t, c, failed, newest)))
			repeated := startedBy(c, pick(t, c, failed, newest))
			assert.Empty(t, names(c, pick(t, c, all, repeated...)), "nor is anything run again once that has succeeded")
		})
	}
	t.Run("of the same tick", func(t *testing.T) {
		job, err := OneTick(c, first, "2027-03-28T09:00", true, at("14:30:00"))
		require.NoError(t, err)
		assert.Equal(t, failedJob+"-2", job.Name)
		assert.Empty(t, names(c, pick(t, c, failed, job)), "it was run again")
		newest, err := OneTick(c, []*batchv1.Job{job}, "2027-03-28T07:00", false, at("14:30:00"))
		require.NoError(t, err)
		_, err = OneTick(c, []*batchv1.Job{newest}, "2027-03-28T09:00", false, at("14:30:00"))
		assert.ErrorContains(t, err, "has run (backfilled, no Job of it is left)")
	})
}

func TestAJobSaysNothingOfTheTicksOfAnotherSchedule(t *testing.T) {
	for name, edit := range map[string]func(*v1.CronJob){
		"schedule": func(c *v1.CronJob) { c.Spec.Schedule = "*/30 * * * *" },
		"zone":     func(c *v1.CronJob) { c.Spec.TimeZone = new("Europe/London") },
		"days":     func(c *v1.CronJob) { c.Spec.Exclude = []v1.ExcludedDays{"2027-03-27"} },
	} {
		t.Run(name, func(t *testing.T) {
			c := hourly()
			jobs := startedBy(c, pick(t, c, all))
			require.Empty(t, names(c, pick(t, c, all, jobs[len(jobs)-1])))
			edit(c)
			w := pick(t, c, all, jobs[len(jobs)-1])
			assert.Len(t, w.wanted, len(w.ticks)-w.states[succeeded]-w.states[waiting])
			assert.Zero(t, w.states[backfilled])
		})
	}
}

func TestARecordForgetsTheOldestOfWhatItHasNoRoomFor(t *testing.T) {
	job := &batchv1.Job{}
	r := recordOf(hourly(), nil)
	oldest := at("00:00:00").Unix()
	for i := range int64(maxFailed + 1) {
		tick := oldest + i
		r.Failed[tick] = tick + 1
		r.add(call{From: tick, To: tick, Only: all})
	}
	r.set(job, call{From: oldest, To: oldest + 5_000, Only: all})
	job.Annotations[v1.ScheduledAtAnnotation], job.Annotations[v1.TriggerAnnotation] = "2027-03-28T10:00:00Z", "Backfill"
	got := recordOf(hourly(), []*batchv1.Job{job})
	assert.Len(t, got.Failed, maxFailed)
	assert.NotContains(t, got.Failed, oldest)
	require.Len(t, got.Calls, maxCalls)
	assert.Equal(t, call{From: oldest, To: oldest + 5_000, Only: all}, got.Calls[maxCalls-1], "one that goes on is the newest")
	assert.Less(t, len(job.Annotations[recordAnnotation]), 64<<10)
}

func TestTheSummarySaysWhatIsKnownAndWhatIsRun(t *testing.T) {
	c := hourly()
	c.Spec.TimeZone = new("Asia/Tokyo")
	c.Status.RecentRuns = []v1.Run{
		run(c, "12:00:00", v1.TriggerSchedule, v1.RunRunning), run(c, "10:00:00", v1.TriggerSchedule, v1.RunFailed),
		run(c, "09:00:00", v1.TriggerSchedule, v1.RunSucceeded),
	}
	call := &command{Env: &env.Env{Clock: clocktesting.NewFakeClock(at("14:30:00"))}, from: "2027-03-28T16:00", to: "2027-03-28T23:00", only: all}
	w, err := call.plan(c, nil)
	require.NoError(t, err)
	assert.Equal(t, strings.TrimPrefix(`
8 ticks from 2027-03-28T16:00:00+09:00 to 2027-03-28T23:00:00+09:00: 1 succeeded, 1 running, 1 waiting, 2 missed, 1 failed, 2 unknown
The unknown ones are older than what the CronJob remembers, and may have run: --only missed leaves them out.
5 to run
`, "\n"), w.summary(c))
}

func TestABadRangeIsAnsweredWithWhatWouldBeRight(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to, schedule string
		yes                bool
		want               string
	}{
		"no time":       {from: "yesterday", to: "2027-03-28", want: `--from "yesterday" is not a time: want a time as in RFC 3339, such as`},
		"no end":        {from: "2027-03-28", to: "soon", want: `--to "soon" is not a time`},
		"reversed":      {from: "2027-03-28", to: "2027-03-27", want: "--to 2027-03-27 is before --from 2027-03-28"},
		"the future":    {from: "2027-03-28", to: "2027-03-28T15:00:00Z", want: "is in the future: the schedule runs those ticks when they come"},
		"empty":         {from: "2027-03-28T08:01", to: "2027-03-28T08:59", want: `no tick of "0 * * * *" (UTC) is from 2027-03-28T08:01 to`},
		"many":          {from: "2027-01-01", to: "2027-03-01", want: "more than 1000 ticks are from 2027-01-01 to 2027-03-01: add --yes if you mean that"},
		"far too many":  {from: "1970-01-01", to: "2027-03-01", yes: true, want: "more than 100000 ticks are from"},
		"no schedule":   {from: "2027-03-28", to: "2027-03-28", schedule: "often", want: "spec.schedule"},
		"many, and yes": {from: "2027-01-01", to: "2027-03-01", yes: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := hourly()
			if tc.schedule != "" {
				c.Spec.Schedule = tc.schedule
			}
			call := &command{
				Env: &env.Env{Clock: clocktesting.NewFakeClock(at("14:30:00"))}, from: tc.from, to: tc.to, only: all, yes: tc.yes,
			}
			_, err := call.plan(c, nil)
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestTheTicksOfAnIntervalAreCountedBackFromTheLastRun(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("@every 25m").Created(at("00:07:00")).Obj()
	c.Status.LastScheduleTime = &metav1.Time{Time: at("12:10:00")}
	ticks, err := scheduleFrom(c, at("10:00:00"))
	require.NoError(t, err)
	assert.Equal(t, []time.Time{at("10:05:00"), at("10:30:00"), at("10:55:00")}, ticksIn(ticks, at("10:00:00"), at("11:00:00"), 10))
	assert.Equal(t, []time.Time{at("10:05:00")}, ticksIn(ticks, at("10:05:00"), at("10:05:00"), 10), "the ends are in the range")
	ticks, err = scheduleFrom(c, at("13:00:00"))
	require.NoError(t, err)
	assert.Equal(t, []time.Time{at("13:00:00"), at("13:25:00")}, ticksIn(ticks, at("13:00:00"), at("13:30:00"), 10))
}

func TestTheMissedTicksOfAnIntervalAreKnownFromWithinTheirGap(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("@every 25m").Created(at("00:07:00")).Obj()
	c.Status.LastScheduleTime = &metav1.Time{Time: at("13:25:00")}
	c.Status.RecentRuns = []v1.Run{run(c, "13:25:00", v1.TriggerSchedule, v1.RunSucceeded)}
	c.Status.Missed = []v1.MissedTicks{{First: metav1.NewTime(at("04:15:00")), Last: metav1.NewTime(at("13:00:00")), Count: 22}}
	w := pick(t, c, missed) // from 08:00
	assert.Equal(t, map[state]int{missed: 13, succeeded: 1}, w.states)
	assert.Len(t, w.wanted, 13)
}

func TestAMessageNamesAllSchedules(t *testing.T) {
	c := hourly()
	c.Spec.AdditionalSchedules = []string{"20 9 * * *", "40 9 * * *"}
	_, err := OneTick(c, nil, "2027-03-28T09:30", false, at("14:30:00"))
	assert.ErrorContains(t, err, `is not a tick of "0 * * * * | 20 9 * * * | 40 9 * * *" (UTC): the one before it is 2027-03-28T09:20:00Z`)
	call := &command{Env: &env.Env{Clock: clocktesting.NewFakeClock(at("14:30:00"))}, from: "2027-03-28T08:01", to: "2027-03-28T08:59", only: all}
	_, err = call.plan(c, nil)
	assert.ErrorContains(t, err, `no tick of "0 * * * * | 20 9 * * * | 40 9 * * *" (UTC) is from`)
}

func TestOneTick(t *testing.T) {
	c := hourly()
	c.Spec.TimeZone = new("Asia/Tokyo")
	base := plan.JobName(c, at("10:00:00"))
	ended := builders.MakeJob(c, at("10:00:00")).Failed(at("10:01:00")).Obj()
	again := builders.MakeJob(c, at("10:00:00")).Backfilled(at("13:00:00")).Succeeded(at("13:01:00")).Obj()
	again.Name += "-2"
	for name, tc := range map[string]struct {
		tick      string
		again     bool
		policy    v1.ConcurrencyPolicy
		jobs      []*batchv1.Job
		want      string
		wantError string
	}{
		"by RFC 3339":                 {tick: "2027-03-28T10:00:00Z", want: base},
		"in the zone":                 {tick: "2027-03-28T19:00", want: base},
		"that has failed":             {tick: "2027-03-28T19:00", jobs: []*batchv1.Job{ended}, wantError: "the tick of 2027-03-28T19:00 has run (failed, " + base + "): --again runs it again"},
		"that has failed, again":      {tick: "2027-03-28T19:00", again: true, jobs: []*batchv1.Job{ended}, want: base + "-2"},
		"that has succeeded":          {tick: "2027-03-28T19:00", jobs: []*batchv1.Job{ended, again}, wantError: "has run (succeeded, " + base + "-2)"},
		"that has run twice, again":   {tick: "2027-03-28T19:00", again: true, jobs: []*batchv1.Job{ended, again}, want: base + "-3"},
		"that there is none of":       {tick: "2027-03-28T19:20", wantError: `is not a tick of "0 * * * *" (Asia/Tokyo): the one before it is 2027-03-28T19:00:00+09:00, and the one after it 2027-03-28T20:00:00+09:00`},
		"of the future":               {tick: "2027-03-29T00:00", wantError: "is in the future: the schedule runs it when it comes"},
		"that is no time":             {tick: "noon", wantError: `--tick "noon" is not a time`},
		"where the next would delete": {tick: "2027-03-28T19:00", policy: v1.ReplaceConcurrent, wantError: "concurrencyPolicy of CronJob c is Replace"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.DeepCopy()
			c.Spec.ConcurrencyPolicy = tc.policy
			job, err := OneTick(c, tc.jobs, tc.tick, tc.again, at("14:30:00"))
			if tc.wantError != "" {
				require.ErrorContains(t, err, tc.wantError)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, job.Name)
			assert.Equal(t, "2027-03-28T10:00:00Z", job.Annotations[v1.ScheduledAtAnnotation], "S12")
		})
	}
}

func TestS12ABackfilledJobIsTheSchedulesButForItsTrigger(t *testing.T) {
	c := hourly()
	c.Spec.JobTemplate.Spec.TTLSecondsAfterFinished = new(int32(1))
	job, scheduled := newJob(c, at("10:00:00"), 1), plan.NewJob(c, at("10:00:00"))
	assert.Equal(t, scheduled.Name, job.Name, "S4")
	assert.True(t, metav1.IsControlledBy(job, c), "S13")
	assert.Nil(t, job.OwnerReferences[0].BlockOwnerDeletion)
	want := map[string]string{v1.ScheduledAtAnnotation: "2027-03-28T10:00:00Z", v1.TriggerAnnotation: "Backfill"}
	assert.Equal(t, want, job.Annotations)
	assert.Equal(t, want, job.Spec.Template.Annotations)
	assert.Nil(t, job.Spec.TTLSecondsAfterFinished, "it tells what was backfilled")
}

func TestTheNameOfAnotherAttemptIsAJobsWhateverTheCronJobIsCalled(t *testing.T) {
	for _, owner := range []string{"c", strings.Repeat("a", 52), strings.Repeat("a.", 25) + "a", "c-1", "c-1806228000-7"} {
		for _, attempt := range []int{1, 2, 10} {
			tick := at("10:00:00")
			name := newJob(builders.MakeCronJob(owner).Obj(), tick, attempt).Name
			assert.Empty(t, validation.IsDNS1123Subdomain(name), name)
			assert.LessOrEqual(t, len(name), 63, name)
			assert.Equal(t, attempt, attemptOf(name, tick), name)
		}
	}
}

func TestABarTakesThePlaceOfTheLinesButOfThoseAboutFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		bar  bool
		want []string
		not  []string
	}{
		"lines": {want: []string{"a created\n", "b failed\n", "1 succeeded, 1 failed\n"}, not: []string{"%"}},
		"a bar": {bar: true, want: []string{"50%", "(1/2)", "b failed\n", "1 succeeded, 1 failed\n"}, not: []string{"a created"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := &bytes.Buffer{}
			r := newReport(out, tc.bar, 2)
			r.note("a created")
			r.done(&r.succeeded)
			r.wait(fmt.Errorf("%w for c", errBlocked))
			r.wait(fmt.Errorf("%w for c", errBlocked))
			r.say("b failed")
			r.done(&r.failed)
			r.finish()
			for _, want := range tc.want {
				assert.Contains(t, out.String(), want)
			}
			for _, not := range tc.not {
				assert.NotContains(t, out.String(), not)
			}
			assert.Equal(t, 1, strings.Count(out.String(), "waiting for c\n"))
			assert.True(t, strings.HasSuffix(out.String(), "failed\n"), "%q", out.String())
		})
	}
}
