/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package batch

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// The reasons of events. They are those of the built-in CronJob controller.
const (
	// EventSuccessfulCreate is for a Job that was created.
	EventSuccessfulCreate = "SuccessfulCreate"
	// EventFailedCreate is for a Job that could not be created.
	EventFailedCreate = "FailedCreate"
	// EventSuccessfulDelete is for a Job that was deleted to make room for the next.
	EventSuccessfulDelete = "SuccessfulDelete"
	// EventFailedDelete is for a Job that could not be deleted.
	EventFailedDelete = "FailedDelete"
	// EventSawCompletedJob is for a Job that has ended, with success or without.
	EventSawCompletedJob = "SawCompletedJob"
	// EventJobAlreadyActive is for a tick that waits for a Job to end.
	EventJobAlreadyActive = "JobAlreadyActive"
	// EventMissSchedule is for ticks that will never run.
	EventMissSchedule = "MissSchedule"
	// EventUnparseableSchedule is for a schedule that can't be parsed or never fires.
	EventUnparseableSchedule = "UnparseableSchedule"
	// EventUnknownTimeZone is for a time zone that there is none of.
	EventUnknownTimeZone = "UnknownTimeZone"
	// EventInvalidObject is for a CronJob with a stored field of a type that it can't have. The
	// built-in has none like it.
	EventInvalidObject = "InvalidObject"
)

// The actions of events: what the controller was doing.
const (
	actionStart    = "StartJob"
	actionDelete   = "DeleteJob"
	actionObserve  = "ObserveJob"
	actionSchedule = "Schedule"
)

// missedBecause says why ticks were missed, to a reader of events.
var missedBecause = map[plan.MissedReason]string{
	plan.MissedDeadline:       "they could not start within startingDeadlineSeconds",
	plan.MissedSuperseded:     "a newer one was due when the controller looked again",
	plan.MissedForbidden:      "they waited for a Job to end until a newer one was due",
	plan.MissedCreationFailed: "their Job could not be created until a newer one was due",
	plan.MissedEdited:         "they had not started when the CronJob was edited or suspended",
	plan.MissedNameTaken:      "something else has the name of their Job",
}

// report says what was done and seen, in events, metrics and one log line. What a failed write has
// this reconcile say again is the same event.
func (r *CronJobReconciler) report(ctx context.Context, seen *observed, p *plan.Plan, done *outcome) {
	c := seen.CronJob
	r.record(c, actionEvents(seen, p, done))
	r.record(c, decisionEvents(p))
	for _, ended := range p.Ended {
		if r.Recorder.Record(about(c, sawCompleted(ended))) {
			runs.WithLabelValues(string(ended.Result)).Inc()
		}
	}
	if done.written {
		runs.WithLabelValues(resultReplaced).Add(float64(p.Supplanted))
		runs.WithLabelValues(resultDeleted).Add(float64(p.Vanished))
		r.reportRows(c, p.Status.Missed[:min(len(p.Missed), len(p.Status.Missed))])
	}
	if done.refused != nil {
		ctrl.LoggerFrom(ctx).Error(done.refused.err, "Could not start a Job", "job", klog.KObj(p.Start.Job), "tick", p.Start.Tick)
	}
}

// reportMissed reports the missed ticks of a status as it is stored, that this process has not
// reported: it may have written the status and got no answer, or the leader before it may have
// ended before it could report them. That one has reported all that was found earlier.
func (r *CronJobReconciler) reportMissed(c *v1.CronJob) {
	rows, oldest := c.Status.Missed, r.leadingSince().Add(-plan.MaxCacheLag)
	if older := slices.IndexFunc(rows, func(row v1.MissedTicks) bool { return row.Time.Time.Before(oldest) }); older >= 0 {
		rows = rows[:older]
	}
	r.reportRows(c, rows)
}

// reportRows reports those rows of missed ticks that this process has not reported.
func (r *CronJobReconciler) reportRows(c *v1.CronJob, rows []v1.MissedTicks) {
	for _, missed := range r.memory.unreported(client.ObjectKeyFromObject(c), c.UID, rows) {
		key := fmt.Sprintf("%s %d %d", missed.Reason, missed.First.Unix(), missed.Last.Unix())
		r.Recorder.Record(about(c, warning(EventMissSchedule, actionSchedule, nil, key, describeMissed(missed))))
		missedTicks.WithLabelValues(string(missed.Reason)).Add(float64(missed.Count))
	}
}

