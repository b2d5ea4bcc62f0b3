// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/bounds"
	"tutorial.kubebuilder.io/project/test/builders"
)

// failing is a world in which each run of a CronJob fails after two minutes. It stops after three.
func failing(t *testing.T, build func(*builders.CronJob) *builders.CronJob) *world {
	t.Helper()
	w := &world{
		t: t, c: build(builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).StopAfterFailures(3)).Obj(),
		now: at("09:55:00"), ends: map[string]time.Time{},
		takes: func(time.Time) (time.Duration, bool) { return 2 * time.Minute, true },
	}
	w.reconcile()
	return w
}

func asItIs(b *builders.CronJob) *builders.CronJob { return b }

func TestS21NothingStartsAfterAsManyFailuresInARow(t *testing.T) {
	w := failing(t, asItIs)
	w.play(at("10:21:00"))
	assert.EqualValues(t, 2, w.c.Status.FailuresTowardsStop)
	assert.Equal(t, v1.ReasonScheduled, ready(t, w.c.Status).Reason)

	w.play(at("13:00:00"))
	assert.True(t, w.c.Status.LastScheduleTime.Time.Equal(at("10:20:00")))
	assert.Nil(t, w.c.Status.NextScheduleTime)
	assert.Zero(t, w.wake)
	assert.Empty(t, w.c.Status.Missed, "what passes while it has stopped is not missed")
	condition := ready(t, w.c.Status)
	assert.Equal(t, metav1.ConditionFalse, condition.Status)
	assert.Equal(t, v1.ReasonStoppedAfterFailures, condition.Reason)
	assert.Equal(t, "3 runs failed in a row, as many as spec.stopAfterFailures allows: no Job is started until the spec is edited, "+
		"a manual run succeeds, or somebody resumes the CronJob by kubectl cronjob resume.", condition.Message)
	assert.False(t, *NewInput(w.c, w.now).CronJob.Spec.Suspend, "the spec is its user's")
	assert.Equal(t, w.c.Status, Decide(NewInput(w.c, w.now, w.jobs...)).Status, "W3")
}

func TestS21AFailureCountsOnceThoughTheCacheShowsAfterwardsThatItsJobRuns(t *testing.T) {
	w := failing(t, asItIs)
	w.play(at("10:05:00")) // a leader has read the failed Job from the API server
	before := w.c.Status
	assert.EqualValues(t, 1, before.FailuresTowardsStop)

	running := builders.MakeJob(w.c, at("10:00:00")).Obj()
	require.Equal(t, w.jobs[0].Name, running.Name)
	running.UID = w.jobs[0].UID
	w.c.Status = Decide(NewInput(w.c, w.now, running)).Status
	assert.Equal(t, before, w.c.Status, "it does not run again")
	w.c.Status = Decide(NewInput(w.c, w.now, w.jobs...)).Status
	assert.Equal(t, before, w.c.Status, "it does not fail again")
}

// After a lost answer, runs are remembered that the status records.
func TestS21AFailureCountsOnceThoughItsJobIsGoneWhenTheAnswerToItsStatusIsLost(t *testing.T) {
	w := failing(t, asItIs)
	w.play(at("10:01:00"))
	running, failed := w.jobs[0], w.jobs[0].DeepCopy()
	w.play(at("10:05:00"))
	failed.Status = w.jobs[0].Status
	for name, gone := range map[string]*batchv1.Job{"it failed": failed, "it was deleted": running} {
		t.Run(name, func(t *testing.T) {
			in := NewInput(w.c, w.now)
			in.Gone = []*batchv1.Job{gone}
			p := Decide(in)
			assert.Equal(t, w.c.Status, Conclude(in, p, Outcome{}).Status, "W3")
			assert.Zero(t, p.DeletedCount)
		})
	}
	t.Run("the status says that it runs", func(t *testing.T) {
		in := NewInput(w.c.DeepCopy(), w.now)
		in.CronJob.Status.Active, in.CronJob.Status.ActiveCount = []corev1.ObjectReference{Reference(failed)}, new(int32(1))
		in.CronJob.Status.FailuresTowardsStop, in.CronJob.Status.ConsecutiveFailures = 0, 0
		in.Gone = []*batchv1.Job{failed}
		p := Decide(in)
		assert.EqualValues(t, 1, p.Status.FailuresTowardsStop)
		assert.Empty(t, p.Ask.Jobs)
		assert.Zero(t, p.DeletedCount, "O3: it is counted as failed")
	})
}

