// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// delayed97 is a namespace in which a jitter of 300 seconds delays the CronJob c by 97.
const delayed97 = "shop-2"

// jittered is the CronJob of cron, each start of which is delayed by 97 of at most 300 seconds.
func jittered(t *testing.T) *builders.CronJob {
	t.Helper()
	b := cron().Namespace(delayed97).Jitter(300)
	require.Equal(t, 97*time.Second, Jitter(b.Obj()))
	return b
}

// unevenness is the statistic of a chi-square test of how the offsets of CronJobs, of which as many
// are named in a row, fall into as many classes.
func unevenness(jitter int32, names, classes int) float64 {
	c := builders.MakeCronJob("c").Jitter(jitter).Obj()
	statistic, want := 0.0, float64(names)/float64(classes)
	for row := range 10_000 / names {
		counts := make([]int, classes)
		for i := range names {
			c.Name = fmt.Sprintf("report-%05d", row*names+i)
			counts[int(Jitter(c)/time.Second)*classes/int(jitter)]++ // in range, or it panics
		}
		for _, count := range counts {
			statistic += (float64(count) - want) * (float64(count) - want) / want
		}
	}
	return statistic
}

// By chance, a statistic of 99 degrees of freedom is above 134.6 once in a hundred times, and one
// of 4,000 above 4,212.
func TestS22StartsSpreadEvenlyThoughNamesDifferLittle(t *testing.T) {
	for _, jitter := range []int32{100, 300, 3600, 86_400} {
		all, tens := unevenness(jitter, 10_000, 100), unevenness(jitter, 10, 5)
		assert.Less(t, all, 134.6, "%d seconds", jitter)
		assert.Greater(t, all, 60.0, "%d seconds: more even than by chance", jitter)
		assert.Less(t, tens, 4212., "ten in a row over %d seconds", jitter)
		assert.Greater(t, tens, 3795., "ten in a row over %d seconds: more even than by chance", jitter)
	}
}

func TestS22TheOffsetOfACronJobStaysAlsoWhenItIsCreatedAnew(t *testing.T) {
	c := jittered(t).Obj()
	for _, edit := range []func(*v1.CronJob){
		func(*v1.CronJob) {},
		func(c *v1.CronJob) { c.Spec.Schedule, c.Generation = "@daily", 7 },
		func(c *v1.CronJob) { c.UID, c.Status.LastScheduleTime = "another", &metav1.Time{Time: at("10:00:00")} },
	} {
		edit(c)
		assert.Equal(t, 97*time.Second, Jitter(c))
	}
	for _, other := range []*builders.CronJob{cron(), builders.MakeCronJob("d").Namespace(delayed97)} {
		assert.NotEqual(t, 97*time.Second, Jitter(other.Jitter(300).Obj()))
	}
	for _, none := range []int32{0, 1, -1, -1 << 31} {
		c.Spec.JitterSeconds = &none
		assert.Zero(t, Jitter(c))
	}
	c.Spec.JitterSeconds = nil
	assert.Zero(t, Jitter(c))
}

