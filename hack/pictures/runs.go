// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// tenOClock is when the first Job of the timelines starts.
var tenOClock = time.Date(2026, time.January, 1, 10, 0, 0, 0, time.UTC)

// minute returns a time so many minutes after ten.
func minute(n int) time.Time { return tenOClock.Add(time.Duration(n) * time.Minute) }

// everyTenMinutes begins the CronJob of the timelines.
func everyTenMinutes() *builders.CronJob {
	return builders.MakeCronJob("report").Schedule("*/10 * * * *").Created(minute(-5)).History(10, 10)
}

// concurrency draws what each policy does while a Job runs for longer than it is to the next tick.
func concurrency() (*picture, error) {
	p := &picture{Title: "What Allow, Forbid and Replace do while a Job runs", Height: 30}
	p.say("A CronJob with the schedule */10 * * * *. The Job of 10:10 takes 25 minutes, the others take 5.")
	t := newTimeline(p, minute(-3), minute(62))
	for _, policy := range []v1.ConcurrencyPolicy{v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent} {
		s := simulation{cronJob: everyTenMinutes().Policy(policy).Obj(), takes: func(tick time.Time) time.Duration {
			if tick.Equal(minute(10)) {
				return 25 * time.Minute
			}
			return 5 * time.Minute
		}}
		t.spans(s.cronJob, []string{"concurrencyPolicy: " + string(policy)}, s.run(minute(60)))
	}
	t.ticks()
	return p, nil
}

// outage draws which ticks run after a time without a manager.
func outage() (*picture, error) {
	down, up := minute(5), minute(27)
	p := &picture{Title: "Which ticks run after an outage", Height: 30}
	p.say("A CronJob with the schedule */10 * * * *, whose Jobs take 5 minutes. No manager runs from %s until %s.", clock(down), clock(up))
	t := newTimeline(p, minute(-3), minute(62))
	for _, row := range []struct {
		label []string
		build *builders.CronJob
	}{
		{[]string{"no deadline"}, everyTenMinutes()},
		{[]string{"startingDeadlineSeconds: 600"}, everyTenMinutes().Deadline(600)},
		{[]string{"startingDeadlineSeconds: 300"}, everyTenMinutes().Deadline(300)},
		{[]string{"catchUpPolicy: All"}, everyTenMinutes().CatchUp(10)},
		{[]string{"catchUpPolicy: All", "concurrencyPolicy: Forbid"}, everyTenMinutes().CatchUp(10).Policy(v1.ForbidConcurrent)},
	} {
		s := simulation{cronJob: row.build.Obj(), down: down, up: up, takes: func(time.Time) time.Duration { return 5 * time.Minute }}
		t.spans(s.cronJob, row.label, s.run(minute(60)))
	}
	p.text("soft middle", (t.x(down)+t.x(up))/2, t.y+12, "no manager runs")
	t.y += 20
	shade := path{"shade", fmt.Sprintf("M%g %gV%gH%gV%gz", t.x(down), t.top+16, t.y, t.x(up), t.top+16)}
	p.Grid = slices.Insert(p.Grid, 0, shade)
	t.ticks()
	return p, nil
}

// legend has the kinds of bars and marks, in the order in which they are explained.
var legend = []struct {
	class, swatch, meaning string
	width                  float64
}{
	{"succeeded", "10:10", "the run of that tick", 195},
	{"deleted", "10:10", "deleted for the next", 195},
	{"waits", "", "waits", 105},
	{"missed", "why", "missed", 115},
	{"deadline", "", "the deadline of that tick", 0},
}

// ticks ends a timeline of a CronJob every ten minutes, and explains what it has.
func (t *timeline) ticks() {
	var at []time.Time
	for tick := tenOClock; tick.Before(t.until); tick = tick.Add(10 * time.Minute) {
		at = append(at, tick)
	}
	t.end(clockLayout, at)
	x, y := margin, t.Height+12
	for _, item := range legend {
		isBar := slices.ContainsFunc(t.Rects, func(r rect) bool { return r.Class == item.class })
		isMark := slices.ContainsFunc(t.Paths, func(p path) bool { return p.Class == item.class })
		switch {
		case isBar:
			t.rect(item.class, x, y, 44, 20)
			t.text("small middle", x+22, y+14, item.swatch)
		case isMark:
			t.deadline(x+36, y+6)
		default:
			continue
		}
		t.text("soft", x+52, y+14, item.meaning)
		x += item.width
	}
	t.Height += 46
}

// deadline draws the mark of a deadline, which points up.
func (t *timeline) deadline(x, y float64) { t.path("deadline", "M%g %gl-5 8h10z", x, y) }

// spans draws a row with what became of each tick: in the first lane that is free.
func (t *timeline) spans(c *v1.CronJob, label []string, spans []span) {
	lanes, free := make([]int, len(spans)), []time.Time{}
	for i, s := range spans {
		lane := 0
		for lane < len(free) && free[lane].After(s.Tick) {
			lane++
		}
		if lane == len(free) {
			free = append(free, time.Time{})
		}
		lanes[i], free[lane] = lane, s.End
	}
	top := t.row(len(free), "mono", label...)
	said := []string{}
	for i, s := range spans {
		y := top + float64(lanes[i])*laneHeight
		said = append(said, s.String())
		if deadline := c.Spec.StartingDeadlineSeconds; deadline != nil && !s.Start.Equal(s.Tick) {
			t.deadline(t.x(s.Tick.Add(time.Duration(*deadline)*time.Second)), y+barHeight)
		}
		switch {
		case s.Result == v1.RunMissed:
			t.bar("missed", y, s.Tick, s.End, s.Reason)
		case s.Start.After(s.Tick):
			t.rect("waits", t.x(s.Tick), y, t.x(s.Start)-t.x(s.Tick), barHeight)
			fallthrough
		default:
			t.bar(strings.ToLower(string(s.Result)), y, s.Start, s.End, clock(s.Tick))
		}
	}
	t.say("%s: %s.", strings.Join(label, ", "), strings.Join(said, "; "))
}

// String says what became of the tick.
func (s span) String() string {
	switch s.Result {
	case v1.RunMissed:
		return fmt.Sprintf("the tick of %s is missed at %s (%s)", clock(s.Tick), clock(s.End), s.Reason)
	case v1.RunDeleted:
		return fmt.Sprintf("%s runs from %s and is deleted at %s (%s)", clock(s.Tick), clock(s.Start), clock(s.End), s.Reason)
	default:
		return fmt.Sprintf("%s runs from %s until %s", clock(s.Tick), clock(s.Start), clock(s.End))
	}
}
