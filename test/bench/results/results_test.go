// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tick is a result of the operator's, or of another contender.
func tick(of string, n int, values map[string]float64) Result {
	return Result{Stage: Ticks, Of: of, N: n, Values: values}
}

func TestQuantilesAreOfAllAlsoOfThoseUnknown(t *testing.T) {
	quantiles := func(known []time.Duration, count int) map[string]float64 {
		r := tick(Operator, count, map[string]float64{})
		r.Quantiles(known, count)
		return r.Values
	}
	var known []time.Duration
	for i := 95; i >= 1; i-- {
		known = append(known, time.Duration(i)*time.Second)
	}
	assert.Equal(t, map[string]float64{"p50": 50, "p90": 90}, quantiles(known, 100), "the last five are not known, but longer")
	assert.Empty(t, quantiles(nil, 0))
	assert.Equal(t, map[string]float64{"p50": 1, "p90": 1, P99: 1, "max": 1}, quantiles([]time.Duration{time.Second}, 1))
}

func TestResultsOfALaterRunReplaceThoseOfTheSameMeasurement(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "results.json")
	r, err := Load(file)
	require.NoError(t, err)
	r.Add(tick(Operator, 1000, map[string]float64{CPU: 1}))
	r.Add(tick(Tuned, 1000, map[string]float64{CPU: 2}))
	r.Add(Result{Stage: Idle, Of: Operator, N: 1000})
	require.NoError(t, r.Save(file))
	r, err = Load(file)
	require.NoError(t, err)
	r.Add(tick(Operator, 1000, map[string]float64{CPU: 3}))
	r.Add(tick(Operator, 5000, map[string]float64{CPU: 4}))
	r.Add(Result{Stage: Idle, Of: Operator, N: 2000})
	require.Len(t, r.Results, 4)
	assert.Equal(t, 2000, r.Get(Idle, Operator, 0).N)
	assert.InDelta(t, 3, r.Get(Ticks, Operator, 1000).Values[CPU], 0)
	assert.InDelta(t, 2, r.Get(Ticks, Tuned, 1000).Values[CPU], 0)
	assert.Nil(t, r.Get(Ticks, Shipped, 1000).Value(CPU))
}

func TestFailuresAreWhatMustNotHappen(t *testing.T) {
	bad := Result{
		Stage: Ticks, Of: Operator, N: 10, Wrong: map[string]int{"CronJobs without a Job": 2, "Jobs too many for a tick": 1}, Values: map[string]float64{Seen: 8, Peak: 100},
		Requests: map[string]float64{"create jobs": 1.1, "patch cronjobs/status": 1, "create events": 0.9, "get jobs": 0.1},
	}
	assert.Equal(t, []string{
		"ticks operator N=10: 2 CronJobs without a Job",
		"ticks operator N=10: 1 Jobs too many for a tick",
		`ticks operator N=10: 1.100 × "create jobs" a run: want at most 1`,
		`ticks operator N=10: 0.100 × "get jobs" a run: want at most 0`,
		"ticks operator N=10: 100 bytes of memory: it may take 99",
	}, bad.Failures(99))
	for name, test := range map[string]struct {
		result Result
		want   int
	}{
		"cut off":        {tick(Operator, 10, map[string]float64{Seen: 8, CutAfter: 300}), 1},
		"idle":           {Result{Stage: Idle, Values: map[string]float64{Reconciles: 0}, Requests: map[string]float64{"get jobs": 1}}, 0},
		"not idle":       {Result{Stage: Idle, Values: map[string]float64{Writes: 1, Reconciles: 1}}, 2},
		"tenants":        {Result{Stage: Tenants, Values: map[string]float64{Missed: 0}}, 0},
		"tenants missed": {Result{Stage: Tenants, Values: map[string]float64{Missed: 2}}, 1},
		"memory":         {Result{Stage: Idle, Values: map[string]float64{PerCronJob: maxPerCronJob}}, 0},
		"much memory":    {Result{Stage: Idle, Values: map[string]float64{PerCronJob: maxPerCronJob + 1}}, 1},
		"allocations":    {Result{Stage: Micro, Of: "internal/plan DecideWithFourJobs", Values: map[string]float64{Allocated: 10}}, 0},
		"many of them":   {Result{Stage: Micro, Of: "internal/plan DecideWithFourJobs", Values: map[string]float64{Allocated: 12}}, 1},
	} {
		assert.Len(t, test.result.Failures(99), test.want, name)
	}
}

