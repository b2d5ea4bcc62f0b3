// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Target is something that the operator has to reach.
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
	sign := "≤"
	if t.AtLeast {
		sign = "≥"
	}
	if t.Limit == 0 {
		return "0"
	}
	return fmt.Sprintf("%s %v%s", sign, t.Limit, t.Unit)
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
	targets := r.tickTargets()
	targets = append(targets, r.memoryTarget())
	targets = append(targets, r.idleTargets()...)
	targets = append(targets, r.versionTargets()...)
	targets = append(targets, r.tenantsTarget())
	return append(targets, r.microTargets()...)
}

// aimed are the numbers of CronJobs that the targets are for.
var aimed = []int{1000, 5000, 20000}

func (r *Results) tickTargets() []Target {
	p99 := func(t *Tick) *float64 { return t.Delay.P99 }
	return []Target{
		{What: "99th percentile of the delay, against the built-in tuned", Limit: 0.5, Got: r.against(Tuned, aimed, p99)},
		{
			What: "the same, against the time in which the bare client creates those Jobs", Limit: 1.2,
			Got: r.compare(Bare, aimed, p99, func(t *Tick) *float64 { return &t.Took }),
		},
		{What: "the same, against the built-in as shipped", Limit: 0.02, Got: r.against(Shipped, []int{1000}, p99)},
		{
			What: "CPU per run, against the built-in tuned", Limit: 0.7,
			Got: r.against(Tuned, []int{5000}, func(t *Tick) *float64 { return &t.CPU }),
		},
		r.growth(),
	}
}

// against divides the operator's figures by another's.
func (r *Results) against(other Contender, numbers []int, figure func(*Tick) *float64) []Figure {
	return r.compare(other, numbers, figure, figure)
}

func (r *Results) compare(other Contender, numbers []int, ours, theirs func(*Tick) *float64) []Figure {
	var figures []Figure
	for _, n := range numbers {
		our, their := r.Tick(Operator, n), r.Tick(other, n)
		if our == nil || their == nil {
			continue
		}
		if a, b := ours(our), theirs(their); a != nil && b != nil && *b > 0 {
			figures = append(figures, Figure{"N=" + thousands(n), *a / *b})
		}
	}
	return figures
}

// growth is about the CPU per run as the number grows.
func (r *Results) growth() Target {
	t := Target{What: "CPU per run at N=20,000, against N=1,000", Limit: 1.2}
	if few, many := r.Tick(Operator, 1000), r.Tick(Operator, 20000); few != nil && many != nil && few.CPU > 0 {
		t.Got = append(t.Got, Figure{"", many.CPU / few.CPU})
	}
	return t
}

func (r *Results) memoryTarget() Target {
	t := Target{What: "resident memory with many CronJobs and finished Jobs, against kube-controller-manager's", Limit: 0.6}
	ours, theirs := r.RestartOf(Operator), r.RestartOf(Tuned)
	if ours != nil && theirs != nil && theirs.Resident > 0 {
		of := fmt.Sprintf("%s and %s", thousands(ours.CronJobs), thousands(ours.Jobs))
		t.Got = append(t.Got, Figure{of, float64(ours.Resident) / float64(theirs.Resident)})
	}
	return t
}

func (r *Results) idleTargets() []Target {
	writes, reconciles := Target{What: "idle: writes"}, Target{What: "idle: reconciles, but for the resync"}
	for _, idle := range r.Idle {
		if idle.Contender != Operator {
			continue
		}
		writes.Got = append(writes.Got, Figure{"", idle.Writes})
		if idle.Reconciles != nil {
			reconciles.Got = append(reconciles.Got, Figure{"", *idle.Reconciles})
		}
	}
	return []Target{writes, reconciles}
}

func (r *Results) versionTargets() []Target {
	list := Target{What: "LIST of all in v2, against v1", Limit: 2}
	creates := Target{What: "creates a second with our webhooks, against the built-in's", Limit: 0.4, AtLeast: true}
	if v := r.Versions; v != nil {
		list.Got = []Figure{{"N=" + thousands(v.N), v.List[OfV2] / v.List[OfV1]}}
		creates.Got = []Figure{{"v1", v.Creates[OfV1] / v.Creates[OfBuiltin]}, {"v2", v.Creates[OfV2] / v.Creates[OfBuiltin]}}
	}
	return []Target{list, creates}
}

// tenantsTarget is about the CronJobs of some namespaces beside those of another. A delay that is not known
// is of a tick that was missed, and misses the target.
func (r *Results) tenantsTarget() Target {
	t := Target{What: "99th percentile of the delay of 50 CronJobs of 10 namespaces, beside another namespace", Limit: 2, Unit: " s"}
	for _, tenants := range r.Tenants {
		p99 := math.Inf(1)
		if tenants.Delay.P99 != nil {
			p99 = *tenants.Delay.P99
		}
		t.Got = append(t.Got, Figure{"with " + tenants.Beside, p99})
	}
	return t
}

// Names of Go benchmarks, by what they begin with.
const (
	decide   = "DecideWithFourJobs"
	lastTick = "LastTickAcrossTenYearsOfMinutes"
	convert  = "Handler/one_"
)

func (r *Results) microTargets() []Target {
	const micros, allocations = " µs", " allocations"
	time := func(m Micro) float64 { return m.Nanoseconds / 1e3 }
	return []Target{
		{What: "Decide with 4 child Jobs, schedule already parsed", Limit: 5, Unit: micros, Got: r.micro(decide, time)},
		{What: "the same", Limit: 10, Unit: allocations, Got: r.micro(decide, func(m Micro) float64 { return float64(m.Allocations) })},
		{What: "last tick across ten years of minutes", Limit: 20, Unit: micros, Got: r.micro(lastTick, time)},
		{What: "conversion of one typical object at the webhook", Limit: 100, Unit: micros, Got: r.micro(convert, time)},
	}
}

// micro returns a figure of each Go benchmark whose name begins so.
func (r *Results) micro(prefix string, figure func(Micro) float64) []Figure {
	var figures []Figure
	for _, m := range r.Micro {
		if rest, ok := strings.CutPrefix(m.Name, prefix); ok {
			figures = append(figures, Figure{strings.ReplaceAll(rest, "_", " "), figure(m)})
		}
	}
	return figures
}

// Numbers returns the numbers of CronJobs that were due at once, in order.
func (r *Results) Numbers() []int {
	var numbers []int
	for _, t := range r.Ticks {
		numbers = append(numbers, t.N)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// RestartOf returns a contender's result; nil if there is none.
func (r *Results) RestartOf(c Contender) *Restart {
	for i := range r.Restart {
		if r.Restart[i].Contender == c {
			return &r.Restart[i]
		}
	}
	return nil
}

// significant writes a number with as many digits as mean something.
func significant(value float64) string {
	switch {
	case value == math.Trunc(value):
		return fmt.Sprintf("%.0f", value)
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	case value >= 0.1:
		return fmt.Sprintf("%.2f", value)
	}
	return fmt.Sprintf("%.2g", value)
}

// thousands writes a number of things.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
