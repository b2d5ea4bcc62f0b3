// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// day is the day that the tests are on: a Thursday.
const day = "2026-01-01T"

// at returns a time of that day, such as 10:05:00.
func at(clock string) time.Time {
	parsed, err := time.Parse(time.RFC3339Nano, day+clock+"Z")
	if err != nil {
		panic(err)
	}
	return parsed
}

// editedInput makes the input of a decision about a CronJob of which the webhook wrote down that it
// was last edited at an instant.
func editedInput(c *v1.CronJob, now, editedAt time.Time, jobs ...*batchv1.Job) Input {
	in := NewInput(c, now, jobs...)
	in.EditedAt, in.RescheduledAt = editedAt, editedAt
	return in
}

// cron is a CronJob that fires every five minutes, created at 09:58:30 and reconciled since.
func cron() *builders.CronJob {
	return builders.MakeCronJob("c").Schedule("*/5 * * * *").Created(at("09:58:30"))
}

// settle reconciles the CronJob once without a due tick, so that its status is up to date.
func settle(t *testing.T, c *v1.CronJob, now time.Time) *v1.CronJob {
	t.Helper()
	p := Decide(NewInput(c, now))
	require.Nil(t, p.Start)
	c = c.DeepCopy()
	c.Status = p.Status
	return c
}

func ready(t *testing.T, status v1.CronJobStatus) metav1.Condition {
	t.Helper()
	condition := meta.FindStatusCondition(status.Conditions, v1.ConditionReady)
	require.NotNil(t, condition)
	return *condition
}

func TestS2DueIsTheNewestTickNotAfterNow(t *testing.T) {
	for name, tc := range map[string]struct {
		build       func(*builders.CronJob) *builders.CronJob
		now         time.Time
		wantTick    time.Time // zero for none
		wantMissed  []Missed
		wantWake    time.Time
		wantWaiting time.Time
	}{
		"none is due before the first": {
			now: at("09:59:59.999"), wantWake: at("10:00:00"), wantWaiting: at("10:00:00"),
		},
		"the tick itself is due": {
			now: at("10:00:00"), wantTick: at("10:00:00"), wantWaiting: at("10:00:00"),
		},
		"the newest of several runs, the older ones are missed": {
			now: at("10:11:00"), wantTick: at("10:10:00"), wantWaiting: at("10:10:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:05:00"), 2}},
		},
		"a tick at its deadline runs": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(60) },
			now:   at("10:01:00"), wantTick: at("10:00:00"), wantWaiting: at("10:00:00"),
		},
		"a tick past its deadline is missed": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(60) },
			now:   at("10:01:00.001"), wantWake: at("10:05:00"), wantWaiting: at("10:05:00"),
			wantMissed: []Missed{{MissedDeadline, at("10:00:00"), at("10:00:00"), 1}},
		},
		"so are those before it": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(60) },
			now:   at("10:14:00"), wantWake: at("10:15:00"), wantWaiting: at("10:15:00"),
			wantMissed: []Missed{
				{MissedSuperseded, at("10:00:00"), at("10:05:00"), 2},
				{MissedDeadline, at("10:10:00"), at("10:10:00"), 1},
			},
		},
		"a deadline beyond all time is none": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(1 << 62) },
			now:   at("10:04:00"), wantTick: at("10:00:00"), wantWaiting: at("10:00:00"),
		},
		"no tick is in time for a deadline below 0, however far": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(-14_000_000_000) },
			now:   at("10:00:00"), wantWake: at("10:05:00"), wantWaiting: at("10:05:00"),
			wantMissed: []Missed{{MissedDeadline, at("10:00:00"), at("10:00:00"), 1}},
		},
		"an interval counts from the creation": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Schedule("@every 90s") },
			now:   at("10:00:00"), wantTick: at("10:00:00"), wantWaiting: at("10:00:00"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := cron()
			if tc.build != nil {
				b = tc.build(b)
			}
			c := settle(t, b.Obj(), at("09:58:31"))
			p := Decide(NewInput(c, tc.now))
			assert.Equal(t, tc.wantMissed, p.Missed)
			assert.Equal(t, tc.wantWaiting, p.Status.NextScheduleTime.Time)
			assert.Equal(t, tc.wantWake, p.WakeAt)
			if tc.wantTick.IsZero() {
				assert.Nil(t, p.Start)
				return
			}
			require.NotNil(t, p.Start)
			assert.Equal(t, tc.wantTick, p.Start.Tick)
		})
	}
}

