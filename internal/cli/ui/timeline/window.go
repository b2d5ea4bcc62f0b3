// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package timeline computes a drawing of the past and coming runs of CronJobs: the position and the
// title of each mark. Positions are percentages of the width, so that the drawing fits each screen
// without a script.
package timeline

import (
	"fmt"
	"math"
	"time"
)

// columns is the number of columns in which starts are counted. A window begins with a column, so
// that the same starts stay in one column as time passes.
const columns = 72

// Window is the range of time that is shown.
type Window struct {
	From, Until, Now time.Time

	step time.Duration // the duration of a column
}

// NewWindow returns a window around now. back and ahead must be an hour or more together.
func NewWindow(now time.Time, back, ahead time.Duration) Window {
	step := max((back+ahead)/columns, time.Minute).Truncate(time.Minute)
	from := now.Add(-back).Truncate(step)
	return Window{From: from, Until: from.Add(back + ahead + step), Now: now, step: step}
}

// At returns the position of an instant, in per cent of the width. Instants outside are at an end.
func (w Window) At(t time.Time) float64 {
	share := float64(t.Sub(w.From)) / float64(w.Until.Sub(w.From))
	return math.Round(10_000*min(max(share, 0), 1)) / 100
}

func (w Window) has(t time.Time) bool { return !t.Before(w.From) && t.Before(w.Until) }

// Mark is a mark for an instant or a period.
type Mark struct {
	// Kind is a state of package history in lower case, "clocks" or Unknown.
	Kind string

	// At and Width are in per cent of the width.
	At, Width float64

	// Title describes the mark.
	Title string

	// Job is the Job of a run, and Took its duration so far.
	Job  string
	Took time.Duration

	// Failed counts the failed runs that are merged in this mark; others counts all but the first.
	Failed, others int
}

// Red returns the share of the runs that failed, in per cent. This part of the height is drawn red.
func (m Mark) Red() int { return 100 * m.Failed / (m.others + 1) }

// minWidth is the width of an instant: SVG does not draw a rectangle of no width.
const minWidth = 0.1

func (w Window) mark(kind string, from, until time.Time, format string, args ...any) Mark {
	at := w.At(from)
	return Mark{Kind: kind, At: at, Width: max(minWidth, w.At(until)-at), Title: fmt.Sprintf(format, args...)}
}

// Label is a time on the axis.
type Label struct {
	At   float64
	Text string

	// IsNow is whether this is the label "now".
	IsNow bool
}

// labelWidth is the space for a label, in per cent of the width.
const labelWidth = 10

// Labels returns the labels of the axis, in a time zone, except those that would be cut off or
// overlap "now".
func (w Window) Labels(zone *time.Location) []Label {
	const most = 8
	step, format := 15*time.Minute, "15:04"
	for _, hours := range []time.Duration{1, 3, 6, 12, 24, 48, 168} {
		if w.Until.Sub(w.From)/step > most {
			step = hours * time.Hour
		}
	}
	if step >= 24*time.Hour {
		format = "2 Jan"
	}
	from := w.From.In(zone)
	labels := []Label{{At: w.At(w.Now), Text: "now", IsNow: true}}
	last := time.Time{}
	for minutes := 0; ; minutes += int(step / time.Minute) {
		// In civil time, which the shifts of clocks do not change. A time that clocks skip is one of
		// those before, or after.
		at := time.Date(from.Year(), from.Month(), from.Day(), 0, minutes, 0, 0, zone)
		if !at.Before(w.Until) {
			return labels
		}
		if x := w.At(at); at.After(last) && min(x, 100-x) >= labelWidth/2 && math.Abs(x-labels[0].At) > labelWidth {
			labels, last = append(labels, Label{At: x, Text: at.Format(format)}), at
		}
	}
}

// clocks returns a mark for each shift of the clocks in a time zone.
func (w Window) clocks(zone *time.Location) []Mark {
	var marks []Mark
	for at := w.From.In(zone); ; {
		_, end := at.ZoneBounds()
		if end.IsZero() || !w.has(end) {
			return marks
		}
		_, before := end.Add(-time.Second).Zone()
		_, after := end.Zone()
		direction := "forward"
		if after < before {
			direction = "back"
		}
		marks = append(marks, w.mark("clocks", end, end,
			"The clocks of %s go %s, to %s", zone, direction, end.Format("Mon 2006-01-02 15:04 -07:00")))
		at = end
	}
}
