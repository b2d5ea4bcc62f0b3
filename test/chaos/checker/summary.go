// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Summary is a verdict in figures.
type Summary struct {
	TicksDue int            `json:"ticksDue"`
	Run      int            `json:"run"`
	Reported map[string]int `json:"reported"` // by reason
	Excused  map[Excuse]int `json:"excused"`  // by why nobody owed anything
	Lost     int            `json:"lost"`

	Jobs      int `json:"jobs"`
	Raced     int `json:"raced"`     // before the manager was told of an edit
	Forgotten int `json:"forgotten"` // run again, or reported as missed, when nobody could know of them
	Doubled   int `json:"doubled"`
	Early     int `json:"early"`
	Overlaps  int `json:"overlaps"` // under Forbid and Replace

	LateInStorm *Lateness `json:"lateInStorm,omitempty"`
	LateInCalm  *Lateness `json:"lateInCalm,omitempty"`

	CronJobs      int `json:"cronJobs"`
	Settled       int `json:"settled"` // those that were there in the end
	HistoryWrong  int `json:"historyWrong"`
	StatusWrong   int `json:"statusWrong"`
	MetricsRead   int `json:"metricsRead"` // how often a process was asked
	MetricsWrong  int `json:"metricsWrong"`
	FaultsInTotal int `json:"faultsInTotal"`
	Refused       int `json:"refused"`         // requests, by refusals that last
	Tried         int `json:"triedAllTheSame"` // ticks that were looked at on time all the same

	Faults     map[string]int `json:"faults"`     // by kind
	Violations map[Law]int    `json:"violations"` // by law
}

// Lateness is how long after their ticks Jobs were asked for.
type Lateness struct {
	P50 Seconds `json:"p50Seconds"`
	P99 Seconds `json:"p99Seconds"`
	Max Seconds `json:"maxSeconds"`
}

// Seconds is a duration that is written in seconds.
type Seconds time.Duration

// MarshalJSON writes it with milliseconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(time.Duration(s).Milliseconds()) / 1000)
}

// String writes it with milliseconds.
func (s Seconds) String() string { return time.Duration(s).Round(time.Millisecond).String() }

// Summary returns the verdict in figures.
func (v *Verdict) Summary() *Summary {
	s := &Summary{
		TicksDue: v.Due, Run: v.DueAndRun, Reported: v.Reported, Excused: v.Excused, Lost: v.Count(Lost, Stuck),
		Jobs: v.Run, Raced: v.Raced, Forgotten: v.Forgotten, Doubled: v.Count(Doubled), Early: v.Count(Early),
		Overlaps:    v.Count(ForbidOverlaps, ReplaceLeavesOne),
		LateInStorm: lateness(v.late), LateInCalm: lateness(v.lateInCalm),
		CronJobs: v.CronJobs, Settled: v.Settled,
		HistoryWrong: v.Count(HistoryTooLong, PrunedTooMuch), StatusWrong: v.Count(WrongStatus, WentBack),
		MetricsRead: v.Readings, MetricsWrong: v.Count(WrongMetrics),
		Faults: v.Faults, FaultsInTotal: sum(v.Faults), Refused: v.Refused, Tried: v.Tried, Violations: map[Law]int{},
	}
	for _, violation := range v.Violations {
		s.Violations[violation.Law]++
	}
	return s
}

func lateness(all []time.Duration) *Lateness {
	if len(all) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(all))
	at := func(share float64) Seconds { return Seconds(sorted[int(share*float64(len(sorted)-1))]) }
	return &Lateness{P50: at(0.5), P99: at(0.99), Max: at(1)}
}

func sum[K comparable](counts map[K]int) int {
	n := 0
	for _, count := range counts {
		n += count
	}
	return n
}

// row is a row of the table.
type row struct {
	depth int
	name  string
	value any
}

// rows returns the table.
func (s *Summary) rows() []row {
	rows := []row{{0, "Ticks due", s.TicksDue}, {1, "run", s.Run}, {1, "missed, and reported", sum(s.Reported)}}
	rows = append(rows, counts(2, s.Reported)...)
	rows = append(rows, row{1, "nothing owed", sum(s.Excused)})
	rows = append(rows, counts(2, s.Excused)...)
	rows = append(rows,
		row{1, "**lost**", s.Lost},
		row{0, "Jobs created", s.Jobs},
		row{1, "before the manager could know of an edit", s.Raced},
		row{1, "run again or reported, when nobody could know of them", s.Forgotten},
		row{1, "**doubled**", s.Doubled},
		row{1, "**early**", s.Early},
		row{1, "**overlapping, under Forbid or Replace**", s.Overlaps},
	)
	for _, l := range []struct {
		name string
		*Lateness
	}{{"Late in the storm", s.LateInStorm}, {"Late in the calm after it", s.LateInCalm}} {
		if l.Lateness != nil {
			rows = append(rows, row{0, l.name + ": p50, p99, max", fmt.Sprintf("%v, %v, %v", l.P50, l.P99, l.Max)})
		}
	}
	rows = append(rows,
		row{0, "CronJobs that lived", s.CronJobs},
		row{1, "there in the end, all idle", s.Settled},
		row{1, "**with a wrong history**", s.HistoryWrong},
		row{1, "**with a wrong status**", s.StatusWrong},
		row{0, "Times a manager's metrics were read", s.MetricsRead},
		row{1, "**at odds with the history**", s.MetricsWrong},
		row{0, "Faults that struck", s.FaultsInTotal},
	)
	rows = append(rows, counts(1, s.Faults)...)
	rows = append(rows,
		row{0, "Requests refused, in refusals that last", s.Refused},
		row{1, "ticks seen to be looked at on time all the same", s.Tried},
		row{0, "**Promises broken, in all**", sum(s.Violations)},
	)
	return append(rows, counts(1, s.Violations)...)
}

// counts returns a row for each of some counts.
func counts[K ~string](depth int, counts map[K]int) []row {
	rows := make([]row, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, row{depth, string(name), counts[name]})
	}
	return rows
}

// Markdown writes the table.
func (s *Summary) Markdown(w io.Writer) error {
	var text strings.Builder
	text.WriteString("| | |\n|---|--:|\n")
	for _, r := range s.rows() {
		fmt.Fprintf(&text, "| %s%s | %v |\n", strings.Repeat("&emsp;", r.depth), r.name, r.value)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Text writes the table for a terminal.
func (s *Summary) Text(w io.Writer) error {
	var text strings.Builder
	for _, r := range s.rows() {
		name := strings.Repeat("  ", r.depth) + strings.ReplaceAll(r.name, "**", "")
		fmt.Fprintf(&text, "%-68s %v\n", name, r.value)
	}
	_, err := io.WriteString(w, text.String())
	return err
}
