// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/next"
	"tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/internal/cli/ui/timeline"
	"tutorial.kubebuilder.io/project/internal/informer"
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

	// Heading is the state of this row and the next ones, if it begins a group.
	Heading string

	// Description is what the schedule means, TimeZone the name of its zone.
	Description, TimeZone string

	// State is one of a few words, and Detail says more.
	State, Detail string

	// Last is when the newest run began, or its tick, and Since when the oldest of those that run
	// did.
	Last, Since *moment

	// Next is when the next Job starts, or was to; nil if none does. Delay is by how much that is
	// after its tick.
	Next  *moment
	Delay time.Duration
}

// rowOf describes a CronJob. isQueued says that all its Jobs which have not ended are queued.
func rowOf(c *v1.CronJob, isQueued bool, now time.Time) row {
	r := row{CronJob: c, Description: c.Spec.Schedule, TimeZone: ptr.Deref(c.Spec.TimeZone, "UTC")}
	for i, run := range c.Status.RecentRuns { // the newest first
		start := momentOf(ptr.Deref(run.StartTime, run.ScheduledTime).Time, now)
		if i == 0 {
			r.Last = start
		}
		if run.Result == v1.RunRunning && run.StartTime != nil {
			r.Since = start
		}
	}
	r.State, r.Detail = stateOf(c, isQueued, now)
	forecast, err := next.Stored(c, now)
	if err != nil {
		return r
	}
	r.Description, r.Delay = forecast.Description, plan.Jitter(c)
	switch {
	case timeline.IsIdle(c):
	case forecast.Waiting != "":
		r.Next = momentOf(plan.NextStart(c).Time, now)
	case len(forecast.Ticks) > 0:
		r.Next = momentOf(forecast.Ticks[0].Time.Add(r.Delay), now)
	}
	return r
}

// LastJob is the Job of the newest run; "" if it had none.
func (r row) LastJob() string {
	if len(r.Status.RecentRuns) == 0 {
		return ""
	}
	return r.Status.RecentRuns[0].JobName
}

// Active is how many Jobs run.
func (r row) Active() int { return plan.ActiveCount(r.Status) }

// stateOf says in a word how a CronJob is, and in a sentence why.
func stateOf(c *v1.CronJob, isQueued bool, now time.Time) (state, detail string) {
	ready := ptr.Deref(meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady), metav1.Condition{})
	start := plan.NextStart(c)
	switch broken := informer.DecodingError(c); {
	case !c.DeletionTimestamp.IsZero():
		return "terminating", "It is being deleted, and starts nothing any more."
	case broken != "":
		return "broken", broken
	case plan.IsSuspended(c, now):
		return "suspended", suspension(c)
	case plan.IsStopped(c):
		return "stopped", fmt.Sprintf("after %d failures", c.Status.ConsecutiveFailures) + lastFailure(c)
	case ready.Status == metav1.ConditionFalse:
		return "broken", ready.Message
	case ready.Reason == v1.ReasonCompleted:
		return "completed", ready.Message
	case ready.Reason == v1.ReasonWaiting:
		return "waiting", ready.Message
	case start != nil && !start.After(now):
		return "waiting", "It is due, and has not started."
	case c.Status.ConsecutiveFailures > 0:
		return "failing", fmt.Sprintf("%d in a row", c.Status.ConsecutiveFailures) + lastFailure(c)
	case isQueued:
		return "queued", "Its Job is suspended, as by Kueue."
	case plan.ActiveCount(c.Status) > 0:
		return "running", ""
	case len(c.Status.RecentRuns) == 0:
		if len(c.Status.Conditions) == 0 { // the operator has not seen it
			if _, err := next.Stored(c, now); err != nil {
				return "broken", err.Error()
			}
		}
		return "new", "no run yet"
	case c.Status.RecentRuns[0].Result == v1.RunMissed:
		return "missed", "the last tick"
	}
	return "healthy", ""
}

// lastFailure says why the newest run that failed did, if that is known.
func lastFailure(c *v1.CronJob) string {
	for _, run := range c.Status.RecentRuns {
		if run.Result == v1.RunFailed && run.Reason != "" {
			return " · " + run.Reason
		}
	}
	return ""
}

// CanResume reports whether something holds the CronJob back that a resume ends.
func (r row) CanResume() bool { return r.State == "suspended" || r.State == "stopped" }

// suspension says until when a CronJob is suspended, by whom, and why.
func suspension(c *v1.CronJob) string {
	text := "for good"
	if !ptr.Deref(c.Spec.Suspend, false) {
		text = "until " + c.Spec.SuspendUntil.UTC().Format(time.RFC3339)
	}
	if by := c.Annotations[suspend.SuspendedByAnnotation]; by != "" {
		text += ", by " + by
	}
	if reason := c.Annotations[suspend.SuspendReasonAnnotation]; reason != "" {
		text += ": " + reason
	}
	return text
}
