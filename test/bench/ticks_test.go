// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"

	"tutorial.kubebuilder.io/project/test/bench/measure"
	"tutorial.kubebuilder.io/project/test/bench/results"
)

func TestJudgeCountsWhatMustNotBe(t *testing.T) {
	tick := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	start := func(owner string, delay time.Duration) measure.Start {
		return measure.Start{
			Owner: types.UID(owner), Seen: tick.Add(delay), Created: tick.Add(delay).Truncate(time.Second), ScheduledAt: tick,
		}
	}
	cronJobs := make([]cronJob, 2)
	cronJobs[0].Metadata.UID, cronJobs[1].Metadata.UID = "a", "b"
	other := start("b", time.Second)
	other.ScheduledAt = tick.Add(-time.Minute)
	createdEarly := start("b", time.Second)
	createdEarly.Created = tick.Add(-time.Second)
	tests := map[string]struct {
		starts []measure.Start
		cut    float64
		want   results.Tick
	}{
		"each once":                  {starts: []measure.Start{start("a", 0), start("b", time.Second)}, want: results.Tick{Seen: 2, Wrong: map[string]int{}}},
		"one twice":                  {starts: []measure.Start{start("a", 0), start("a", 1), start("b", 2)}, want: results.Tick{Seen: 2, Wrong: map[string]int{results.Twice: 1}}},
		"one missing":                {starts: []measure.Start{start("a", 0)}, want: results.Tick{Seen: 1, Wrong: map[string]int{results.Missed: 1}}},
		"one missing, when cut off":  {starts: []measure.Start{start("a", 0)}, cut: 60, want: results.Tick{Seen: 1, Wrong: map[string]int{}}},
		"one seen early":             {starts: []measure.Start{start("a", 0), start("b", -1)}, want: results.Tick{Seen: 2, Wrong: map[string]int{results.Early: 1}}},
		"one created early":          {starts: []measure.Start{start("a", 0), createdEarly}, want: results.Tick{Seen: 2, Wrong: map[string]int{results.Early: 1}}},
		"a stranger's":               {starts: []measure.Start{start("a", 0), start("b", 0), start("c", 0)}, want: results.Tick{Seen: 2, Wrong: map[string]int{results.Astray: 1}}},
		"one for another tick alone": {starts: []measure.Start{start("a", 0), other}, want: results.Tick{Seen: 1, Wrong: map[string]int{results.Missed: 1, results.Astray: 1}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := results.Tick{N: 2, CutAfter: test.cut}
			judge(&got, test.starts, cronJobs, tick)
			test.want.N, test.want.CutAfter, test.want.Delay = got.N, got.CutAfter, got.Delay
			assert.Equal(t, test.want, got)
		})
	}
}

func TestPerRunLeavesOutWatches(t *testing.T) {
	got := perRun(measure.Requests{"create jobs": 10, "patch cronjobs/status": 5, "watch jobs": 3}, 10)
	assert.Equal(t, map[string]float64{"create jobs": 1, "patch cronjobs/status": 0.5}, got)
}

func TestNotSoonIsTwoMonthsAgo(t *testing.T) {
	for month, want := range map[time.Month]string{
		time.January: "0 0 1 11 *", time.February: "0 0 1 12 *", time.March: "0 0 1 1 *", time.December: "0 0 1 10 *",
	} {
		assert.Equal(t, want, notSoon(time.Date(2026, month, 15, 0, 0, 0, 0, time.UTC)), month)
	}
}
