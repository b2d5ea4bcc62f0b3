// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"os"
	"path/filepath"
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
	require.Len(t, r.Of(Ticks), 3)
	require.Len(t, r.Of(Idle), 1)
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
		"ticks operator N=10: 100 bytes of memory: deployed, it has 99",
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
	} {
		assert.Len(t, test.result.Failures(99), test.want, name)
	}
}

func TestTargetsAreMetOrMissed(t *testing.T) {
	for name, test := range map[string]struct {
		sign string
		got  []Figure
		want string
	}{
		"nothing measured":   {"≤", nil, "≤ 0.5 s |  | not measured"},
		"at the limit":       {"≤", []Figure{{"", 0.5}}, "≤ 0.5 s | 0.5 s | met"},
		"one of two above":   {"≤", []Figure{{"a", 0.4}, {"b", 0.6}}, "≤ 0.5 s | a 0.4 s<br>b 0.6 s | **missed**"},
		"less than at least": {"≥", []Figure{{"", 0.3}}, "≥ 0.5 s | 0.3 s | **missed**"},
		"more than at least": {"≥", []Figure{{"", 1234.5}}, "≥ 0.5 s | 1,230 s | met"},
	} {
		assert.Equal(t, test.want, target(test.sign, 0.5, " s", test.got), name)
	}
}

func TestRatiosAreOfTheSameNumberOfCronJobs(t *testing.T) {
	r := &Results{Results: []Result{
		tick(Bare, 1000, map[string]float64{"max": 1}),
		tick(Operator, 5000, map[string]float64{P99: 9}),
		tick(Operator, 1000, map[string]float64{P99: 1.5}),
		tick(Tuned, 5000, map[string]float64{P99: 18}),
		tick(Tuned, 1000, map[string]float64{P99: 6}),
		tick(Shipped, 1000, nil), // cut off before the 99th percentile
	}}
	assert.Equal(t, []Figure{{"N=1,000", 0.25}, {"N=5,000", 0.5}}, r.Against(Ticks, Operator, P99, Tuned, P99))
	assert.Equal(t, []Figure{{"N=1,000", 1.5}}, r.Against(Ticks, Operator, P99, Bare, "max"))
	assert.Empty(t, r.Against(Ticks, Operator, P99, Shipped, P99))
}

func TestTheMedianOfSeveralTicksCounts(t *testing.T) {
	of := func(cpu, p99 float64) Result { return tick(Operator, 10, map[string]float64{CPU: cpu, P99: p99}) }
	assert.Equal(t, of(1, 9), Median([]Result{of(1, 9)}))
	got := Median([]Result{of(1, 9), of(2, 5), tick(Operator, 10, map[string]float64{CPU: 3})})
	assert.InDelta(t, 1, got.Values[CPU], 0, "what was cut off is the slowest")
	assert.Equal(t, []*float64{new(9.0), new(5.0), nil}, got.P99s)
	assert.InDelta(t, 1, Median([]Result{of(1, 9), of(2, 5)}).Values[CPU], 0, "of two, the slower")
}

func TestTheRatesAreThoseOfTheLargestNumber(t *testing.T) {
	r := &Results{Results: []Result{
		tick(Operator, 20000, map[string]float64{"max": 25, Written: 200}),
		tick(Operator, 1000, map[string]float64{"max": 1, Written: 2}),
		tick(Tuned, 20000, map[string]float64{CutAfter: 180}),
	}}
	assert.InDelta(t, 800, r.Rate(Operator, "max"), 0)
	assert.InDelta(t, 100, r.Rate(Operator, Written), 0)
	assert.Zero(t, r.Rate(Tuned, "max"), "it was cut off")
	assert.Zero(t, r.Rate(Tuned, Written))
	assert.Zero(t, r.Rate(Bare, "max"), "it was not measured")
	r.Add(tick(Tuned, 1000, map[string]float64{"max": 2, Written: 4}))
	assert.InDelta(t, 500, r.Rate(Tuned, "max"), 0, "the largest that was not cut off")
	assert.InDelta(t, 250, r.Rate(Tuned, Written), 0)
}