func TestS2ARunWhoseStatusIsNotWrittenHidesNoMissedTick(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	job := func(tick string) *batchv1.Job { return builders.MakeJob(c, at(tick)).Obj() }
	hourly := func(c *v1.CronJob) { c.Spec.Schedule = "0 * * * *" }
	everyTwo := func(c *v1.CronJob) { c.Spec.Schedule = "*/2 * * * *" }
	suspended := settle(t, edited(c, func(c *v1.CronJob) { c.Spec.Suspend = new(true) }), at("09:59:10"))
	for name, tc := range map[string]struct {
		c          *v1.CronJob
		jobs       []*batchv1.Job
		wantMissed []Missed
		wantNext   time.Time
	}{
		"ticks that it left behind": {
			c: c, jobs: []*batchv1.Job{job("10:15:00")}, wantNext: at("10:20:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:10:00"), 3}},
		},
		"ticks between two of them": {
			c: c, jobs: []*batchv1.Job{job("10:00:00"), job("10:15:00")}, wantNext: at("10:20:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:05:00"), at("10:10:00"), 2}},
		},
		"of an edited schedule, the tick that waited": {
			c: stamped(c, at("10:15:30"), hourly), jobs: []*batchv1.Job{job("10:15:00")}, wantNext: at("11:00:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}},
		},
		"ticks since it was resumed": {
			c:    stamped(suspended, at("10:02:00"), func(c *v1.CronJob) { c.Spec.Suspend = new(false) }),
			jobs: []*batchv1.Job{job("10:15:00")}, wantNext: at("10:20:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:05:00"), at("10:10:00"), 2}},
		},
		"ticks since the schedule was edited, and the one that was due before": {
			c: stamped(c, at("10:01:00"), everyTwo), jobs: []*batchv1.Job{job("10:14:00")}, wantNext: at("10:16:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}, {MissedSuperseded, at("10:02:00"), at("10:12:00"), 6}},
		},
		"ticks since it was edited, and not the one that was to come": {
			c: stamped(c, at("09:59:30"), everyTwo), jobs: []*batchv1.Job{job("10:14:00")}, wantNext: at("10:16:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:12:00"), 7}},
		},
		"ticks since it was created, if nobody has looked": {
			c: cron().Obj(), jobs: []*batchv1.Job{job("10:15:00")}, wantNext: at("10:20:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:10:00"), 3}},
		},
		"ticks since it was edited, and not the one that was due before and has run": {
			c: stamped(c, at("10:01:00"), everyTwo), jobs: []*batchv1.Job{job("10:00:00"), job("10:14:00")}, wantNext: at("10:16:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:02:00"), at("10:12:00"), 6}},
		},
		"ticks since it was edited, if nobody has looked": {
			c: stamped(cron().Obj(), at("10:04:00"), everyTwo), jobs: []*batchv1.Job{job("10:14:00")}, wantNext: at("10:16:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:06:00"), at("10:12:00"), 4}},
		},
		"of a schedule edited in the second of the run, the tick that waited": {
			c: stamped(c, at("10:15:00.1"), everyTwo), jobs: []*batchv1.Job{job("10:15:00")}, wantNext: at("10:16:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}},
		},
		"none, if all have run": {
			c: c, jobs: []*batchv1.Job{job("10:00:00"), job("10:05:00"), job("10:10:00"), job("10:15:00")}, wantNext: at("10:20:00"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := NewInput(tc.c, at("10:15:40"), tc.jobs...)
			p := Decide(in)
			assert.Nil(t, p.Start)
			assert.Equal(t, tc.wantMissed, p.Missed)
			assert.Equal(t, tc.wantNext, p.Status.NextScheduleTime.Time)
			stored := tc.c.DeepCopy()
			stored.Status = p.Status
			assert.Empty(t, Decide(NewInput(stored, in.Now, tc.jobs...)).Missed, "once")
		})
	}
}

func TestS3ARunWhoseStatusIsNotWrittenNamesTheLastOfTheTicksItLeftBehind(t *testing.T) {
	for name, tc := range map[string]struct {
		schedule string
		created  time.Time
		newest   string
		jobs     []string
		want     Missed
	}{
		"of exactly as many as are counted": {
			schedule: "* * * * *", created: at("10:00:30"), newest: "11:41:00",
			want: Missed{MissedSuperseded, at("10:01:00"), at("11:40:00"), 100},
		},
		"of more than are counted": {
			schedule: "* * * * *", created: at("10:00:30"), newest: "13:00:00",
			want: Missed{MissedSuperseded, at("10:01:00"), at("12:59:00"), 100},
		},
		"of ten years": {
			schedule: "* * * * *", created: at("10:00:30").AddDate(-10, 0, 0), newest: "13:00:00",
			want: Missed{MissedSuperseded, at("10:01:00").AddDate(-10, 0, 0), at("12:59:00"), 100},
		},
		"but for those that have run": {
			schedule: "* * * * *", created: at("10:00:30"), newest: "13:00:00", jobs: []string{"12:59:00", "12:58:00"},
			want: Missed{MissedSuperseded, at("10:01:00"), at("12:57:00"), 100},
		},
		"all since those that are counted have run": {
			schedule: "* * * * *", created: at("10:00:30"), newest: "11:43:00", jobs: []string{"11:41:00", "11:42:00"},
			want: Missed{MissedSuperseded, at("10:01:00"), at("11:40:00"), 100},
		},
		"of an interval": {
			schedule: "@every 30s", created: at("10:00:30"), newest: "13:00:00",
			want: Missed{MissedSuperseded, at("10:01:00"), at("12:59:30"), 100},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := settle(t, builders.MakeCronJob("c").Schedule(tc.schedule).Created(tc.created).Obj(), tc.created.Add(time.Second))
			in := NewInput(c, at(tc.newest).Add(time.Second))
			for _, clock := range append(tc.jobs, tc.newest) {
				in.Jobs = append(in.Jobs, builders.MakeJob(c, at(clock)).Obj())
			}
			assert.Equal(t, []Missed{tc.want}, Decide(in).Missed)
		})
	}
}

func TestS3TheTicksThatTheLeaderBeforeMayHaveRunAreVerified(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	in := NewInput(c, at("10:21:00"))
	missed := Decide(in).Missed
	assert.Equal(t, []time.Time{at("10:00:00"), at("10:05:00"), at("10:10:00"), at("10:15:00")}, missedFrom(in, missed, at("09:00:00")))
	assert.Equal(t, []time.Time{at("10:10:00"), at("10:15:00")}, missedFrom(in, missed, at("10:10:00")))
	assert.Empty(t, missedFrom(in, missed, at("10:16:00")))
	since := func(in Input, leading time.Time) []string {
		in.LeadingSince = leading
		return Decide(in).Ask.Jobs
	}
	assert.Equal(t, []string{JobName(c, at("10:10:00"))}, since(in, at("10:10:30")), "of those before the cache has the Jobs, those after it nobody else ran")
	assert.Empty(t, since(in, at("10:20:00")), "the cache has the Jobs")
	assert.Empty(t, since(in, time.Time{}), "it has always led")
	in.Unanswered = true
	assert.Empty(t, since(in, at("10:10:30")), "once")

	in = NewInput(edited(c, func(c *v1.CronJob) { c.Spec.Schedule = "soon" }), at("10:01:00"))
	assert.Equal(t, []string{JobName(c, at("10:00:00"))}, since(in, at("10:01:00")))
	assert.Empty(t, since(in, at("10:01:01")))
}

func TestS5AJobThatTheStatusListsIsVerifiedBeforeItIsTakenForGone(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	job := builders.MakeJob(c, at("10:00:00")).Obj()
	in := NewInput(c, at("10:00:00"))
	c.Status = Conclude(in, Decide(in), Outcome{Job: job}).Status
	in = NewInput(c, at("10:01:00"))
	assert.Equal(t, []string{job.Name}, Decide(in).Ask.Jobs)
	in.Unanswered = true
	assert.Empty(t, Decide(in).Ask.Jobs)
	assert.Equal(t, 1, Decide(in).DeletedCount)
	assert.Empty(t, Decide(NewInput(c, at("10:01:00"), job)).Ask.Jobs)
}

