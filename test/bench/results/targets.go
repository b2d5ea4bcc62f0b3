// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
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
	p99 := func(t *Tick) *float64 { return t.Delay.P99 }
	cpu := func(t *Tick) *float64 { return &t.CPU }
	took := func(t *Tick) *float64 { return &t.Took }
	micros := func(m Micro) float64 { return m.Nanoseconds / 1e3 }
	allocations := func(m Micro) float64 { return float64(m.Allocations) }
	all := []int{1000, 5000, 20000}
	return []Target{
		{What: "99th percentile of the delay, against the built-in tuned", Limit: 0.5, Got: r.against(Tuned, p99, p99, all...)},
		{
			What: "the same, against the time in which the bare client creates those Jobs", Limit: 1.2,
			Got: r.against(Bare, p99, took, all...),
		},
		{What: "the same, against the built-in as shipped", Limit: 0.02, Got: r.against(Shipped, p99, p99, 1000)},
		{What: "CPU per run, against the built-in tuned", Limit: 0.7, Got: r.against(Tuned, cpu, cpu, 5000)},
		{What: "CPU per run at N=20,000, against N=1,000", Limit: 1.2, Got: r.growth()},
		{
			What: "resident memory with many CronJobs and finished Jobs, against kube-controller-manager's", Limit: 0.6,
			Got: r.restarted(),
		},
		{What: "idle: writes", Got: r.idle(func(i *Idle) *float64 { return &i.Writes })},
		{What: "idle: reconciles, but for the resync", Got: r.idle(func(i *Idle) *float64 { return i.Reconciles })},
		{What: "LIST of all in v2, against v1", Limit: 2, Got: r.lists()},
		{What: "creates a second with our webhooks, against the built-in's", Limit: 0.4, AtLeast: true, Got: r.creates()},
		{
			What: "99th percentile of the delay of 50 CronJobs of 10 namespaces, beside another namespace", Limit: 2, Unit: " s",
			Got: r.tenants(),
		},
		{What: "Decide with 4 child Jobs, schedule already parsed", Limit: 5, Unit: " µs", Got: r.micro("DecideWithFourJobs", micros)},
		{What: "the same", Limit: 10, Unit: " allocations", Got: r.micro("DecideWithFourJobs", allocations)},
		{What: "last tick across ten years of minutes", Limit: 20, Unit: " µs", Got: r.micro("LastTickAcrossTenYearsOfMinutes", micros)},
		{What: "conversion of one typical object at the webhook", Limit: 100, Unit: " µs", Got: r.micro("Handler/one_", micros)},
	}
}

// growth compares the CPU per run as the number grows.
func (r *Results) growth() []Figure {
	few, many := r.Tick(Operator, 1000), r.Tick(Operator, 20000)
	if few == nil || many == nil || few.CPU == 0 {
		return nil
	}
	return []Figure{{"", many.CPU / few.CPU}}
}

func (r *Results) restarted() []Figure {
	ours := find(r.Restart, func(s Restart) bool { return s.Contender == Operator })
	theirs := find(r.Restart, func(s Restart) bool { return s.Contender == Tuned })
	if ours == nil || theirs == nil || theirs.Resident == 0 {
		return nil
	}
	of := fmt.Sprintf("%s and %s", thousands(ours.CronJobs), thousands(ours.Jobs))
	return []Figure{{of, float64(ours.Resident) / float64(theirs.Resident)}}
}

func (r *Results) idle(figure func(*Idle) *float64) []Figure {
	if i := find(r.Idle, func(i Idle) bool { return i.Contender == Operator }); i != nil && figure(i) != nil {
		return []Figure{{"", *figure(i)}}
	}
	return nil
}

func (r *Results) lists() []Figure {
	if v := r.Versions; v != nil {
		return []Figure{{"N=" + thousands(v.N), v.List[OfV2] / v.List[OfV1]}}
	}
	return nil
}

func (r *Results) creates() []Figure {
	if v := r.Versions; v != nil {
		return []Figure{{"v1", v.Creates[OfV1] / v.Creates[OfBuiltin]}, {"v2", v.Creates[OfV2] / v.Creates[OfBuiltin]}}
	}
	return nil
}

// tenants has the delays beside each neighbour. One that is not known is of a tick that was missed,
// and misses the target.
func (r *Results) tenants() []Figure {
	var figures []Figure
	for _, t := range r.Tenants {
		figures = append(figures, Figure{"with " + t.Beside, orInf(t.Delay.P99)})
	}
	return figures
}

// against divides the operator's figures by another's.
func (r *Results) against(other Contender, ours, theirs func(*Tick) *float64, numbers ...int) []Figure {
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
