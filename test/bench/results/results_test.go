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
	assert.Equal(t, map[string]float64{"p50": 1, "p90": 1, P99: 1, Max: 1}, quantiles([]time.Duration{time.Second}, 1))
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
	assert.Nil(t, r.Get(Ticks, Shipped, 1000))
}

func TestOnlyTheOperatorFails(t *testing.T) {
	bad := Result{
		Stage: Ticks, Of: Tuned, N: 10, Wrong: map[string]int{NotRun: 2, Twice: 1}, Values: map[string]float64{Seen: 8},
		Requests: map[string]float64{"create jobs": 1.1, "patch cronjobs/status": 1, "create events": 0.9, "get jobs": 0.1},
	}
	assert.Empty(t, (&Results{}).Add(bad))
	bad.Of = Operator
	assert.Equal(t, []string{
		"N=10: 2 CronJobs without a Job",
		"N=10: 1 Jobs too many for a tick",
		`N=10: 1.100 × "create jobs" a run: want at most 1`,
		`N=10: 0.100 × "get jobs" a run: want at most 0`,
	}, (&Results{}).Add(bad))
	assert.Len(t, (&Results{}).Add(tick(Operator, 10, map[string]float64{Seen: 8, CutAfter: 300})), 1)
	assert.Empty(t, (&Results{}).Add(Result{Stage: Idle, Of: Operator, Values: map[string]float64{Reconciles: 0}}))
	assert.Len(t, (&Results{}).Add(Result{Stage: Idle, Of: Operator, Values: map[string]float64{Writes: 1, Reconciles: 1}}), 2)
	assert.Empty(t, (&Results{}).Add(Result{Stage: Idle, Of: Tuned, Values: map[string]float64{Writes: 1}}))
	assert.Empty(t, (&Results{}).Add(Result{Stage: Tenants, Of: "some"}))
	assert.Equal(t, []string{"beside some: 2 ticks of other namespaces were missed"},
		(&Results{}).Add(Result{Stage: Tenants, Of: "some", Values: map[string]float64{Missed: 2}}))
}

func TestVerdicts(t *testing.T) {
	tests := map[string]struct {
		target       Target
		want, wanted string
	}{
		"nothing measured":   {Target{Limit: 0.5}, "not measured", "≤ 0.5"},
		"at the limit":       {Target{Limit: 0.5, Got: []Figure{{"", 0.5}}}, "met", "≤ 0.5"},
		"one of two above":   {Target{Limit: 0.5, Got: []Figure{{"", 0.4}, {"", 0.6}}}, "**missed**", "≤ 0.5"},
		"less than at least": {Target{Limit: 0.4, AtLeast: true, Got: []Figure{{"", 0.3}}}, "**missed**", "≥ 0.4"},
		"more than at least": {Target{Limit: 0.4, AtLeast: true, Got: []Figure{{"", 0.5}}}, "met", "≥ 0.4"},
		"none, and none":     {Target{Got: []Figure{{"", 0}}}, "met", "0"},
		"none, and one":      {Target{Got: []Figure{{"", 1}}}, "**missed**", "0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, test.target.Verdict())
			assert.Equal(t, test.wanted, test.target.Wanted())
		})
	}
}

func TestTargetsAreRatiosWithinTheResults(t *testing.T) {
	r := &Results{Results: []Result{
		tick(Bare, 1000, map[string]float64{Took: 1}),
		tick(Operator, 1000, map[string]float64{P99: 1.5, CPU: 0.001}),
		tick(Tuned, 1000, map[string]float64{P99: 6, CPU: 0.002}),
		tick(Shipped, 1000, nil), // cut off before the 99th percentile
		tick(Operator, 200, map[string]float64{P99: 9}),
		tick(Tuned, 200, map[string]float64{P99: 1}),
	}}
	targets := r.Targets()
	assert.Equal(t, []Figure{{"N=1,000", 0.25}}, targets[0].Got)
	assert.Equal(t, []Figure{{"N=1,000", 1.5}}, targets[1].Got)
	assert.Empty(t, targets[2].Got)
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
		tick(Operator, 20000, map[string]float64{Max: 25, Written: 200}),
		tick(Operator, 1000, map[string]float64{Max: 1, Written: 2}),
		tick(Tuned, 20000, map[string]float64{CutAfter: 180}),
	}}
	assert.InDelta(t, 800, r.Rate(Operator, Max), 0)
	assert.InDelta(t, 100, r.Rate(Operator, Written), 0)
	assert.Zero(t, r.Rate(Tuned, Max), "it was cut off")
	assert.Zero(t, r.Rate(Tuned, Written))
	assert.Zero(t, r.Rate(Bare, Max), "it was not measured")
	r.Add(tick(Tuned, 1000, map[string]float64{Max: 2, Written: 4}))
	assert.InDelta(t, 500, r.Rate(Tuned, Max), 0, "the largest that was not cut off")
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
	r.Add(Result{Stage: Versions, Of: V1})
	assert.Equal(t, []string{"aaaa", "bbbb"}, r.Builds())
	assert.Empty(t, r.Get(Ticks, Bare, 1000).Build)
}

func TestAPageCanBeMadeOfAnyPart(t *testing.T) {
	full := &Results{Results: []Result{
		tick(Operator, 1000, map[string]float64{"p50": 1, P99: 1, Seen: 1000}),
		tick(Shipped, 1000, nil),
		{Stage: Idle, Of: Operator, Values: map[string]float64{Reconciles: 0}},
		{Stage: Idle, Of: Tuned},
		{Stage: Restart, Of: Operator, N: 20020, Values: map[string]float64{"jobs": 60000, "first": 1.5}},
		{Stage: Tenants, Of: "nothing", Values: map[string]float64{"minutes": 3, P99: 1.5, "rate": 12.3, Missed: 0}},
		{Stage: Tenants, Of: "more", Values: map[string]float64{Missed: 4}},
		{Stage: Micro, Of: "internal/plan Handler/one_v1_to_v2", Values: map[string]float64{"ns": 1234, "bytes": 6537991}},
	}}
	for i, of := range []string{V1, V2, Builtin, CRD, Admission} {
		value := float64(i + 1)
		full.Results = append(full.Results, Result{Stage: Versions, Of: of, N: 20000, Values: map[string]float64{
			Creates: value, List: value, "chunks": value, "get": value,
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
	assert.Contains(t, page.String(), "| 1 s (0.50 s, –) |")
	assert.Contains(t, page.String(), "| LIST of 20,000, one answer | 1 s | 2 s | 2 | |")
	assert.Contains(t, page.String(), "| this operator | 20,020 | 60,000 | 1.50 s |")
	assert.Contains(t, page.String(), "| nothing | 3 minutes | – | – | 1.50 s | – | 0 | 12.3 | 0 MiB |")
	assert.Contains(t, page.String(), "| internal/plan Handler/one v1 to v2 | 1.23µs | 6537991 B |")
	assert.Contains(t, page.String(), "| ≤ 2 s | with nothing 1.50 s<br>with more +Inf s | **missed** |")
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