func TestTheMedianOfSeveralTicksCounts(t *testing.T) {
	of := func(cpu, p99 float64) Result { return tick(Operator, 10, map[string]float64{CPU: cpu, P99: p99}) }
	assert.Equal(t, of(1, 9), Median([]Result{of(1, 9)}))
	got := Median([]Result{of(1, 9), of(2, 5), tick(Operator, 10, map[string]float64{CPU: 3})})
	assert.InDelta(t, 1, got.Values[CPU], 0, "what was cut off is the slowest")
	assert.Equal(t, []*float64{new(9.0), new(5.0), nil}, got.P99s)
	assert.InDelta(t, 1, Median([]Result{of(1, 9), of(2, 5)}).Values[CPU], 0, "of two, the slower")
}

func TestMeasurementsAgreeWhenTheLastTwoDo(t *testing.T) {
	measured := func(p99s ...float64) (all []Result) {
		for _, p99 := range p99s {
			all = append(all, tick(Operator, 10, map[string]float64{P99: p99}))
		}
		return all
	}
	assert.True(t, Agree(measured(9, 1, 1.19)))
	assert.False(t, Agree(measured(1, 1, 1.3)))
	assert.False(t, Agree(measured(1)), "there is only one")
	assert.False(t, Agree([]Result{tick(Operator, 10, nil), measured(1)[0]}), "one was cut off, and has no percentile")
}

func TestResultsSayOfWhichBuildTheyAre(t *testing.T) {
	r := &Results{Environment: Environment{Operator: "aaaa"}}
	r.Add(tick(Operator, 1000, nil))
	r.Add(tick(Bare, 1000, nil))
	r.Add(Result{Stage: Restart, Of: Operator})
	r.Environment.Operator = "bbbb"
	r.Add(tick(Operator, 5000, nil))
	r.Add(Result{Stage: Idle, Of: Operator})
	r.Add(Result{Stage: Versions, Of: "v1"})
	assert.Equal(t, "aaaa", r.Get(Ticks, Operator, 1000).Build)
	assert.Equal(t, "bbbb", r.Get(Ticks, Operator, 5000).Build)
	assert.Empty(t, r.Get(Ticks, Bare, 1000).Build)
}

func TestEachStageHasATableOfWhatIsKnown(t *testing.T) {
	r := &Results{Results: []Result{
		{Stage: Ticks, Of: Tuned, N: 5000, Values: map[string]float64{P99: 12.3456}},
		{Stage: Ticks, Of: Operator, N: 1000, Build: "aaaa", Values: map[string]float64{"p50": 0.5, P99: 1}, Requests: map[string]float64{"create jobs": 1}},
		{Stage: Idle, Of: Operator, N: 10, Values: map[string]float64{Writes: 2}},
	}}
	text := &strings.Builder{}
	require.NoError(t, r.WriteTables(text))
	assert.Equal(t, `## idle

| of | N | build | writes | requests | wrong |
|---|---|---|---|---|---|
| operator | 10 |  | 2 |  | 2 writes: want none |

## ticks

| of | N | build | p50 | p99 | requests | wrong |
|---|---|---|---|---|---|---|
| operator | 1000 | aaaa | 0.5 | 1 | create jobs 1 |  |
| tuned | 5000 |  |  | 12.35 |  |  |

`, text.String())
}
