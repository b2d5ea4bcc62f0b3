// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package results has what the bench has measured, says whether it is what the operator must reach,
// and makes the page docs/performance.md of it.
package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The stages of the bench.
const (
	Ticks    = "ticks"    // N CronJobs are due at once
	Idle     = "idle"     // there are CronJobs that are not due
	Versions = "versions" // CronJobs are created and read, in each version
	Restart  = "restart"  // a controller that was down comes back
	Tenants  = "tenants"  // CronJobs of some namespaces are due, beside what there is in another
	Churn    = "churn"    // CronJobs come, run and go
	Micro    = "micro"    // Go benchmarks
)

// The contenders.
const (
	Bare     = "bare"
	Operator = "operator"
	Tuned    = "tuned"
	Shipped  = "shipped"
)

// What is measured in the stage versions, beside CronJobs of v1 and v2 with the operator.
const (
	V1        = "v1"
	V2        = "v2"
	Builtin   = "builtin"
	CRD       = "crd"       // what has v1's schema alone
	Admission = "admission" // v1 with the webhooks and nobody who reconciles
)

// Results are those of a run, or of several whose stages were run one by one.
type Results struct {
	Environment Environment `json:"environment"`
	Results     []Result    `json:"results"`
}

// Environment is what the figures depend on.
type Environment struct {
	Kubernetes string `json:"kubernetes"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	CPUs       int    `json:"cpus"`
	CPU        string `json:"cpu"`
	Memory     uint64 `json:"memoryBytes"`
	// Operator is the operator's build that was measured last: each result has its own.
	Operator   string `json:"operator"`
	Namespaces int    `json:"namespaces"`
}

// Result is what was measured in a stage.
type Result struct {
	Stage string `json:"stage"`

	// Of is a contender, a version, what there was in the other namespace, or a Go benchmark.
	Of string `json:"of"`

	// N is how many CronJobs there were.
	N int `json:"n,omitempty"`

	// Build is the operator's, if that was measured.
	Build string `json:"build,omitempty"`

	// Values are what was measured, by name: times in seconds, memory in bytes. One that is not
	// known is not there, such as a quantile that lies in the part that was cut off.
	Values map[string]float64 `json:"values"`

	// P99s are the 99th percentiles of the delay each time that it was measured, in order. The rest
	// is of the time that was their median.
	P99s []*float64 `json:"p99s,omitempty"`

	// Requests has what was asked of the API server: in the stage ticks per run.
	Requests map[string]float64 `json:"requests,omitempty"`

	// Wrong counts what there must be none of.
	Wrong map[string]int `json:"wrong,omitempty"`
}

// The names of values that more than one place knows.
const (
	P99      = "p99" // of the delay from a tick until a watch saw the Job; P50, P90 and Max alike
	Max      = "max"
	Took     = "took"     // by the bare client's requests, from first to last
	Written  = "written"  // from the tick until Jobs, statuses and events were written, known to two seconds
	CutAfter = "cutAfter" // when the measuring was broken off, for it would have taken too long
	CPU      = "cpu"      // of the process: of ticks per run
	Resident = "resident" // memory of the process
	Peak     = "peak"     // the most of it since shortly before the tick, or the start
	Seen     = "seen"     // Jobs
	Missed   = "missed"   // ticks without a Job
	Creates  = "creates"  // in a second, by 32 workers
	List     = "list"     // of all CronJobs, in one answer
	Writes   = "writes"   // requests that change something

	// Reconciles are those within the time; only the operator tells.
	Reconciles = "reconciles"
)

// What Result.Wrong counts.
const (
	Twice     = "Jobs too many for a tick"
	NotRun    = "CronJobs without a Job"
	Early     = "Jobs before their tick"
	Astray    = "Jobs of no CronJob, or for another tick"
	Unwritten = "statuses that do not tell of the run"
)

// Quantiles adds the quantiles of all of count times, of which some may be unknown, and longer than
// all known.
func (r *Result) Quantiles(known []time.Duration, count int) {
	sorted := slices.Sorted(slices.Values(known))
	for name, percent := range map[string]int{"p50": 50, "p90": 90, P99: 99, Max: 100} {
		if rank := (count*percent + 99) / 100; rank >= 1 && rank <= len(sorted) {
			r.Values[name] = sorted[rank-1].Seconds()
		}
	}
}

// Value returns a value; nil if it is not known.
func (r *Result) Value(name string) *float64 {
	if r == nil {
		return nil
	}
	if value, isKnown := r.Values[name]; isKnown {
		return &value
	}
	return nil
}

// orInf returns a value; one that was cut off is longer than all.
func (r *Result) orInf(name string) float64 {
	if value := r.Value(name); value != nil {
		return *value
	}
	return math.Inf(1)
}

// Median returns the one of several measurements whose 99th percentile of the delay is their
// median; of an even number, the slower one.
func Median(measured []Result) Result {
	sorted := slices.SortedFunc(slices.Values(measured), func(a, b Result) int { return cmp.Compare(a.orInf(P99), b.orInf(P99)) })
	median := sorted[len(sorted)/2]
	if len(measured) > 1 {
		for _, t := range measured {
			median.P99s = append(median.P99s, t.Value(P99))
		}
	}
	return median
}

// Load reads results; there are none when the file does not exist.
func Load(path string) (*Results, error) {
	r := &Results{}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(content, r)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the results so far, %s: %w (delete it to begin anew)", path, err)
	}
	return r, nil
}

// Save writes results to a file.
func (r *Results) Save(path string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // results are for everybody
	}
	if err == nil {
		err = os.WriteFile(path, append(content, '\n'), 0o644) //nolint:gosec // results are for everybody
	}
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// Add keeps a result in the place of an older one of the same measurement, and returns what the
// operator did in it that it must never do, and what it failed to do. How others fare is no failure
// of ours, but in the table.
func (r *Results) Add(result Result) []string {
	if result.IsOurs() {
		result.Build = r.Environment.Operator
	}
	isOld := func(old Result) bool {
		return old.Stage == result.Stage && old.Of == result.Of && (old.N == result.N || result.Stage != Ticks)
	}
	if i := slices.IndexFunc(r.Results, isOld); i >= 0 {
		r.Results[i] = result
	} else {
		r.Results = append(r.Results, result)
	}
	if !result.IsOurs() {
		return nil
	}
	return result.failures()
}

// IsOurs reports whether it is about the operator.
func (r *Result) IsOurs() bool { return !slices.Contains([]string{Bare, Tuned, Shipped}, r.Of) }

// Get returns a result; nil if there is none. Without a number it is the first of any.
func (r *Results) Get(stage, of string, n int) *Result {
	i := slices.IndexFunc(r.Results, func(r Result) bool { return r.Stage == stage && r.Of == of && (n == 0 || r.N == n) })
	if i < 0 {
		return nil
	}
	return &r.Results[i]
}

// budget is what a run may ask of the API server when its Job does not end; and nothing else.
var budget = map[string]float64{"create jobs": 1, "patch cronjobs/status": 1, "create events": 1}

// failures returns what must not be.
func (r *Result) failures() (failures []string) {
	fail := func(format string, args ...any) { failures = append(failures, fmt.Sprintf(format, args...)) }
	switch r.Stage {
	case Ticks:
		if cut := r.Value(CutAfter); cut != nil {
			fail("N=%d: only %v CronJobs had run %v s after the tick", r.N, r.Values[Seen], *cut)
		}
		for _, what := range slices.Sorted(maps.Keys(r.Wrong)) {
			fail("N=%d: %d %s", r.N, r.Wrong[what], what)
		}
		for _, key := range slices.Sorted(maps.Keys(r.Requests)) {
			if most := budget[key]; r.Requests[key] > most {
				fail("N=%d: %.3f × %q a run: want at most %v", r.N, r.Requests[key], key, most)
			}
		}
	case Idle:
		for _, what := range []string{Writes, Reconciles} {
			if r.Values[what] != 0 {
				fail("idle: %v %s: want none", r.Values[what], what)
			}
		}
	case Tenants:
		if r.Values[Missed] > 0 {
			fail("beside %s: %v ticks of other namespaces were missed", r.Of, r.Values[Missed])
		}
	}
	return failures
}
