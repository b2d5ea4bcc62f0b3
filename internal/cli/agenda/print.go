// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
)

// dayFormat and zoneFormat are what comes before and after the time of day.
const dayFormat, zoneFormat = "Mon 2006-01-02 ", " -07:00"

// print prints the agenda for a reader.
func (c *command) print(a *Agenda) error {
	if len(a.Runs) == 0 {
		_, err := fmt.Fprintf(c.Out, "Nothing is going to run before %s.\n", a.until.Format(dayFormat+"15:04"+zoneFormat))
		return err
	}
	if err := c.printTable(c.rows(a)); err != nil || len(a.BusiestMinutes) == 0 {
		return err
	}
	fmt.Fprintln(c.Out)
	return c.printTable(busiestRows(a))
}

// printTable aligns rows.
func (c *command) printTable(rows [][]string) error {
	w := printers.GetNewTabWriter(c.Out)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// rows is the table of the runs, with a header and without the columns that have nothing to say.
func (c *command) rows(a *Agenda) [][]string {
	clock, here := "15:04", a.from.Location()
	inBothZones, withNotes := false, false
	for _, run := range a.Runs {
		if run.Time.Second() != 0 {
			clock = time.TimeOnly
		}
		inBothZones = inBothZones || run.Time.Format(zoneFormat) != run.Time.In(here).Format(zoneFormat)
		withNotes = withNotes || run.note() != ""
	}
	header := []string{"TIME", "IN", "CRONJOB"}
	if inBothZones {
		header = []string{"YOUR TIME", "IN", "CRONJOB", "ITS TIME"}
	}
	if withNotes {
		header = append(header, "NOTE")
	}
	table := [][]string{header}
	for _, run := range a.Runs {
		row := []string{
			run.Time.In(here).Format(dayFormat + clock + zoneFormat),
			duration.HumanDuration(max(0, run.Time.Sub(a.from))),
			c.selection.NameOf(run.Namespace, run.Name),
		}
		if inBothZones {
			row = append(row, run.Time.Format("Mon "+clock+" ")+run.TimeZone)
		}
		if withNotes {
			row = append(row, run.note())
		}
		table = append(table, row)
	}
	return table
}

// note says what there is to know beside when it runs.
func (r Run) note() string {
	notes := slices.Clone(r.Notes)
	if r.DelaySeconds > 0 {
		notes = append(notes, fmt.Sprintf("starts %v later", time.Duration(r.DelaySeconds)*time.Second))
	}
	if r.Suspended {
		notes = append(notes, "suspended")
	}
	if r.Stopped {
		notes = append(notes, "stopped after failures")
	}
	if r.More > 0 {
		notes = append(notes, fmt.Sprintf("and %d more", r.More))
	}
	return strings.Join(notes, "; ")
}

// maxBar is how long the bar of the busiest minute is.
const maxBar = 40

// busiestRows is the table of the busiest minutes.
func busiestRows(a *Agenda) [][]string {
	table := [][]string{{"BUSIEST MINUTES", "STARTS", ""}}
	for _, minute := range a.BusiestMinutes {
		bar := strings.Repeat("█", max(1, maxBar*minute.Starts/a.BusiestMinutes[0].Starts))
		table = append(table, []string{minute.Time.Format(dayFormat + "15:04" + zoneFormat), fmt.Sprint(minute.Starts), bar})
	}
	return table
}
