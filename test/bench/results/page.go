// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
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
		"seconds": func(value *float64) string {
			if value == nil {
				return "–"
			}
			return significant(*value) + " s"
		},
		"s":  func(value float64) string { return significant(value) + " s" },
		"ms": func(value float64) string { return significant(value*1e3) + " ms" },
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

// asked lists requests and their number.
func asked(requests map[string]float64) string {
	parts := make([]string, 0, len(requests))
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

// InOrder returns the results of ticks as the tables have them: by number, then contender.
func (r *Results) InOrder() []*Tick {
	var ordered []*Tick
	for _, n := range r.Numbers() {
		for _, t := range titles {
			if tick := r.Tick(t.Contender, n); tick != nil {
				ordered = append(ordered, tick)
			}
		}
	}
	return ordered
}

// Builds returns the operator's build, and if there are several, what was measured of which.
func (r *Results) Builds() string {
	var builds []string
	measured := map[string][]string{}
	note := func(build, what string) {
		if build == "" {
			return
		}
		if measured[build] == nil {
			builds = append(builds, build)
		}
		measured[build] = append(measured[build], what)
	}
	for _, n := range r.Numbers() {
		if t := r.Tick(Operator, n); t != nil {
			note(t.Build, "N="+thousands(n))
		}
	}
	for _, i := range r.Idle {
		note(i.Build, "idle")
	}
	if r.Versions != nil {
		note(r.Versions.Build, "versions")
	}
	for _, s := range r.Restart {
		note(s.Build, "restart")
	}
	if len(r.Tenants) > 0 {
		note(r.Tenants[0].Build, "tenants")
	}
	if len(builds) == 1 {
		return builds[0]
	}
	for i, build := range builds {
		builds[i] = fmt.Sprintf("%s (%s)", build, strings.Join(measured[build], ", "))
	}
	return strings.Join(builds, " and ")
}

// AgainstTuned is the 99th percentile of the delay, as a share of that of the built-in tuned.
func (r *Results) AgainstTuned(t *Tick) string {
	tuned := r.Tick(Tuned, t.N)
	if t.Contender == Tuned || tuned == nil || t.Delay.P99 == nil || tuned.Delay.P99 == nil {
		return ""
	}
	return significant(*t.Delay.P99 / *tuned.Delay.P99)
}

// Wrong says what went wrong with a tick.
func (t *Tick) Wrong() string {
	var wrong []string
	for _, count := range []struct {
		number int
		what   string
	}{
		{t.Duplicates, "twice"}, {t.Missed, "missed"}, {t.Early, "early"}, {t.Astray, "astray"}, {t.Unwritten, "not in the status"},
	} {
		if count.number > 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", count.number, count.what))
		}
	}
	if t.CutAfter > 0 {
		wrong = append(wrong, fmt.Sprintf("%s started when cut off after %s s", thousands(t.Seen), significant(t.CutAfter)))
	}
	if len(wrong) == 0 {
		return "none"
	}
	return strings.Join(wrong, ", ")
}

// Rate returns how many Jobs a second a contender starts, at the largest number; 0 if that was not measured.
func (r *Results) Rate(c Contender) float64 {
	return r.perSecond(c, func(t *Tick) *float64 { return t.Delay.Max })
}

// Runs returns how many runs a second a contender starts and writes down, at the largest number; 0 if that was not
// measured.
func (r *Results) Runs(c Contender) float64 {
	return r.perSecond(c, func(t *Tick) *float64 { return &t.Written })
}

// perSecond divides the largest number of which it is known how long it took a contender by that time; 0 if of none.
func (r *Results) perSecond(c Contender, took func(*Tick) *float64) float64 {
	for _, n := range slices.Backward(r.Numbers()) {
		t := r.Tick(c, n)
		if t == nil {
			continue
		}
		if seconds := took(t); seconds != nil && *seconds > 0 {
			return float64(n) / *seconds
		}
	}
	return 0
}

// Chart is lines to be drawn; see test/bench/plots.
type Chart struct {
	File   string   `json:"file"`
	Title  string   `json:"title"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	Series []Series `json:"series"`
}

// Series is a line of a chart.
type Series struct {
	Name   string       `json:"name"`
	Number int          `json:"number"`
	Points [][2]float64 `json:"points"`
}

// Charts returns what the page shows as charts.
func (r *Results) Charts() []Chart {
	const due = "CronJobs due at once"
	return []Chart{
		{"delay.svg", "From the tick to the Job: 99th percentile", due, "seconds", r.series(func(t *Tick) *float64 { return t.Delay.P99 })},
		{"cpu.svg", "CPU per run", due, "milliseconds", r.series(func(t *Tick) *float64 { return new(t.CPU * 1e3) })},
	}
}

func (r *Results) series(figure func(*Tick) *float64) []Series {
	var all []Series
	for number, t := range titles {
		series := Series{Name: t.title, Number: number}
		for _, n := range r.Numbers() {
			tick := r.Tick(t.Contender, n)
			if tick == nil {
				continue
			}
			if value := figure(tick); value != nil && *value > 0 { // the axes are logarithmic
				series.Points = append(series.Points, [2]float64{float64(n), *value})
			}
		}
		if len(series.Points) > 0 {
			all = append(all, series)
		}
	}
	return all
}