// record writes events about a CronJob.
func (r *CronJobReconciler) record(c *v1.CronJob, events []eventrecorder.Event) {
	for _, event := range events {
		r.Recorder.Record(about(c, event))
	}
}

// about makes an event one about a CronJob.
func about(c *v1.CronJob, event eventrecorder.Event) eventrecorder.Event {
	event.Regarding = c
	return event
}

// actionEvents returns the events of what was done, by this reconcile and by those before whose
// runs the status did not tell of.
func actionEvents(seen *observed, p *plan.Plan, done *outcome) []eventrecorder.Event {
	var events []eventrecorder.Event
	for _, failed := range done.undeleted {
		note := fmt.Sprintf("Error deleting job %s: %v", failed.job.Name, failed.err)
		events = append(events, warning(EventFailedDelete, actionDelete, failed.job, string(failed.job.UID)+" "+note, note))
	}
	for _, job := range done.replaced {
		events = append(events, normal(EventSuccessfulDelete, actionDelete, job, string(job.UID), "Deleted job "+job.Name))
	}
	for _, job := range slices.Concat(seen.pending.runs, seen.found, []*batchv1.Job{done.started, done.adopted}) {
		if job != nil {
			events = append(events, normal(EventSuccessfulCreate, actionStart, job, string(job.UID), "Created job "+job.Name))
		}
	}
	if done.refused != nil {
		note := fmt.Sprintf("Error creating job %s: %v", p.Start.Job.Name, done.refused.err)
		events = append(events, warning(EventFailedCreate, actionStart, nil, done.refused.key, note))
	}
	if done.isTaken {
		note := fmt.Sprintf("Error creating job %s: a Job of that name exists that this CronJob does not control", p.Start.Job.Name)
		events = append(events, warning(EventFailedCreate, actionStart, nil, note, note))
	}
	return events
}

// sawCompleted returns the event of a Job that has ended.
func sawCompleted(ended plan.Ended) eventrecorder.Event {
	condition := batchv1.JobComplete
	if ended.Result == plan.Failed {
		condition = batchv1.JobFailed
	}
	return normal(EventSawCompletedJob, actionObserve, ended.Job, string(ended.Job.UID),
		fmt.Sprintf("Saw completed job: %s, condition: %v", ended.Job.Name, condition))
}

// decisionEvents returns the events of what the Ready condition begins to say.
func decisionEvents(p *plan.Plan) []eventrecorder.Event {
	var events []eventrecorder.Event
	if p.HeldBy != nil {
		tick := p.Status.NextScheduleTime.UTC().Format(time.RFC3339)
		events = append(events, normal(EventJobAlreadyActive, actionSchedule, p.HeldBy, tick,
			fmt.Sprintf("Not starting a job because %s is running and the concurrency policy is %s", p.HeldBy.Name, v1.ForbidConcurrent)))
	}
	if p.Rejected != nil {
		reason := EventUnparseableSchedule
		if p.Rejected.Reason == v1.ReasonInvalidTimeZone {
			reason = EventUnknownTimeZone
		}
		note := p.Rejected.Err.Error()
		events = append(events, warning(reason, actionSchedule, nil, fmt.Sprintf("%d %s", p.Status.ObservedGeneration, note), note))
	}
	return events
}

// describeMissed says which ticks were missed, and why.
func describeMissed(m plan.Missed) string {
	first, last := m.First.UTC().Format(time.RFC3339), m.Last.UTC().Format(time.RFC3339)
	switch {
	case m.Count == 1:
		return fmt.Sprintf("Missed scheduled time %s: %s", first, missedBecause[m.Reason])
	case m.Count >= plan.MaxMissedCount:
		return fmt.Sprintf("Missed %d or more scheduled times from %s to %s: %s", m.Count, first, last, missedBecause[m.Reason])
	}
	return fmt.Sprintf("Missed %d scheduled times from %s to %s: %s", m.Count, first, last, missedBecause[m.Reason])
}

func normal(reason, action string, related client.Object, key, note string) eventrecorder.Event {
	return eventrecorder.Event{Type: corev1.EventTypeNormal, Reason: reason, Action: action, Related: related, Key: key, Note: note}
}

func warning(reason, action string, related client.Object, key, note string) eventrecorder.Event {
	return eventrecorder.Event{Type: corev1.EventTypeWarning, Reason: reason, Action: action, Related: related, Key: key, Note: note}
}
