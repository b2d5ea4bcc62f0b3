// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

func (c *check) statuses(s *timeline) {
	for i := 1; i < len(s.versions); i++ {
		before, now := s.versions[i-1], s.versions[i]
		if now.LastSchedule.Before(before.LastSchedule) {
			c.violate(WentBack, s, now.LastSchedule, "lastScheduleTime was %s before revision %d", stamp(before.LastSchedule), now.revision)
		}
		if now.Stopped && !before.Stopped {
			c.stopped(s, now)
		}
		start := now.NextSchedule.Add(delayOf(now.CronJob))
		if !now.NextStart.IsZero() && !now.NextStart.Equal(start) && now.ObservedGeneration == now.Generation {
			c.violate(WrongStatus, s, now.NextSchedule, "nextStartTime is %s at revision %d: want %s",
				stamp(now.NextStart), now.revision, stamp(start))
		}
	}
}

// backfillLimits are the operator's history limits for backfilled Jobs.
var backfillLimits = map[string]int{history.Succeeded: 3, history.Failed: 10}

// settled checks a CronJob at the end, when everything is idle.
func (c *check) settled(s *timeline) {
	if s.gone > 0 || c.phases[history.Settled].IsZero() {
		return
	}
	c.Settled++
	last := s.versions[len(s.versions)-1]
	left, backfilled := map[string]int{}, map[string]int{}
	newest := time.Time{}
	for _, run := range s.runs {
		isUnknown := run.Tick.After(last.LastSchedule) && c.isForgotten(s, run, c.end)
		if run.Tick.After(newest) && !isUnknown {
			newest = run.Tick
		}
		if run.deleted == 0 {
			left[run.result]++
		}
	}
	for _, run := range s.backfills {
		if run.Tick.Equal(last.LastSchedule) && run.Tick.After(newest) {
			newest = run.Tick // it was due then, so the manager counts it as run
		}
		if run.deleted == 0 {
			backfilled[run.result]++
		}
	}
	for _, result := range []string{history.Succeeded, history.Failed} {
		if left[result] > limit(last.CronJob, result) {
			c.violate(HistoryTooLong, s, time.Time{}, "%d Jobs that %s are left, with a limit of %d",
				left[result], result, limit(last.CronJob, result))
		}
		if backfilled[result] > backfillLimits[result] {
			c.violate(HistoryTooLong, s, time.Time{}, "%d backfilled Jobs that %s are left, with a limit of %d",
				backfilled[result], result, backfillLimits[result])
		}
	}
	switch {
	case left[""] != len(last.Active):
		c.violate(WrongStatus, s, time.Time{}, "status.active has %d Jobs, and %d run", len(last.Active), left[""])
	case !last.LastSchedule.Equal(newest):
		c.violate(WrongStatus, s, newest, "lastScheduleTime is %s, and the newest run was this", stamp(last.LastSchedule))
	}
}

// inFlight is how long it may take until something is counted or sent.
const inFlight = 2 * time.Second

// measured compares the metrics of a process with what it received and sent. Processes are checked
// one by one, since the metrics of a killed process are lost.
func (c *check) measured(m scrape) {
	c.Readings++
	created := m.Values["job_creation_skew_duration_seconds"]
	c.compare(m, "the histogram of creations", created, c.delivered, "")
	idle := false
	for _, phase := range []string{history.Quiet, history.Settled} {
		at, ok := c.phases[phase]
		idle = idle || ok && !at.Before(m.at) && at.Sub(m.at) < time.Second
	}
	if !idle {
		return // events may be delayed
	}
	sum := func(prefix string) (sum float64) {
		for name, value := range m.Values {
			if strings.HasPrefix(name, prefix) {
				sum += value
			}
		}
		return sum
	}
	c.compare(m, "missed_ticks_total", sum("missed_ticks_total/"), c.reported, "MissSchedule")
	ended := m.Values["runs_total/succeeded"] + m.Values["runs_total/failed"]
	c.compare(m, "runs_total, succeeded and failed", ended, c.reported, "SawCompletedJob")
	if active := m.Values["jobs_active"]; active != 0 {
		c.violate(WrongMetrics, nil, time.Time{}, "%s counts %v Jobs that run, and none does", m.Manager, active)
	}
}

func (c *check) compare(m scrape, name string, value float64, among []answered, what string) {
	least, most := 0, 0
	inFlight := c.slow(inFlight)
	for _, a := range among {
		if a.process != m.Manager || what != "" && a.what != what {
			continue
		}
		if !a.unsure && a.at.Before(m.Asked.Add(-inFlight)) {
			least += a.count
		}
		if a.at.Before(m.at.Add(inFlight)) {
			most += a.count
		}
	}
	if int(value) < least || int(value) > most {
		c.violate(WrongMetrics, nil, time.Time{}, "%s of %s is %v at %s: want %d to %d", name, m.Manager, value, stamp(m.at), least, most)
	}
}
