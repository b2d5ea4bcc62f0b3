// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
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
var titles = []struct{ contender, title string }{
	{Operator, "this operator"},
	{Tuned, "built-in, tuned"},
	{Shipped, "built-in, as shipped"},
	{Bare, "bare client"},
}

// place returns the contender's place in the order of the tables; negative for anything else.
func (r *Result) place() int {
	for i, t := range titles {
		if t.contender == r.Of {
			return i
		}
	}
	return -1
}

// Title returns what people call the contender.
func (r *Result) Title() string { return titles[r.place()].title }

//go:embed performance.md.tmpl
var page string

// WritePage writes the results for people, in Markdown.
func (r *Results) WritePage(to io.Writer) error {
	functions := template.FuncMap{
		"thousands": thousands,
		"count":     func(n float64) string { return thousands(int(n)) },
		"s":         func(value any) string { return orDash(value, 1, " s") },
		"ms":        func(value any) string { return orDash(value, 1e3, " ms") },
		"num":       func(value any) string { return orDash(value, 1, "") },
		"mib": func(bytes any) string {
			known, _ := bytes.(float64)
			return fmt.Sprintf("%d MiB", int(known)>>20)
		},
		"gib": func(bytes uint64) string { return fmt.Sprintf("%.0f GiB", float64(bytes)/(1<<30)) },
		"time": func(nanoseconds float64) string {
			return time.Duration(nanoseconds).Round(10 * time.Nanosecond).String()
		},
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

// orDash writes a value, in a unit that is so much smaller; a dash if it is not known.
func orDash(value any, factor float64, unit string) string {
	switch value := value.(type) {
	case float64:
		return significant(value*factor) + unit
	case *float64:
		if value != nil {
			return significant(*value*factor) + unit
		}
	}
	return "–"
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
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// Of returns the results of a stage as its table has them: by number, then contender.
func (r *Results) Of(stage string) []*Result {
	var found []*Result
	for i := range r.Results {
		if r.Results[i].Stage == stage {
			found = append(found, &r.Results[i])
		}
	}
	slices.SortStableFunc(found, func(a, b *Result) int { return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.place(), b.place())) })
	return found
}

// Builds returns the operator's builds that were measured.
func (r *Results) Builds() []string {
	builds := map[string]bool{}
	for _, result := range r.Results {
		builds[result.Build] = result.Build != ""
	}
	delete(builds, "")
	return slices.Sorted(maps.Keys(builds))
}

// AgainstTuned is the 99th percentile of the delay, as a share of that of the built-in tuned.
func (r *Results) AgainstTuned(t *Result) string {
	if share := ratio("", t, P99, r.Get(Ticks, Tuned, t.N), P99); len(share) > 0 && t.Of != Tuned {
		return significant(share[0].Value)
	}
	return ""
}

// WentWrong says what went wrong with a tick.
func (r *Result) WentWrong() string {
	var wrong []string
	for _, what := range slices.Sorted(maps.Keys(r.Wrong)) {
		wrong = append(wrong, fmt.Sprintf("%d %s", r.Wrong[what], what))
	}
	if cut := r.Value(CutAfter); cut != nil {
		wrong = append(wrong, fmt.Sprintf("%s started when cut off after %s s", thousands(int(r.Values[Seen])), significant(*cut)))
	}
	return cmp.Or(strings.Join(wrong, ", "), "none")
}

// Rate returns how many Jobs a second a contender starts, if what is named is the longest delay, or
// how many runs it writes down, at the largest number of which it is known; 0 if of none.
func (r *Results) Rate(contender, name string) float64 {
	for _, t := range slices.Backward(r.Of(Ticks)) {
		if seconds := t.Value(name); t.Of == contender && seconds != nil {
			return float64(t.N) / *seconds
		}
	}
	return 0
}
