// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteTables writes a plain Markdown table for each stage: a row for each result, by the number of
// CronJobs, and a column for each value.
func (r *Results) WriteTables(to io.Writer) error {
	stages := map[string][]Result{}
	for _, result := range r.Results {
		stages[result.Stage] = append(stages[result.Stage], result)
	}
	for _, stage := range slices.Sorted(maps.Keys(stages)) {
		if _, err := fmt.Fprintf(to, "## %s\n\n%s\n", stage, table(stages[stage])); err != nil {
			return err
		}
	}
	return nil
}

func table(results []Result) string {
	columns, text := map[string]bool{}, &strings.Builder{}
	for _, result := range results {
		for name := range result.Values {
			columns[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(columns))
	fmt.Fprintf(text, "| of | N | build | %s | requests | wrong |\n|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)+5))
	slices.SortStableFunc(results, func(a, b Result) int { return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.Of, b.Of)) })
	for _, result := range results {
		cells := []string{result.Of, fmt.Sprint(result.N), result.Build}
		for _, name := range names {
			cell := ""
			if value := result.Value(name); value != nil {
				cell = fmt.Sprintf("%.4g", *value)
			}
			cells = append(cells, cell)
		}
		var requests []string
		for _, key := range slices.Sorted(maps.Keys(result.Requests)) {
			requests = append(requests, fmt.Sprintf("%s %.4g", key, result.Requests[key]))
		}
		cells = append(cells, strings.Join(requests, ", "), strings.Join(result.WentWrong(), ", "))
		fmt.Fprintf(text, "| %s |\n", strings.Join(cells, " | "))
	}
	return text.String()
}
