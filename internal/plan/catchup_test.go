// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestS23TheNewestOfTheTicksThatHaveNotRunDoSoOldestFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		build      func(*builders.CronJob) *builders.CronJob
		now        time.Time
		wantRuns   []string // in order
		wantMissed []Missed
		wantNext   time.Time
	}{
		"all that are within the limit": {
			now: at("10:12:00"), wantRuns: []string{"10:00:00", "10:05:00", "10:10:00"}, wantNext: at("10:15:00"),
		},
		"the newest of more": {
			now: at("10:32:00"), wantRuns: []string{"10:20:00", "10:25:00", "10:30:00"}, wantNext: at("10:35:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:15:00"), 4}},
		},
		"the newest of ten years": {
			now:      at("10:32:00").AddDate(10, 0, 0),
			wantRuns: []string{"10:20:00", "10:25:00", "10:30:00"}, wantNext: at("10:35:00").AddDate(10, 0, 0),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:15:00").AddDate(10, 0, 0), MaxMissedCount}},
		},
		"those within the deadline": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(420) },
			now:   at("10:12:00"), wantRuns: []string{"10:05:00", "10:10:00"}, wantNext: at("10:15:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}},
		},
		"none, if the deadline of all is over": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(60) },
			now:   at("10:12:00"), wantNext: at("10:15:00"),
			wantMissed: []Missed{
				{MissedSuperseded, at("10:00:00"), at("10:05:00"), 2}, {MissedDeadline, at("10:10:00"), at("10:10:00"), 1},
			},
		},
		"a limit of one is Latest": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.CatchUp(1) },
			now:   at("10:12:00"), wantRuns: []string{"10:10:00"}, wantNext: at("10:15:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:05:00"), 2}},
		},
		"a limit below one is one": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.CatchUp(-3) },
			now:   at("10:07:00"), wantRuns: []string{"10:05:00"}, wantNext: at("10:10:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}},
		},
		"an interval": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Schedule("@every 90s") },
			now:   at("10:05:00"), wantRuns: []string{"10:01:30", "10:03:00", "10:04:30"}, wantNext: at("10:06:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}},
		},
		"those whose start has come": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Namespace(delayed97).Jitter(300) }, // 97 seconds
			now:   at("10:11:00"), wantRuns: []string{"10:00:00", "10:05:00"}, wantNext: at("10:10:00"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := cron().CatchUp(3)
			if tc.build != nil {
				b = tc.build(b)
			}
			c := settle(t, b.Obj(), at("09:58:31"))
			var runs []string
			var missed []Missed
			var jobs []*batchv1.Job
			for {
				in := NewInput(c, tc.now, jobs...)
				p := Decide(in)
				missed = append(missed, p.Missed...)
				outcome := Outcome{}
				if p.Start != nil {
					outcome.Job = builders.MakeJob(c, p.Start.Tick).Obj()
					jobs = append(jobs, outcome.Job)
					runs = append(runs, p.Start.Tick.Format(time.TimeOnly))
				}
				done := Conclude(in, p, outcome)
				c.Status = done.Status
				if p.Start == nil {
					break
				}
				assert.Equal(t, p.Start.Tick, c.Status.LastScheduleTime.Time, "S5: it moves forward")
				assert.Equal(t, StartOf(c, c.Status.NextScheduleTime.Time), done.WakeAt)
			}
			assert.Equal(t, tc.wantRuns, runs)
			assert.Equal(t, tc.wantMissed, missed)
			assert.Equal(t, tc.wantNext, c.Status.NextScheduleTime.Time)
		})
	}
}

func TestS23TheNewestTenRunIfThereIsNoLimit(t *testing.T) {
	c := cron().CatchUp(1).Obj()
	c.Spec.CatchUpLimit = nil
	p := Decide(NewInput(settle(t, c, at("09:58:31")), at("11:32:00")))
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:45:00"), p.Start.Tick)
}