func TestS21ASuccessInBetweenIsNoFailureInARow(t *testing.T) {
	w := failing(t, asItIs)
	w.takes = func(tick time.Time) (time.Duration, bool) {
		return time.Minute, tick.Minute() != 20 && tick.Minute() != 50
	}
	w.play(at("13:00:00"))
	assert.Equal(t, v1.ReasonScheduled, ready(t, w.c.Status).Reason)
	assert.True(t, w.c.Status.LastScheduleTime.Time.Equal(at("12:50:00")))
}

func TestS21AnEditASuccessOrAResumeStartsItAgain(t *testing.T) {
	annotate := func(value string) func(*world) {
		return func(w *world) { w.c.Annotations = map[string]string{v1.ResumedAtAnnotation: value} }
	}
	manual := func(w *world, name string) *builders.Job {
		return builders.MakeJob(w.c, w.now).Manual().Named(name)
	}
	for name, tc := range map[string]struct {
		do func(*world)

		// afterOutage is whether no manager runs when it happens. One runs from 11:25 on.
		afterOutage bool
		wantFirst   time.Time // zero if nothing starts
		wantMissed  int       // rows of ticks that passed since
	}{
		"an edit of the template": {
			do: edit(func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"a": "b"} }), wantFirst: at("11:10:00"),
		},
		"an edit of the schedule": {
			do: edit(func(c *v1.CronJob) { c.Spec.Schedule = "*/30 * * * *" }), wantFirst: at("11:30:00"),
		},
		"an edit before an outage": {
			do:          edit(func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"a": "b"} }),
			afterOutage: true, wantFirst: at("11:20:00"), wantMissed: 1,
		},
		"a higher limit":  {do: edit(func(c *v1.CronJob) { c.Spec.StopAfterFailures = new(int32(10)) }), wantFirst: at("11:10:00")},
		"no limit":        {do: edit(func(c *v1.CronJob) { c.Spec.StopAfterFailures = nil }), wantFirst: at("11:10:00")},
		"an edited label": {do: func(w *world) { w.c.Labels = map[string]string{"a": "b"} }},
		"a resume":        {do: annotate("2026-01-01T11:05:00Z"), wantFirst: at("11:10:00")},
		"a resume before an outage": {
			do: annotate("2026-01-01T11:05:00Z"), afterOutage: true, wantFirst: at("11:20:00"), wantMissed: 1,
		},
		"a resume by a clock that is ahead":          {do: annotate("2026-01-01T11:07:00Z"), wantFirst: at("11:10:00")},
		"a resume in the second of the last failure": {do: annotate("2026-01-01T10:22:00Z"), wantFirst: at("11:10:00")},
		"a resume from before the last failure":      {do: annotate("2026-01-01T10:21:59Z")},
		"a resume of tomorrow":                       {do: annotate("2026-01-02T11:05:00Z")},
		"a resume at no time":                        {do: annotate("soon")},
		"a manual run that succeeds": {
			do: func(w *world) { w.jobs = append(w.jobs, manual(w, "by-hand").Succeeded(w.now).Obj()) }, wantFirst: at("11:10:00"),
		},
		"a manual run that succeeded during an outage": {
			do:          func(w *world) { w.jobs = append(w.jobs, manual(w, "by-hand").Succeeded(w.now).Obj()) },
			afterOutage: true, wantFirst: at("11:20:00"), wantMissed: 1,
		},
		"a manual run that fails": {
			do: func(w *world) { w.jobs = append(w.jobs, manual(w, "by-hand").Failed(w.now).Obj()) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := failing(t, asItIs)
			w.play(at("11:04:00"))
			before := w.c.Status
			w.down = tc.afterOutage
			w.play(at("11:59:00"), scene{at("11:05:00"), name, tc.do}, scene{at("11:25:00"), "it is looked at", func(w *world) { w.down = false }})
			if tc.wantFirst.IsZero() {
				assert.Equal(t, before.LastScheduleTime, w.c.Status.LastScheduleTime)
				assert.Equal(t, v1.ReasonStoppedAfterFailures, ready(t, w.c.Status).Reason)
				return
			}
			assert.Contains(t, w.story.String(), "start "+tc.wantFirst.Format("15:04:05")+"\n")
			assert.Len(t, w.c.Status.Missed, tc.wantMissed)
			runs := 0
			for _, run := range w.c.Status.RecentRuns {
				if run.Trigger == v1.TriggerSchedule && run.Result != v1.RunMissed && !run.ScheduledTime.Time.Before(at("10:30:00")) {
					runs++
					assert.False(t, run.ScheduledTime.Time.Before(tc.wantFirst), "S7: %s runs", run.ScheduledTime)
				}
			}
			if w.c.Spec.StopAfterFailures != nil && *w.c.Spec.StopAfterFailures == 3 {
				assert.LessOrEqual(t, runs, 3, "and stops again after as many")
				assert.Equal(t, runs == 3, IsStopped(w.c))
			}
		})
	}
}

