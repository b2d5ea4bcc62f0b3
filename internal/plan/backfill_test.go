// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// afterTen reconciles a CronJob after 10:00, so that its next tick is 10:05.
func afterTen(t *testing.T, b *builders.CronJob) *v1.CronJob {
	t.Helper()
	return settle(t, b.Created(at("10:00:30")).Obj(), at("10:01:00"))
}

// recorded returns a CronJob whose status records some Jobs.
func recorded(c *v1.CronJob, now time.Time, jobs ...*batchv1.Job) *v1.CronJob {
	c = c.DeepCopy()
	in := NewInput(c, now, jobs...)
	c.Status = Conclude(in, Decide(in), Outcome{}).Status
	return c
}

func TestAJobSaysWhatAskedForIt(t *testing.T) {
	tick, created := at("10:00:00"), at("11:00:00")
	job := func(annotations map[string]string) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created), Annotations: annotations}}
	}
	scheduledAt := tick.Format(time.RFC3339)
	for name, tc := range map[string]struct {
		annotations map[string]string
		want        v1.RunTrigger
		wantAge     time.Time
	}{
		"nothing is said":             {nil, v1.TriggerManual, created},
		"a tick":                      {map[string]string{v1.ScheduledAtAnnotation: scheduledAt}, v1.TriggerSchedule, tick},
		"a tick and a backfill":       {map[string]string{v1.ScheduledAtAnnotation: scheduledAt, v1.TriggerAnnotation: "Backfill"}, v1.TriggerBackfill, tick},
		"a tick and a manual run":     {map[string]string{v1.ScheduledAtAnnotation: scheduledAt, v1.TriggerAnnotation: "Manual"}, v1.TriggerManual, created},
		"a backfill of no tick":       {map[string]string{v1.TriggerAnnotation: "Backfill"}, v1.TriggerManual, created},
		"a tick and what is not ours": {map[string]string{v1.ScheduledAtAnnotation: scheduledAt, v1.TriggerAnnotation: "x"}, v1.TriggerSchedule, tick},
	} {
		t.Run(name, func(t *testing.T) {
			trigger, age := TriggerOf(job(tc.annotations))
			assert.Equal(t, tc.want, trigger)
			assert.True(t, age.Equal(tc.wantAge), age)
		})
	}
}

