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

// Contender names what was measured.
type Contender string

// The contenders.
const (
	Bare     Contender = "bare"
	Operator Contender = "operator"
	Tuned    Contender = "tuned"
	Shipped  Contender = "shipped"
)

// Results are those of a run, or of several whose stages were run one by one. Times are in seconds
// unless the name says otherwise, memory is in bytes.
type Results struct {
	Environment Environment `json:"environment"`
	Ticks       []Tick      `json:"ticks,omitempty"`
	Idle        []Idle      `json:"idle,omitempty"`
	Versions    *Versions   `json:"versions,omitempty"`
	Restart     []Restart   `json:"restart,omitempty"`
	Tenants     []Tenants   `json:"tenants,omitempty"`
	Churn       *Churn      `json:"churn,omitempty"`
	Micro       []Micro     `json:"micro,omitempty"`
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

// Subject is whom a result is about.
type Subject struct {
	Contender Contender `json:"contender"`
	// Build is the operator's.
	Build string `json:"build,omitempty"`
}

// Memory is what a process has of it at an instant, and the most that it had.
type Memory struct {
	Resident uint64 `json:"resident"`
	Peak     uint64 `json:"peak"`
}

// Tick is what happened when all of N CronJobs were due at once.
type Tick struct {
	Subject
	N int `json:"n"`

	// P99s are the 99th percentiles of the delay each time that it was measured, in order. The rest
	// is of the time that was their median.
	P99s []*float64 `json:"p99s,omitempty"`

	// Delay is from the tick until a watch saw the Job. A quantile that lies in the part that was
	// cut off is null.
	Delay Quantiles `json:"delay"`
	// Took is how long the bare client's requests took, from first to last.
	Took float64 `json:"took,omitempty"`
	// Written is from the tick until all was written: Jobs, statuses and events. It is known to two
	// seconds.
	Written float64 `json:"written,omitempty"`
	// CutAfter is when the measuring was broken off, for it would have taken too long.
	CutAfter float64 `json:"cutAfter,omitempty"`

	// CPU is what the process used per run that was started, from shortly before the tick until it
	// had nothing left to write.
	CPU float64 `json:"cpuPerRun"`
	// Memory is that of shortly before the tick, and the most since then.
	Memory
	// Requests has what was asked of the API server meanwhile, per run.
	Requests map[string]float64 `json:"requestsPerRun"`

	// Seen is how many Jobs there were, and Wrong counts what there must be none of.
	Seen  int            `json:"seen"`
	Wrong map[string]int `json:"wrong,omitempty"`
}

// What Tick.Wrong counts.
const (
	Twice     = "Jobs too many for a tick"
	Missed    = "CronJobs without a Job"
	Early     = "Jobs before their tick"
	Astray    = "Jobs of no CronJob, or for another tick"
	Unwritten = "statuses that do not tell of the run"
)

// Quantiles of a time.
type Quantiles struct {
	P50 *float64 `json:"p50"`
	P90 *float64 `json:"p90"`
	P99 *float64 `json:"p99"`
	Max *float64 `json:"max"`
}

// QuantilesOf returns the quantiles of all of count times, of which some may be unknown, and longer
// than all known.
func QuantilesOf(known []time.Duration, count int) Quantiles {
	sorted := slices.Sorted(slices.Values(known))
	nearest := func(percent int) *float64 {
		rank := (count*percent + 99) / 100
		if rank < 1 || rank > len(sorted) {
			return nil
		}
		return new(sorted[rank-1].Seconds())
	}
	return Quantiles{P50: nearest(50), P90: nearest(90), P99: nearest(99), Max: nearest(100)}
}

// MedianTick returns the one of several measurements whose 99th percentile of the delay is their
// median; of an even number, the slower one.
func MedianTick(measured []Tick) Tick {
	sorted := slices.SortedFunc(slices.Values(measured), func(a, b Tick) int { return cmp.Compare(orInf(a.Delay.P99), orInf(b.Delay.P99)) })
	median := sorted[len(sorted)/2]
	if len(measured) > 1 {
		for _, t := range measured {
			median.P99s = append(median.P99s, t.Delay.P99)
		}
	}
	return median
}

// orInf returns a value; one that was cut off is longer than all.
func orInf(value *float64) float64 {
	if value == nil {
		return math.Inf(1)
	}
	return *value
}

// Idle is what it costs that there are CronJobs that are not due.
type Idle struct {
	Subject
	N    int     `json:"n"`
	Span float64 `json:"span"`
	CPU  float64 `json:"cpu"`
	Memory
	// Requests are all within the span.
	Requests map[string]float64 `json:"requests"`
	Writes   float64            `json:"writes"`
	// Reconciles within the span; only the operator tells.
	Reconciles *float64 `json:"reconciles,omitempty"`
}

// Names in the maps of Versions.
const (
	OfV1      = "v1"
	OfV2      = "v2"
	OfBuiltin = "builtin"

	// OfCRD is what has v1's schema alone, and OfAdmission v1 with the webhooks and nobody who
	// reconciles.
	OfCRD       = "crd"
	OfAdmission = "admission"
)

// Versions is what reading and creating costs in each version.
type Versions struct {
	// Build is the operator's.
	Build string `json:"build,omitempty"`
	N     int    `json:"n"`
	// Creates is how many CronJobs a second 32 workers create.
	Creates map[string]float64 `json:"createsPerSecond"`
	// List is how long it takes to read all, in one answer.
	List map[string]float64 `json:"list"`
	// ListChunks is the same in chunks of 500, as kubectl does.
	ListChunks map[string]float64 `json:"listInChunks"`
	// Get is how long it takes to read one; the median.
	Get map[string]float64 `json:"get"`
}

// Restart is how a controller that was down comes back.
type Restart struct {
	Subject
	CronJobs int `json:"cronJobs"`
	Jobs     int `json:"jobs"`
	// First is from the start of the process until a watch saw the first of the Jobs that were due;
	// the median of several starts. Last is the same for the last.
	First float64 `json:"first"`
	Last  float64 `json:"last"`
	// Memory is that of a while after all is done.
	Memory
}

// Tenants is how late the operator starts the CronJobs of some namespaces, each of which is due
// every minute, beside what there is in another.
type Tenants struct {
	Build string `json:"build,omitempty"`
	// Beside says what there is in the other namespace.
	Beside     string `json:"beside"`
	CronJobs   int    `json:"cronJobs"`
	Namespaces int    `json:"namespaces"`
	// Minutes is for how many minutes it was measured.
	Minutes int `json:"minutes"`
	// Delay is from the tick until a watch saw the Job, and Missed how many never came.
	Delay  Quantiles `json:"delay"`
	Missed int       `json:"missed"`
	// Rate is how many Jobs a second were started in the other namespace meanwhile.
	Rate float64 `json:"rate"`
	Peak uint64  `json:"peak"`
}

// Churn is what becomes of the manager while CronJobs come, run and go.
type Churn struct {
	Build string  `json:"build,omitempty"`
	Span  float64 `json:"span"`
	// CronJobs is how many have come and gone, and Jobs how many they started.
	CronJobs int `json:"cronJobs"`
	Jobs     int `json:"jobs"`
	// Early and Late are the medians of the gauges after the warm-up and at the end, by name.
	Early map[string]float64 `json:"early"`
	Late  map[string]float64 `json:"late"`
}

// Micro is a Go benchmark.
type Micro struct {
	Package     string  `json:"package"`
	Name        string  `json:"name"`
	Nanoseconds float64 `json:"nsPerOp"`
	Bytes       uint64  `json:"bytesPerOp"`
	Allocations uint64  `json:"allocsPerOp"`
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
func (r *Results) Add(result any) []string {
	build := r.Environment.Operator
	switch result := result.(type) {
	case Tick:
		r.name(&result.Subject)
		r.Ticks = put(r.Ticks, result, func(old Tick) bool { return old.Contender == result.Contender && old.N == result.N })
		return result.failures()
	case Idle:
		r.name(&result.Subject)
		r.Idle = put(r.Idle, result, func(old Idle) bool { return old.Contender == result.Contender })
		return result.failures()
	case Restart:
		r.name(&result.Subject)
		r.Restart = put(r.Restart, result, func(old Restart) bool { return old.Contender == result.Contender })
	case Tenants:
		result.Build = build
		r.Tenants = put(r.Tenants, result, func(old Tenants) bool { return old.Beside == result.Beside })
		if result.Missed > 0 {
			return []string{fmt.Sprintf("beside %s: %d ticks of other namespaces were missed", result.Beside, result.Missed)}
		}
	case Versions:
		result.Build = build
		r.Versions = &result
	case Churn:
		result.Build = build
		r.Churn = &result
	}
	return nil
}

// name notes the build of what was measured, if that is the operator.
func (r *Results) name(s *Subject) {
	if s.Contender == Operator {
		s.Build = r.Environment.Operator
	}
}

// put replaces the item that is the same, or adds one.
func put[T any](items []T, item T, same func(T) bool) []T {
	if i := slices.IndexFunc(items, same); i >= 0 {
		items[i] = item
		return items
	}
	return append(items, item)
}

// Tick returns a contender's result for a number of CronJobs; nil if there is none.
func (r *Results) Tick(c Contender, n int) *Tick {
	return find(r.Ticks, func(t Tick) bool { return t.Contender == c && t.N == n })
}

func find[T any](items []T, is func(T) bool) *T {
	if i := slices.IndexFunc(items, is); i >= 0 {
		return &items[i]
	}
	return nil
}

// budget is what a run may ask of the API server when its Job does not end; and nothing else.
var budget = map[string]float64{"create jobs": 1, "patch cronjobs/status": 1, "create events": 1}

func (t *Tick) failures() []string {
	if t.Contender != Operator {
		return nil
	}
	var failures []string
	if t.CutAfter > 0 {
		failures = append(failures, fmt.Sprintf("N=%d: only %d CronJobs had run %v s after the tick", t.N, t.Seen, t.CutAfter))
	}
	for _, what := range slices.Sorted(maps.Keys(t.Wrong)) {
		failures = append(failures, fmt.Sprintf("N=%d: %d %s", t.N, t.Wrong[what], what))
	}
	for _, key := range slices.Sorted(maps.Keys(t.Requests)) {
		if most := budget[key]; t.Requests[key] > most {
			failures = append(failures, fmt.Sprintf("N=%d: %.3f × %q a run: want at most %v", t.N, t.Requests[key], key, most))
		}
	}
	return failures
}

func (i *Idle) failures() []string {
	var failures []string
	if i.Contender == Operator && i.Writes != 0 {
		failures = append(failures, fmt.Sprintf("idle: %v writes: want none", i.Writes))
	}
	if i.Reconciles != nil && *i.Reconciles != 0 {
		failures = append(failures, fmt.Sprintf("idle: %v reconciles: want none", *i.Reconciles))
	}
	return failures
}