// stoppedUnwritten is the input of a decision after three failures that no status records.
func stoppedUnwritten(t *testing.T, now time.Time, more ...*batchv1.Job) Input {
	t.Helper()
	c := settle(t, cron().History(0, 0).StopAfterFailures(3).Obj(), at("09:59:00"))
	var jobs []*batchv1.Job
	for _, tick := range []string{"10:00:00", "10:05:00", "10:10:00"} {
		jobs = append(jobs, builders.MakeJob(c, at(tick)).Failed(at(tick).Add(30*time.Second)).Obj())
	}
	return NewInput(c, now, append(jobs, more...)...)
}

// stops returns the keys of the events of a stop, which are when the last run failed.
func stops(p Plan) []string {
	var keys []string
	for _, event := range p.Events {
		if event.Reason == EventStoppedAfterFailures {
			keys = append(keys, event.Key)
		}
	}
	return keys
}

func TestS21AStopThatNoStatusTellsOfHolds(t *testing.T) {
	first := Decide(stoppedUnwritten(t, at("10:10:31")))
	later := Decide(stoppedUnwritten(t, at("11:00:00")))
	for _, p := range []Plan{first, later} {
		assert.Nil(t, p.Start)
		assert.Empty(t, p.Missed)
		assert.Empty(t, p.Prune, "nothing else says that they failed")
		require.Equal(t, []string{"2026-01-01T10:10:30Z"}, stops(p), "one event")
		assert.EqualValues(t, 3, p.Status.FailuresTowardsStop)
	}
	in := stoppedUnwritten(t, at("10:10:31"))
	in.CronJob.Status = first.Status
	written := Decide(in)
	assert.Len(t, written.Prune, 3, "S8: once it does, they go")
	assert.Empty(t, stops(written))
}

// Nobody looked after 10:00 until 10:33. The Job failed at 10:17, and the CronJob was resumed at 10:31.
func TestS2TicksThatWaitedAtAStopOfWhichNoStatusTellsAreTold(t *testing.T) {
	c := settle(t, cron().History(0, 0).Policy(v1.ForbidConcurrent).StopAfterFailures(1).Obj(), at("09:59:00"))
	c.Annotations = map[string]string{v1.ResumedAtAnnotation: "2026-01-01T10:31:00Z"}
	p := Decide(NewInput(c, at("10:33:00"), builders.MakeJob(c, at("10:00:00")).Failed(at("10:17:00")).Obj()))
	assert.Nil(t, p.Start)
	assert.Equal(t, []Missed{{MissedStopped, at("10:05:00"), at("10:15:00"), 3}}, p.Missed)
	assert.True(t, p.Status.NextScheduleTime.Time.Equal(at("10:35:00")))
}

// No Job of 10:00 to 10:10 could be created. A manual run failed at 10:11, one succeeded at 10:12,
// and another failed at 10:13.
func TestS2TicksThatWaitedAtTheFirstOfTwoStopsOfWhichNoStatusTellsAreTold(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	manual := func(name string) *builders.Job { return builders.MakeJob(c, at("10:11:00")).Manual().Named(name) }
	jobs := []*batchv1.Job{
		manual("a").Failed(at("10:11:00")).Obj(), manual("b").Succeeded(at("10:12:00")).Obj(), manual("c").Failed(at("10:13:00")).Obj(),
	}
	for name, in := range map[string]Input{
		"it is still stopped": NewInput(c, at("10:21:00"), jobs...),
		"another succeeds":    NewInput(c, at("10:21:00"), append(jobs, manual("d").Succeeded(at("10:18:00")).Obj())...),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, Missed{MissedStopped, at("10:00:00"), at("10:10:00"), 3}, Decide(in).Missed[0])
		})
	}
}

