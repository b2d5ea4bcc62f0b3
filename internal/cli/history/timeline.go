// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fatih/color"
	"k8s.io/apimachinery/pkg/util/duration"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

type screen struct {
	// width is in columns.
	width int

	colored bool
}

func newScreen(width int) screen {
	return screen{width, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"} // https://no-color.org
}

type look struct {
	symbol string
	color  color.Attribute
}

var looks = map[v1.RunResult]look{
	v1.RunSucceeded: {"✔", color.FgGreen},
	v1.RunFailed:    {"✘", color.FgRed},
	v1.RunRunning:   {"▶", color.FgCyan},
	Queued:          {"▷", color.FgYellow},
	v1.RunDeleted:   {"∅", color.FgYellow},
	v1.RunMissed:    {"!", color.FgYellow},
	Waiting:         {"…", color.FgYellow},
	Coming:          {"○", color.Faint},
}

// Symbol returns the symbol of a state, one column wide.
func Symbol(state v1.RunResult) string { return cmp.Or(looks[state].symbol, "?") }

// timeline is the history for people. Time goes down the lines. Of each run it has how long after its
// tick it has started, and how long it took:
//
//	✔ 2027-03-27 02:30  backup-1806111000  Succeeded  2s  4m10s
//	✘ 2027-03-28 02:30  backup-1806197400  Failed     1s  10m
//	── now, 2027-03-28 12:00 ──
//	○ 2027-03-29 02:30  in 14h
func (s screen) timeline(h History) string {
	text := &strings.Builder{}
	s.head(text, h)
	widths := make([]int, 4)
	for _, e := range h.Entries {
		for i, cell := range e.cells() {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	format, isPast := timeFormat(h), true
	for _, e := range h.Entries {
		if isPast && e.at.After(h.now) {
			isPast = false
			s.write(text, color.Faint, "── now, "+h.now.Format(format)+" ──")
		}
		row := Symbol(e.State) + " " + e.at.Format(format)
		switch {
		case e.Job != "":
			row += aligned(e.cells(), widths)
		case e.State == Coming:
			row += "  in " + human(e.at.Sub(h.now))
		default:
			row += "  " + cmp.Or(e.Message, string(e.State))
		}
		s.write(text, looks[e.State].color, row)
		if e.Job != "" && e.Message != "" {
			s.write(text, looks[e.State].color, "  "+e.Message)
		}
	}
	return text.String()
}

// cells returns the columns of a run: Job, result, delay and duration; nil for a tick without a
// run.
func (e Entry) cells() []string {
	switch {
	case e.Job == "":
		return nil
	case e.Backfilled:
		return []string{e.Job, string(e.State), "backfill", human(e.Duration())}
	case e.DelaySeconds == nil:
		return []string{e.Job, string(e.State), "by hand", human(e.Duration())}
	}
	return []string{e.Job, string(e.State), human(e.Delay()), human(e.Duration())}
}

func (s screen) head(text *strings.Builder, h History) {
	what := h.Description
	if h.Problem != "" {
		what = h.Problem
	}
	s.write(text, color.Bold, fmt.Sprintf("CronJob %s: %s (%s)", cmp.Or(h.title, h.Name), what, h.TimeZone))
	for _, halt := range h.halts() {
		s.write(text, color.FgYellow, halt.Message)
	}
	if len(h.Entries) == 0 {
		s.write(text, color.Faint, "It has no runs yet, and none to come.")
	}
}

// write writes a line in a colour, cut to the width of the screen.
func (s screen) write(text *strings.Builder, attribute color.Attribute, line string) {
	text.WriteString(s.paint(attribute, s.cut(line)) + "\n")
}

// cut shortens a line to the width of the screen. It removes control characters, since anybody may
// have written a message.
func (s screen) cut(line string) string {
	line = strings.TrimRight(strings.Map(printable, line), " ")
	if runes := []rune(line); len(runes) > s.width {
		return string(runes[:max(0, s.width-1)]) + "…"
	}
	return line
}

func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

func (s screen) paint(attribute color.Attribute, line string) string {
	if !s.colored {
		return line
	}
	painter := color.New(attribute)
	painter.EnableColor()
	return painter.Sprint(line)
}

func timeFormat(h History) string {
	for _, e := range h.Entries {
		if !e.Tick.IsZero() && e.at.Second() != 0 {
			return time.DateTime
		}
	}
	return "2006-01-02 15:04"
}

// human formats a duration as kubectl does.
func human(d time.Duration) string {
	if d < 0 { // clocks differ
		return d.String()
	}
	return duration.HumanDuration(d)
}

// aligned pads cells to these widths, with two blanks before each.
func aligned(cells []string, widths []int) string {
	row := &strings.Builder{}
	for i, cell := range cells {
		row.WriteString("  " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
	}
	return row.String()
}
