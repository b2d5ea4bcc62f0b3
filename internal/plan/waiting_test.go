// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// heldStatus is the status of a CronJob whose tick of 10:05 waits for the Job of 10:00.
const heldStatus = `{
  "active": [{"kind": "Job", "namespace": "default", "name": "c-1767261600", "uid": "uid-of-c-1767261600", "apiVersion": "batch/v1"}],
  "lastScheduleTime": "2026-01-01T10:00:00Z",
  "nextScheduleTime": "2026-01-01T10:05:00Z",
  "observedSchedule": "*/5 * * * *",
  "observedGeneration": 1,
  "conditions": [{
    "type": "Ready",
    "status": "True",
    "observedGeneration": 1,
    "lastTransitionTime": "2026-01-01T09:59:00Z",
    "reason": "REASON",
    "message": "MESSAGE"
  }]
}`

// held is a CronJob as it is stored while a tick waits.
func held(t *testing.T, reason, message string, deadline int64) *v1.CronJob {
	t.Helper()
	b := cron().Policy(v1.ForbidConcurrent)
	if deadline > 0 {
		b = b.Deadline(deadline)
	}
	c := b.Obj()
	require.NoError(t, json.Unmarshal([]byte(heldStatus), &c.Status))
	c.Status.Conditions[0].Reason, c.Status.Conditions[0].Message = reason, message
	return c
}