// No Job of 10:00 to 10:10 started, and no status could be written. The Job of 10:15 failed, and the
// CronJob was resumed at 10:21.
func TestS2TicksFromBeforeAStopOfWhichNoStatusTellsAreToldThoughNewerOnesRanSince(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	c.Annotations = map[string]string{v1.ResumedAtAnnotation: "2026-01-01T10:21:00Z"}
	job := func(tick string) *builders.Job { return builders.MakeJob(c, at(tick)) }
	failed := job("10:15:00").Failed(at("10:16:00")).Obj()
	for name, in := range map[string]Input{
		"another one runs": NewInput(c, at("10:27:00"), failed, job("10:25:00").Obj()),
		"it stopped again, until a manual run succeeded": NewInput(c, at("10:44:00"), failed,
			job("10:25:00").Failed(at("10:26:00")).Obj(),
			job("10:36:00").Manual().Named("by-hand").Succeeded(at("10:36:00")).Obj(), job("10:40:00").Obj()),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []Missed{{MissedSuperseded, at("10:00:00"), at("10:10:00"), 3}}, Decide(in).Missed,
				"neither ticks that ran nor those that passed while it was stopped")
		})
	}
}

func TestS21ARestartThatNoStatusTellsOfCostsNoTick(t *testing.T) {
	c := stoppedUnwritten(t, at("10:10:31")).CronJob
	success := builders.MakeJob(c, at("10:32:00")).Manual().Named("by-hand").Succeeded(at("10:33:00")).Obj()
	for name, restart := range map[string]func(*Input){
		"a resume": func(in *Input) {
			in.CronJob.Annotations = map[string]string{v1.ResumedAtAnnotation: "2026-01-01T10:33:00Z"}
		},
		"a success": func(in *Input) { in.Jobs = append(in.Jobs, success) },
		"an edit": func(in *Input) {
			in.CronJob.Generation, in.EditedAt, in.RescheduledAt = 2, at("10:33:00"), at("09:58:30")
		},
	} {
		for whose, stored := range map[string]v1.CronJobStatus{
			"of a stop that the status tells of":     Decide(stoppedUnwritten(t, at("10:10:31"))).Status,
			"of a stop that it does not tell of yet": c.Status,
		} {
			t.Run(name+" "+whose, func(t *testing.T) {
				var started []*batchv1.Job
				for _, tick := range []string{"10:35:00", "10:40:00", "10:45:00"} {
					in := stoppedUnwritten(t, at(tick), started...)
					in.CronJob.Status = *stored.DeepCopy()
					restart(&in)
					p := Decide(in)
					require.NotNil(t, p.Start, tick)
					assert.Equal(t, at(tick), p.Start.Tick)
					assert.Empty(t, p.Missed)
					started = append(started, builders.MakeJob(c, at(tick)).Failed(at(tick).Add(time.Minute)).Obj())
				}
				in := stoppedUnwritten(t, at("10:50:00"), started...)
				in.CronJob.Status = *stored.DeepCopy()
				restart(&in)
				assert.Nil(t, Decide(in).Start, "it stops again")
			})
		}
	}
}

