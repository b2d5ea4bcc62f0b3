// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package timeline lays out what CronJobs have run and are going to run, for a drawing: where each
// mark is, and what it says. Positions are percentages of the width, so that the drawing fits each
// screen without a script.
package timeline

import (
	"fmt"
	"math"
	"time"
)

// columns is how many parts the width has in which starts are counted. The beginning of a window is
// that of one, so that the same starts are counted together while time goes on.
const columns = 72

// Window is the time that is shown.
type Window struct {
	From, Until, Now time.Time

	step time.Duration // that of a column
}

// NewWindow returns the window that reaches so far back and ahead; together at least an hour.
func NewWindow(now time.Time, back, ahead time.Duration) Window {
	step := max((back+ahead)/columns, time.Minute).Truncate(time.Minute)
	from := now.Add(-back).Truncate(step)
	return Window{From: from, Until: from.Add(back + ahead + step), Now: now, step: step}
}

// At returns where an instant is, in per cent of the width. What is outside is at an end.
func (w Window) At(t time.Time) float64 {
	share := float64(t.Sub(w.From)) / float64(w.Until.Sub(w.From))
	return math.Round(10_000*min(max(share, 0), 1)) / 100
}

func (w Window) has(t time.Time) bool { return !t.Before(w.From) && t.Before(w.Until) }

// Mark is something at a time, or for some time.
type Mark struct {
	// Kind is a state of history, in lower case, "clocks" or Unknown.
	Kind string

	// At and Width are in per cent of the width.
	At, Width float64

	// Title says what it is.
	Title string

	// Job is that of a run, and Took how long it took so far.
	Job  string
	Took time.Duration

	// Failed is how many of the runs failed that are merged here; others is how many are, but one.
	Failed, others int
}

// Red is how much of the mark is red, in per cent of its height: the share of the runs that failed.
func (m Mark) Red() int { return 100 * m.Failed / (m.others + 1) }

// minWidth is the width of an instant: SVG draws nothing of a rectangle without any.
const minWidth = 0.1

func (w Window) mark(kind string, from, until time.Time, format string, args ...any) Mark {
	at := w.At(from)
	return Mark{Kind: kind, At: at, Width: max(minWidth, w.At(until)-at), Title: fmt.Sprintf(format, args...)}
}

// Label is a time on the axis.
type Label struct {
	At   float64
	Text string

	// IsNow says that the text is no time but "now".
	IsNow bool
}

// labelWidth is the room that a label needs, in per cent of the width.
const labelWidth = 10

// Labels returns the labels of the axis, in a zone: none that would be cut, or overlap "now".
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
	local := w.From.In(zone)
	midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, zone)
	labels := []Label{{At: w.At(w.Now), Text: "now", IsNow: true}}
	for at := midnight; at.Before(w.Until); at = next(at, step) {
		if x := w.At(at); min(x, 100-x) >= labelWidth/2 && math.Abs(x-labels[0].At) > labelWidth {
			labels = append(labels, Label{At: x, Text: at.Format(format)})
		}
	}
	return labels
}

// next returns the time that the wall shows a step later.
func next(at time.Time, step time.Duration) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute()+int(step/time.Minute), 0, 0, at.Location())
}

// clocks returns a mark for each shift of the clocks of a zone.
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
