// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

type row struct {
	depth int
	name  string
	value any
}

func (v *Verdict) rows() []row {
	rows := []row{{0, "Ticks due", v.Due}, {1, "run", v.DueAndRun}, {1, "missed, and reported", sum(v.Reported)}}
	rows = append(rows, counts(2, v.Reported)...)
	rows = append(rows, row{1, "nothing owed", sum(v.Excused)})
	rows = append(rows, counts(2, v.Excused)...)
	rows = append(rows,
		row{1, "**lost**", v.Count(Lost, Stuck)},
		row{0, "Jobs created", v.Run},
		row{1, "before the manager could know of an edit", v.Raced},
		row{1, "run again or reported, when nobody could know of them", v.Forgotten},
		row{1, "**doubled**", v.Count(Doubled)},
		row{1, "backfilled by users, beside these", v.Backfilled},
		row{1, "**early**", v.Count(Early)},
		row{1, "**more at once than allowed**", v.Count(ForbidOverlaps, ReplaceLeavesOne, TooMany)},
		row{0, "Late in the storm: p50, p99, max", lateness(v.late)},
		row{0, "Late in the calm after it: p50, p99, max", lateness(v.lateInCalm)},
		row{0, "CronJobs that lived", v.CronJobs},
		row{1, "there in the end, all idle", v.Settled},
		row{1, "**with a wrong history**", v.Count(HistoryTooLong, PrunedTooMuch)},
		row{1, "**with a wrong status**", v.Count(WrongStatus, WentBack)},
		row{0, "Times a manager's metrics were read", v.Readings},
		row{1, "**at odds with the history**", v.Count(WrongMetrics)},
		row{0, "Faults that struck", sum(v.Faults)},
	)
	rows = append(rows, counts(1, v.Faults)...)
	broken := map[Law]int{}
	for _, violation := range v.Violations {
		broken[violation.Law]++
	}
	rows = append(rows,
		row{0, "Requests refused, in refusals that last", v.Refused},
		row{1, "ticks seen to be looked at on time all the same", v.Tried},
		row{0, "**Violations of the contract, in all**", len(v.Violations)},
	)
	return append(rows, counts(1, broken)...)
}

func counts[K ~string](depth int, counts map[K]int) []row {
	rows := make([]row, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, row{depth, string(name), counts[name]})
	}
	return rows
}

func sum[K comparable](counts map[K]int) int {
	n := 0
	for _, count := range counts {
		n += count
	}
	return n
}

func lateness(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	sorted := slices.Sorted(slices.Values(all))
	at := func(share float64) time.Duration {
		return sorted[int(share*float64(len(sorted)-1))].Round(time.Millisecond)
	}
	return fmt.Sprintf("%v, %v, %v", at(0.5), at(0.99), at(1))
}

// Markdown formats a table.
func (v *Verdict) Markdown() string {
	var text strings.Builder
	text.WriteString("| | |\n|---|--:|\n")
	for _, r := range v.rows() {
		fmt.Fprintf(&text, "| %s%s | %v |\n", strings.Repeat("&emsp;", r.depth), r.name, r.value)
	}
	return text.String()
}
