// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package results has the results of the bench, checks them, and writes them as tables.
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
	Jitter   = "jitter"   // N CronJobs are due at once, and jitter delays their starts
	Idle     = "idle"     // no CronJob is due
	Versions = "versions" // CronJobs are created and read, in each version
	Restart  = "restart"  // a controller that was down comes back
	Tenants  = "tenants"  // CronJobs of some namespaces are due, beside those of another
	Churn    = "churn"    // CronJobs are created, run and are deleted
	Hour     = "hour"     // CronJobs are due once an hour, half of them at minutes that people choose
	Micro    = "micro"    // Go benchmarks
)

// The contenders.
const (
	Bare     = "bare"
	Operator = "operator"
	Tuned    = "tuned"
	Shipped  = "shipped"
)

// Results are the results of one or more runs. Each run replaces the results of its stages.
type Results struct {
	Environment Environment `json:"environment"`
	Results     []Result    `json:"results"`
}

// Environment is what the figures depend on.
type Environment struct {
	Kubernetes string  `json:"kubernetes"`
	Go         string  `json:"go"`
	Platform   string  `json:"platform"`
	CPUs       int     `json:"cpus"`
	CPU        string  `json:"cpu"`
	Memory     float64 `json:"memoryBytes"`
	// Operator is the operator's build of the last run. Each result has its own.
	Operator string `json:"operator"`
}

// Result is a result of a stage.
type Result struct {
	Stage string `json:"stage"`

	// Of is a contender, a part of the stage versions, the neighbour of the tenants, or a Go
	// benchmark.
	Of string `json:"of"`

	// N is the number of CronJobs.
	N int `json:"n,omitempty"`

	// Build is the operator's build, if that was measured.
	Build string `json:"build,omitempty"`

	// Values are the measured values by name: times in seconds, memory in bytes. Unknown ones are
	// missing, such as a quantile in the part that was cut off.
	Values map[string]float64 `json:"values"`

	// P99s are the 99th percentiles of repeated measurements, in order. The other values are those
	// of the measurement with the median.
	P99s []*float64 `json:"p99s,omitempty"`

	// Requests counts requests to the API server: in the stages ticks, jitter and hour per run.
	Requests map[string]float64 `json:"requests,omitempty"`

	// Wrong counts what must not happen, by kind.
	Wrong map[string]int `json:"wrong,omitempty"`
}

// The names of values that are used in several places.
const (
	P99        = "p99"         // of the delay from when a start is due until a watch sees the Job
	Statuses   = "statuses"    // from the tick until the last status was written, known to two seconds
	Written    = "written"     // from the tick until Jobs, statuses and events were written, known to two seconds
	CutAfter   = "cutAfter"    // when the measurement ended early: it would have taken too long
	CPU        = "cpu"         // of the process: in the stages ticks, jitter and hour per run
	Resident   = "resident"    // memory of the process
	Peak       = "peak"        // the most memory since the begin of the measurement, or of the process
	APIServer  = "apiServer"   // resident memory of the API server
	Etcd       = "etcd"        // size of etcd's data
	Seen       = "seen"        // Jobs
	Missed     = "missed"      // ticks without a Job
	Writes     = "writes"      // requests that change something
	Reconciles = "reconciles"  // only the operator tells
	PerCronJob = "perCronJob"  // live memory of the operator for each idle CronJob
	Allocated  = "allocations" // of a Go benchmark, for each operation
)

// New returns a result without values.
func New(stage, of string, n int) *Result {
	return &Result{Stage: stage, Of: of, N: n, Values: map[string]float64{}}
}

// Quantiles adds the quantiles of count delays. Those that are missing are longer than all others.
func (r *Result) Quantiles(known []time.Duration, count int) {
	sorted := slices.Sorted(slices.Values(known))
	for name, percent := range map[string]int{"p50": 50, "p90": 90, P99: 99, "max": 100} {
		if rank := (count*percent + 99) / 100; rank >= 1 && rank <= len(sorted) {
			r.Values[name] = sorted[rank-1].Seconds()
		}
	}
}

// Value returns a value; nil if it is unknown.
func (r *Result) Value(name string) *float64 {
	if value, isKnown := r.Values[name]; isKnown {
		return &value
	}
	return nil
}

// p99 returns the 99th percentile; infinity if it was cut off.
func (r *Result) p99() float64 {
	if value := r.Value(P99); value != nil {
		return *value
	}
	return math.Inf(1)
}