func TestS21ATickThatWaitsRunsAfterASuccessOfWhichNoStatusTells(t *testing.T) {
	job := func(tick string) *builders.Job { return builders.MakeJob(cron().Obj(), at(tick)) }
	first, second := job("10:00:00").Failed(at("10:01:00")).Obj(), job("10:10:00").Failed(at("10:11:00")).Obj()
	third := job("10:15:00").Failed(at("10:16:00")).Obj()
	unwritten := stoppedUnwritten(t, at("10:10:31"))
	for name, tc := range map[string]struct {
		stored   v1.CronJobStatus
		jobs     []*batchv1.Job
		now      time.Time
		wantTick time.Time
	}{
		"as it had been resumed before": {
			stored: Decide(unwritten).Status,
			jobs:   append(unwritten.Jobs, job("10:35:00").Succeeded(at("10:42:00")).Obj()),
			now:    at("10:42:00"), wantTick: at("10:40:00"),
		},
		"as it had not stopped: three runs failed, but not in a row": {
			stored: unwritten.CronJob.Status,
			jobs: []*batchv1.Job{
				first, job("10:05:00").Succeeded(at("10:06:00")).Obj(), second, third, job("10:20:00").Succeeded(at("10:26:00")).Obj(),
			},
			now: at("10:26:00"), wantTick: at("10:25:00"),
		},
		"as the third failed in the second of the success": {
			stored: unwritten.CronJob.Status,
			jobs:   append(unwritten.Jobs[:2:2], third, job("10:20:00").Succeeded(at("10:16:00")).Obj()),
			now:    at("10:25:00"), wantTick: at("10:25:00"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := stoppedUnwritten(t, tc.now)
			in.CronJob.Status, in.CronJob.Spec.ConcurrencyPolicy, in.Jobs = tc.stored, v1.ForbidConcurrent, tc.jobs
			if IsStopped(in.CronJob) {
				in.CronJob.Annotations = map[string]string{v1.ResumedAtAnnotation: "2026-01-01T10:33:00Z"}
			}
			p := Decide(in)
			require.NotNil(t, p.Start, "S14")
			assert.Equal(t, tc.wantTick, p.Start.Tick)
		})
	}
}

func TestS21ATickThatWaitedWhenItStoppedIsMissed(t *testing.T) {
	w := failing(t, func(b *builders.CronJob) *builders.CronJob { return b.Policy(v1.ForbidConcurrent) })
	w.takes = func(tick time.Time) (time.Duration, bool) { return time.Duration(tick.Minute()) * time.Minute, true }
	w.play(at("10:19:00"))
	w.takes = func(time.Time) (time.Duration, bool) { return 12 * time.Minute, true }
	w.play(at("11:30:00"))
	require.Len(t, w.c.Status.Missed, 1)
	assert.Equal(t, string(MissedStopped), w.c.Status.Missed[0].Reason)
	assert.True(t, w.c.Status.Missed[0].First.Time.Equal(at("10:30:00")))
}

func TestS21ARemovalOfTheLimitStartsItAgain(t *testing.T) {
	w := failing(t, asItIs)
	w.play(at("11:31:00"),
		scene{at("11:25:00"), "no limit", edit(func(c *v1.CronJob) { c.Spec.StopAfterFailures = nil })})
	assert.NotContains(t, w.story.String(), "start 11:20:00", "S7")
	assert.Contains(t, w.story.String(), "start 11:30:00")
}

// A new leader, whose cache lags, finds that the one before has started the first of the ticks.
func TestS21TicksThatWaitedWhenAJobThatExistedHadFailedAreMissed(t *testing.T) {
	c := settle(t, cron().CatchUp(5).StopAfterFailures(1).Obj(), at("09:58:31"))
	in := NewInput(c, at("10:12:00"))
	in.Unanswered = true
	p := Decide(in)
	require.NotNil(t, p.Start)
	failed := builders.MakeJob(c, p.Start.Tick).Failed(at("10:11:59")).Obj()
	c.Status = Conclude(in, p, Outcome{Job: failed, Existed: true}).Status
	p = Decide(NewInput(c, at("10:12:00.1"), failed))
	assert.Nil(t, p.Start)
	assert.Equal(t, []Missed{{MissedStopped, at("10:05:00"), at("10:10:00"), 2}}, p.Missed)
	assert.Equal(t, []string{"2026-01-01T10:11:59Z"}, stops(p))
}

func TestS21AResumeSoonAfterTheLastFailureCountsThoughTheManagersClockIsBehind(t *testing.T) {
	w := failing(t, asItIs)
	w.play(at("10:22:01"))
	require.True(t, IsStopped(w.c))
	w.c.Annotations = map[string]string{v1.ResumedAtAnnotation: "2026-01-01T10:22:10Z"}
	p := Decide(NewInput(w.c, at("10:19:30"), w.jobs...))
	assert.Equal(t, v1.ReasonScheduled, ready(t, p.Status).Reason)
	assert.Equal(t, at("10:30:00"), p.WakeAt)
}

