// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// assertCompleted checks that a plan has nothing to do, now and later.
func assertCompleted(t *testing.T, p Plan) {
	t.Helper()
	assert.Nil(t, p.Start)
	assert.Empty(t, p.Missed)
	assert.Nil(t, p.Status.NextScheduleTime)
	assert.Zero(t, p.WakeAt, "W2: nothing wakes it")
	assert.Equal(t, metav1.ConditionTrue, ready(t, p.Status).Status)
	assert.Equal(t, v1.ReasonCompleted, ready(t, p.Status).Reason)
}

func TestW2NothingWakesACronJobOfWhichNoTickIsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		c       *builders.CronJob
		message string
	}{
		"the window is over":      {cron().NotAfter(at("10:07:00")), "No tick is left: spec.notAfter is 2026-01-01T10:07:00Z."},
		"no tick comes before it": {cron().NotAfter(at("10:12:00")), "No tick is left: spec.notAfter is 2026-01-01T10:12:00Z."},
		"all days are excluded":   {cron().Exclude("2026-01-01/9999-12-31"), "No tick is left: the spec excludes all days to come."},
	} {
		t.Run(name, func(t *testing.T) {
			c := tc.c.Created(at("10:10:30")).Obj()
			p := Decide(NewInput(c, at("10:11:00")))
			assertCompleted(t, p)
			assert.Equal(t, tc.message, ready(t, p.Status).Message)
			c.Status = p.Status
			again := Decide(NewInput(c, at("10:20:00")))
			assertCompleted(t, again)
			assert.Equal(t, p.Status, again.Status, "W3: nothing is written")
		})
	}
}

func TestTheFirstTickOfTheWindowIsAwaited(t *testing.T) {
	c := cron().NotBefore(at("12:00:00")).Obj()
	p := Decide(NewInput(c, at("10:11:00")))
	assert.Nil(t, p.Start)
	assert.Empty(t, p.Missed, "ticks before it do not exist")
	assert.Equal(t, at("12:00:00"), p.Status.NextScheduleTime.Time)
	assert.Equal(t, at("12:00:00"), p.WakeAt)
}

func TestS2TheLastTickOfTheWindowRunsAfterIt(t *testing.T) {
	c := settle(t, cron().NotAfter(at("10:07:00")).Obj(), at("09:59:00"))
	in := NewInput(c, at("10:30:00"))
	p := Decide(in)
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:05:00"), p.Start.Tick, "the newest that there is")
	assert.Zero(t, p.Start.GiveUpAt, "no newer one takes its place")
	done := Conclude(in, p, Outcome{Job: p.Start.Job})
	c.Status = done.Status
	assert.Zero(t, done.WakeAt)
	assertCompleted(t, Decide(NewInput(c, at("10:31:00"), p.Start.Job)))
}

func TestS2TheLastTickIsMissedOnce(t *testing.T) {
	c := settle(t, cron().NotAfter(at("10:07:00")).Deadline(60).Obj(), at("09:59:00"))
	p := Decide(NewInput(c, at("10:30:00")))
	assert.Equal(t, []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}, {MissedDeadline, at("10:05:00"), at("10:05:00"), 1}}, p.Missed)
	c.Status = p.Status
	assertCompleted(t, Decide(NewInput(c, at("10:31:00"))))
}

// TestS7TicksThatDidNotExistBeforeAnEditNeverRun edits what takes ticks away after some have passed.
func TestS7TicksThatDidNotExistBeforeAnEditNeverRun(t *testing.T) {
	for name, tc := range map[string]struct {
		before *builders.CronJob
		edit   func(*v1.CronJobSpec)
	}{
		"the day is excluded no more":         {cron().Exclude("2026-01-01"), func(s *v1.CronJobSpec) { s.Exclude = nil }},
		"another day is excluded":             {cron().Exclude("2026-01-01"), func(s *v1.CronJobSpec) { s.Exclude[0] = "2026-01-02" }},
		"the window begins earlier":           {cron().NotBefore(at("12:00:00")), func(s *v1.CronJobSpec) { s.NotBefore = new(metav1.NewTime(at("10:00:00"))) }},
		"the window begins whenever":          {cron().NotBefore(at("12:00:00")), func(s *v1.CronJobSpec) { s.NotBefore = nil }},
		"the window that is over ends later":  {cron().NotAfter(at("09:59:00")), func(s *v1.CronJobSpec) { s.NotAfter = new(metav1.NewTime(at("12:00:00"))) }},
		"the window that is over ends never":  {cron().NotAfter(at("09:59:00")), func(s *v1.CronJobSpec) { s.NotAfter = nil }},
		"the window begins earlier, for good": {cron().NotBefore(at("12:00:00")).NotAfter(at("13:00:00")), func(s *v1.CronJobSpec) { s.NotBefore, s.NotAfter = nil, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			c := settle(t, tc.before.Obj(), at("09:59:00"))
			tc.edit(&c.Spec)
			c.Generation++
			for _, now := range []time.Time{at("10:12:10"), at("10:14:00")} {
				in := NewInput(c, now)
				in.EditedAt, in.RescheduledAt = at("10:12:00"), at("10:12:00")
				p := Decide(in)
				assert.Nil(t, p.Start)
				assert.Empty(t, p.Missed)
				assert.Equal(t, at("10:15:00"), p.Status.NextScheduleTime.Time)
				c.Status = p.Status
			}
		})
	}
}