func TestS5ABackfilledTickMovesNoTimeAndIsNeitherHandledNorMissed(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	c = ran(t, c, builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:00:30")).Obj())
	before := c.Status.DeepCopy()
	// The previous leader has stopped, and its status is old: 10:05 is due, whatever was
	// backfilled.
	in := NewInput(c, at("10:06:00"), builders.MakeJob(c, at("09:55:00")).Backfilled(at("10:04:00")).Obj())
	p := Decide(in)
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:05:00"), p.Start.Tick)
	assert.Empty(t, p.Missed)
	assert.Equal(t, before.LastScheduleTime, p.Status.LastScheduleTime)

	in = NewInput(c, at("10:16:00"), builders.MakeJob(c, at("10:10:00")).Backfilled(at("10:15:30")).Obj())
	p = Decide(in)
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:15:00"), p.Start.Tick)
	assert.Equal(t, []Missed{{MissedSuperseded, at("10:05:00"), at("10:10:00"), 2}}, p.Missed, "the schedule has run neither")
}

func TestS4ADueTickThatIsBackfilledHasRun(t *testing.T) {
	for _, policy := range []v1.ConcurrencyPolicy{v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent} {
		for name, build := range map[string]func(*builders.Job) *builders.Job{
			"its Job runs":       func(b *builders.Job) *builders.Job { return b },
			"its Job has run":    func(b *builders.Job) *builders.Job { return b.Succeeded(at("10:05:20")) },
			"its Job has failed": func(b *builders.Job) *builders.Job { return b.Failed(at("10:05:20")) },
		} {
			t.Run(string(policy)+", "+name, func(t *testing.T) {
				c := afterTen(t, cron().Policy(policy).Deadline(10))
				job := build(builders.MakeJob(c, at("10:05:00")).Backfilled(at("10:05:10"))).Obj()
				p := Decide(NewInput(c, at("10:06:00"), job))
				assert.Nil(t, p.Start)
				assert.Empty(t, p.Replace)
				assert.Empty(t, p.Missed, "though its deadline is over")
				assert.Empty(t, p.Events)
				assert.Equal(t, at("10:05:00"), p.Status.LastScheduleTime.Time)
				assert.Equal(t, at("10:10:00"), p.Status.NextScheduleTime.Time)
			})
		}
	}
	t.Run("by its name alone", func(t *testing.T) {
		c := afterTen(t, cron())
		again := builders.MakeJob(c, at("10:05:00")).Backfilled(at("10:05:10")).Obj()
		again.Name += "-2"
		require.NotNil(t, Decide(NewInput(c, at("10:06:00"), again)).Start)
	})
	t.Run("and nobody says that the schedule created its Job", func(t *testing.T) {
		c := afterTen(t, cron())
		in := NewInput(c, at("10:06:00")) // the cache does not have it yet
		p := Decide(in)
		require.NotNil(t, p.Start)
		done := Conclude(in, p, Outcome{Job: builders.MakeJob(c, at("10:05:00")).Backfilled(at("10:05:10")).Obj(), Existed: true})
		assert.Empty(t, done.Events)
		assert.Equal(t, at("10:05:00"), done.Status.LastScheduleTime.Time)
		assert.Equal(t, []string{"10:05 Running by a backfill"}, runsOf(done.Status))
	})
}

func TestS6ABackfilledJobHoldsATickBack(t *testing.T) {
	c := afterTen(t, cron().Policy(v1.ForbidConcurrent))
	p := Decide(NewInput(c, at("10:05:01"), builders.MakeJob(c, at("09:00:00")).Backfilled(at("10:04:00")).Obj()))
	assert.Nil(t, p.Start)
	require.Len(t, p.Events, 1)
	assert.EqualValues(t, 1, *p.Status.ActiveCount)
}

func TestS8BackfilledJobsHaveAHistoryLimitOfTheirOwn(t *testing.T) {
	c := afterTen(t, cron().History(1, 0))
	c.Status.LastScheduleTime = &metav1.Time{Time: at("10:00:00")}
	end := at("10:03:00")
	scheduled := builders.MakeJob(c, at("10:00:00")).Succeeded(end).Obj()
	manual := builders.MakeJob(c, at("10:02:00")).Manual().Succeeded(end).Obj()
	jobs := []*batchv1.Job{scheduled, manual}
	// The second backfill is of older ticks than the first.
	for i, tick := range []string{"09:10:00", "09:15:00", "08:10:00", "08:15:00"} {
		created := at("10:01:00").Add(time.Duration(i) * time.Second)
		jobs = append(jobs, builders.MakeJob(c, at(tick)).Backfilled(created).Succeeded(end).Obj())
	}
	c = recorded(c, at("10:03:30"), jobs...)
	assert.Equal(t, jobs[2:3], Decide(NewInput(c, at("10:04:00"), jobs...)).Prune, "the newest by creation stay")

	t.Run("and more that failed have another", func(t *testing.T) {
		some := slices.Clone(jobs)
		for i := range failedBackfillLimit + 1 {
			tick, created := at("07:00:00").Add(time.Duration(i)*5*time.Minute), at("10:02:00").Add(time.Duration(i)*time.Second)
			some = append(some, builders.MakeJob(c, tick).Backfilled(created).Failed(end).Obj())
		}
		c := recorded(c, at("10:03:30"), some...)
		assert.Equal(t, []*batchv1.Job{jobs[2], some[len(jobs)]}, Decide(NewInput(c, at("10:04:00"), some...)).Prune)
	})
	t.Run("and stay as long as their tick may be due", func(t *testing.T) {
		var ahead []*batchv1.Job
		for _, tick := range []string{"10:05:00", "10:10:00", "10:15:00", "10:20:00"} {
			ahead = append(ahead, builders.MakeJob(c, at(tick)).Backfilled(at(tick)).Succeeded(at("10:21:00")).Obj())
		}
		in := NewInput(c, at("10:22:00"), ahead...)
		p := Decide(in)
		assert.Empty(t, p.Prune, "the status does not say yet that their ticks are over")
		assert.False(t, p.Again)
		c := recorded(c, at("10:22:00"), ahead...)
		assert.Equal(t, ahead[:1], Decide(NewInput(c, at("10:23:00"), ahead...)).Prune)
	})
	t.Run("and go while it is suspended", func(t *testing.T) {
		c := edited(c, func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
		assert.Len(t, Decide(NewInput(c, at("10:04:00"), jobs...)).Prune, 1)
	})
}

func TestTheRunsTellOfABackfillBesideTheGapItFills(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	in := NewInput(c, at("10:16:00"))
	c.Status = Conclude(in, Decide(in), Outcome{Job: builders.MakeJob(c, at("10:15:00")).Obj()}).Status
	jobs := []*batchv1.Job{
		builders.MakeJob(c, at("10:15:00")).Obj(),
		builders.MakeJob(c, at("10:05:00")).Backfilled(at("10:17:00")).Obj(),
	}
	in = NewInput(c, at("10:17:01"), jobs...)
	c.Status = Conclude(in, Decide(in), Outcome{}).Status
	assert.Equal(t, []string{"10:15 Running", "10:05 Running by a backfill", "10:00 Missed Superseded 3"}, runsOf(c.Status))

	// It fails, and so does the next try, which has another name.
	again := builders.MakeJob(c, at("10:05:00")).Backfilled(at("10:18:00")).Obj()
	again.Name, again.UID = again.Name+"-2", again.UID+"-2"
	jobs = []*batchv1.Job{jobs[0], builders.MakeJob(c, at("10:05:00")).Backfilled(at("10:17:00")).Failed(at("10:17:30")).Obj(), again}
	in = NewInput(c, at("10:18:01"), jobs...)
	c.Status = Conclude(in, Decide(in), Outcome{}).Status
	assert.Equal(t, []string{
		"10:15 Running", "10:05 Running by a backfill", "10:05 Failed by a backfill", "10:00 Missed Superseded 3",
	}, runsOf(c.Status))
	assert.EqualValues(t, 1, c.Status.ConsecutiveFailures)
}

func TestABackfilledJobThatEndsBeforeAnybodyLooksIsToldOfOnce(t *testing.T) {
	c := afterTen(t, cron())
	var jobs []*batchv1.Job
	for i := range MaxRecentRuns + 2 {
		job := builders.MakeJob(c, at("09:00:00").Add(time.Duration(i)*5*time.Minute)).Backfilled(at("10:02:00")).Failed(at("10:03:00"))
		jobs = append(jobs, job.Obj())
	}
	in := NewInput(c, at("10:04:00"), jobs...)
	p := Decide(in)
	assert.Len(t, p.Ended, len(jobs))
	c.Status = Conclude(in, p, Outcome{}).Status
	assert.Len(t, c.Status.RecentRuns, MaxRecentRuns)
	assert.EqualValues(t, len(jobs), c.Status.ConsecutiveFailures)
	p = Decide(NewInput(c, at("10:04:01"), jobs...))
	assert.Empty(t, p.Ended)
}

func TestW1ABackfilledJobCausesNoWriteButAtItsStartAndItsEnd(t *testing.T) {
	c := afterTen(t, cron())
	running := builders.MakeJob(c, at("09:00:00")).Backfilled(at("10:02:00")).Obj()
	ended := builders.MakeJob(c, at("09:00:00")).Backfilled(at("10:02:00")).Succeeded(at("10:03:00")).Obj()
	writes := 0
	for i, job := range []*batchv1.Job{running, running, ended, ended, nil} {
		in := NewInput(c, at("10:02:01").Add(time.Duration(i)*time.Second), job)
		if job == nil {
			in.Jobs = nil
		}
		done := Conclude(in, Decide(in), Outcome{})
		if !assert.ObjectsAreEqual(c.Status, done.Status) {
			writes++
		}
		c.Status = done.Status
	}
	assert.Equal(t, 2, writes)
}

// An outage is over at 10:11. Somebody has backfilled the tick of 10:10, which the catch-up would
// come to last.
func TestS4ABackfilledTickHasRunThoughAnOlderOneReplacesItsJob(t *testing.T) {
	c := settle(t, cron().Policy(v1.ReplaceConcurrent).CatchUp(5).Obj(), at("09:59:00"))
	running := builders.MakeJob(c, at("10:10:00")).Backfilled(at("10:10:30")).Obj()
	now := at("10:11:00")
	first := Decide(NewInput(c, now, running))
	assert.True(t, first.Again, "only its name prevents a second run")
	assert.Nil(t, first.Start)
	c.Status = Conclude(NewInput(c, now, running), first, Outcome{}).Status
	var started []string
	for range 4 {
		in := NewInput(c, now, running)
		p := Decide(in)
		if p.Start == nil {
			c.Status = Conclude(in, p, Outcome{}).Status
			break
		}
		assert.Equal(t, []*batchv1.Job{running}, p.Replace)
		started = append(started, p.Start.Tick.Format("15:04"))
		replaced := running
		running = builders.MakeJob(c, p.Start.Tick).Obj()
		c.Status = Conclude(in, p, Outcome{Deleted: []*batchv1.Job{replaced}, Job: running}).Status
	}
	assert.Equal(t, []string{"10:00", "10:05"}, started)
	assert.Equal(t, at("10:15:00"), c.Status.NextScheduleTime.UTC())
	assert.Equal(t, []string{"10:10 Deleted Replaced by a backfill", "10:05 Running", "10:00 Deleted Replaced"}, runsOf(c.Status))
}

func TestS4ABackfilledJobThatNoStatusCanRecordIsNotReplacedWhileItsTickIsDue(t *testing.T) {
	c := settle(t, cron().Policy(v1.ReplaceConcurrent).CatchUp(5).Obj(), at("09:59:00"))
	in := NewInput(c, at("10:11:00"), builders.MakeJob(c, at("10:10:00")).Backfilled(at("10:10:30")).Obj())
	in.Unrecordable = true
	p := Decide(in)
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:00:00"), p.Start.Tick)
	assert.Empty(t, p.Replace)

	in.Jobs = []*batchv1.Job{builders.MakeJob(c, at("09:55:00")).Backfilled(at("10:10:30")).Obj()}
	assert.Equal(t, in.Jobs, Decide(in).Replace, "an older tick can't be due any more")
	in = NewInput(edited(c, func(c *v1.CronJob) { c.Spec.CatchUpPolicy = "" }), at("10:11:00"), builders.MakeJob(c, at("10:05:00")).Backfilled(at("10:10:30")).Obj())
	in.Unrecordable = true
	assert.Equal(t, in.Jobs, Decide(in).Replace, "nor can one that is superseded by the start")
}

func TestS8AnEndedBackfillGoesOnceItsTickCanNotBeDueAnyMore(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	var jobs []*batchv1.Job
	for i := range 3 {
		jobs = append(jobs, builders.MakeJob(c, at("09:40:00").Add(time.Duration(i)*5*time.Minute)).Backfilled(at("09:58:00")).Succeeded(at("09:58:30")).Obj())
	}
	c = recorded(c, at("09:59:10"), jobs...)
	jobs = append(jobs, builders.MakeJob(c, at("10:00:00")).Backfilled(at("10:00:01")).Succeeded(at("10:00:20")).Obj())
	in := NewInput(c, at("10:00:30"), jobs...)
	result := Conclude(in, Decide(in), Outcome{})
	assert.True(t, result.Again, "its tick is handled once the status is written")
	c.Status = result.Status
	in = NewInput(c, at("10:00:31"), jobs...)
	p := Decide(in)
	assert.Equal(t, jobs[:1], p.Prune)
	assert.False(t, Conclude(in, p, Outcome{}).Again)
}

// It ended, and was deleted, while no status could be written.
func TestS4ADueTickThatIsBackfilledHasRunThoughNothingIsLeftOfItsJob(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	in := NewInput(c, at("10:01:00"))
	in.Gone = []*batchv1.Job{builders.MakeJob(c, at("10:00:00")).Backfilled(at("10:00:01")).Succeeded(at("10:00:20")).Obj()}
	p := Decide(in)
	assert.Nil(t, p.Start)
	assert.Equal(t, at("10:05:00"), p.Status.NextScheduleTime.UTC())
}
