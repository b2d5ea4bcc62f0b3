// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package agenda

import (
	"cmp"
	"slices"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/next"
)

const (
	// maxRuns is how many runs of one CronJob are shown: all of a day of one that runs every hour.
	maxRuns = 24

	// maxBusiest is how many minutes are shown.
	maxBusiest = 5
)

// Agenda is what is going to run. It is what -o json and yaml print. Times are RFC 3339.
type Agenda struct {
	// From and Until are the time that it is of, in the zone of the terminal.
	From  string `json:"from"`
	Until string `json:"until"`

	// Runs are in the order of time, at most 24 of each CronJob.
	Runs []Run `json:"runs"`

	// BusiestMinutes are those in which most Jobs start, more than one, the busiest first.
	BusiestMinutes []Minute `json:"busiestMinutes"`

	from, until time.Time

	// starts counts the Jobs that start in each minute, from that of from on.
	starts []int
}

// Run is a time at which a CronJob fires.
type Run struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	TimeZone  string `json:"timeZone"`
	next.Tick

	// Suspended says that nothing starts unless the CronJob is resumed before, and Stopped that it has
	// stopped after failures.
	Suspended bool `json:"suspended,omitempty"`
	Stopped   bool `json:"stopped,omitempty"`

	// DelaySeconds is by how much the start is delayed, as spec.jitterSeconds asks.
	DelaySeconds int64 `json:"delaySeconds,omitempty"`

	// More is how many times the CronJob fires after this one until the end, and which are left out.
	More int `json:"more,omitempty"`
}

// Minute is a minute in which Jobs start.
type Minute struct {
	// Time is its beginning, in the zone of the terminal.
	Time time.Time `json:"time"`

	// Starts is how many Jobs start.
	Starts int `json:"starts"`
}

// newAgenda begins an agenda of a time, in the zone of its beginning.
func newAgenda(from time.Time, within time.Duration) *Agenda {
	until := from.Add(within)
	return &Agenda{
		From: from.Format(time.RFC3339), Until: until.Format(time.RFC3339), Runs: []Run{}, BusiestMinutes: []Minute{},
		from: from, until: until, starts: make([]int, within/time.Minute+2), // one more at each end
	}
}

// add enters the runs of a CronJob. An error names it, and its wrong field.
func (a *Agenda) add(c *v1.CronJob) error {
	forecast, err := next.Stored(c, a.from, maxRuns)
	if err != nil || !c.DeletionTimestamp.IsZero() {
		return err
	}
	if forecast.Waiting != "" {
		due := next.TickAt(c, c.Status.NextScheduleTime.In(cronjobs.Zone(c)), a.from.Location())
		if forecast.WaitingUntil == "" {
			due.Notes = []string{"is due, and has not started"}
		}
		a.enter(forecast, due)
	}
	count := 0
	for _, tick := range forecast.Ticks {
		if tick.Time.Before(a.until) {
			a.enter(forecast, tick)
			count++
		}
	}
	if count > 0 {
		a.Runs[len(a.Runs)-1].More = a.countStarts(c, forecast) - count
	}
	return nil
}

// enter adds a run.
func (a *Agenda) enter(f next.Forecast, tick next.Tick) {
	a.Runs = append(a.Runs, Run{
		Namespace: f.Namespace, Name: f.Name, TimeZone: f.TimeZone, Tick: tick,
		Suspended: f.Suspended, Stopped: f.Stopped, DelaySeconds: f.DelaySeconds,
	})
}

// countStarts counts all ticks of a CronJob from the first of its forecast on, and has each minute
// count those that start a Job.
func (a *Agenda) countStarts(c *v1.CronJob, f next.Forecast) int {
	ticks, err := cronjobs.Schedule(c)
	if err != nil {
		return 0 // it has no forecast
	}
	count, first := 0, a.from.Truncate(time.Minute)
	for tick := range cronjobs.Between(ticks, f.Ticks[0].Time, a.until) {
		count++
		start := tick.Add(time.Duration(f.DelaySeconds) * time.Second)
		if !f.Suspended && !f.Stopped && start.Before(a.until) {
			a.starts[start.Sub(first)/time.Minute]++
		}
	}
	return count
}

// finish puts the runs in order, and finds the busiest minutes.
func (a *Agenda) finish() {
	slices.SortStableFunc(a.Runs, func(x, y Run) int {
		return cmp.Or(x.Time.Compare(y.Time), cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	for i, starts := range a.starts {
		if starts > 1 {
			at := a.from.Truncate(time.Minute).Add(time.Duration(i) * time.Minute)
			a.BusiestMinutes = append(a.BusiestMinutes, Minute{at, starts})
		}
	}
	slices.SortStableFunc(a.BusiestMinutes, func(x, y Minute) int { return cmp.Compare(y.Starts, x.Starts) })
	a.BusiestMinutes = a.BusiestMinutes[:min(len(a.BusiestMinutes), maxBusiest)]
}
