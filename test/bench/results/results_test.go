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

func TestQuantilesAreOfAllAlsoOfThoseUnknown(t *testing.T) {
	var known []time.Duration
	for i := 95; i >= 1; i-- {
		known = append(known, time.Duration(i)*time.Second)
	}
	got := QuantilesOf(known, 100)
	assert.Equal(t, Quantiles{P50: new(50.0), P90: new(90.0)}, got, "the last five are not known, but longer")
	assert.Equal(t, Quantiles{}, QuantilesOf(nil, 0))
	assert.Equal(t, Quantiles{P50: new(1.0), P90: new(1.0), P99: new(1.0), Max: new(1.0)}, QuantilesOf([]time.Duration{time.Second}, 1))
}

func TestResultsOfALaterRunReplaceThoseOfTheSameMeasurement(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "results.json")
	r, err := Load(file)
	require.NoError(t, err)
	r.Add(Tick{Subject: Subject{Contender: Operator}, N: 1000, CPU: 1})
	r.Add(Tick{Subject: Subject{Contender: Tuned}, N: 1000, CPU: 2})
	require.NoError(t, r.Save(file))
	r, err = Load(file)
	require.NoError(t, err)
	r.Add(Tick{Subject: Subject{Contender: Operator}, N: 1000, CPU: 3})
	r.Add(Tick{Subject: Subject{Contender: Operator}, N: 5000, CPU: 4})
	require.Len(t, r.Ticks, 3)
	assert.InDelta(t, 3, r.Tick(Operator, 1000).CPU, 0)
	assert.InDelta(t, 2, r.Tick(Tuned, 1000).CPU, 0)
	assert.Nil(t, r.Tick(Shipped, 1000))
}

func TestOnlyTheOperatorFails(t *testing.T) {
	bad := Tick{N: 10, Seen: 8, Wrong: map[string]int{Missed: 2, Twice: 1}, Requests: map[string]float64{
		"create jobs": 1.1, "patch cronjobs/status": 1, "create events": 0.9, "get jobs": 0.1,
	}}
	bad.Contender = Tuned
	assert.Empty(t, bad.failures())
	bad.Contender = Operator
	assert.Equal(t, []string{
		"N=10: 2 CronJobs without a Job",
		"N=10: 1 Jobs too many for a tick",
		`N=10: 1.100 × "create jobs" a run: want at most 1`,
		`N=10: 0.100 × "get jobs" a run: want at most 0`,
	}, bad.failures())
	assert.Len(t, (&Tick{Subject: Subject{Contender: Operator}, N: 10, Seen: 8, CutAfter: 300}).failures(), 1)
	assert.Empty(t, (&Idle{Subject: Subject{Contender: Operator}, Reconciles: new(0.0)}).failures())
	assert.Empty(t, (&Results{}).Add(Tenants{}))
	assert.Equal(t, []string{"beside some: 2 ticks of other namespaces were missed"}, (&Results{}).Add(Tenants{Beside: "some", Missed: 2}))
	assert.Len(t, (&Idle{Subject: Subject{Contender: Operator}, Writes: 1, Reconciles: new(1.0)}).failures(), 2)
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
	r := &Results{Ticks: []Tick{
		{Subject: Subject{Contender: Bare}, N: 1000, Took: 1},
		{Subject: Subject{Contender: Operator}, N: 1000, Delay: Quantiles{P99: new(1.5)}, CPU: 0.001},
		{Subject: Subject{Contender: Tuned}, N: 1000, Delay: Quantiles{P99: new(6.0)}, CPU: 0.002},
		{Subject: Subject{Contender: Shipped}, N: 1000}, // cut off before the 99th percentile
		{Subject: Subject{Contender: Operator}, N: 200, Delay: Quantiles{P99: new(9.0)}},
		{Subject: Subject{Contender: Tuned}, N: 200, Delay: Quantiles{P99: new(1.0)}},
	}}
	targets := r.Targets()
	assert.Equal(t, []Figure{{"N=1,000", 0.25}}, targets[0].Got)
	assert.Equal(t, []Figure{{"N=1,000", 1.5}}, targets[1].Got)
	assert.Empty(t, targets[2].Got)
}

