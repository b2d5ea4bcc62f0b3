// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"net/http"
	"time"

	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/next"
	"tutorial.kubebuilder.io/project/internal/cli/state"
	"tutorial.kubebuilder.io/project/internal/cli/ui/timeline"
	"tutorial.kubebuilder.io/project/internal/plan"
)

func (s *Site) overview(r *http.Request) (view, error) {
	now := s.Env.Clock.Now()
	snapshot := s.Feed.Snapshot()
	l, err := list(r, snapshot, now)
	if err != nil {
		return view{}, err
	}
	content := struct {
		listing
		chart

		CronJobs []row
	}{listing: l, chart: newChart(timeline.NewWindow(now, time.Hour, 5*time.Hour))}
	content.Heat = timeline.NewHeat(l.Matches, content.Window, now.Location())
	last := ""
	for _, c := range l.shown() {
		r := rowOf(c, snapshot.IsQueued(c), now)
		if l.Sort == "" && r.State != last {
			r.Heading, last = r.State, r.State
		}
		content.CronJobs = append(content.CronJobs, r)
	}
	return view{Title: "Overview", Page: "overview", Content: content}, nil
}

type row struct {
	*v1.CronJob

	// Heading is the title above this row, if it begins a group of one state.
	Heading string

	// Description describes the schedule in words.
	Description, TimeZone string

	// State is one of state.All, and Detail explains it.
	State, Detail string

	// Last is the start or tick of the newest run, and Since the start of the oldest that still
	// runs.
	Last, Since *moment

	// Next is when the next Job starts, or was due to start; nil for none. Delay is the jitter.
	Next  *moment
	Delay time.Duration
}

// rowOf returns the row of a CronJob. isQueued is whether all its unfinished Jobs are queued.
func rowOf(c *v1.CronJob, isQueued bool, now time.Time) row {
	r := row{CronJob: c, Description: c.Spec.Schedule, TimeZone: ptr.Deref(c.Spec.TimeZone, "UTC")}
	for i, run := range c.Status.RecentRuns { // newest first
		start := momentOf(ptr.Deref(run.StartTime, run.ScheduledTime).Time, now)
		if i == 0 {
			r.Last = start
		}
		if run.Result == v1.RunRunning && run.StartTime != nil {
			r.Since = start
		}
	}
	r.State, r.Detail = state.Of(c, isQueued, now)
	forecast, err := next.Stored(c, now)
	if err != nil {
		return r
	}
	r.Description, r.Delay = forecast.Description, plan.Jitter(c)
	switch {
	case cronjobs.IsIdle(c):
	case forecast.Waiting != "":
		r.Next = momentOf(plan.NextStart(c).Time, now)
	case len(forecast.Ticks) > 0:
		r.Next = momentOf(forecast.Ticks[0].Time.Add(r.Delay), now)
	}
	return r
}

// Active returns how many Jobs run.
func (r row) Active() int { return plan.ActiveCount(r.Status) }

// CanResume reports whether the CronJob is held back by something that a resume ends.
func (r row) CanResume() bool { return r.State == "suspended" || r.State == "stopped" }