func TestS21NoTickToComeIsMissedThoughTheManagersClockIsBehind(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	p := Decide(NewInput(c, at("10:01:00"), builders.MakeJob(c, at("10:00:00")).Failed(at("10:06:00")).Obj()))
	require.NotEmpty(t, stops(p))
	assert.Empty(t, p.Missed, "10:05 is yet to come")
}

func TestS21WhileItIsStoppedBackfilledJobsGoAsTheirLimitAsks(t *testing.T) {
	w := failing(t, asItIs)
	w.play(at("11:05:00"))
	w.now = at("11:05:00")
	for minute := range failedBackfillLimit + 2 {
		tick := at("10:30:00").Add(time.Duration(minute) * time.Minute)
		w.jobs = append(w.jobs, builders.MakeJob(w.c, tick).Backfilled(at("11:04:00")).Failed(at("11:05:00")).Obj())
	}
	w.reconcile()
	assert.Len(t, Decide(NewInput(w.c, w.now, w.jobs...)).Prune, 2, "S8")
}

func TestS21AFailureDuringASuspensionStopsItOnceThatIsOver(t *testing.T) {
	w := failing(t, func(b *builders.CronJob) *builders.CronJob { return b.StopAfterFailures(1) })
	w.play(at("10:04:59"), scene{at("10:01:00"), "suspended until 10:05", edit(func(c *v1.CronJob) {
		c.Spec.SuspendUntil = &metav1.Time{Time: at("10:05:00")}
	})})
	assert.Equal(t, v1.ReasonSuspended, ready(t, w.c.Status).Reason)
	p := Decide(NewInput(w.c, at("10:05:00"), w.jobs...))
	assert.Equal(t, []string{"2026-01-01T10:02:00Z"}, stops(p), "each stop has an event of its own")
	assert.Equal(t, v1.ReasonStoppedAfterFailures, ready(t, p.Status).Reason)
}

func TestS21AFailureInTheSecondOfAResetDoesNotCount(t *testing.T) {
	second := at("10:04:59")
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	failed := builders.MakeJob(c, at("10:00:00")).Failed(second).Obj()
	resumed := c.DeepCopy()
	resumed.Annotations = map[string]string{v1.ResumedAtAnnotation: second.Format(time.RFC3339)}
	for name, in := range map[string]Input{
		"a success": NewInput(c, at("10:05:00"), failed, builders.MakeJob(c, at("10:03:00")).Manual().Named("by-hand").Succeeded(second).Obj()),
		"a resume":  NewInput(resumed, at("10:05:00"), failed),
	} {
		t.Run(name, func(t *testing.T) {
			p := Decide(in)
			require.NotNil(t, p.Start)
			assert.Equal(t, at("10:05:00"), p.Start.Tick)
			assert.Empty(t, p.Missed)
		})
	}
}

// The clock of the Job controller is stepped back between the last failure and a manual run.
func TestS21ASuccessThatIsSeenAfterAFailureStartsItAgainWhateverItsClockSays(t *testing.T) {
	w := failing(t, asItIs)
	w.play(at("10:25:00"))
	require.True(t, IsStopped(w.c))
	w.jobs = append(w.jobs, builders.MakeJob(w.c, at("10:24:00")).Manual().Named("by-hand").Succeeded(at("10:14:00")).Obj())
	w.c.Status = Decide(NewInput(w.c, at("10:25:30"), w.jobs...)).Status
	assert.False(t, IsStopped(w.c))
	assert.Zero(t, w.c.Status.FailuresTowardsStop)
}

func TestS21AFailureFromBeforeAnEditDoesNotCountWhicheverIsSeenFirst(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	started := builders.MakeJob(c, at("10:00:00")).Obj()
	c = recorded(c, at("10:00:01"), started)
	failed := builders.MakeJob(c, at("10:00:00")).Failed(at("10:01:00")).Obj()
	c = stamped(c, at("10:02:00.5"), func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"mended": "true"} })
	assert.Empty(t, stops(Decide(NewInput(c, at("10:02:10"), failed))), "both at once")
	c = recorded(c, at("10:02:10"), started)
	assert.Empty(t, stops(Decide(NewInput(c, at("10:02:20"), failed))), "first the edit")
	later := builders.MakeJob(c, at("10:00:00")).Failed(at("10:03:00")).Obj()
	assert.NotEmpty(t, stops(Decide(NewInput(c, at("10:03:10"), later))), "what fails after the edit counts")
}

