// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/template"
	"time"
)

// titles are what people call the contenders, in the order of the tables.
var titles = []struct {
	Contender
	title string
}{
	{Operator, "this operator"},
	{Tuned, "built-in, tuned"},
	{Shipped, "built-in, as shipped"},
	{Bare, "bare client"},
}

// Title returns what people call the contender.
func (c Contender) Title() string {
	for _, t := range titles {
		if t.Contender == c {
			return t.title
		}
	}
	return string(c)
}

//go:embed performance.md.tmpl
var page string

// WritePage writes the results for people, in Markdown.
func (r *Results) WritePage(to io.Writer) error {
	functions := template.FuncMap{
		"thousands": thousands,
		"seconds":   func(value *float64) string { return orDash(value, " s") },
		"s":         func(value float64) string { return significant(value) + " s" },
		"ms":        func(value float64) string { return significant(value*1e3) + " ms" },
		"time": func(nanoseconds float64) string {
			return time.Duration(nanoseconds).Round(10 * time.Nanosecond).String()
		},
		"mib":     func(bytes uint64) string { return fmt.Sprintf("%d MiB", bytes>>20) },
		"gib":     func(bytes uint64) string { return fmt.Sprintf("%.0f GiB", float64(bytes)/(1<<30)) },
		"num":     significant,
		"ratio":   func(a, b float64) string { return significant(a / b) },
		"aMinute": func(aSecond float64) string { return thousands(int(aSecond*60) / 100 * 100) },
		"asked":   asked,
		"words":   func(name string) string { return strings.ReplaceAll(name, "_", " ") },
		"join":    strings.Join,
	}
	parsed, err := template.New("page").Funcs(functions).Parse(page)
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	if err := parsed.Execute(to, r); err != nil {
		return fmt.Errorf("filling in the page: %w", err)
	}
	return nil
}

func orDash(value *float64, unit string) string {
	if value == nil {
		return "–"
	}
	return significant(*value) + unit
}

// significant writes a number with as many digits as mean something.
func significant(value float64) string {
	switch {
	case value == math.Trunc(value), value >= 100:
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

// asked lists requests and their number.
func asked(requests map[string]float64) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		if requests[key] >= 0.005 {
			parts = append(parts, fmt.Sprintf("%s %s", key, significant(requests[key])))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// numbers returns the numbers of CronJobs that were due at once, in order.
func (r *Results) numbers() []int {
	var numbers []int
	for _, t := range r.Ticks {
		numbers = append(numbers, t.N)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// InOrder returns the results of ticks as the tables have them: by number, then contender.
func (r *Results) InOrder() []*Tick {
	var ordered []*Tick
	for _, n := range r.numbers() {
		for _, t := range titles {
			if tick := r.Tick(t.Contender, n); tick != nil {
				ordered = append(ordered, tick)
			}
		}
	}
	return ordered
}

// Builds returns the operator's builds that were measured.
func (r *Results) Builds() []string {
	builds := []string{}
	for _, t := range r.Ticks {
		builds = append(builds, t.Build)
	}
	for _, i := range r.Idle {
		builds = append(builds, i.Build)
	}
	for _, s := range r.Restart {
		builds = append(builds, s.Build)
	}
	for _, t := range r.Tenants {
		builds = append(builds, t.Build)
	}
	if r.Versions != nil {
		builds = append(builds, r.Versions.Build)
	}
	slices.Sort(builds)
	return slices.DeleteFunc(slices.Compact(builds), func(build string) bool { return build == "" })
}

// AgainstTuned is the 99th percentile of the delay, as a share of that of the built-in tuned.
func (r *Results) AgainstTuned(t *Tick) string {
	tuned := r.Tick(Tuned, t.N)
	if t.Contender == Tuned || tuned == nil || t.Delay.P99 == nil || tuned.Delay.P99 == nil {
		return ""
	}
	return significant(*t.Delay.P99 / *tuned.Delay.P99)
}

// WentWrong says what went wrong with a tick.
func (t *Tick) WentWrong() string {
	var wrong []string
	for _, what := range slices.Sorted(maps.Keys(t.Wrong)) {
		wrong = append(wrong, fmt.Sprintf("%d %s", t.Wrong[what], what))
	}
	if t.CutAfter > 0 {
		wrong = append(wrong, fmt.Sprintf("%s started when cut off after %s s", thousands(t.Seen), significant(t.CutAfter)))
	}
	if len(wrong) == 0 {
		return "none"
	}
	return strings.Join(wrong, ", ")
}

// Rate returns how many Jobs a second a contender starts, at the largest number; 0 if that was not
// measured.
func (r *Results) Rate(c Contender) float64 {
	return r.perSecond(c, func(t *Tick) *float64 { return t.Delay.Max })
}

// Runs returns how many runs a second a contender starts and writes down, at the largest number; 0
// if that was not measured.
func (r *Results) Runs(c Contender) float64 {
	return r.perSecond(c, func(t *Tick) *float64 { return &t.Written })
}

// perSecond divides the largest number of which it is known how long it took a contender by that
// time; 0 if of none.
func (r *Results) perSecond(c Contender, took func(*Tick) *float64) float64 {
	for _, n := range slices.Backward(r.numbers()) {
		if t := r.Tick(c, n); t != nil {
			if seconds := took(t); seconds != nil && *seconds > 0 {
				return float64(n) / *seconds
			}
		}
	}
	return 0
}
