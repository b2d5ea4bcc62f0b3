// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/internal/schedule"
)

// daylightSaving draws when schedules fire in the night of a spring gap and in that of an autumn
// fold.
func daylightSaving() (*picture, error) {
	const name = "Europe/Paris"
	zone, err := schedule.LoadZone(name)
	if err != nil {
		return nil, err
	}
	p := &picture{Title: "When schedules fire in nights in which clocks shift", Height: 24}
	p.say("The time zone is %s.", name)
	for _, midnight := range []time.Time{
		time.Date(2026, time.March, 29, 0, 0, 0, 0, zone),
		time.Date(2026, time.October, 25, 0, 0, 0, 0, zone),
	} {
		if err := p.night(midnight, name); err != nil {
			return nil, err
		}
		p.Height += 24
	}
	p.Height -= 10
	return p, nil
}

// night draws the ticks of some schedules in the six hours around a shift of clocks. The axis is of
// time as it passes: an hour is as long as any other, whatever the wall shows.
func (p *picture) night(midnight time.Time, zone string) error {
	_, shift := midnight.ZoneBounds()
	before := shift.Add(-time.Nanosecond)
	_, oldOffset := before.Zone()
	_, newOffset := shift.Zone()
	direction := "forward"
	if newOffset < oldOffset {
		direction = "back"
	}
	fromWall := clock(shift.UTC().Add(time.Duration(oldOffset) * time.Second))
	headline := fmt.Sprintf("%s: clocks go %s, from %s to %s", midnight.Format("2 January 2006"), direction, fromWall, clock(shift))
	p.say("%s.", headline)
	p.text("head", margin, p.Height+6, headline)
	p.Height += 36

	t := newTimeline(p, shift.Add(-150*time.Minute), shift.Add(210*time.Minute))
	p.text("soft", margin, t.top, "the wall clock in "+zone)
	for _, text := range []string{"30 2 * * *", "30 1-3 * * *", "30 * * * *"} {
		ticks, err := schedule.Spec{Schedule: text, TimeZone: zone}.Ticks()
		if err != nil {
			return err
		}
		top := t.row(1, "mono", text)
		var fires []string
		for tick, ok := ticks.Next(t.from); ok && tick.Before(t.until); tick, ok = ticks.Next(tick) {
			local := tick.In(midnight.Location())
			t.bar("succeeded", top, local.Add(-12*time.Minute), local.Add(12*time.Minute), clock(local))
			fires = append(fires, local.Format("15:04 MST"))
		}
		p.say("%s fires at %s.", text, strings.Join(fires, ", "))
	}
	var hours []time.Time
	for hour := t.from.Truncate(time.Hour).Add(time.Hour); hour.Before(t.until); hour = hour.Add(time.Hour) {
		hours = append(hours, hour)
	}
	t.end("15:04 MST", hours)
	p.grid("shift", "M%g %gV%g", t.x(shift), t.top+5, t.y)
	return nil
}