func TestS22ATickStartsLaterAndStaysTheTickThatItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		build      func(*builders.CronJob) *builders.CronJob
		now        time.Time
		jobs       []*batchv1.Job
		wantTick   time.Time // zero for none
		wantNext   time.Time
		wantWake   time.Time
		wantMissed []Missed
	}{
		"not at the tick": {now: at("10:00:00"), wantNext: at("10:00:00"), wantWake: at("10:01:37")},
		"nor a moment before its start": {
			now: at("10:01:36.999"), wantNext: at("10:00:00"), wantWake: at("10:01:37"),
		},
		"but at its start": {now: at("10:01:37"), wantTick: at("10:00:00"), wantNext: at("10:00:00")},
		"the newest whose start has come runs": {
			now: at("10:11:36"), wantTick: at("10:05:00"), wantNext: at("10:05:00"),
			wantMissed: []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}},
		},
		"the deadline counts from the start": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(20) },
			now:   at("10:01:57"), wantTick: at("10:00:00"), wantNext: at("10:00:00"),
		},
		"and ends": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Deadline(20) },
			now:   at("10:01:57.001"), wantNext: at("10:05:00"), wantWake: at("10:06:37"),
			wantMissed: []Missed{{MissedDeadline, at("10:00:00"), at("10:00:00"), 1}},
		},
		"a tick that waits is given up at the start of the next": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Policy(v1.ForbidConcurrent) },
			now:   at("10:01:37"), jobs: []*batchv1.Job{builders.MakeJob(cron().Obj(), at("09:59:00")).Manual().Obj()},
			wantNext: at("10:00:00"), wantWake: at("10:06:37"),
		},
		"an interval counts from the tick": {
			build: func(b *builders.CronJob) *builders.CronJob { return b.Schedule("@every 90s").Jitter(89) },
			now:   at("10:00:00"), wantNext: at("10:00:00"), wantWake: at("10:00:00").Add(Jitter(jittered(t).Jitter(89).Obj())),
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := jittered(t)
			if tc.build != nil {
				b = tc.build(b)
			}
			c := settle(t, b.Obj(), at("09:58:31"))
			p := Decide(NewInput(c, tc.now, tc.jobs...))
			assert.Equal(t, tc.wantMissed, p.Missed)
			assert.Equal(t, tc.wantNext, p.Status.NextScheduleTime.Time)
			assert.Equal(t, tc.wantNext.Add(Jitter(c)), p.Status.NextStartTime.Time)
			if tc.wantTick.IsZero() {
				assert.Nil(t, p.Start)
				assert.Equal(t, tc.wantWake, p.WakeAt)
				return
			}
			require.NotNil(t, p.Start)
			assert.Equal(t, tc.wantTick, p.Start.Tick)
			assert.Equal(t, JobName(c, tc.wantTick), p.Start.Job.Name)
			assert.Equal(t, tc.wantTick.Format(time.RFC3339), p.Start.Job.Annotations[v1.ScheduledAtAnnotation])
			done := Conclude(NewInput(c, tc.now), p, Outcome{Job: p.Start.Job})
			assert.Equal(t, tc.wantTick, done.Status.LastScheduleTime.Time)
			assert.Equal(t, tc.wantTick.Add(5*time.Minute), done.Status.NextScheduleTime.Time)
			assert.Equal(t, tc.wantTick.Add(5*time.Minute+Jitter(c)), done.WakeAt)
		})
	}
}

func TestS22TheStatusSaysWhenOnlyWhereStartsAreDelayed(t *testing.T) {
	assert.Nil(t, settle(t, cron().Obj(), at("09:59:00")).Status.NextStartTime)
	c := settle(t, jittered(t).Obj(), at("09:59:00"))
	assert.Equal(t, at("10:01:37"), NextStart(c).Time)
	for name, edit := range map[string]func(*v1.CronJob){
		"suspended": func(c *v1.CronJob) { c.Spec.Suspend = new(true) },
		"invalid":   func(c *v1.CronJob) { c.Spec.Schedule = "soon" },
	} {
		status := Decide(NewInput(edited(c, edit), at("09:59:30"))).Status
		assert.Nil(t, status.NextStartTime, name)
		assert.Nil(t, status.NextScheduleTime, name)
	}
}

// The previous leader has started the tick of 10:00 at 10:01:37, and the cache does not have it
// yet.
func TestS22ATickThatTheLeaderBeforeMayHaveStartedIsVerified(t *testing.T) {
	c := settle(t, jittered(t).Deadline(5).Obj(), at("09:59:00"))
	in := NewInput(c, at("10:01:43"))
	in.LeadingSince = at("10:01:42")
	assert.Equal(t, []string{"c-1767261600"}, Decide(in).Ask.Jobs)
}

// Another version of the manager has delayed starts by another time than 97 seconds.
func TestS22AWaitingTickStartsAsAnnouncedThoughAnUpgradeChangesTheJitter(t *testing.T) {
	for _, announced := range []time.Time{at("10:00:00"), at("10:00:10"), at("10:04:59")} {
		c := settle(t, jittered(t).Deadline(20).Obj(), at("09:59:00"))
		c.Status.NextStartTime.Time = announced
		for name, tc := range map[string]struct {
			now       time.Time
			wantStart bool
			wantNext  time.Time // the next tick, or the one that starts
			wantWake  time.Time
		}{
			"not before":              {now: announced.Add(-time.Millisecond), wantNext: at("10:00:00"), wantWake: announced},
			"then":                    {now: announced, wantStart: true, wantNext: at("10:00:00")},
			"as long as it may":       {now: announced.Add(20 * time.Second), wantStart: true, wantNext: at("10:00:00")},
			"and not a moment longer": {now: announced.Add(20*time.Second + 1), wantNext: at("10:05:00"), wantWake: at("10:06:37")},
		} {
			in := NewInput(c, tc.now)
			p := Decide(in)
			assert.Equal(t, tc.wantNext, p.Status.NextScheduleTime.Time, name)
			if !tc.wantStart {
				assert.Nil(t, p.Start, name)
				assert.Equal(t, tc.wantWake, p.WakeAt, name)
				assert.Equal(t, tc.wantWake, p.Status.NextStartTime.Time, name)
				continue
			}
			require.NotNil(t, p.Start, name)
			assert.Empty(t, p.Missed, name)
			assert.Equal(t, at("10:06:37"), Conclude(in, p, Outcome{Job: p.Start.Job}).WakeAt, "the next one goes by its own jitter")
		}
	}
}

