// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Summary is a result in a line.
func (t *Tick) Summary() string {
	requests := make([]string, 0, len(t.Requests))
	for _, key := range slices.Sorted(maps.Keys(t.Requests)) {
		requests = append(requests, fmt.Sprintf("%s %.2f", key, t.Requests[key]))
	}
	return fmt.Sprintf("%s, N=%d: p50 %s p90 %s p99 %s max %s; CPU per run %.2f ms; %d MiB, peak %d; per run: %s",
		t.Contender, t.N, seconds(t.Delay.P50), seconds(t.Delay.P90), seconds(t.Delay.P99), seconds(t.Delay.Max),
		t.CPU*1e3, t.Resident>>20, t.Peak>>20, strings.Join(requests, ", "))
}

// seconds writes a time that may be unknown.
func seconds(value *float64) string {
	if value == nil {
		return "?"
	}
	return fmt.Sprintf("%.2f s", *value)
}

// Failures says what the operator did that it must never do, and what it failed to do. How others fare is no
// failure of ours, but in the table.
func (t *Tick) Failures() []string {
	if t.Contender != Operator {
		return nil
	}
	var failures []string
	if t.CutAfter > 0 {
		failures = append(failures, fmt.Sprintf("N=%d: only %d CronJobs had run %v s after the tick", t.N, t.Seen, t.CutAfter))
	}
	for _, count := range []struct {
		what  string
		value int
	}{
		{"Jobs too many for a tick", t.Duplicates},
		{"CronJobs did not run", t.Missed},
		{"Jobs were there before their tick", t.Early},
		{"Jobs were of no CronJob, or for another tick", t.Astray},
		{"statuses do not tell of the run", t.Unwritten},
	} {
		if count.value != 0 {
			failures = append(failures, fmt.Sprintf("N=%d: %d %s", t.N, count.value, count.what))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Requests)) {
		if most := budget[key]; t.Requests[key] > most {
			failures = append(failures, fmt.Sprintf("N=%d: %.3f × %q a run: want at most %v", t.N, t.Requests[key], key, most))
		}
	}
	return failures
}

// budget is what a run may ask of the API server when its Job does not end; and nothing else.
var budget = map[string]float64{"create jobs": 1, "patch cronjobs/status": 1, "create events": 1}

// Summary is a result in a line.
func (i *Idle) Summary() string {
	reconciles := "?"
	if i.Reconciles != nil {
		reconciles = fmt.Sprint(*i.Reconciles)
	}
	return fmt.Sprintf("%s, idle with %d for %.0f s: CPU %.2f s, %d MiB, peak %d, %v writes, requests %v, reconciles %s",
		i.Contender, i.N, i.Span, i.CPU, i.Resident>>20, i.Peak>>20, i.Writes, i.Requests, reconciles)
}

// Failures says what the operator did though it had nothing to do.
func (i *Idle) Failures() []string {
	if i.Contender != Operator {
		return nil
	}
	var failures []string
	if i.Writes != 0 {
		failures = append(failures, fmt.Sprintf("idle: %v writes: want none", i.Writes))
	}
	if i.Reconciles != nil && *i.Reconciles != 0 {
		failures = append(failures, fmt.Sprintf("idle: %v reconciles: want none", *i.Reconciles))
	}
	return failures
}

// Summary is a result in a line.
func (v *Versions) Summary() string {
	return fmt.Sprintf("versions: creates a second v1 %.0f, v2 %.0f, admission alone %.0f, CRD alone %.0f, built-in %.0f; "+
		"list %d: v1 %.2f s, v2 %.2f s; in chunks: v1 %.2f s, v2 %.2f s; get: v1 %.2f ms, v2 %.2f ms",
		v.Creates[OfV1], v.Creates[OfV2], v.Creates[OfAdmission], v.Creates[OfCRD], v.Creates[OfBuiltin], v.N, v.List[OfV1], v.List[OfV2],
		v.ListChunks[OfV1], v.ListChunks[OfV2], v.Get[OfV1]*1e3, v.Get[OfV2]*1e3)
}

// Summary is a result in a line.
func (t *Tenants) Summary() string {
	return fmt.Sprintf("tenants, beside %s: p50 %s p90 %s p99 %s max %s, %d missed; beside them %.0f Jobs a second; peak %d MiB",
		t.Beside, seconds(t.Delay.P50), seconds(t.Delay.P90), seconds(t.Delay.P99), seconds(t.Delay.Max), t.Missed, t.Rate, t.Peak>>20)
}

// Failures says what the operator failed to do.
func (t *Tenants) Failures() []string {
	if t.Missed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("beside %s: %d ticks of other namespaces were missed", t.Beside, t.Missed)}
}

// Summary is a result in a line.
func (s *Restart) Summary() string {
	return fmt.Sprintf("%s, restarted with %d CronJobs and %d Jobs: the first after %.2f s, the last after %.2f s; %d MiB, peak %d",
		s.Contender, s.CronJobs, s.Jobs, s.First, s.Last, s.Resident>>20, s.Peak>>20)
}
