// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
)

const dayFormat = "Mon 2006-01-02"

func (c *command) print(forecasts []Forecast, now time.Time) error {
	switch {
	case c.output.Format == "name":
		for _, f := range forecasts {
			for _, tick := range f.Ticks {
				fmt.Fprintln(c.Out, "job.batch/"+tick.Job)
			}
		}
		return nil
	case c.output.Format != "" && !c.single:
		return c.output.Write(c.Out, struct {
			Items []Forecast `json:"items"`
		}{append([]Forecast{}, forecasts...)})
	case c.output.Format != "" && len(forecasts) == 1:
		return c.output.Write(c.Out, forecasts[0])
	}
	if c.from != "" {
		now = time.Time{} // without the column IN
	}
	for i, f := range forecasts {
		if i > 0 {
			fmt.Fprintln(c.Out)
		}
		if err := c.printForecast(f, now); err != nil {
			return err
		}
	}
	return nil
}

// printForecast prints a forecast for people. If now is zero, it leaves out the time until each
// tick.
func (c *command) printForecast(f Forecast, now time.Time) error {
	out := c.Out
	if f.Name != "" {
		fmt.Fprintf(out, "CronJob %s: ", c.selection.NameOf(f.Namespace, f.Name))
	}
	fmt.Fprintf(out, "%s (%s).\n", f.Description, f.TimeZone)
	if f.Suspended {
		fmt.Fprintln(out, "It is suspended: nothing starts at these times unless it is resumed before.")
	}
	if f.Stopped {
		fmt.Fprintln(out, "It has stopped after failures: nothing starts at these times unless it is resumed, or a manual run succeeds, before.")
	}
	switch {
	case f.DelaySeconds > 0:
		fmt.Fprintf(out, "Each start is delayed by %v, as spec.jitterSeconds asks.\n", time.Duration(f.DelaySeconds)*time.Second)
	case f.JitterSeconds > 0:
		fmt.Fprintf(out, "Each start is delayed by less than %v, as spec.jitterSeconds asks.\n", time.Duration(f.JitterSeconds)*time.Second)
	}
	switch {
	case f.WaitingUntil != "":
		fmt.Fprintf(out, "The tick of %s starts at %s.\n", f.Waiting, f.WaitingUntil)
	case f.Waiting != "":
		fmt.Fprintf(out, "The tick of %s is due and has not started; kubectl describe tells why.\n", f.Waiting)
	}
	if f.Completed {
		fmt.Fprintf(out, "Times left: %d.\n", len(f.Ticks))
	}
	fmt.Fprintln(out)
	w := printers.GetNewTabWriter(out)
	for _, row := range rows(f, now) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// withSkipped returns the ticks and the first of each row of skipped ones, in order.
func (f Forecast) withSkipped() []Tick {
	ticks := slices.Clone(f.Ticks)
	for _, skipped := range f.Skipped {
		note := "skipped: the day is excluded"
		if more := skipped.Count - 1; more > 0 {
			note = fmt.Sprintf("skipped, and %d more until %s: the days are excluded", more, skipped.Last.Format(dayFormat+" 15:04"))
		}
		here := f.Ticks[0].LocalTime.Location()
		ticks = append(ticks, Tick{Time: skipped.First, LocalTime: skipped.First.In(here), Notes: []string{note}})
	}
	slices.SortFunc(ticks, func(a, b Tick) int { return a.Time.Compare(b.Time) })
	return ticks
}

// rows returns the table of the ticks with a header, without empty columns.
func rows(f Forecast, now time.Time) [][]string {
	ticks := f.withSkipped()
	inBothZones, withSeconds, withNotes := false, false, false
	for _, tick := range ticks {
		inBothZones = inBothZones || offset(tick.Time, tick.Time.Location()) != offset(tick.Time, tick.LocalTime.Location())
		withSeconds = withSeconds || tick.Time.Second() != 0
		withNotes = withNotes || len(tick.Notes) > 0
	}
	format := dayFormat + " 15:04 -07:00"
	if withSeconds {
		format = dayFormat + " 15:04:05 -07:00"
	}
	header := []string{strings.ToUpper(f.TimeZone)}
	if inBothZones {
		header = append(header, "YOUR TIME")
	}
	if !now.IsZero() {
		header = append(header, "IN")
	}
	if withNotes {
		header = append(header, "NOTE")
	}
	table := [][]string{header}
	for _, tick := range ticks {
		row := []string{tick.Time.Format(format)}
		if inBothZones {
			row = append(row, tick.LocalTime.Format(format))
		}
		if !now.IsZero() {
			row = append(row, duration.HumanDuration(tick.Time.Sub(now)))
		}
		if withNotes {
			row = append(row, strings.Join(tick.Notes, "; "))
		}
		table = append(table, row)
	}
	return table
}