func TestResultsSayOfWhichBuildTheyAre(t *testing.T) {
	r := &Results{Environment: Environment{Operator: "aaaa"}}
	assert.Empty(t, r.Builds())
	r.Add(tick(Operator, 1000, nil))
	r.Add(tick(Bare, 1000, nil))
	r.Add(Result{Stage: Restart, Of: Operator})
	assert.Equal(t, []string{"aaaa"}, r.Builds())
	r.Environment.Operator = "bbbb"
	r.Add(tick(Operator, 5000, nil))
	r.Add(Result{Stage: Idle, Of: Operator})
	r.Add(Result{Stage: Versions, Of: "v1"})
	assert.Equal(t, []string{"aaaa", "bbbb"}, r.Builds())
	assert.Empty(t, r.Get(Ticks, Bare, 1000).Build)
}

func TestAPageCanBeMadeOfAnyPart(t *testing.T) {
	full := &Results{Results: []Result{
		tick(Operator, 1000, map[string]float64{"p50": 1, P99: 1, Seen: 1000}),
		tick(Shipped, 1000, nil),
		{Stage: Jitter, Of: Operator, N: 1000, Values: map[string]float64{P99: 0.05, "duePeak": 9, "startPeak": 12}},
		{Stage: Idle, Of: Operator, Values: map[string]float64{Reconciles: 0}},
		{Stage: Idle, Of: Tuned},
		{Stage: Restart, Of: Operator, N: 20020, Values: map[string]float64{"jobs": 60000, "first": 1.5}},
		{Stage: Tenants, Of: "nothing", Values: map[string]float64{"minutes": 3, P99: 1.5, "rate": 12.3, Missed: 0}},
		{Stage: Tenants, Of: "more", Values: map[string]float64{Missed: 4}},
		{Stage: Micro, Of: "internal/plan Handler/one_v1_to_v2", Values: map[string]float64{"ns": 1234, "bytes": 6537991}},
	}}
	for i, of := range []string{"v1", "v2", "builtin", "crd", "admission"} {
		value := float64(i + 1)
		full.Results = append(full.Results, Result{Stage: Versions, Of: of, N: 20000, Values: map[string]float64{
			"creates": value, "list": value, "chunks": value, "get": value,
		}})
	}
	full.Results[0].P99s = []*float64{new(0.5), nil}
	for name, r := range map[string]*Results{"nothing": {}, "everything": full} {
		t.Run(name, func(t *testing.T) {
			page := &bytes.Buffer{}
			require.NoError(t, r.WritePage(page))
			assert.NotContains(t, page.String(), "<no value>")
			assert.NotContains(t, page.String(), "%!")
		})
	}
	page := &bytes.Buffer{}
	require.NoError(t, full.WritePage(page))
	assert.Contains(t, page.String(), "| 1,000 | this operator | 1 s |")
	assert.Contains(t, page.String(), "| 1 s (0.5 s, –) |")
	assert.Contains(t, page.String(), "| 1,000 | with jitter | 9 | 12 | – | – | 0.05 s | – | – | none |")
	assert.Contains(t, page.String(), "| 1,000 | without | 1,000 | – | 1 s | – | 1 s | – | – | none |")
	assert.Contains(t, page.String(), "| LIST of 20,000, one answer | 1 s | 2 s | 2 | |")
	assert.Contains(t, page.String(), "| this operator | 20,020 | 60,000 | 1.5 s |")
	assert.Contains(t, page.String(), "| nothing | 3 minutes | – | – | 1.5 s | – | 0 | 12.3 | – |")
	assert.Contains(t, page.String(), "| internal/plan Handler/one v1 to v2 | 1.23 µs | 6,540,000 B |")
	assert.Contains(t, page.String(), "| ≤ 2 s | beside nothing 1.5 s<br>beside more ∞ s | **missed** |")
	assert.Contains(t, page.String(), "| ≤ 100 µs | v1 to v2 1.23 µs | met |")
}

func TestThePublishedPageIsWhatTheTemplateMakesOfThePublishedResults(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	r, err := Load(filepath.Join(docs, "performance", "results.json"))
	require.NoError(t, err)
	published, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	require.NoError(t, err)
	page := &bytes.Buffer{}
	require.NoError(t, r.WritePage(page))
	assert.Equal(t, string(published), page.String(),
		"run `go run ./test/bench -stages=report -results=docs/performance/results.json` and commit what it writes")
}
