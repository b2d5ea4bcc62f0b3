// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"fmt"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// scheduleFrom returns the schedule of a CronJob for ticks from an instant on, and for those that
// the status lists as missed. Intervals are counted back from the last run.
func scheduleFrom(c *v1.CronJob, from time.Time) (schedule.Ticks, error) {
	for _, row := range c.Status.Missed {
		if row.First.Time.Before(from) {
			from = row.First.Time
		}
	}
	ticks, err := cronjobs.Schedule(c)
	interval, anchor := ticks.Interval(), plan.Anchor(c, c.Status)
	if err != nil || interval == 0 || from.After(anchor) {
		return ticks, err
	}
	back := anchor.Sub(from)/interval + 2 // the first tick is one interval after the anchor
	return ticks.Anchored(anchor.Add(-back * interval)), nil
}

// ticksIn returns the ticks of a range, both ends included; at most limit+1.
func ticksIn(ticks schedule.Ticks, from, to time.Time, limit int) []time.Time {
	var found []time.Time
	tick, ok := ticks.Next(from.Add(-time.Nanosecond))
	for ; ok && !tick.After(to) && len(found) <= limit; tick, ok = ticks.Next(tick) {
		found = append(found, tick)
	}
	return found
}

// checkTick returns an error if an instant is not a tick. It names the nearest ticks.
func checkTick(c *v1.CronJob, ticks schedule.Ticks, instant time.Time) error {
	if len(ticksIn(ticks, instant, instant, 1)) == 1 {
		return nil
	}
	zone := cronjobs.Zone(c)
	format := func(t time.Time) string { return t.In(zone).Format(time.RFC3339) }
	nearest := "none comes before it"
	if before, ok := ticks.Last(time.Time{}, instant); ok {
		nearest = "the one before it is " + format(before)
	}
	if after, ok := ticks.Next(instant); ok {
		nearest += ", and the one after it " + format(after)
	}
	return fmt.Errorf("--tick %s is not a tick of %q (%s): %s", format(instant), cronjobs.Expressions(c), zone, nearest)
}