// agreement is by how much the last two 99th percentiles may differ without a further measurement.
const agreement = 1.2

// Agree reports whether the last two of repeated measurements agree. Two that were cut off do.
func Agree(measured []Result) bool {
	last := len(measured) - 1
	if last < 1 {
		return false
	}
	a, b := measured[last].p99(), measured[last-1].p99()
	return max(a, b) <= agreement*min(a, b)
}

// Median returns the one of repeated measurements that has the median of the 99th percentiles; of
// an even number, the slower one.
func Median(measured []Result) Result {
	sorted := slices.SortedFunc(slices.Values(measured), func(a, b Result) int { return cmp.Compare(a.p99(), b.p99()) })
	median := sorted[len(sorted)/2]
	if len(measured) > 1 {
		for _, t := range measured {
			median.P99s = append(median.P99s, t.Value(P99))
		}
	}
	return median
}

// Load reads results; none if the file does not exist.
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

// Add adds a result, or replaces an older one of the same measurement.
func (r *Results) Add(result Result) {
	if result.IsOurs() {
		result.Build = r.Environment.Operator
	}
	r.Results = slices.DeleteFunc(r.Results, func(old Result) bool {
		return old.Stage == result.Stage && old.Of == result.Of && (old.N == result.N || result.Stage != Ticks)
	})
	r.Results = append(r.Results, result)
}

// IsOurs reports whether the result is about the operator.
func (r *Result) IsOurs() bool { return !slices.Contains([]string{Bare, Tuned, Shipped}, r.Of) }

// Get returns a result; an empty one if there is none. Without a number it returns the first of
// any.
func (r *Results) Get(stage, of string, n int) *Result {
	i := slices.IndexFunc(r.Results, func(r Result) bool { return r.Stage == stage && r.Of == of && (n == 0 || r.N == n) })
	if i < 0 {
		return &Result{}
	}
	return &r.Results[i]
}

// budget has all requests that a run may make whose Job does not end.
var budget = map[string]float64{"create jobs": 1, "patch cronjobs/status": 1, "create events": 1}

// maxPerCronJob is how many bytes of memory an idle CronJob may take, and maxAllocations how often
// a decision may allocate: a tenth more than they do.
const maxPerCronJob = 7_300

var maxAllocations = map[string]float64{
	"internal/plan DecideWithFourJobs":               11,
	"internal/plan ReconcileAtATickWithManyFeatures": 247,
}

// Failures returns what the operator did and must not do. memoryLimit is in bytes.
func (r *Result) Failures(memoryLimit int64) (failures []string) {
	fail := func(format string, args ...any) {
		failures = append(failures, fmt.Sprintf("%s %s N=%d: ", r.Stage, r.Of, r.N)+fmt.Sprintf(format, args...))
	}
	for _, what := range r.WentWrong() {
		fail("%s", what)
	}
	if r.Stage == Ticks || r.Stage == Jitter || r.Stage == Hour {
		for _, key := range slices.Sorted(maps.Keys(r.Requests)) {
			if most := budget[key]; r.Requests[key] > most {
				fail("%.3f × %q a run: want at most %v", r.Requests[key], key, most)
			}
		}
	}
	if peak := r.Values[Peak]; peak > float64(memoryLimit) {
		fail("%.0f bytes of memory: it may take %d", peak, memoryLimit)
	}
	if size := r.Values[PerCronJob]; size > maxPerCronJob {
		fail("%.0f bytes of memory for each CronJob: want at most %d", size, maxPerCronJob)
	}
	if most, isLimited := maxAllocations[r.Of]; isLimited && r.Values[Allocated] > most {
		fail("%v allocations: want at most %v", r.Values[Allocated], most)
	}
	return failures
}

// WentWrong describes what happened and must not.
func (r *Result) WentWrong() (wrong []string) {
	for _, what := range slices.Sorted(maps.Keys(r.Wrong)) {
		wrong = append(wrong, fmt.Sprintf("%d %s", r.Wrong[what], what))
	}
	if cut := r.Value(CutAfter); cut != nil {
		wrong = append(wrong, fmt.Sprintf("%.0f started when cut off after %.3g s", r.Values[Seen], *cut))
	}
	for _, what := range []string{Missed, Writes, Reconciles} {
		if value := r.Values[what]; value > 0 {
			wrong = append(wrong, fmt.Sprintf("%v %s: want none", value, what))
		}
	}
	return wrong
}