func TestS21AJobThatSeemsToRunIsVerifiedIfTheStatusRecordsItsEnd(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	for minute := range 12 { // more runs than a status remembers
		tick := at("10:00:00").Add(time.Duration(5*minute) * time.Minute)
		c = ran(t, c, builders.MakeJob(c, tick).Failed(tick.Add(time.Minute)).Obj())
	}
	require.Equal(t, at("10:55:00"), c.Status.LastScheduleTime.UTC())
	old := builders.MakeJob(c, at("10:00:00")).Obj()
	manual := builders.MakeJob(c, at("10:56:00")).Manual().Named("by-hand").Obj()
	deleted := RunOf(manual)
	deleted.Result = v1.RunDeleted
	for name, tc := range map[string]struct {
		job  *batchv1.Job
		edit func(*v1.CronJobStatus)
		want []string
	}{
		"its tick is recorded, and it is not listed": {job: old, want: []string{old.Name}},
		"a newer run says how it ended":              {job: builders.MakeJob(c, at("10:50:00")).Obj()},
		"its tick is not recorded":                   {job: builders.MakeJob(c, at("11:00:00")).Obj()},
		"it is listed":                               {job: old, edit: func(s *v1.CronJobStatus) { s.Active = []corev1.ObjectReference{Reference(old)} }},
		"the status does not list all":               {job: old, edit: func(s *v1.CronJobStatus) { s.ActiveCount = new(int32(1)) }},
		"a new manual run":                           {job: manual},
		"a manual run that was deleted": {
			job: manual, edit: func(s *v1.CronJobStatus) { s.RecentRuns[0] = deleted }, want: []string{manual.Name},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := NewInput(c.DeepCopy(), at("11:00:01"), tc.job)
			if tc.edit != nil {
				tc.edit(&in.CronJob.Status)
			}
			assert.Equal(t, tc.want, Decide(in).Ask.Jobs)
			in.Unanswered = true
			assert.Empty(t, Decide(in).Ask.Jobs)
		})
	}
}

func TestS2ATickThatHasRunIsNotMissedByAnEdit(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	for name, edit := range map[string]func(*v1.CronJob){
		"suspended":           func(c *v1.CronJob) { c.Spec.Suspend = new(true) },
		"another schedule":    func(c *v1.CronJob) { c.Spec.Schedule = "*/2 * * * *" },
		"an invalid schedule": func(c *v1.CronJob) { c.Spec.Schedule = "soon" },
	} {
		t.Run(name, func(t *testing.T) {
			edited := edited(c, edit)
			in := NewInput(edited, at("10:00:03"), builders.MakeJob(edited, at("10:00:00")).Obj())
			in.EditedAt, in.RescheduledAt = at("10:00:02"), at("10:00:02")
			assert.Empty(t, Decide(in).Missed)
			in.Jobs = nil
			assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}}, Decide(in).Missed, "it is, if it has not run")
		})
	}
}

func TestS3TenYearsOfMissedMinutes(t *testing.T) {
	c := settle(t, builders.MakeCronJob("c").Created(at("10:00:30").AddDate(-10, 0, 0)).Obj(), at("10:00:31").AddDate(-10, 0, 0))
	p := Decide(NewInput(c, at("10:00:30")))
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:00:00"), p.Start.Tick)
	require.Len(t, p.Missed, 1)
	assert.Equal(t, MaxMissedCount, p.Missed[0].Count)
	assert.Equal(t, at("09:59:00"), p.Missed[0].Last)
}

func TestS2ATickIsDueOnce(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	in := NewInput(c, at("10:00:00.1"))
	p := Decide(in)
	job := builders.MakeJob(c, at("10:00:00")).Obj()
	done := Conclude(in, p, Outcome{Job: job})
	c.Status = done.Status
	assert.Equal(t, at("10:00:00"), c.Status.LastScheduleTime.Time)
	assert.Equal(t, at("10:05:00"), c.Status.NextScheduleTime.Time)
	assert.Equal(t, at("10:05:00"), done.WakeAt)
	assert.Equal(t, []string{job.Name}, activeNames(c))

	again := Decide(NewInput(c, at("10:00:00.2"), job))
	assert.Nil(t, again.Start)
	assert.Equal(t, c.Status, again.Status, "W3: nothing changed, so that nothing is written")

	t.Run("even if the status was not written", func(t *testing.T) {
		c := settle(t, cron().Obj(), at("09:59:00"))
		p := Decide(NewInput(c, at("10:00:00.2"), job))
		assert.Nil(t, p.Start)
		assert.Equal(t, at("10:00:00"), p.Status.LastScheduleTime.Time)
	})
	t.Run("even if the clock was set back since, and its Job has ended", func(t *testing.T) {
		c := settle(t, cron().History(0, 0).Obj(), at("09:59:00"))
		done := builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:00:05")).Obj()
		p := Decide(NewInput(c, at("09:59:30"), done))
		assert.Nil(t, p.Start)
		assert.Equal(t, at("10:00:00"), p.Status.LastScheduleTime.Time)
		assert.Len(t, p.Ended, 1)
		c.Status = p.Status
		p = Decide(NewInput(c, at("09:59:30"), done))
		assert.Empty(t, p.Ended, "once")
		assert.Len(t, p.Prune, 1)
		assert.Equal(t, at("10:05:00"), p.WakeAt)
	})
	t.Run("nor if a Job claims a tick far ahead: that one does not count", func(t *testing.T) {
		c := settle(t, cron().Obj(), at("09:59:00"))
		p := Decide(NewInput(c, at("10:00:00"), builders.MakeJob(c, at("11:00:01")).Obj()))
		assert.NotNil(t, p.Start)
	})
}

func activeNames(c *v1.CronJob) []string {
	var names []string
	for _, ref := range c.Status.Active {
		names = append(names, ref.Name)
	}
	return names
}