// A manager without the reason Waiting says only in the message that a tick waits.
func TestS6AnUpgradeLosesNoTickThatWaits(t *testing.T) {
	const message = "The tick of 2026-01-01T10:05:00Z waits, as concurrencyPolicy is Forbid, for Job c-1767261600 to end."
	running := builders.MakeJob(cron().Obj(), at("10:00:00")).Obj()
	ended := builders.MakeJob(cron().Obj(), at("10:00:00")).Succeeded(at("10:04:00")).Obj()
	for name, tc := range map[string]struct {
		deadline   int64
		job        *batchv1.Job
		now        time.Time
		wantTick   time.Time // zero for none
		wantReason string
		wantMissed []Missed
	}{
		"it waits on while the Job runs": {
			job: running, now: at("10:07:00"), wantReason: v1.ReasonWaiting,
		},
		"it runs when the Job has ended": {
			job: ended, now: at("10:07:00"), wantTick: at("10:05:00"), wantReason: v1.ReasonScheduled,
		},
		"it is missed when a newer one is due, which waits then": {
			job: running, now: at("10:10:00"), wantReason: v1.ReasonWaiting,
			wantMissed: []Missed{{MissedSuperseded, at("10:05:00"), at("10:05:00"), 1}},
		},
		"it is missed when a newer one is due, which runs then": {
			job: ended, now: at("10:10:00"), wantTick: at("10:10:00"), wantReason: v1.ReasonScheduled,
			wantMissed: []Missed{{MissedSuperseded, at("10:05:00"), at("10:05:00"), 1}},
		},
		"it is missed when its deadline is over": {
			deadline: 60, job: running, now: at("10:07:00"), wantReason: v1.ReasonScheduled,
			wantMissed: []Missed{{MissedDeadline, at("10:05:00"), at("10:05:00"), 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := held(t, v1.ReasonScheduled, message, tc.deadline)
			in := NewInput(c, tc.now, tc.job)
			p := Decide(in)
			assert.Equal(t, tc.wantMissed, p.Missed)
			jobs, outcome := in.Jobs, Outcome{}
			if tc.wantTick.IsZero() {
				assert.Nil(t, p.Start)
			} else {
				require.NotNil(t, p.Start)
				assert.Equal(t, tc.wantTick, p.Start.Tick)
				outcome.Job = builders.MakeJob(c, tc.wantTick).Obj()
				jobs = append(jobs, outcome.Job)
			}
			done := Conclude(in, p, outcome)
			condition := ready(t, done.Status)
			assert.Equal(t, tc.wantReason, condition.Reason)
			assert.Equal(t, metav1.ConditionTrue, condition.Status)
			assert.Equal(t, at("09:59:00"), condition.LastTransitionTime.UTC(), "Ready was true before")
			c.Status = done.Status

			again := Decide(NewInput(c, tc.now, jobs...))
			assert.Empty(t, again.Missed, "once")
			assert.Nil(t, again.Start, "once")
			assert.Empty(t, again.Events, "once")
			assert.Equal(t, c.Status, again.Status, "W3")
		})
	}
}

func TestS6ATickThatWaitsIsKnownByTheReasonAndNotByTheMessage(t *testing.T) {
	running := builders.MakeJob(cron().Obj(), at("10:00:00")).Obj()
	c := held(t, v1.ReasonWaiting, "In other words.", 0)
	assert.Equal(t, []Missed{{MissedForbidden, at("10:05:00"), at("10:05:00"), 1}}, Decide(NewInput(c, at("10:10:00"), running)).Missed)
}

func TestS6ATickThatWaitsForADeletionIsNotTakenForSuspended(t *testing.T) {
	job := func(clock string) *batchv1.Job { return builders.MakeJob(cron().Obj(), at(clock)).Obj() }
	ran := func(t *testing.T) *v1.CronJob {
		t.Helper()
		c := settle(t, cron().Policy(v1.ReplaceConcurrent).Obj(), at("09:59:00"))
		in := NewInput(c, at("10:00:00"))
		p := Decide(in)
		done := Conclude(in, p, Outcome{Job: job("10:00:00")})
		c.Status = done.Status
		return c
	}
	resumed := func(t *testing.T, c *v1.CronJob, now time.Time, jobs ...*batchv1.Job) *v1.CronJob {
		t.Helper()
		for _, suspend := range []bool{true, false} {
			c = edited(c, func(c *v1.CronJob) { c.Spec.Suspend = new(suspend) })
			if suspend {
				c.Status = Decide(NewInput(c, now, jobs...)).Status
			}
		}
		return c
	}
	const waits = "The tick of 2026-01-01T10:15:00Z waits, as concurrencyPolicy is Replace, for Job c-1767261600 to be deleted."
	missed := []Missed{{MissedSuperseded, at("10:05:00"), at("10:10:00"), 2}}

	t.Run("while its deletion fails", func(t *testing.T) {
		c := resumed(t, ran(t), at("10:01:00"), job("10:00:00"))
		since := ready(t, c.Status).LastTransitionTime
		for try, now := range []time.Time{at("10:16:00"), at("10:16:01"), at("10:17:00")} {
			in := NewInput(c, now, job("10:00:00"))
			in.EditedAt, in.RescheduledAt = at("10:01:00"), at("10:01:00")
			p := Decide(in)
			require.NotNil(t, p.Start)
			assert.Equal(t, at("10:15:00"), p.Start.Tick)
			require.Len(t, p.Replace, 1)
			done := Conclude(in, p, Outcome{})
			condition := ready(t, done.Status)
			assert.Equal(t, v1.ReasonWaiting, condition.Reason)
			assert.Equal(t, metav1.ConditionTrue, condition.Status)
			assert.Equal(t, waits, condition.Message)
			assert.Equal(t, since, condition.LastTransitionTime)
			assert.Equal(t, at("10:20:00"), done.WakeAt, "it is missed then")
			if try == 0 {
				assert.Equal(t, missed, done.Missed)
			} else {
				assert.Empty(t, done.Missed, "once")
				assert.Equal(t, c.Status, done.Status, "W3")
			}
			c.Status = done.Status
		}
		p := Decide(NewInput(c, at("10:20:00"), job("10:00:00")))
		assert.Equal(t, []Missed{{MissedSuperseded, at("10:15:00"), at("10:15:00"), 1}}, p.Missed)
	})
	t.Run("until the status tells of the Job", func(t *testing.T) {
		c := resumed(t, settle(t, cron().Policy(v1.ReplaceConcurrent).Obj(), at("09:58:31")), at("09:59:00"))
		in := NewInput(c, at("10:16:00"), job("10:00:00"))
		in.EditedAt, in.RescheduledAt = at("09:59:00"), at("09:59:00")
		p := Decide(in)
		assert.Empty(t, p.Replace)
		assert.Equal(t, missed, p.Missed)
		assert.Equal(t, waits, ready(t, p.Status).Message)
		c.Status = p.Status
		p = Decide(restored(in, c))
		assert.Empty(t, p.Missed, "once")
		assert.Len(t, p.Replace, 1)
	})
	t.Run("if nothing is known of its start", func(t *testing.T) {
		c := resumed(t, ran(t), at("10:01:00"), job("10:00:00"))
		in := NewInput(c, at("10:16:00"), job("10:00:00"))
		in.EditedAt, in.RescheduledAt = at("10:01:00"), at("10:01:00")
		p := Decide(in)
		assert.Equal(t, missed, p.Missed)
		done := Conclude(in, p, Outcome{Deleted: p.Replace})
		assert.Equal(t, v1.ReasonScheduled, ready(t, done.Status).Reason)
		c.Status = done.Status
		assert.Empty(t, Decide(restored(in, c)).Missed, "once")
	})
	t.Run("nor while creations fail", func(t *testing.T) {
		c := ran(t)
		in := NewInput(c, at("10:05:00"), job("10:00:00"))
		p := Decide(in)
		done := Conclude(in, p, Outcome{Deleted: p.Replace, Refused: errors.New("quota")})
		require.Error(t, done.Refused)
		c.Status = done.Status
		in = NewInput(c, at("10:05:01"))
		p = Decide(in)
		assert.Equal(t, v1.ReasonJobCreationFailed, ready(t, p.Status).Reason, "before the next try")
		done = Conclude(in, p, Outcome{Refused: errors.New("quota")})
		require.NoError(t, done.Refused, "it says nothing new")
		assert.Equal(t, ready(t, c.Status), ready(t, done.Status))
	})
}

func TestO2ReadyThatWasFalseAndIsFalseAgainHasNoTransition(t *testing.T) {
	c := edited(settle(t, cron().Obj(), at("09:59:00")), func(c *v1.CronJob) { c.Spec.Schedule = "soon" })
	c.Status = Decide(NewInput(c, at("09:59:30"))).Status
	since := ready(t, c.Status).LastTransitionTime
	c = edited(c, func(c *v1.CronJob) { c.Spec.Schedule = "*/5 * * * *" })
	in := NewInput(c, at("10:00:00"))
	in.EditedAt, in.RescheduledAt = at("09:59:40"), at("09:59:40")
	p := Decide(in)
	require.NotNil(t, p.Start)
	done := Conclude(in, p, Outcome{Refused: errors.New("quota")})
	require.Error(t, done.Refused)
	assert.Equal(t, since, ready(t, done.Status).LastTransitionTime)
}

// restored is the same input about a CronJob that has been written since.
func restored(in Input, c *v1.CronJob) Input { return editedInput(c, in.Now, in.EditedAt, in.Jobs...) }