func TestS7TicksThatPassedWhileSuspendedNeverRunOnceNoneIsLeft(t *testing.T) {
	c := settle(t, cron().NotAfter(at("10:20:00")).Suspend(true).Obj(), at("09:59:00"))
	c.Spec.Suspend, c.Generation = new(false), c.Generation+1
	for _, now := range []time.Time{at("10:30:00"), at("10:31:00")} {
		in := NewInput(c, now)
		in.EditedAt, in.RescheduledAt = at("10:30:00"), at("10:30:00")
		p := Decide(in)
		assertCompleted(t, p)
		c.Status = p.Status
	}
}

func TestS2WhatWasMissedNeverRunsAfterAnEditOfSomethingElseOnceNoTickIsLeft(t *testing.T) {
	c := settle(t, cron().NotAfter(at("10:00:00")).Deadline(60).Obj(), at("09:59:00"))
	c.Status = Decide(NewInput(c, at("10:30:00"))).Status
	c = stamped(c, at("10:31:00"), func(c *v1.CronJob) { c.Spec.StartingDeadlineSeconds = nil })
	assertCompleted(t, Decide(NewInput(c, at("10:32:00"))))
}

func TestTicksComeAgainWhenTheClockIsSetBackIntoTheWindow(t *testing.T) {
	c := settle(t, cron().NotAfter(at("10:20:00")).Obj(), at("09:59:00"))
	c.Status.NextScheduleTime = nil // as written while the clock was ahead
	c.Status.Conditions[0].Reason = v1.ReasonCompleted
	p := Decide(NewInput(c, at("10:11:00")))
	assert.Nil(t, p.Start)
	assert.Equal(t, at("10:15:00"), p.Status.NextScheduleTime.Time)
}

func TestS2WhatWasMissedNeverRunsThoughTheClockIsSetBackIntoTheWindow(t *testing.T) {
	c := settle(t, cron().NotAfter(at("10:20:00")).Deadline(60).Obj(), at("09:59:00"))
	c.Status = Decide(NewInput(c, at("10:30:00"))).Status // the clock of this leader is ahead
	require.Equal(t, at("10:20:00"), c.Status.Missed[0].Last.Time)
	for _, now := range []time.Time{at("10:11:00"), at("10:15:00"), at("10:20:00")} {
		p := Decide(NewInput(c, now))
		assertCompleted(t, p)
		c.Status = p.Status
	}
}

func TestA5WhatLeavesNoTickIsAnInvalidSchedule(t *testing.T) {
	for message, c := range map[string]*builders.CronJob{
		"never fires: each tick is on a day of exclude":                                          cron().Schedule("0 9 25 12 *").Exclude("--12-25"),
		"never fires: no tick lies between notBefore and notAfter on a day that is not excluded": cron().NotBefore(at("10:01:00")).NotAfter(at("10:02:00")),
		`not a day: exclude[0] "soon": must be a date of the calendar such as 2026-12-25, a range such as 2026-12-24/2027-01-02, ` +
			"or a day of each year such as --12-25": cron().Exclude("soon"),
	} {
		p := Decide(NewInput(c.Obj(), at("10:11:00")))
		assert.Equal(t, []string{"UnparseableSchedule " + message}, texts(p.Events))
		assert.Equal(t, v1.ReasonInvalidSchedule, ready(t, p.Status).Reason)
	}
}