func TestAJobStartedByHandAtATickTakesNotItsPlace(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	byHand := builders.MakeJob(c, at("10:05:00")).Manual().Succeeded(at("10:05:30")).Obj()
	byHand.Name = "c-manual-abcde"
	require.NotEmpty(t, byHand.Spec.Template.Annotations[v1.ScheduledAtAnnotation], "its Pods are told when they were started")
	p := Decide(NewInput(c, at("10:07:00"), byHand))
	require.NotNil(t, p.Start, "the tick has not run")
	assert.Equal(t, at("10:05:00"), p.Start.Tick)
	assert.Equal(t, []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}}, p.Missed, "nor is one before it hidden")
	assert.Nil(t, p.Status.LastScheduleTime)
	assert.Equal(t, at("10:05:30"), p.Status.LastSuccessfulTime.UTC(), "it counts as a run all the same")
}

func TestS5LastScheduleTimeNeverGoesBack(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	c.Status.LastScheduleTime = &metav1.Time{Time: at("10:20:00")}
	c.Status.NextScheduleTime = &metav1.Time{Time: at("10:25:00")}
	for name, in := range map[string]Input{
		"no Jobs are left":      NewInput(c, at("10:21:00")),
		"an old Job is left":    NewInput(c, at("10:21:00"), builders.MakeJob(c, at("10:05:00")).Succeeded(at("10:06:00")).Obj()),
		"the clock is set back": NewInput(c, at("10:02:00")),
	} {
		t.Run(name, func(t *testing.T) {
			p := Decide(in)
			assert.Nil(t, p.Start)
			assert.Equal(t, at("10:20:00"), p.Status.LastScheduleTime.Time)
			assert.Equal(t, at("10:25:00"), p.Status.NextScheduleTime.Time)
		})
	}
}

