// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// contenders are the titles of the contenders, in the order of the tables.
var contenders = []struct{ id, title string }{
	{Operator, "this operator"},
	{Tuned, "built-in, tuned"},
	{Shipped, "built-in, as shipped"},
	{Bare, "bare client"},
}

// place returns the contender's place in the tables; negative for anything else.
func (r *Result) place() int {
	for i, c := range contenders {
		if c.id == r.Of {
			return i
		}
	}
	return -1
}

// Title returns the contender's title.
func (r *Result) Title() string { return contenders[r.place()].title }

//go:embed performance.md.tmpl
var page string

var functions = template.FuncMap{
	"count": count, "num": in("", 1), "s": in(" s", 1), "ms": in(" ms", 1e3), "us": in(" µs", 1e-3), "aMinute": in("", 60),
	"mib": in(" MiB", 1.0/(1<<20)), "gib": in(" GiB", 1.0/(1<<30)),
	"over": over, "figure": figure, "target": target, "asked": asked,
	"words": func(name string) string { return strings.ReplaceAll(name, "_", " ") },
	"join":  func(words []string) string { return strings.Join(words, ", ") },
}

// WritePage writes the results for people, in Markdown.
func (r *Results) WritePage(to io.Writer) error {
	parsed, err := template.New("page").Funcs(functions).Parse(page)
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	if err := parsed.Execute(to, r); err != nil {
		return fmt.Errorf("filling in the page: %w", err)
	}
	return nil
}

var english = message.NewPrinter(language.English)

// significant writes a number with three significant digits.
func significant(value float64) string {
	return english.Sprint(number.Decimal(value, number.Precision(3), number.MaxFractionDigits(6)))
}

// count writes a number of things, an int or a float64.
func count(n any) string { return english.Sprint(number.Decimal(n)) }

// known returns a float64 or what a *float64 points to, if it is there.
func known(value any) (float64, bool) {
	if pointer, ok := value.(*float64); ok && pointer != nil {
		return *pointer, true
	}
	found, ok := value.(float64)
	return found, ok
}

// in returns what writes a value in a unit that is so many times smaller; a dash if it is not
// known.
func in(unit string, factor float64) func(value any) string {
	return func(value any) string {
		if value, ok := known(value); ok {
			return significant(value*factor) + unit
		}
		return "–"
	}
}

// over divides a value by another; nil if one is not known.
func over(a, b any) any {
	dividend, ok := known(a)
	if divisor, also := known(b); ok && also {
		return dividend / divisor
	}
	return nil
}

// asked lists requests and their number.
func asked(requests map[string]float64) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		if requests[key] >= 0.005 {
			parts = append(parts, key+" "+significant(requests[key]))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// Figure is what was measured of a target.
type Figure struct {
	Of    string // such as "N=1,000"
	Value float64
}

// figure returns a figure; none if the value is not known.
func figure(of string, value any) []Figure {
	if value, ok := known(value); ok {
		return []Figure{{of, value}}
	}
	return nil
}

// target writes what the operator has to reach, what was measured, and whether that is within the
// limit.
func target(sign string, limit float64, unit string, got ...[]Figure) string {
	verdict, measured := "met", []string(nil)
	for _, f := range slices.Concat(got...) {
		measured = append(measured, strings.TrimSpace(f.Of+" "+significant(f.Value)+unit))
		if sign == "≤" && f.Value > limit || sign == "≥" && f.Value < limit {
			verdict = "**missed**"
		}
	}
	if len(measured) == 0 {
		verdict = "not measured"
	}
	return fmt.Sprintf("%s %v%s | %s | %s", sign, limit, unit, strings.Join(measured, "<br>"), verdict)
}

// Against divides a value of one in a stage by a value of another, for each number of CronJobs.
func (r *Results) Against(stage, of, name, other, otherName string) (figures []Figure) {
	for _, our := range r.Of(stage) {
		if our.Of == of {
			theirs := r.Get(stage, other, our.N).Value(otherName)
			figures = append(figures, figure("N="+count(our.N), over(our.Value(name), theirs))...)
		}
	}
	return figures
}

// Delays returns the 99th percentiles of the delay in a stage. One that is not known is infinite:
// Jobs were missed.
func (r *Results) Delays(stage string) (figures []Figure) {
	for _, result := range r.Of(stage) {
		of := "N=" + count(result.N)
		if stage == Tenants {
			of = "beside " + result.Of
		}
		figures = append(figures, Figure{of, result.p99()})
	}
	return figures
}

// Micro returns a value of each Go benchmark whose name begins so.
func (r *Results) Micro(prefix, name string, factor float64) (figures []Figure) {
	for _, m := range r.Of(Micro) {
		_, benchmark, _ := strings.Cut(m.Of, " ")
		if rest, ok := strings.CutPrefix(benchmark, prefix); ok {
			figures = append(figures, Figure{strings.ReplaceAll(rest, "_", " "), m.Values[name] * factor})
		}
	}
	return figures
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
	var builds []string
	for _, result := range r.Results {
		if result.Build != "" {
			builds = append(builds, result.Build)
		}
	}
	slices.Sort(builds)
	return slices.Compact(builds)
}

// Rate returns how many Jobs a second a contender starts, if what is named is the longest delay, or
// how many runs it writes, at the largest number for which it is known; 0 if for none.
func (r *Results) Rate(contender, name string) float64 {
	for _, t := range slices.Backward(r.Of(Ticks)) {
		if seconds := t.Value(name); t.Of == contender && seconds != nil {
			return float64(t.N) / *seconds
		}
	}
	return 0
}