func TestS23UnderForbidTheyRunOneAfterTheOther(t *testing.T) {
	c := settle(t, cron().Policy(v1.ForbidConcurrent).CatchUp(2).Obj(), at("09:58:31"))
	manual := builders.MakeJob(c, at("09:59:00")).Manual().Obj()
	for _, tc := range []struct {
		now        string
		wantNext   string
		wantMissed []Missed
	}{
		{"10:00:00", "10:00:00", nil},
		{"10:05:00", "10:00:00", nil},
		{"10:10:00", "10:05:00", []Missed{{MissedForbidden, at("10:00:00"), at("10:00:00"), 1}}},
	} {
		p := Decide(NewInput(c, at(tc.now), manual))
		assert.Nil(t, p.Start)
		assert.Equal(t, at(tc.wantNext), p.Status.NextScheduleTime.Time)
		assert.Equal(t, at(tc.now).Add(5*time.Minute), p.WakeAt, "when there may be one too many")
		assert.Equal(t, tc.wantMissed, p.Missed)
		assert.Equal(t, v1.ReasonWaiting, ready(t, p.Status).Reason)
		c.Status = p.Status
	}
	in := NewInput(c, at("10:11:00"))
	in.Unanswered = true
	p := Decide(in)
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:05:00"), p.Start.Tick)
	job := builders.MakeJob(c, at("10:05:00")).Obj()
	c.Status = Conclude(in, p, Outcome{Job: job}).Status

	p = Decide(NewInput(c, at("10:12:00"), job))
	assert.Nil(t, p.Start)
	assert.Equal(t, at("10:10:00"), p.Status.NextScheduleTime.Time)
}

func TestS23TicksFromBeforeAnEditOrAResumeDoNotCatchUp(t *testing.T) {
	c := settle(t, cron().CatchUp(10).Obj(), at("09:58:31"))
	for name, edit := range map[string]func(*v1.CronJob){
		"an edit of the schedule": func(c *v1.CronJob) { c.Spec.Schedule = "*/1 * * * *" },
		"a suspension in between": func(c *v1.CronJob) { c.Generation++ },
	} {
		in := NewInput(edited(c, edit), at("10:21:00.5"))
		in.EditedAt, in.RescheduledAt = at("10:20:30"), at("10:20:30")
		p := Decide(in)
		if p.Start != nil {
			assert.True(t, p.Start.Tick.After(in.EditedAt), "S7: %s", name)
		}
	}
}

// The previous leader has just run some of them, and the cache does not have their Jobs yet.
func TestS23WhatTheLeaderBeforeMayHaveRunIsVerified(t *testing.T) {
	c := settle(t, cron().CatchUp(2).Obj(), at("09:58:31"))
	in := NewInput(c, at("10:15:10"))
	in.LeadingSince = at("10:15:05")
	assert.True(t, Decide(in).Ask.CronJob)
	in.Confirmed = true
	assert.Equal(t, []string{"c-1767261600", "c-1767261900"}, Decide(in).Ask.Jobs)
}

func TestS23TicksThatDoNotExistDoNotCount(t *testing.T) {
	c := settle(t, cron().Schedule("0 12 * * *").Exclude("2026-01-03/2026-01-05").CatchUp(3).Obj(), at("09:58:31"))
	p := Decide(NewInput(c, at("13:00:00").AddDate(0, 0, 6)))
	require.NotNil(t, p.Start)
	assert.Equal(t, at("12:00:00").AddDate(0, 0, 1), p.Start.Tick, "with those of the 6th and the 7th")
	assert.Equal(t, []Missed{{MissedSuperseded, at("12:00:00"), at("12:00:00"), 1}}, p.Missed)
}

func TestS23ATickThatWasBackfilledDoesNotRunAgain(t *testing.T) {
	c := settle(t, cron().CatchUp(5).Obj(), at("09:58:31"))
	backfilled := func(tick string) *batchv1.Job {
		return builders.MakeJob(c, at(tick)).Backfilled(at("10:16:00")).Succeeded(at("10:16:30")).Obj()
	}
	jobs := []*batchv1.Job{backfilled("10:00:00"), backfilled("10:10:00"), backfilled("10:20:00")}
	for _, tc := range []struct{ now, wantTick, wantNext string }{
		{"10:17:00", "10:05:00", "10:10:00"},
		{"10:17:00", "10:15:00", "10:20:00"},
		{"10:21:00", "", "10:25:00"},
	} {
		in := NewInput(c, at(tc.now), jobs...)
		p := Decide(in)
		assert.Empty(t, p.Missed)
		done := Outcome{}
		if tc.wantTick == "" {
			assert.Nil(t, p.Start)
			assert.Equal(t, at(tc.wantNext), p.WakeAt)
		} else {
			require.NotNil(t, p.Start)
			assert.Equal(t, at(tc.wantTick), p.Start.Tick)
			done.Job = builders.MakeJob(c, at(tc.wantTick)).Obj()
			jobs = append(jobs, done.Job)
		}
		c.Status = Conclude(in, p, done).Status
		assert.Equal(t, at(tc.wantNext), c.Status.NextScheduleTime.Time)
	}
}