func TestTheMedianOfSeveralTicksCounts(t *testing.T) {
	of := func(cpu, p99 float64) Tick { return Tick{CPU: cpu, Delay: Quantiles{P99: &p99}} }
	assert.Equal(t, of(1, 9), MedianTick([]Tick{of(1, 9)}))
	got := MedianTick([]Tick{of(1, 9), of(2, 5), {CPU: 3}})
	assert.InDelta(t, 1, got.CPU, 0, "what was cut off is the slowest")
	assert.Equal(t, []*float64{new(9.0), new(5.0), nil}, got.P99s)
	assert.InDelta(t, 1, MedianTick([]Tick{of(1, 9), of(2, 5)}).CPU, 0, "of two, the slower")
}

func TestTheRatesAreThoseOfTheLargestNumber(t *testing.T) {
	r := &Results{Ticks: []Tick{
		{Subject: Subject{Contender: Operator}, N: 20000, Delay: Quantiles{Max: new(25.0)}, Written: 200},
		{Subject: Subject{Contender: Operator}, N: 1000, Delay: Quantiles{Max: new(1.0)}, Written: 2},
		{Subject: Subject{Contender: Tuned}, N: 20000, CutAfter: 180},
	}}
	assert.InDelta(t, 800, r.Rate(Operator), 0)
	assert.InDelta(t, 100, r.Runs(Operator), 0)
	assert.Zero(t, r.Rate(Tuned), "it was cut off")
	assert.Zero(t, r.Runs(Tuned))
	assert.Zero(t, r.Rate(Bare), "it was not measured")
	r.Add(Tick{Subject: Subject{Contender: Tuned}, N: 1000, Delay: Quantiles{Max: new(2.0)}, Written: 4})
	assert.InDelta(t, 500, r.Rate(Tuned), 0, "the largest that was not cut off")
	assert.InDelta(t, 250, r.Runs(Tuned), 0)
}

func TestResultsSayOfWhichBuildTheyAre(t *testing.T) {
	r := &Results{Environment: Environment{Operator: "aaaa"}}
	assert.Empty(t, r.Builds())
	r.Add(Tick{Subject: Subject{Contender: Operator}, N: 1000})
	r.Add(Tick{Subject: Subject{Contender: Bare}, N: 1000})
	r.Add(Restart{Subject: Subject{Contender: Operator}})
	assert.Equal(t, []string{"aaaa"}, r.Builds())
	r.Environment.Operator = "bbbb"
	r.Add(Tick{Subject: Subject{Contender: Operator}, N: 5000})
	r.Add(Idle{Subject: Subject{Contender: Operator}})
	r.Add(Versions{})
	assert.Equal(t, []string{"aaaa", "bbbb"}, r.Builds())
	assert.Empty(t, r.Tick(Bare, 1000).Build)
}

func TestAPageCanBeMadeOfAnyPart(t *testing.T) {
	both := map[string]float64{OfV1: 1, OfV2: 2, OfCRD: 3, OfAdmission: 2, OfBuiltin: 4}
	full := &Results{
		Ticks: []Tick{
			{Subject: Subject{Contender: Operator}, N: 1000, Seen: 1000, Delay: QuantilesOf([]time.Duration{time.Second}, 1), P99s: []*float64{new(0.5), nil}},
			{Subject: Subject{Contender: Shipped}, N: 1000},
		},
		Idle:     []Idle{{Subject: Subject{Contender: Operator}, Reconciles: new(0.0)}, {Subject: Subject{Contender: Tuned}}},
		Versions: &Versions{N: 20000, Creates: both, List: both, ListChunks: both, Get: both},
		Restart:  []Restart{{Subject: Subject{Contender: Operator}, CronJobs: 20020, Jobs: 60000, First: 1.5}},
		Tenants:  []Tenants{{Beside: "nothing", Minutes: 3, Delay: Quantiles{P99: new(1.5)}, Rate: 12.3}, {Beside: "more", Missed: 4}},
		Micro:    []Micro{{Package: "internal/plan", Name: "Handler/one_v1_to_v2", Nanoseconds: 1234}},
	}
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
