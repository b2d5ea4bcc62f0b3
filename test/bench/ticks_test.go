// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"tutorial.kubebuilder.io/project/test/bench/results"
)

func TestJudgeCountsWhatMustNotBe(t *testing.T) {
	tick := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	job := func(owner string, delay time.Duration) start {
		return start{
			owner: types.UID(owner), seen: tick.Add(delay), created: tick.Add(delay).Truncate(time.Second), scheduledAt: tick,
		}
	}
	cronJobs := make([]cronJob, 2)
	cronJobs[0].UID, cronJobs[1].UID = "a", "b"
	cronJobs[0].Name, cronJobs[1].Name = "a", "b"
	other := job("b", time.Second)
	other.scheduledAt = tick.Add(-time.Minute)
	createdEarly := job("b", time.Second)
	createdEarly.created = tick.Add(-time.Second)
	tests := map[string]struct {
		starts    []start
		cut       bool
		wantSeen  float64
		wantWrong map[string]int
	}{
		"each once":                  {starts: []start{job("a", 0), job("b", time.Second)}, wantSeen: 2, wantWrong: map[string]int{}},
		"one twice":                  {starts: []start{job("a", 0), job("a", 1), job("b", 2)}, wantSeen: 2, wantWrong: map[string]int{"Jobs too many for a tick": 1}},
		"one missing":                {starts: []start{job("a", 0)}, wantSeen: 1, wantWrong: map[string]int{"CronJobs without a Job": 1}},
		"one missing, when cut off":  {starts: []start{job("a", 0)}, cut: true, wantSeen: 1, wantWrong: map[string]int{}},
		"one seen early":             {starts: []start{job("a", 0), job("b", -1)}, wantSeen: 2, wantWrong: map[string]int{"Jobs before they were due": 1}},
		"one created early":          {starts: []start{job("a", 0), createdEarly}, wantSeen: 2, wantWrong: map[string]int{"Jobs before they were due": 1}},
		"a stranger's":               {starts: []start{job("a", 0), job("b", 0), job("c", 0)}, wantSeen: 2, wantWrong: map[string]int{"Jobs of no CronJob, or for another tick": 1}},
		"one for another tick alone": {starts: []start{job("a", 0), other}, wantSeen: 1, wantWrong: map[string]int{"CronJobs without a Job": 1, "Jobs of no CronJob, or for another tick": 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := results.New(results.Ticks, results.Operator, 2)
			if test.cut {
				got.Values[results.CutAfter] = 60
			}
			judge(got, test.starts, cronJobs, map[string]time.Time{"a": tick, "b": tick}, 0)
			assert.InDelta(t, test.wantSeen, got.Values[results.Seen], 0)
			assert.Equal(t, test.wantWrong, got.Wrong)
		})
	}
}

func TestWithAJitterDelaysCountFromTheStartThatEachStatusTold(t *testing.T) {
	tick := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cronJobs, starts, ticks := make([]cronJob, 4), make([]start, 4), map[string]time.Time{}
	for i, offset := range []time.Duration{0, 7 * time.Second, 7 * time.Second, 299 * time.Second} {
		uid, at := types.UID(nameOf("c", i)), tick.Add(offset)
		cronJobs[i].Name, cronJobs[i].UID, cronJobs[i].Status.NextStartTime = string(uid), uid, at
		ticks[string(uid)] = tick
		starts[i] = start{owner: uid, seen: at.Add(time.Duration(i) * 100 * time.Millisecond), created: at, scheduledAt: tick}
	}
	got := results.New(results.Jitter, results.Operator, 4)
	judge(got, starts, cronJobs, ticks, 5*time.Minute)
	assert.Empty(t, got.Wrong)
	assert.InDelta(t, 0.1, got.Values["p50"], 1e-9)
	assert.InDelta(t, 0.3, got.Values[results.P99], 1e-9)
	assert.InDelta(t, 2, got.Values["duePeak"], 0)
	assert.InDelta(t, 2, got.Values["startPeak"], 0)

	starts[1].seen = tick.Add(6 * time.Second)
	cronJobs[2].Status.NextStartTime = time.Time{}
	cronJobs[3].Status.NextStartTime = tick.Add(5 * time.Minute)
	judge(got, starts, cronJobs, ticks, 5*time.Minute)
	assert.Equal(t, map[string]int{"Jobs before they were due": 2, "next starts that are not within the jitter": 2}, got.Wrong, "also a start before what the status told")
}

func TestInTheStageHourHalfOfTheCronJobsAreDueAtMinutesThatPeopleChoose(t *testing.T) {
	first := time.Date(2026, 1, 1, 12, 40, 0, 0, time.UTC)
	l := load{stage: results.Hour, n: 1200 * namespaceCount, span: 30 * time.Minute}
	counts := map[time.Duration]int{}
	for _, tick := range l.ticks(first) {
		counts[tick.Sub(first)]++
	}
	require.Len(t, counts, 30, "one for each minute of the span")
	assert.Equal(t, 210*namespaceCount, counts[0], "of 200 that choose minute 0, and 10 that are there by chance")
	assert.Equal(t, 210*namespaceCount, counts[15*time.Minute])
	assert.Equal(t, 10*namespaceCount, counts[16*time.Minute])
	assert.Equal(t, "40 12 * * *", l.batch(first).schedules[0])
	assert.Equal(t, "10 1 * * *", l.batch(first).schedules[4*namespaceCount], "half an hour later is not within the span")
}
