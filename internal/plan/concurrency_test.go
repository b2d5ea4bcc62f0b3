// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestS20NoMoreJobsRunThanMaxConcurrencyAllows(t *testing.T) {
	job := func(clock string) *builders.Job { return builders.MakeJob(cron().Obj(), at(clock)) }
	first, second := job("10:00:00").Obj(), job("10:05:00").Obj()
	const waits = "The tick of 2026-01-01T10:10:00Z waits, as maxConcurrency is 2, for Job c-1767261600 to end."
	for name, tc := range map[string]struct {
		policy      v1.ConcurrencyPolicy
		limit       int32
		deadline    int64 // 0 for none
		jobs        []*batchv1.Job
		now         time.Time
		wantTick    time.Time // zero for none
		wantReason  string
		wantMessage string
		wantMissed  []Missed
	}{
		"a tick starts while fewer run": {
			limit: 3, jobs: []*batchv1.Job{first, second}, now: at("10:10:00"), wantTick: at("10:10:00"), wantReason: v1.ReasonScheduled,
		},
		"a tick waits while as many run": {
			limit: 2, jobs: []*batchv1.Job{first, second}, now: at("10:10:00"), wantReason: v1.ReasonWaiting, wantMessage: waits,
		},
		"and while more run, as the limit was lowered": {
			limit: 1, jobs: []*batchv1.Job{first, second}, now: at("10:10:00"), wantReason: v1.ReasonWaiting,
		},
		"a limit below 1 is 1": {
			limit: -5, jobs: []*batchv1.Job{first, job("10:05:00").Failed(at("10:06:00")).Obj()}, now: at("10:10:00"), wantReason: v1.ReasonWaiting,
		},
		"it starts when one has ended": {
			limit: 2, jobs: []*batchv1.Job{first, job("10:05:00").Succeeded(at("10:12:00")).Obj()}, now: at("10:12:00"),
			wantTick: at("10:10:00"), wantReason: v1.ReasonScheduled,
		},
		"of those that waited the newest starts": {
			limit: 2, jobs: []*batchv1.Job{first, job("10:05:00").Succeeded(at("10:21:00")).Obj()}, now: at("10:21:00"),
			wantTick: at("10:20:00"), wantReason: v1.ReasonScheduled,
			wantMissed: []Missed{{MissedSuperseded, at("10:10:00"), at("10:15:00"), 2}},
		},
		"unless its deadline is over": {
			limit: 2, deadline: 30, jobs: []*batchv1.Job{first, job("10:05:00").Succeeded(at("10:12:00")).Obj()}, now: at("10:12:00"),
			wantReason: v1.ReasonScheduled, wantMissed: []Missed{{MissedDeadline, at("10:10:00"), at("10:10:00"), 1}},
		},
		"Forbid is 1": {
			policy: v1.ForbidConcurrent, limit: 1, jobs: []*batchv1.Job{first, second}, now: at("10:10:00"), wantReason: v1.ReasonWaiting,
			wantMessage: "The tick of 2026-01-01T10:10:00Z waits, as concurrencyPolicy is Forbid, for Job c-1767261600 to end.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := cron().Policy(tc.policy)
			if tc.deadline > 0 {
				b = b.Deadline(tc.deadline)
			}
			c := b.Obj()
			c.Spec.MaxConcurrency = &tc.limit
			c.Status = Decide(NewInput(c, at("10:05:01"), first, second)).Status
			p := Decide(NewInput(c, tc.now, tc.jobs...))
			assert.Equal(t, tc.wantMissed, p.Missed)
			assert.Equal(t, tc.wantReason, ready(t, p.Status).Reason)
			if tc.wantMessage != "" {
				assert.Equal(t, tc.wantMessage, ready(t, p.Status).Message)
			}
			if tc.wantTick.IsZero() {
				assert.Nil(t, p.Start)
				return
			}
			require.NotNil(t, p.Start)
			assert.Equal(t, tc.wantTick, p.Start.Tick)
			assert.Empty(t, p.Replace)
		})
	}
}

func TestS20ATickThatWaitsIsToldOfOnceAndMissedWhenANewerOneIsDue(t *testing.T) {
	c := cron().Obj()
	c.Spec.MaxConcurrency = new(int32(1))
	job := builders.MakeJob(c, at("10:00:00")).Obj()
	c.Status = Decide(NewInput(c, at("10:00:01"), job)).Status
	p := Decide(NewInput(c, at("10:05:00"), job))
	events := Conclude(NewInput(c, at("10:05:00"), job), p, Outcome{}).Events
	require.Len(t, events, 1)
	assert.Equal(t, EventJobAlreadyActive, events[0].Reason)
	assert.Equal(t, "Not starting a job because c-1767261600 is running and maxConcurrency is 1", events[0].Note)
	c.Status = p.Status

	again := Decide(NewInput(c, at("10:06:00"), job))
	assert.Empty(t, again.Events)
	assert.Equal(t, c.Status, again.Status, "W3")
	assert.Equal(t, []Missed{{MissedForbidden, at("10:05:00"), at("10:05:00"), 1}}, Decide(NewInput(c, at("10:10:00"), job)).Missed)
}

func TestS20AJobThatMayRunCountsThoughItWasNotObserved(t *testing.T) {
	c, jobs := grown(t, v1.AllowConcurrent, 150)
	c.Spec.MaxConcurrency = new(int32(150))
	assert.Nil(t, Decide(NewInput(c, at("10:00:00").Add(-time.Millisecond), jobs[:149]...)).Start)
	c.Status.LastScheduleTime.Time = at("09:59:30") // less than a minute ago
	assert.Nil(t, Decide(NewInput(c, at("10:00:00"), jobs[:149]...)).Start, "the cache may lack the newest")
	assert.NotNil(t, Decide(NewInput(c, at("10:01:00"), jobs[:149]...)).Start, "but not for longer than a minute")

	c = cron().Obj()
	c.Spec.MaxConcurrency = new(int32(5))
	in := NewInput(c, at("10:00:00"))
	in.Uncertain = true
	assert.Nil(t, Decide(in).Start, "whether a Job was created is not known")
}