func TestS21AFailureCountsByTheLimitThatTheSpecHadWhenItHappened(t *testing.T) {
	for name, tc := range map[string]struct {
		limit    *int32
		edit     func(*v1.CronJob)
		wantTick time.Time // zero for none
	}{
		"there was none":  {edit: func(c *v1.CronJob) { c.Spec.StopAfterFailures = new(int32(1)) }, wantTick: at("10:05:00")},
		"it was higher":   {limit: new(int32(2)), edit: func(c *v1.CronJob) { c.Spec.StopAfterFailures = new(int32(1)) }, wantTick: at("10:05:00")},
		"it was the same": {limit: new(int32(1)), edit: func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"mended": "true"} }},
		"it was lower":    {limit: new(int32(1)), edit: func(c *v1.CronJob) { c.Spec.StopAfterFailures = new(int32(2)) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := cron().Obj()
			c.Spec.StopAfterFailures = tc.limit
			c = recorded(settle(t, c, at("09:59:00")), at("10:00:01"), builders.MakeJob(c, at("10:00:00")).Obj())
			c = stamped(c, at("10:06:00"), tc.edit)
			p := Decide(NewInput(c, at("10:06:01"), builders.MakeJob(c, at("10:00:00")).Failed(at("10:04:00")).Obj()))
			assert.False(t, IsStopped(c), "nobody has looked since")
			if tc.wantTick.IsZero() {
				assert.Nil(t, p.Start, "it had stopped until the edit")
				return
			}
			require.NotNil(t, p.Start, "S14")
			assert.Equal(t, tc.wantTick, p.Start.Tick)
		})
	}
}

func TestS21AManualRunThatIsSeenAfterANewerRunHasEndedCounts(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(2).Obj(), at("09:59:00"))
	failed := builders.MakeJob(c, at("10:00:00")).Failed(at("10:00:10")).Obj()
	c = recorded(c, at("10:00:11"), failed)
	byHand := builders.MakeJob(c, at("09:59:59")).Manual().Named("by-hand").Failed(at("10:00:09")).Obj()
	assert.NotEmpty(t, stops(Decide(NewInput(c, at("10:00:12"), failed, byHand))), "the cache lacked it when the status was written")
}

func TestS3TicksOfALongStopAreNotLookedAtOneByOne(t *testing.T) {
	created := at("10:00:00").AddDate(-100, 0, 0)
	c := cron().Schedule("@every 1s").Created(created).StopAfterFailures(1).Obj()
	c = recorded(c, created)
	in := NewInput(c, at("10:00:05"),
		builders.MakeJob(c, created.Add(time.Second)).Failed(created.Add(1500*time.Millisecond)).Obj(),
		builders.MakeJob(c, at("10:00:00")).Manual().Named("by-hand").Succeeded(at("10:00:01")).Obj(),
		builders.MakeJob(c, at("10:00:05")).Obj())
	bounds.Hold(t, 1000, func() {
		p := Decide(in)
		assert.Equal(t, Missed{MissedSuperseded, at("10:00:02"), at("10:00:04"), 3}, p.Missed[len(p.Missed)-1], "since it was started again")
	})
}

// No manager has run since the edit, and a manual run has failed meanwhile.
func TestS2ATickThatWaitedAtAnEditIsMissedThoughTheCronJobHasStoppedSince(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	c = stamped(c, at("10:01:00"), func(c *v1.CronJob) { c.Spec.NotBefore = &metav1.Time{Time: at("10:30:00")} })
	p := Decide(NewInput(c, at("10:40:00"), builders.MakeJob(c, at("10:01:30")).Manual().Named("by-hand").Failed(at("10:02:00")).Obj()))
	require.NotEmpty(t, stops(p))
	assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}}, p.Missed)
}

func TestS21OfTwoManualRunsOfOneSecondBothCount(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:58:40"))
	manual := func(name string) *builders.Job { return builders.MakeJob(c, at("09:59:00")).Manual().Named(name) }
	c = recorded(c, at("09:59:01"), manual("a").Obj())
	p := Decide(NewInput(c, at("09:59:10"), manual("a").Succeeded(at("09:59:05")).Obj(), manual("b").Failed(at("09:59:06")).Obj()))
	assert.NotEmpty(t, stops(p))
}
