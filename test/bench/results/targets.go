// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"slices"
	"strings"
)

// Target is a limit that the operator has to keep.
type Target struct {
	What  string
	Limit float64
	// AtLeast says that less than the limit is missed, and not more.
	AtLeast bool
	Unit    string
	Got     []Figure
}

// Figure is what was measured of a target.
type Figure struct {
	Of    string // such as "N=1,000"
	Value float64
}

// Wanted writes the limit.
func (t Target) Wanted() string {
	switch {
	case t.Limit == 0:
		return "0"
	case t.AtLeast:
		return fmt.Sprintf("≥ %v%s", t.Limit, t.Unit)
	}
	return fmt.Sprintf("≤ %v%s", t.Limit, t.Unit)
}

// Measured writes what was measured.
func (t Target) Measured() string {
	figures := make([]string, 0, len(t.Got))
	for _, f := range t.Got {
		figures = append(figures, strings.TrimSpace(fmt.Sprintf("%s %s%s", f.Of, significant(f.Value), t.Unit)))
	}
	return strings.Join(figures, "<br>")
}

// Verdict says whether all that was measured is within the limit.
func (t Target) Verdict() string {
	if len(t.Got) == 0 {
		return "not measured"
	}
	for _, f := range t.Got {
		if t.AtLeast && f.Value < t.Limit || !t.AtLeast && f.Value > t.Limit {
			return "**missed**"
		}
	}
	return "met"
}

// Targets returns all that the operator has to reach, with what was measured of it.
func (r *Results) Targets() []Target {
	all := []int{1000, 5000, 20000}
	v1, v2, builtin := r.Get(Versions, V1, 0), r.Get(Versions, V2, 0), r.Get(Versions, Builtin, 0)
	idle, restarted := r.Get(Idle, Operator, 0), r.Get(Restart, Operator, 0)
	return []Target{
		{What: "99th percentile of the delay, against the built-in tuned", Limit: 0.5, Got: r.against(Tuned, P99, P99, all...)},
		{
			What: "the same, against the time in which the bare client creates those Jobs", Limit: 1.2,
			Got: r.against(Bare, P99, Took, all...),
		},
		{What: "the same, against the built-in as shipped", Limit: 0.02, Got: r.against(Shipped, P99, P99, 1000)},
		{What: "CPU per run, against the built-in tuned", Limit: 0.7, Got: r.against(Tuned, CPU, CPU, 5000)},
		{
			What: "CPU per run at N=20,000, against N=1,000", Limit: 1.2,
			Got: ratio("", r.Get(Ticks, Operator, 20000), CPU, r.Get(Ticks, Operator, 1000), CPU),
		},
		{
			What: "resident memory with many CronJobs and finished Jobs, against kube-controller-manager's", Limit: 0.6,
			Got: ratio(restarted.furnishing(), restarted, Resident, r.Get(Restart, Tuned, 0), Resident),
		},
		{What: "idle: writes", Got: figure("", idle, Writes, 1)},
		{What: "idle: reconciles, but for the resync", Got: figure("", idle, Reconciles, 1)},
		{What: "LIST of all in v2, against v1", Limit: 2, Got: ratio(v1.number(), v2, List, v1, List)},
		{
			What: "creates a second with our webhooks, against the built-in's", Limit: 0.4, AtLeast: true,
			Got: slices.Concat(ratio("v1", v1, Creates, builtin, Creates), ratio("v2", v2, Creates, builtin, Creates)),
		},
		{
			What: "99th percentile of the delay of 50 CronJobs of 10 namespaces, beside another namespace", Limit: 2, Unit: " s",
			Got: r.tenants(),
		},
		{What: "Decide with 4 child Jobs, schedule already parsed", Limit: 5, Unit: " µs", Got: r.micro("DecideWithFourJobs", "ns", 1e-3)},
		{What: "the same", Limit: 10, Unit: " allocations", Got: r.micro("DecideWithFourJobs", "allocations", 1)},
		{What: "last tick across ten years of minutes", Limit: 20, Unit: " µs", Got: r.micro("LastTickAcrossTenYearsOfMinutes", "ns", 1e-3)},
		{What: "conversion of one typical object at the webhook", Limit: 100, Unit: " µs", Got: r.micro("Handler/one_", "ns", 1e-3)},
	}
}

// number says how many CronJobs there were.
func (r *Result) number() string {
	if r == nil {
		return ""
	}
	return "N=" + thousands(r.N)
}

// furnishing says how many CronJobs and finished Jobs there were.
func (r *Result) furnishing() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s and %s", thousands(r.N), thousands(int(r.Values["jobs"])))
}

// figure returns a value, in a unit that is so much smaller, if it is known.
func figure(of string, r *Result, name string, factor float64) []Figure {
	if value := r.Value(name); value != nil {
		return []Figure{{of, *value * factor}}
	}
	return nil
}

// ratio divides a value of one result by a value of another, if both are known.
func ratio(of string, ours *Result, name string, theirs *Result, theirName string) []Figure {
	if their := theirs.Value(theirName); their != nil && *their > 0 {
		return figure(of, ours, name, 1 / *their)
	}
	return nil
}

// against divides the operator's values by another's, for some numbers of CronJobs.
func (r *Results) against(other, name, otherName string, numbers ...int) (figures []Figure) {
	for _, n := range numbers {
		our := r.Get(Ticks, Operator, n)
		figures = append(figures, ratio(our.number(), our, name, r.Get(Ticks, other, n), otherName)...)
	}
	return figures
}

// tenants has the delays beside each neighbour. One that is not known is of a tick that was missed,
// and misses the target.
func (r *Results) tenants() (figures []Figure) {
	for _, t := range r.Of(Tenants) {
		figures = append(figures, Figure{"with " + t.Of, t.orInf(P99)})
	}
	return figures
}

// micro returns a value of each Go benchmark whose name begins so.
func (r *Results) micro(prefix, name string, factor float64) (figures []Figure) {
	for _, m := range r.Of(Micro) {
		_, benchmark, _ := strings.Cut(m.Of, " ")
		if rest, ok := strings.CutPrefix(benchmark, prefix); ok {
			figures = append(figures, figure(strings.ReplaceAll(rest, "_", " "), m, name, factor)...)
		}
	}
	return figures
}
