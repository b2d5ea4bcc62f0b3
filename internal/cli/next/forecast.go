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

// Forecast has the next ticks of a CronJob, as -o json and yaml print them.
type Forecast struct {
	// Source is the file of the CronJob; "" for one of the cluster and for an expression. An
	// expression has no name.
	Source    string `json:"source,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`

	// Description describes the schedules in words.
	Schedule            string   `json:"schedule"`
	AdditionalSchedules []string `json:"additionalSchedules,omitempty"`
	TimeZone            string   `json:"timeZone"`
	Description         string   `json:"description"`

	// Suspended is whether spec.suspend is true: nothing starts until the CronJob is resumed.
	Suspended bool `json:"suspended,omitempty"`

	// Stopped is whether it has stopped after failures.
	Stopped bool `json:"stopped,omitempty"`

	// DelaySeconds is the jitter of each start. It is unknown for a manifest without a namespace,
	// which has JitterSeconds, its upper limit, instead.
	DelaySeconds  int64 `json:"delaySeconds,omitempty"`
	JitterSeconds int32 `json:"jitterSeconds,omitempty"`

	// Waiting is the tick that is due and has not started; "" for none. WaitingUntil is when it
	// starts, if the jitter delays it. Both are RFC 3339 in UTC.
	Waiting      string `json:"waiting,omitempty"`
	WaitingUntil string `json:"waitingUntil,omitempty"`

	// Ticks are in order. Completed is whether none comes after them.
	Ticks     []Tick `json:"ticks"`
	Completed bool   `json:"completed,omitempty"`

	// Skipped has the ticks between them that spec.exclude excludes.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is a row of excluded ticks.
type Skipped struct {
	// First and Last are in the time zone of the schedule.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`

	// Count is the number of ticks, at most plan.MaxMissedCount.
	Count int `json:"count"`
}

// Tick is a tick of a CronJob.
type Tick struct {
	// Time is in the time zone of the schedule, LocalTime in that of the terminal.
	Time      time.Time `json:"time"`
	LocalTime time.Time `json:"localTime"`

	// Job is the name of the tick's Job.
	Job string `json:"job,omitempty"`

	// Notes describe shifts of clocks.
	Notes []string `json:"notes,omitempty"`
}

// tickAt returns a tick of a CronJob. here is the time zone of the terminal.
func tickAt(c *v1.CronJob, at time.Time, here *time.Location, notes ...string) Tick {
	tick := Tick{Time: at, LocalTime: at.In(here), Notes: notes}
	if c.Name != "" {
		tick.Job = fmt.Sprintf("%s-%d", c.Name, at.Unix())
	}
	return tick
}

// makeForecast returns the next ticks of a CronJob from an instant on. An error names the wrong
// field.
func makeForecast(c *v1.CronJob, from time.Time, here *time.Location, count int) (Forecast, error) {
	ticks, err := cronjobs.Schedule(c)
	if err != nil {
		return Forecast{}, err
	}
	description, _ := english.Describe(c.Spec.Schedule, c.Spec.AdditionalSchedules...) // a valid schedule can be described
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
	before, after := from, from.Add(-time.Nanosecond) // a tick at from counts
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

// skip adds the excluded ticks between two ticks. ticks are those without exclusions.
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

// wall compares ticks with the civil time in the time zone of the schedules.
type wall struct {
	zone        *time.Location
	expressions []expression
}

// expression has the ticks of a cron expression in its time zone, and in civil time without shifts.
type expression struct{ ticks, civil schedule.Schedule }

// newWall takes valid schedules.
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

// notes describes the shifts of clocks between two ticks, in the zones of the schedule and the
// terminal.
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

// skipped returns the skipped civil time, as UTC, for which a tick fires after a gap; false for a
// tick at a time that an expression names.
func (w wall) skipped(at time.Time) (time.Time, bool) {
	civil, instead := civilOf(at, w.zone), time.Time{}
	for _, e := range w.expressions {
		if _, ok := e.ticks.Last(at.Add(-time.Second), at); !ok {
			continue // another expression's tick
		}
		if next, _ := e.civil.Next(civil.Add(-time.Second)); next.Equal(civil) {
			return time.Time{}, false
		}
		instead, _ = e.civil.Next(civilOf(at.Add(-time.Second), w.zone))
	}
	return instead, !instead.IsZero()
}

// civilOf returns the civil time at an instant, as UTC.
func civilOf(at time.Time, zone *time.Location) time.Time {
	return at.UTC().Add(offset(at, zone))
}

func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// shift describes the last shift of the clocks before an instant, in its zone: "forward from 02:00
// to 03:00", with the day if it is another.
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
