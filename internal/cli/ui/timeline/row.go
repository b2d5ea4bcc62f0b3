// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// maxTicks is how many ticks to come get a mark each. More of them get one mark together.
const maxTicks = 200

// Row is the timeline of one CronJob.
type Row struct {
	Namespace, Name string
	Marks           []Mark

	// Runs has one mark for each run. Those in Marks are merged.
	Runs []Mark

	// Summary describes the drawing in words.
	Summary string
}

// NewRow returns the timeline of a CronJob with this history.
func NewRow(c *v1.CronJob, h history.History, w Window) Row {
	row, counts, known := Row{Namespace: c.Namespace, Name: c.Name}, map[string]int{}, []time.Time{w.Now}
	row.Marks = w.clocks(cronjobs.Zone(c))
	for _, missed := range c.Status.Missed {
		known = append(known, missed.First.Time)
		if missed.Last.Time.Before(w.From) {
			continue
		}
		row.Marks = append(row.Marks, w.mark("missed", missed.First.Time, missed.Last.Time, "%s", plan.MissedRow(missed).Event().Note))
		counts["missed"] += int(missed.Count)
	}
	for _, entry := range h.Entries {
		known = append(known, entry.At())
		if mark, ok := w.entry(entry); ok {
			row.Runs = append(row.Runs, mark)
			counts[mark.Kind]++
		}
	}
	row.Marks = append(row.Marks, w.merged(row.Runs)...)
	if first := slices.MinFunc(known, time.Time.Compare); first.After(w.From) {
		row.Marks = append(row.Marks, w.mark(Unknown, w.From, first, "No record before %s", first.In(cronjobs.Zone(c)).Format(time.RFC3339)))
	}
	coming, count := w.coming(c)
	row.Marks, counts["coming"] = append(row.Marks, coming...), count
	row.Summary = summaryOf(counts)
	return row
}

// merged merges the runs that begin in the same column, so that none hides another.
func (w Window) merged(runs []Mark) []Mark {
	var cells []Mark
	column, width := -1, 100*float64(w.step)/float64(w.Until.Sub(w.From))
	for _, run := range runs {
		if run.Kind == failed {
			run.Failed = 1
		}
		if int(run.At/width) != column {
			cells, column = append(cells, run), int(run.At/width)
			continue
		}
		cell := &cells[len(cells)-1]
		cell.Width = max(cell.Width, run.At+run.Width-cell.At)
		cell.Failed += run.Failed
		cell.others++
		cell.Title += "\n" + run.Title
		if run.Kind != failed {
			cell.Kind = run.Kind
		}
		if run.Kind == failed || cell.Failed == 0 { // a reader looks for the reason of a failure
			cell.Job = run.Job
		}
	}
	return cells
}

func (w Window) entry(e history.Entry) (Mark, bool) {
	kind, start, end := strings.ToLower(string(e.State)), e.At(), w.Now
	if !e.Start.IsZero() {
		start = e.Start
	}
	switch {
	case !e.End.IsZero():
		end = e.End
	case e.State == v1.RunDeleted:
		end = start // its time of deletion is unknown
	}
	if e.State == v1.RunMissed || e.State == history.Coming || end.Before(w.From) {
		return Mark{}, false
	}
	parts := []string{string(e.State)}
	if !e.Tick.IsZero() {
		parts = append(parts, "tick "+e.Tick.Format(time.RFC3339))
	}
	switch {
	case e.State == history.Queued:
		parts = append(parts, e.Job, "since "+e.Start.Format(time.RFC3339))
	case e.Job != "":
		parts = append(parts, e.Job, "started "+e.Start.Format(time.RFC3339), "took "+duration.HumanDuration(end.Sub(start)))
	}
	if e.Message != "" {
		parts = append(parts, e.Message)
	}
	mark := w.mark(kind, start, end, "%s", strings.Join(parts, ", "))
	mark.Job, mark.Took = e.Job, end.Sub(start)
	return mark, true
}

// coming returns the marks of the ticks to come, from the tick to the start of its Job, and their
// number. More than maxTicks get one mark and count as maxTicks.
func (w Window) coming(c *v1.CronJob) ([]Mark, int) {
	ticks, err := cronjobs.Schedule(c)
	if err != nil {
		return nil, 0
	}
	var marks []Mark
	var first time.Time
	zone, delay := cronjobs.Zone(c), plan.Jitter(c)
	for tick := range cronjobs.Coming(c, ticks, w.Now) {
		if !tick.Before(w.Until) {
			break
		}
		switch len(marks) {
		case 0:
			first = tick
		case maxTicks:
			last, _ := ticks.Last(first, w.Until)
			return []Mark{w.mark("coming", first, last, "More than %d ticks until %s", maxTicks, last.In(zone).Format(time.RFC3339))}, maxTicks
		}
		title := "Tick " + tick.In(zone).Format(time.RFC3339)
		if delay > 0 {
			title += ", starts " + delay.String() + " later"
		}
		marks = append(marks, w.mark("coming", tick, tick.Add(delay), "%s", title))
	}
	return marks, len(marks)
}

// Unknown is the kind of the mark for the time before the oldest run that the status remembers.
const Unknown = "unknown"

const failed = "failed"

// Kinds has the kinds of marks in the order of the legend.
var Kinds = []string{"succeeded", failed, "running", "queued", "deleted", "missed", "waiting", "coming", Unknown}

func summaryOf(counts map[string]int) string {
	var parts []string
	for _, kind := range Kinds {
		switch count := counts[kind]; {
		case kind == "coming" && count >= maxTicks:
			parts = append(parts, fmt.Sprintf("%d or more %s", count, kind))
		case count > 0:
			parts = append(parts, fmt.Sprintf("%d %s", count, kind))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