func TestS23AllThatWaitedWhenItWasSuspendedAreMissed(t *testing.T) {
	c := settle(t, cron().Policy(v1.ForbidConcurrent).CatchUp(5).Obj(), at("09:58:31"))
	manual := builders.MakeJob(c, at("09:59:00")).Manual().Obj()
	c.Status = Decide(NewInput(c, at("10:17:00"), manual)).Status
	for name, suspend := range map[string]func(*v1.CronJob){
		"for good":      func(c *v1.CronJob) { c.Spec.Suspend = new(true) },
		"for some time": func(c *v1.CronJob) { c.Spec.SuspendUntil = &metav1.Time{Time: at("10:29:00")} },
		"and resumed":   func(c *v1.CronJob) { c.Spec.SuspendUntil = &metav1.Time{Time: at("10:18:30")} },
	} {
		in := NewInput(edited(c, suspend), at("10:19:00"), manual)
		in.EditedAt, in.RescheduledAt = at("10:18:00"), at("10:18:00")
		p := Decide(in)
		assert.Nil(t, p.Start)
		assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:15:00"), 4}}, p.Missed, name)
	}
}

func TestS23WhatWaitedIsMissedThoughTheSuspensionWasOverWhenItWasAskedFor(t *testing.T) {
	c := settle(t, cron().Policy(v1.ForbidConcurrent).CatchUp(5).Obj(), at("09:58:31"))
	manual := builders.MakeJob(c, at("09:59:00")).Manual().Obj()
	c.Status = Decide(NewInput(c, at("10:17:00"), manual)).Status
	in := NewInput(stamped(c, at("10:18:00"), func(c *v1.CronJob) { c.Spec.SuspendUntil = &metav1.Time{Time: at("10:10:00")} }), at("10:18:30"))
	in.Unanswered = true
	p := Decide(in)
	assert.Nil(t, p.Start, "S7: it was edited")
	assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:15:00"), 4}}, p.Missed)
}

func TestS23FailuresStopWhatIsLeft(t *testing.T) {
	w := failing(t, func(b *builders.CronJob) *builders.CronJob { return b.Policy(v1.ForbidConcurrent).CatchUp(5) })
	w.takes = func(tick time.Time) (time.Duration, bool) { return 2 * time.Minute, !tick.Before(at("10:30:00")) }
	w.play(at("12:05:00"),
		scene{at("10:25:00"), "the manager goes down", func(w *world) { w.down = true }},
		scene{at("11:25:00"), "the manager comes back", func(w *world) { w.down = false }},
		scene{at("11:45:00"), "resumed", func(w *world) {
			w.c.Annotations = map[string]string{v1.ResumedAtAnnotation: w.now.Format(time.RFC3339)}
		}})
	story := w.story.String()
	_, story, _ = strings.Cut(story, "the manager comes back\n")
	assert.Equal(t, strings.TrimPrefix(`
2026-01-01 11:25:00  missed 1 from 2026-01-01 10:30:00 to 2026-01-01 10:30:00: Superseded
2026-01-01 11:25:00  start 10:40:00
2026-01-01 11:25:00  waits for 10:40:00
2026-01-01 11:27:00  10:40:00 failed
2026-01-01 11:27:00  start 10:50:00
2026-01-01 11:27:00  waits for 10:50:00
2026-01-01 11:29:00  10:50:00 failed
2026-01-01 11:29:00  prune 10:40:00
2026-01-01 11:29:00  start 11:00:00
2026-01-01 11:29:00  waits for 11:00:00
2026-01-01 11:31:00  11:00:00 failed
2026-01-01 11:31:00  missed 3 from 2026-01-01 11:10:00 to 2026-01-01 11:30:00: Stopped
2026-01-01 11:31:00  stopped after 3 failures
2026-01-01 11:31:00  prune 10:50:00
2026-01-01 11:45:00  * resumed
2026-01-01 11:50:00  start 11:50:00
2026-01-01 11:52:00  11:50:00 failed
2026-01-01 11:52:00  prune 11:00:00
2026-01-01 12:00:00  start 12:00:00
2026-01-01 12:02:00  12:00:00 failed
2026-01-01 12:02:00  prune 11:50:00
`, "\n"), story)
}
