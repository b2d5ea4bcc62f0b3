// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/english"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// Forecast says when a CronJob fires. It is what -o json and yaml print.
type Forecast struct {
	// Source is the file that the CronJob is from. An expression has no source and no name.
	Source    string `json:"source,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`

	// Schedule and AdditionalSchedules are the texts, TimeZone the name of their zone, Description
	// what they mean.
	Schedule            string   `json:"schedule"`
	AdditionalSchedules []string `json:"additionalSchedules,omitempty"`
	TimeZone            string   `json:"timeZone"`
	Description         string   `json:"description"`

	// Suspended says that nothing will start at these times unless it is resumed before.
	Suspended bool `json:"suspended,omitempty"`

	// Stopped says the same of one that has stopped after failures.
	Stopped bool `json:"stopped,omitempty"`

	// DelaySeconds is by how much each start is delayed, as spec.jitterSeconds asks. Of a manifest
	// without a namespace it is not known; JitterSeconds is what it will be less than.
	DelaySeconds  int64 `json:"delaySeconds,omitempty"`
	JitterSeconds int32 `json:"jitterSeconds,omitempty"`

	// Waiting is a tick that is due, but has not started, and WaitingUntil when it starts, if that is
	// later because of the delay. Both are RFC 3339 in UTC.
	Waiting      string `json:"waiting,omitempty"`
	WaitingUntil string `json:"waitingUntil,omitempty"`

	// Ticks are the times, in order. Completed says that none comes after them.
	Ticks     []Tick `json:"ticks"`
	Completed bool   `json:"completed,omitempty"`

	// Skipped has the times between them that are on days of spec.exclude.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is a row of times at which a CronJob would fire, were they not on excluded days.
type Skipped struct {
	// First and Last are in the zone of the schedule.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`

	// Count is how many they are, and plan.MaxMissedCount if they are that many or more.
	Count int `json:"count"`
}

// Tick is a time at which a CronJob fires.
type Tick struct {
	// Time is in the zone of the schedule, LocalTime in that of the terminal.
	Time      time.Time `json:"time"`
	LocalTime time.Time `json:"localTime"`

	// Job is the name of the Job that starts then.
	Job string `json:"job,omitempty"`

	// Notes say in words where clocks shift.
	Notes []string `json:"notes,omitempty"`
}

// tickAt describes a tick of a CronJob, in the zone of its schedule and in that of the terminal.
func tickAt(c *v1.CronJob, at time.Time, here *time.Location, notes ...string) Tick {
	tick := Tick{Time: at, LocalTime: at.In(here), Notes: notes}
	if c.Name != "" {
		tick.Job = fmt.Sprintf("%s-%d", c.Name, at.Unix())
	}
	return tick
}

// makeForecast finds the ticks of a CronJob from an instant on. An error names the wrong field.
func makeForecast(c *v1.CronJob, from time.Time, here *time.Location, count int) (Forecast, error) {
	ticks, err := cronjobs.Schedule(c)
	if err != nil {
		return Forecast{}, err
	}
	description, _ := english.Describe(c.Spec.Schedule, c.Spec.AdditionalSchedules...) // they can be described, as they are schedules
	zone := cronjobs.Zone(c)
	f := Forecast{
		Namespace: c.Namespace, Name: c.Name,
		Schedule: c.Spec.Schedule, AdditionalSchedules: c.Spec.AdditionalSchedules,
		TimeZone: zone.String(), Description: description,
		Suspended: ptr.Deref(c.Spec.Suspend, false), Stopped: plan.IsStopped(c),
		Ticks: make([]Tick, 0, count),
	}
	if c.Namespace == "" || c.Name == "" {
		f.JitterSeconds = ptr.Deref(c.Spec.JitterSeconds, 0)
	} else {
		f.DelaySeconds = int64(plan.Jitter(c) / time.Second)
	}
	wall := newWall(zone, append([]string{c.Spec.Schedule}, c.Spec.AdditionalSchedules...))
	resumed := ""
	if until := c.Spec.SuspendUntil; until != nil && until.After(from) {
		from, resumed = until.Time, "first after the suspension"
	}
	before, after := from, from.Add(-time.Nanosecond) // a tick at that instant counts
	for range count {
		at, ok := ticks.Next(after)
		if !ok {
			f.Completed = true
			break
		}
		f.skip(ticks.Unexcluded(), after, at, zone)
		tick := tickAt(c, at.In(zone), here, wall.notes(before, at, here)...)
		if resumed != "" {
			tick.Notes, resumed = append(tick.Notes, resumed), ""
		}
		f.Ticks = append(f.Ticks, tick)
		before, after = at, at
	}
	return f, nil
}

// skip notes the ticks between two that are not excluded.
func (f *Forecast) skip(ticks schedule.Ticks, after, before time.Time, zone *time.Location) {
	first, ok := ticks.Next(after)
	if !ok || !first.Before(before) {
		return
	}
	last, _ := ticks.Last(after, before.Add(-time.Nanosecond))
	f.Skipped = append(f.Skipped, Skipped{
		First: first.In(zone), Last: last.In(zone), Count: ticks.Count(after, before, plan.MaxMissedCount),
	})
}

// wall compares ticks with the civil time of the schedules' zone.
type wall struct {
	zone        *time.Location
	expressions []expression
}

// expression is a cron expression: its own ticks, and those on a clock that never shifts.
type expression struct{ ticks, civil schedule.Schedule }

// newWall takes texts that are known to be schedules.
func newWall(zone *time.Location, texts []string) wall {
	w := wall{zone: zone}
	for _, text := range texts {
		ticks, _ := schedule.Parse(text, zone.String())
		civil, _ := schedule.Parse(text, "")
		if ticks.Interval() == 0 {
			w.expressions = append(w.expressions, expression{ticks, civil})
		}
	}
	return w
}

// notes says what clocks did between two ticks: those of the schedule's zone, and those here.
func (w wall) notes(before, at time.Time, here *time.Location) []string {
	var notes []string
	if skipped, ok := w.skipped(at); ok {
		notes = append(notes, fmt.Sprintf("instead of %s, which the clocks skip: %s", skipped.Format("15:04"), shift(at.In(w.zone))))
	} else if offset(before, w.zone) != offset(at, w.zone) {
		notes = append(notes, "first after the clocks went "+shift(at.In(w.zone)))
	}
	if offset(at, here) != offset(at, w.zone) && offset(at, here) != offset(before, here) {
		notes = append(notes, "first after your clocks went "+shift(at.In(here)))
	}
	return notes
}

// skipped returns the civil time, as UTC, in place of which a tick fires after a gap; false if the
// tick fires at a time that an expression names.
func (w wall) skipped(at time.Time) (time.Time, bool) {
	civil, instead := civilOf(at, w.zone), time.Time{}
	for _, e := range w.expressions {
		if _, ok := e.ticks.Last(at.Add(-time.Second), at); !ok {
			continue // it is the tick of another
		}
		if next, _ := e.civil.Next(civil.Add(-time.Second)); next.Equal(civil) {
			return time.Time{}, false
		}
		instead, _ = e.civil.Next(civilOf(at.Add(-time.Second), w.zone))
	}
	return instead, !instead.IsZero()
}

// civilOf returns what the wall shows at an instant, as UTC.
func civilOf(at time.Time, zone *time.Location) time.Time {
	return at.UTC().Add(offset(at, zone))
}

func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// shift describes the last shift of the clocks before an instant, in its zone: "forward from 02:00
// to 03:00", and on which day, if that is another.
func shift(at time.Time) string {
	start, _ := at.ZoneBounds()
	from := civilOf(start.Add(-time.Second), at.Location()).Add(time.Second)
	to := civilOf(start, at.Location())
	direction := "forward"
	if to.Before(from) {
		direction = "back"
	}
	text := fmt.Sprintf("%s from %s to %s", direction, from.Format("15:04"), to.Format("15:04"))
	if to.Format(time.DateOnly) != at.Format(time.DateOnly) {
		text += " on " + to.Format(dayFormat)
	}
	return text
}
