// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"slices"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// report records what was done and seen, in events, metrics and one log line. If a failed status
// write makes it record something again, that is the same event.
func (r *CronJobReconciler) report(ctx context.Context, c *v1.CronJob, result plan.Result, isWritten bool) {
	for _, event := range result.Events {
		isNew := r.record(c, event)
		if isNew && event.Reason == plan.EventFailedCreate && result.Refused != nil {
			ctrl.LoggerFrom(ctx).Error(result.Refused, "Could not start a Job", "tick", result.Status.NextScheduleTime.Time)
		}
	}
	for _, ended := range result.Ended {
		if r.record(c, plan.SawCompletedJob(ended)) {
			countRun(plan.RunOf(ended))
		}
	}
	if isWritten {
		runs.WithLabelValues(resultReplaced).Add(float64(result.ReplacedCount))
		runs.WithLabelValues(resultDeleted).Add(float64(result.DeletedCount))
		r.reportRows(c, result.Status.Missed[:min(len(result.Missed), len(result.Status.Missed))])
	}
}

// countRun counts a run that has ended in the metrics.
func countRun(run v1.Run) {
	result := strings.ToLower(string(run.Result))
	runs.WithLabelValues(result).Inc()
	took := run.CompletionTime.Sub(run.StartTime.Time) // negative if the clocks of those who stamped them differ
	runDuration.WithLabelValues(result).Observe(max(0, took.Seconds()))
}

// maxUnreported is how long before this process became the leader a row of status.missed may have
// been written without its event: while the API server fails, several leaders may follow one
// another, each with unwritten events when it stops. A row that was reported before counts again in
// the metrics. It is younger than namespaceWindow, so its namespace counted anyway.
const maxUnreported = 10 * time.Minute

// lastMoments is how long before this process became the leader an earlier one may have written a
// row without the time left for its event, which follows within seconds. The lease of a leader that
// is killed ends 15 seconds later.
const lastMoments = 30 * time.Second

// reportMissed reports the missed ticks of the stored status that this process has not reported:
// its own status write may have got no answer, or an earlier leader may have stopped before its
// report.
func (r *CronJobReconciler) reportMissed(c *v1.CronJob) {
	rows, oldest := c.Status.Missed, r.leadingSince.Add(-maxUnreported)
	if older := slices.IndexFunc(rows, func(row v1.MissedTicks) bool { return row.Time.Time.Before(oldest) }); older >= 0 {
		rows = rows[:older]
	}
	r.reportRows(c, rows)
}

// reportRows reports the rows of missed ticks that this process has not reported, newest first. Of
// those that are older than lastMoments, most have been reported.
func (r *CronJobReconciler) reportRows(c *v1.CronJob, rows []v1.MissedTicks) {
	recent := r.leadingSince.Add(-lastMoments)
	for _, row := range r.memory.unreported(client.ObjectKeyFromObject(c), c.UID, rows) {
		missed := plan.MissedRow(row)
		event := eventOf(c, missed.Event())
		event.MayExist = row.Time.Time.Before(recent)
		if !r.Recorder.Record(event) {
			continue // reported before: an older status was read since, without the newest row
		}
		missedTicks.WithLabelValues(string(missed.Reason)).Add(float64(missed.Count))
		switch missed.Reason {
		case plan.MissedForbidden, plan.MissedEdited, plan.MissedStopped: // as somebody asked for
		default:
			r.ticked.note(c.Namespace, r.Clock.Now())
			r.missed.note(c.Namespace, r.Clock.Now())
		}
	}
}

// record writes an event about a CronJob in the background, and reports whether it is the first
// time.
func (r *CronJobReconciler) record(c *v1.CronJob, event plan.Event) bool {
	return r.Recorder.Record(eventOf(c, event))
}

// eventOf returns an event about a CronJob as it is recorded.
func eventOf(c *v1.CronJob, event plan.Event) eventrecorder.Event {
	recorded := eventrecorder.Event{
		Regarding: c, Type: event.Type, Reason: event.Reason, Action: event.Action, Note: event.Note, Key: event.Key,
	}
	if event.Related != nil {
		recorded.Related = event.Related
	}
	return recorded
}
