// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"time"
)

const (
	margin     = 20.0
	axisLeft   = 235.0 // labels of rows are left of it
	axisRight  = width - margin
	laneHeight = 34.0
	barHeight  = 26.0
	baseline   = 17.0 // of a text in a bar or in a lane, below its top
)

// timeline is an axis of time, and rows below it.
type timeline struct {
	*picture

	from, until time.Time
	top         float64 // of the axis
	y           float64 // of the next row
}

// newTimeline begins a timeline below what the picture has.
func newTimeline(p *picture, from, until time.Time) *timeline {
	return &timeline{picture: p, from: from, until: until, top: p.Height, y: p.Height + 16}
}

// x returns where an instant is.
func (t *timeline) x(at time.Time) float64 {
	share := at.Sub(t.from).Seconds() / t.until.Sub(t.from).Seconds()
	return tenths(axisLeft + share*(axisRight-axisLeft))
}

const clockLayout = "15:04"

// clock returns what the wall shows.
func clock(at time.Time) string { return at.Format(clockLayout) }

// row begins a row with so many lanes and returns the top of the first.
func (t *timeline) row(lanes int, class string, label ...string) float64 {
	top := t.y
	t.grid("grid", "M%g %gH%g", margin, top, axisRight)
	for i, line := range label {
		t.text(class, margin, top+8+baseline+float64(i)*17, line)
	}
	t.y += 12 + math.Max(float64(lanes)*laneHeight, float64(len(label))*17+8)
	return top + 8
}

// bar draws what lasts from one instant to another, with a text in it.
func (t *timeline) bar(class string, top float64, from, until time.Time, label string) {
	t.rect(class, t.x(from), top, t.x(until)-t.x(from), barHeight)
	t.text("small middle", (t.x(from)+t.x(until))/2, top+baseline, label)
}

// end draws lines at instants through all rows, and above them the time.
func (t *timeline) end(layout string, at []time.Time) {
	for _, instant := range at {
		t.grid("grid", "M%g %gV%g", t.x(instant), t.top+5, t.y)
		t.text("soft middle", t.x(instant), t.top, instant.Format(layout))
	}
	t.Height = t.y
}