func TestLastSuccessfulTimeOnlyGrows(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	c.Status.LastSuccessfulTime = &metav1.Time{Time: at("10:06:00")}
	p := Decide(NewInput(c, at("10:10:00"), builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:01:00")).Obj()))
	assert.Equal(t, at("10:06:00"), p.Status.LastSuccessfulTime.Time)
	p = Decide(NewInput(c, at("10:10:00"), builders.MakeJob(c, at("10:05:00")).Succeeded(at("10:07:00")).Obj()))
	assert.Equal(t, at("10:07:00"), p.Status.LastSuccessfulTime.Time)
}

func TestS6Concurrency(t *testing.T) {
	running := func(c *v1.CronJob) *batchv1.Job { return builders.MakeJob(c, at("10:00:00")).Obj() }
	ran := func(t *testing.T, b *builders.CronJob) *v1.CronJob {
		t.Helper()
		c := settle(t, b.Obj(), at("09:59:00"))
		in := NewInput(c, at("10:00:00"))
		p := Decide(in)
		done := Conclude(in, p, Outcome{Job: running(c)})
		c.Status = done.Status
		return c
	}
	t.Run("Allow starts the next beside it", func(t *testing.T) {
		c := ran(t, cron())
		in := NewInput(c, at("10:05:00"), running(c))
		p := Decide(in)
		require.NotNil(t, p.Start)
		assert.Empty(t, p.Replace)
		done := Conclude(in, p, Outcome{Job: builders.MakeJob(c, at("10:05:00")).Obj()})
		assert.Len(t, done.Status.Active, 2)
	})
	t.Run("Forbid holds the next back, and says so once", func(t *testing.T) {
		c := ran(t, cron().Policy(v1.ForbidConcurrent))
		p := Decide(NewInput(c, at("10:05:00"), running(c)))
		assert.Nil(t, p.Start)
		require.Len(t, p.Events, 1)
		assert.Equal(t, at("10:05:00"), p.Status.NextScheduleTime.Time)
		assert.Equal(t, at("10:10:00"), p.WakeAt)
		assert.Equal(t, v1.ReasonWaiting, ready(t, p.Status).Reason)
		assert.Equal(t, "The tick of 2026-01-01T10:05:00Z waits, as concurrencyPolicy is Forbid, for Job c-1767261600 to end.",
			ready(t, p.Status).Message)
		c.Status = p.Status

		p = Decide(NewInput(c, at("10:06:00"), running(c)))
		assert.Empty(t, p.Events)
		assert.Equal(t, c.Status, p.Status, "W3")

		t.Run("until it ends: then it runs", func(t *testing.T) {
			p := Decide(NewInput(c, at("10:07:00"), builders.MakeJob(c, at("10:00:00")).Failed(at("10:07:00")).Obj()))
			require.NotNil(t, p.Start)
			assert.Equal(t, at("10:05:00"), p.Start.Tick)
			assert.Len(t, p.Ended, 1)
		})
		t.Run("until a newer one is due: then it is missed", func(t *testing.T) {
			p := Decide(NewInput(c, at("10:10:00"), running(c)))
			assert.Nil(t, p.Start)
			assert.Len(t, p.Events, 1)
			assert.Equal(t, []Missed{{MissedForbidden, at("10:05:00"), at("10:05:00"), 1}}, p.Missed)
			assert.Equal(t, at("10:10:00"), p.Status.NextScheduleTime.Time)
		})
	})
	t.Run("Forbid gives up at the deadline", func(t *testing.T) {
		c := ran(t, cron().Policy(v1.ForbidConcurrent).Deadline(30))
		p := Decide(NewInput(c, at("10:05:00"), running(c)))
		assert.Equal(t, at("10:05:30.001"), p.WakeAt)
		c.Status = p.Status
		p = Decide(NewInput(c, at("10:05:30.001"), running(c)))
		assert.Equal(t, []Missed{{MissedDeadline, at("10:05:00"), at("10:05:00"), 1}}, p.Missed)
		assert.Equal(t, at("10:10:00"), p.Status.NextScheduleTime.Time)
		assert.Equal(t, messageScheduled, ready(t, p.Status).Message)
	})
	t.Run("Replace deletes what runs first", func(t *testing.T) {
		c := ran(t, cron().Policy(v1.ReplaceConcurrent))
		in := NewInput(c, at("10:05:00"), running(c))
		p := Decide(in)
		require.NotNil(t, p.Start)
		require.Len(t, p.Replace, 1)
		done := Conclude(in, p, Outcome{Deleted: p.Replace, Job: builders.MakeJob(c, at("10:05:00")).Obj()})
		c.Status = done.Status
		assert.Equal(t, []string{"c-1767261900"}, activeNames(c))
	})
	t.Run("Replace leaves what runs until the status tells of it", func(t *testing.T) {
		c := settle(t, cron().Policy(v1.ReplaceConcurrent).Obj(), at("09:59:00"))
		p := Decide(NewInput(c, at("10:05:00"), running(c)))
		assert.Nil(t, p.Start)
		assert.Empty(t, p.Replace)
		assert.True(t, p.Again, "as soon as it does")
		assert.Equal(t, at("10:10:00"), p.WakeAt, "and not later than at the next tick")
		c.Status = p.Status
		p = Decide(NewInput(c, at("10:05:00"), running(c)))
		assert.NotNil(t, p.Start)
		assert.Len(t, p.Replace, 1)
	})
	t.Run("what made room is not taken for deleted by somebody", func(t *testing.T) {
		c := ran(t, cron().Policy(v1.ReplaceConcurrent))
		in := NewInput(c, at("10:05:00"), running(c))
		p := Decide(in)
		done := Conclude(in, p, Outcome{Deleted: p.Replace})
		assert.Equal(t, 1, done.ReplacedCount)
		p = Decide(NewInput(c, at("10:05:01"), builders.MakeJob(c, at("10:05:00")).Obj()))
		assert.Equal(t, 1, p.ReplacedCount, "though the status of the run that replaced it was not written")
		assert.Zero(t, p.DeletedCount)
		p = Decide(NewInput(c, at("10:04:00")))
		assert.Equal(t, 1, p.DeletedCount)
		assert.Zero(t, p.ReplacedCount)
	})
	t.Run("Replace does not delete what is being deleted", func(t *testing.T) {
		c := ran(t, cron().Policy(v1.ReplaceConcurrent))
		p := Decide(NewInput(c, at("10:05:00"), builders.MakeJob(c, at("10:00:00")).Deleting(at("10:04:00")).Obj()))
		require.NotNil(t, p.Start)
		assert.Empty(t, p.Replace)
	})
}

// stamped is the CronJob after an edit that the webhook has seen, and the status has not observed.
func stamped(before *v1.CronJob, at time.Time, edit func(*v1.CronJob)) *v1.CronJob {
	c := edited(before, edit)
	if value := Stamp(before, c, true, at); value != "" {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1.EditedAnnotation, value)
	}
	return c
}

// edited is the CronJob after an edit that neither the webhook nor the status has observed.
func edited(c *v1.CronJob, edit func(*v1.CronJob)) *v1.CronJob {
	c = c.DeepCopy()
	edit(c)
	c.Generation++
	return c
}

func TestS7NoSurpriseRuns(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	setSchedule := func(text string) func(*v1.CronJob) { return func(c *v1.CronJob) { c.Spec.Schedule = text } }
	for name, tc := range map[string]struct {
		c          *v1.CronJob
		now        time.Time
		wantTick   time.Time // zero for none
		wantNext   time.Time
		wantMissed []Missed
	}{
		"a tick of the new schedule from before the edit": {
			c: stamped(c, at("09:59:00"), setSchedule("*/2 * * * *")), now: at("09:59:01"), wantNext: at("10:00:00"),
		},
		"a tick of the old schedule that had not run is missed": {
			c: stamped(c, at("10:00:01"), setSchedule("*/2 * * * *")), now: at("10:00:02"), wantNext: at("10:02:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}},
		},
		"a tick of the new schedule from after the edit runs": {
			c: stamped(c, at("10:01:59"), setSchedule("*/2 * * * *")), now: at("10:02:00.1"), wantTick: at("10:02:00"), wantNext: at("10:02:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}},
		},
		"a tick just before the edit does not": {
			c: stamped(c, at("10:02:00.1"), setSchedule("*/2 * * * *")), now: at("10:02:00.9"), wantNext: at("10:04:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}},
		},
		"a tick of the old schedule just before the edit is missed": {
			c: stamped(c, at("10:00:00.1"), setSchedule("*/2 * * * *")), now: at("10:00:00.9"), wantNext: at("10:02:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}},
		},
		"when it is not known when the edit was, it was now": {
			c: edited(c, setSchedule("*/2 * * * *")), now: at("10:02:00.1"), wantNext: at("10:04:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}},
		},
		"nor does one that is said to be yet to come hold anything up": {
			c: stamped(c, at("23:00:00"), setSchedule("*/2 * * * *")), now: at("09:59:30"), wantNext: at("10:00:00"),
		},
		"another time zone": {
			c:   stamped(c, at("10:03:00"), func(c *v1.CronJob) { c.Spec.TimeZone = new("Asia/Kathmandu") }),
			now: at("10:03:00"), wantNext: at("10:05:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}},
		},
		"a tick of an additional schedule from before the edit": {
			c:   stamped(c, at("10:03:00"), func(c *v1.CronJob) { c.Spec.AdditionalSchedules = []string{"2 * * * *", "7 * * * *"} }),
			now: at("10:03:00"), wantNext: at("10:05:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}},
		},
		"a tick of an additional schedule from after the edit runs": {
			c:   stamped(c, at("09:59:30"), func(c *v1.CronJob) { c.Spec.AdditionalSchedules = []string{"2 * * * *", "7 * * * *"} }),
			now: at("10:02:00.1"), wantTick: at("10:02:00"), wantNext: at("10:02:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}},
		},
		"an edit of the template keeps a tick that waits": {
			c:   stamped(c, at("10:01:00"), func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"a": "b"} }),
			now: at("10:01:00"), wantTick: at("10:00:00"), wantNext: at("10:00:00"),
		},
		"two edits unseen may have been suspend and resume": {
			c:   edited(edited(c, func(*v1.CronJob) {}), func(*v1.CronJob) {}),
			now: at("10:01:00"), wantNext: at("10:05:00"),
			wantMissed: []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}},
		},
		"a CronJob that was edited before anybody looked": {
			c:   stamped(cron().Obj(), at("10:00:30"), setSchedule("* * * * *")),
			now: at("10:00:40"), wantNext: at("10:01:00"),
		},
		"a CronJob that nobody looked at since it was created runs": {
			c: cron().Obj(), now: at("10:00:40"), wantTick: at("10:00:00"), wantNext: at("10:00:00"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := NewInput(tc.c, tc.now)
			p := Decide(in)
			assert.Equal(t, tc.wantMissed, p.Missed)
			assert.Equal(t, tc.wantNext, p.Status.NextScheduleTime.Time)
			if tc.wantTick.IsZero() {
				assert.Nil(t, p.Start)
			} else if assert.NotNil(t, p.Start) {
				assert.Equal(t, tc.wantTick, p.Start.Tick)
			}
		})
	}
}

func TestS7SuspendAndResume(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))

	c = edited(c, func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
	in := NewInput(c, at("10:00:03"))
	in.EditedAt, in.RescheduledAt = at("10:00:02"), at("10:00:02")
	p := Decide(in)
	assert.Nil(t, p.Start)
	assert.Nil(t, p.Status.NextScheduleTime)
	assert.Zero(t, p.WakeAt)
	assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}}, p.Missed, "it was due before")
	condition := ready(t, p.Status)
	assert.Equal(t, metav1.ConditionTrue, condition.Status)
	assert.Equal(t, v1.ReasonSuspended, condition.Reason)
	c.Status = p.Status

	p = Decide(NewInput(c, at("11:00:00")))
	assert.Nil(t, p.Start)
	assert.Empty(t, p.Missed)
	assert.Equal(t, c.Status, p.Status, "W3")

	c = edited(c, func(c *v1.CronJob) { c.Spec.Suspend = new(false) })
	in = NewInput(c, at("11:07:00"))
	in.EditedAt, in.RescheduledAt = at("11:06:59"), at("11:06:59")
	p = Decide(in)
	assert.Nil(t, p.Start)
	assert.Empty(t, p.Missed, "ticks that passed while suspended are not even missed")
	assert.Equal(t, at("11:10:00"), p.Status.NextScheduleTime.Time)
	assert.Equal(t, v1.ReasonScheduled, ready(t, p.Status).Reason)
}

func TestS8HistoryLimits(t *testing.T) {
	c := settle(t, cron().History(2, 1).Obj(), at("09:59:00"))
	c.Status.LastScheduleTime = &metav1.Time{Time: at("10:25:00")}
	c.Status.NextScheduleTime = &metav1.Time{Time: at("10:30:00")}
	job := func(clock string) *builders.Job { return builders.MakeJob(c, at(clock)) }
	end := at("10:26:00")
	jobs := []*batchv1.Job{ // in no order
		job("10:20:00").Succeeded(end).Obj(), job("10:00:00").Succeeded(end).Obj(), job("10:10:00").Succeeded(end).Obj(),
		job("10:05:00").Failed(end).Obj(), job("10:15:00").Failed(end).Obj(), job("10:25:00").Obj(),
	}
	pruned := func(p Plan) []string {
		var names []string
		for _, job := range p.Prune {
			names = append(names, job.Name)
		}
		return names
	}
	oldest := []string{job("10:00:00").Obj().Name, job("10:05:00").Obj().Name}

	t.Run("keep the newest", func(t *testing.T) {
		assert.Equal(t, oldest, pruned(Decide(NewInput(c, at("10:27:00"), jobs...))))
	})
	t.Run("apply while suspended", func(t *testing.T) {
		c := edited(c, func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
		assert.Equal(t, oldest, pruned(Decide(NewInput(c, at("10:27:00"), jobs...))))
	})
	t.Run("apply to an invalid schedule", func(t *testing.T) {
		c := edited(c, func(c *v1.CronJob) { c.Spec.Schedule = "garbage" })
		assert.Equal(t, oldest, pruned(Decide(NewInput(c, at("10:27:00"), jobs...))))
	})
	t.Run("0 keeps none", func(t *testing.T) {
		c := edited(c, func(c *v1.CronJob) {
			c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = new(int32(0)), new(int32(0))
		})
		assert.Len(t, pruned(Decide(NewInput(c, at("10:27:00"), jobs...))), 5)
	})
	t.Run("wait while some Jobs are of an earlier time than others", func(t *testing.T) {
		in := NewInput(c, at("10:27:00"), jobs...)
		in.Outdated = true
		assert.Empty(t, pruned(Decide(in)))
	})
	t.Run("do not delete what is being deleted", func(t *testing.T) {
		jobs := append(jobs[:1:1], job("10:00:00").Succeeded(end).Deleting(end).Obj(), job("10:10:00").Succeeded(end).Obj())
		assert.Empty(t, pruned(Decide(NewInput(c, at("10:27:00"), jobs...))))
	})
	t.Run("do not count Jobs that were started by hand, of which three stay", func(t *testing.T) {
		byHand := slices.Clone(jobs)
		for _, clock := range []string{"10:06:00", "10:07:00", "10:08:00", "10:09:00"} {
			byHand = append(byHand, job(clock).Manual().Succeeded(end).Obj())
		}
		byHand = append(byHand, job("10:09:30").Manual().Failed(end).Obj())
		assert.Equal(t, slices.Concat(pruned(Decide(NewInput(c, at("10:27:00"), jobs...))),
			[]string{job("10:06:00").Manual().Obj().Name, job("10:07:00").Manual().Obj().Name}),
			pruned(Decide(NewInput(c, at("10:27:00"), byHand...))))
	})
	t.Run("wait until the status knows of the tick", func(t *testing.T) {
		c := settle(t, cron().History(0, 0).Obj(), at("09:59:00"))
		in := NewInput(c, at("10:01:00"), builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:00:01")).Obj())
		p := Decide(in)
		assert.Empty(t, p.Prune, "its name is what keeps the tick from running again")
		assert.True(t, p.Again)
		assert.Equal(t, at("10:05:00"), p.WakeAt)
		c.Status = p.Status
		p = Decide(NewInput(c, at("10:01:00"), in.Jobs...))
		assert.Len(t, p.Prune, 1)
		assert.False(t, p.Again)
		assert.Equal(t, at("10:05:00"), p.WakeAt)
	})
}

func TestS9ACronJobThatIsBeingDeletedStartsNothing(t *testing.T) {
	c := settle(t, cron().History(0, 0).Obj(), at("09:59:00"))
	c.DeletionTimestamp = &metav1.Time{Time: at("09:59:30")}
	p := Decide(NewInput(c, at("10:00:00"), builders.MakeJob(c, at("09:55:00")).Succeeded(at("09:56:00")).Obj()))
	assert.Equal(t, Plan{Status: c.Status}, p)
}

func TestS10AMistakeIsAConditionAndOneReportPerGeneration(t *testing.T) {
	for name, tc := range map[string]struct {
		edit        func(*v1.CronJob)
		wantReason  string
		wantMessage string
	}{
		"schedule":  {func(c *v1.CronJob) { c.Spec.Schedule = "garbage" }, v1.ReasonInvalidSchedule, "not a schedule: found 1 field, want 5: minute, hour"},
		"time zone": {func(c *v1.CronJob) { c.Spec.TimeZone = new("Nowhere") }, v1.ReasonInvalidTimeZone, `unknown time zone "Nowhere"`},
		"an additional schedule": {
			func(c *v1.CronJob) { c.Spec.AdditionalSchedules = []string{"@daily", "garbage"} }, v1.ReasonInvalidSchedule,
			"additionalSchedules[1]: not a schedule: found 1 field",
		},
		"an interval among several schedules": {
			func(c *v1.CronJob) { c.Spec.AdditionalSchedules = []string{"@every 5m"} }, v1.ReasonInvalidSchedule,
			"additionalSchedules[0]: an interval can't be combined with other schedules",
		},
		"30 February": {
			func(c *v1.CronJob) { c.Spec.Schedule = "0 0 30 2 *" }, v1.ReasonInvalidSchedule, "never fires",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := edited(settle(t, cron().Obj(), at("09:59:00")), tc.edit)
			p := Decide(NewInput(c, at("10:01:00")))
			assert.Nil(t, p.Start)
			assert.Zero(t, p.WakeAt, "only an edit helps")
			require.Len(t, p.Events, 1)
			assert.Contains(t, p.Events[0].Note, tc.wantMessage)
			condition := ready(t, p.Status)
			assert.Equal(t, metav1.ConditionFalse, condition.Status)
			assert.Equal(t, tc.wantReason, condition.Reason)
			assert.Contains(t, condition.Message, tc.wantMessage)
			assert.Equal(t, c.Generation, condition.ObservedGeneration)
			assert.Nil(t, p.Status.NextScheduleTime)
			c.Status = p.Status

			p = Decide(NewInput(c, at("10:02:00")))
			assert.Empty(t, p.Events)
			assert.Equal(t, c.Status, p.Status, "W3")

			c = edited(c, func(c *v1.CronJob) {
				c.Spec.Schedule, c.Spec.AdditionalSchedules, c.Spec.TimeZone = "*/5 * * * *", nil, nil
			})
			in := NewInput(c, at("10:07:00"))
			in.EditedAt, in.RescheduledAt = at("10:06:59"), at("10:06:59")
			p = Decide(in)
			assert.Nil(t, p.Start, "S7: no tick from before the mistake was mended")
			assert.Equal(t, at("10:10:00"), p.Status.NextScheduleTime.Time)
			assert.Equal(t, metav1.ConditionTrue, ready(t, p.Status).Status)
		})
	}
}

func TestS7TheStatusNamesAllSchedulesItWasMadeFrom(t *testing.T) {
	for want, c := range map[string]*builders.CronJob{
		"*/5 * * * *":                         cron(),
		"*/5 * * * * | @daily | 0  9 * * 1":   cron().Also("@daily", "0  9 * * 1"),
		"*/5 * * * * | @daily (Europe/Paris)": cron().Also("@daily").TimeZone("Europe/Paris"),
		"*/5 * * * * | 0 9 * * 1 | 0 9 * * 2": cron().Also("0 9 * * 1", "0 9 * * 2"),
	} {
		assert.Equal(t, want, settle(t, c.Obj(), at("09:59:00")).Status.ObservedSchedule)
	}
	long := func(last string) string {
		return observedSchedule(cron().Also(strings.Repeat("1,", 505)+"1 * * * *", "0 9 * * "+last).Obj())
	}
	assert.Regexp(t, `^\*/5 \* \* \* \* \| sha256:[0-9a-f]{64}$`, long("1"))
	assert.NotEqual(t, long("1"), long("2"))
}

func TestS4TheStartThatFails(t *testing.T) {
	c := settle(t, cron().Deadline(200).Obj(), at("09:59:00"))
	in := NewInput(c, at("10:00:00"))
	p := Decide(in)
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:03:20.001"), p.Start.GiveUpAt)

	t.Run("is tried again until its deadline", func(t *testing.T) {
		p := Decide(in)
		done := Conclude(in, p, Outcome{Refused: errors.New("quota")})
		require.Error(t, done.Refused)
		assert.Equal(t, v1.ReasonJobCreationFailed, ready(t, done.Status).Reason)
		assert.Equal(t, at("10:00:00"), done.Status.NextScheduleTime.Time)
		assert.Nil(t, done.Status.LastScheduleTime)
		assert.Equal(t, p.Start.GiveUpAt, done.WakeAt)
		c := c.DeepCopy()
		c.Status = done.Status

		in := NewInput(c, at("10:00:01"))
		p = Decide(in)
		require.NotNil(t, p.Start)
		done = Conclude(in, p, Outcome{Refused: errors.New("quota")})
		require.NoError(t, done.Refused, "it says nothing new")
		assert.Equal(t, c.Status, done.Status, "W3")
		p = Decide(in)
		done = Conclude(in, p, Outcome{Job: builders.MakeJob(c, at("10:00:00")).Obj()})
		assert.Equal(t, v1.ReasonScheduled, ready(t, done.Status).Reason, "success clears the condition")

		p = Decide(NewInput(c, at("10:03:20.001")))
		assert.Nil(t, p.Start)
		assert.Equal(t, MissedDeadline, p.Missed[0].Reason)
	})
	t.Run("is missed when the next is due", func(t *testing.T) {
		c := settle(t, cron().Obj(), at("09:59:00"))
		in := NewInput(c, at("10:00:00"))
		p := Decide(in)
		done := Conclude(in, p, Outcome{Refused: errors.New("quota")})
		c.Status = done.Status
		p = Decide(NewInput(c, at("10:05:00")))
		assert.Equal(t, at("10:05:00"), p.Start.Tick)
		assert.Equal(t, []Missed{{MissedCreationFailed, at("10:00:00"), at("10:00:00"), 1}}, p.Missed)
	})
	t.Run("because a stranger has the name is missed at once", func(t *testing.T) {
		p := Decide(in)
		done := Conclude(in, p, Outcome{NameTaken: true})
		assert.Equal(t, []Missed{{MissedNameTaken, at("10:00:00"), at("10:00:00"), 1}}, done.Missed)
		assert.Equal(t, at("10:05:00"), done.Status.NextScheduleTime.Time)
		assert.Equal(t, at("10:05:00"), done.WakeAt)
		assert.Nil(t, done.Status.LastScheduleTime)
	})
	t.Run("with a message of any length and bytes", func(t *testing.T) {
		p := Decide(in)
		done := Conclude(in, p, Outcome{Refused: errors.New(string(make([]byte, 100_000)) + "\xff")})
		assert.LessOrEqual(t, len(ready(t, done.Status).Message), maxMessageLength)
	})
}

func TestS4S12NewJob(t *testing.T) {
	c := cron().Obj()
	c.Spec.JobTemplate.Labels = map[string]string{"l": "1"}
	c.Spec.JobTemplate.Annotations = map[string]string{"a": "1"}
	c.Spec.JobTemplate.Spec.Template.Labels = map[string]string{"pod": "1"}
	before := c.DeepCopy()
	job := NewJob(c, at("10:00:00"))
	assert.Equal(t, "c-1767261600", job.Name)
	assert.Equal(t, c.Namespace, job.Namespace)
	assert.Equal(t, map[string]string{"l": "1"}, job.Labels)
	assert.Equal(t, map[string]string{"a": "1", v1.ScheduledAtAnnotation: "2026-01-01T10:00:00Z"}, job.Annotations)
	assert.Equal(t, map[string]string{v1.ScheduledAtAnnotation: "2026-01-01T10:00:00Z"}, job.Spec.Template.Annotations)
	assert.Equal(t, map[string]string{"pod": "1"}, job.Spec.Template.Labels)
	assert.True(t, metav1.IsControlledBy(job, c), "S13")
	assert.Equal(t, before, c, "the template stays as it is")
	tick, ok := TickOf(job)
	assert.True(t, ok)
	assert.Equal(t, at("10:00:00"), tick)
}

func TestJobsThatEndAreReportedOnce(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	in := NewInput(c, at("10:00:00"))
	p := Decide(in)
	done := Conclude(in, p, Outcome{Job: builders.MakeJob(c, at("10:00:00")).Obj()})
	c.Status = done.Status

	ended := builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:01:00")).Obj()
	p = Decide(NewInput(c, at("10:01:00"), ended))
	require.Len(t, p.Ended, 1)
	assert.Equal(t, v1.RunSucceeded, ResultOf(p.Ended[0]))
	assert.Empty(t, p.Status.Active)
	assert.Equal(t, at("10:01:00"), p.Status.LastSuccessfulTime.Time)

	gone := Decide(NewInput(c, at("10:01:00")))
	assert.Empty(t, gone.Ended)
	assert.Equal(t, 1, gone.DeletedCount, "deleted while it ran")
	assert.Empty(t, gone.Status.Active)

	c.Status = p.Status
	p = Decide(NewInput(c, at("10:02:00"), ended))
	assert.Empty(t, p.Ended)
	assert.Zero(t, p.DeletedCount)
}

func TestTheEndOfAJobThatHadEndedWhenItWasFoundIsReportedOnce(t *testing.T) {
	for result, job := range map[v1.RunResult]*batchv1.Job{
		v1.RunSucceeded: builders.MakeJob(cron().Obj(), at("10:00:00")).Succeeded(at("10:00:01")).Obj(),
		v1.RunFailed:    builders.MakeJob(cron().Obj(), at("10:00:00")).Failed(at("10:00:01")).Obj(),
	} {
		t.Run(string(result), func(t *testing.T) {
			c := settle(t, cron().Obj(), at("09:59:00"))
			in := NewInput(c, at("10:00:02"))
			p := Decide(in)
			done := Conclude(in, p, Outcome{Job: job})
			assert.Equal(t, []*batchv1.Job{job}, done.Ended)
			assert.Empty(t, done.Status.Active)
			assert.Equal(t, result == v1.RunSucceeded, done.Status.LastSuccessfulTime != nil)
			c.Status = done.Status
			again := Decide(NewInput(c, at("10:00:03"), job))
			assert.Empty(t, again.Ended, "once")
			assert.Equal(t, c.Status, again.Status, "W3")
		})
	}
	t.Run("a Job that does not say its tick, in the list as well", func(t *testing.T) {
		job := builders.MakeJob(cron().Obj(), at("10:00:00")).Manual().Succeeded(at("10:00:01")).Obj()
		c := settle(t, cron().Obj(), at("09:59:00"))
		c.Status.Active = append(c.Status.Active, Reference(job))
		in := NewInput(c, at("10:00:02"), job)
		p := Decide(in)
		done := Conclude(in, p, Outcome{Job: job})
		assert.Len(t, done.Ended, 1)
	})
}

func TestNothingChangesItsInput(t *testing.T) {
	c := settle(t, cron().Policy(v1.ReplaceConcurrent).History(0, 0).Obj(), at("09:59:00"))
	c.Status.Active = append(c.Status.Active, Reference(builders.MakeJob(c, at("09:55:00")).Obj()))
	c.Status.LastScheduleTime = &metav1.Time{Time: at("09:55:00")}
	in := NewInput(c, at("10:00:00"), builders.MakeJob(c, at("09:55:00")).Obj())
	before := in.CronJob.DeepCopy()
	p := Decide(in)
	planned := p.Status.DeepCopy()
	Conclude(in, p, Outcome{Deleted: p.Replace, Job: builders.MakeJob(c, at("10:00:00")).Obj()})
	assert.Equal(t, before, in.CronJob)
	assert.Equal(t, planned, &p.Status, "nor is the plan changed")
}

func BenchmarkDecideWithFourJobs(b *testing.B) {
	c := cron().Obj()
	in := NewInput(c, at("09:59:00"))
	in.CronJob.Status = Decide(in).Status
	in.CronJob.Status.LastScheduleTime = &metav1.Time{Time: at("10:15:00")}
	in.CronJob.Status.NextScheduleTime = &metav1.Time{Time: at("10:20:00")}
	in.Jobs = fourSucceeded(c)
	in.Now = at("10:16:00")
	b.ReportAllocs()
	for b.Loop() {
		Decide(in)
	}
}