func TestS22WhatTheStatusAnnouncesCountsOnlyForTheSpecThatItSaw(t *testing.T) {
	for name, change := range map[string]func(*v1.CronJob){
		"edited since":        func(c *v1.CronJob) { c.Generation++ },
		"before its tick":     func(c *v1.CronJob) { c.Status.NextStartTime.Time = at("09:59:59") },
		"beyond every jitter": func(c *v1.CronJob) { c.Status.NextStartTime.Time = at("10:05:00") },
		"of another tick":     func(c *v1.CronJob) { c.Status.NextScheduleTime.Time = at("09:55:00") },
		"of no tick":          func(c *v1.CronJob) { c.Status.NextScheduleTime = nil },
		"not announced":       func(c *v1.CronJob) { c.Status.NextStartTime = nil },
	} {
		c := settle(t, jittered(t).Obj(), at("09:59:00"))
		c.Status.NextStartTime.Time = at("10:00:10")
		change(c)
		assert.Equal(t, at("10:01:37"), StartOf(c, at("10:00:00")), name)
	}
}

// The leader before, of another version, has started the tick of 10:00 at 10:04:50.
func TestS22ATickThatALeaderWithALongerJitterMayHaveStartedIsLookedUp(t *testing.T) {
	c := settle(t, jittered(t).Obj(), at("09:59:00"))
	c.Status.NextStartTime.Time = at("10:04:50")
	in := NewInput(c, at("10:06:38"))
	in.LeadingSince = at("10:05:40")
	assert.Equal(t, []string{"c-1767261600"}, Decide(in).Ask.Jobs)
}

// The leader before, of another version, has started the tick of 10:00 at 10:00:10.
func TestS22ATickThatALeaderWithAShorterJitterMayHaveStartedIsLookedUp(t *testing.T) {
	c := settle(t, jittered(t).Obj(), at("09:59:00"))
	c.Status.NextStartTime.Time = at("10:00:10")
	in := NewInput(c, at("10:00:21"))
	in.LeadingSince = at("10:00:20")
	assert.True(t, Decide(in).Ask.CronJob)
}

func TestS22ATickStartsThoughNoneWouldExistByThen(t *testing.T) {
	for name, tc := range map[string]struct {
		build      *builders.CronJob
		tick       time.Time
		wantNext   time.Time // zero if none is left
		wantReason string
	}{
		"as the window is over": {
			build: jittered(t).NotAfter(at("10:00:00")), tick: at("10:00:00"), wantReason: v1.ReasonCompleted,
		},
		"as the next day is excluded": {
			build: jittered(t).Schedule("59 23 * * *").Exclude("2026-01-02"), tick: at("23:59:00"),
			wantNext: at("23:59:00").AddDate(0, 0, 2), wantReason: v1.ReasonScheduled,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := settle(t, tc.build.Obj(), at("09:59:00"))
			start := tc.tick.Add(97 * time.Second)
			early := Decide(NewInput(c, start.Add(-time.Millisecond)))
			assert.Nil(t, early.Start)
			assert.Equal(t, start, early.WakeAt)
			assert.Equal(t, v1.ReasonScheduled, ready(t, early.Status).Reason)

			in := NewInput(c, start)
			p := Decide(in)
			require.NotNil(t, p.Start)
			assert.Equal(t, tc.tick, p.Start.Tick)
			done := Conclude(in, p, Outcome{Job: p.Start.Job})
			assert.Equal(t, tc.wantReason, ready(t, done.Status).Reason)
			assert.Equal(t, tc.wantNext, timeOf(done.Status.NextScheduleTime))
			assert.Equal(t, StartOf(c, tc.wantNext), timeOf(done.Status.NextStartTime))
			assert.Equal(t, StartOf(c, tc.wantNext), done.WakeAt, "W2")
		})
	}
}
