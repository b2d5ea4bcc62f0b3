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
	"strings"
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

// report says what was done, in events, metrics and one log line. What the status says too is
// reported only once that is written, so that it is reported once.
func (r *CronJobReconciler) report(ctx context.Context, seen *observed, p plan.Plan, done outcome) {
	r.record(seen.CronJob, append(aboutUndeleted(done), aboutActs(p, done, seen.unbooked)...))
	if done.written {
		r.reportStatus(seen.CronJob, p)
	}
	if done.refused != nil {
		ctrl.LoggerFrom(ctx).Error(done.refused, "Could not start a Job", "job", klog.KObj(p.Start.Job), "tick", p.Start.Tick)
	}
}

// reportStatus says what the status has begun to say.
func (r *CronJobReconciler) reportStatus(c *v1.CronJob, p plan.Plan) {
	r.record(c, aboutStatus(p))
	measureStatus(p)
}

// record writes events about a CronJob.
func (r *CronJobReconciler) record(c *v1.CronJob, events []eventrecorder.Event) {
	for _, event := range events {
		event.Regarding = c
		r.Recorder.Record(event)
	}
}

// aboutActs returns the events of what was done, by this reconcile and by those that have started the
// unbooked runs, whether or not the status could be written.
func aboutActs(p plan.Plan, done outcome, unbooked []run) []eventrecorder.Event {
	var events []eventrecorder.Event
	for _, job := range done.replaced {
		events = append(events, normal(EventSuccessfulDelete, actionDelete, job, string(job.UID), "Deleted job "+job.Name))
	}
	for _, started := range unbooked {
		if !started.told {
			events = append(events, created(started.job))
		}
	}
	if done.started != nil {
		events = append(events, created(done.started))
	}
	if done.refused != nil {
		note := fmt.Sprintf("Error creating job %s: %v", p.Start.Job.Name, done.refused)
		events = append(events, warning(EventFailedCreate, actionStart, nil, note, note))
	}
	if done.taken {
		note := fmt.Sprintf("Error creating job %s: a Job of that name exists that this CronJob does not control", p.Start.Job.Name)
		events = append(events, warning(EventFailedCreate, actionStart, nil, note, note))
	}
	return events
}

// aboutUndeleted returns the events of Jobs that could not be deleted.
func aboutUndeleted(done outcome) []eventrecorder.Event {
	events := make([]eventrecorder.Event, len(done.undeleted))
	for i, failed := range done.undeleted {
		note := fmt.Sprintf("Error deleting job %s: %v", failed.job.Name, failed.err)
		events[i] = warning(EventFailedDelete, actionDelete, failed.job, string(failed.job.UID)+" "+note, note)
	}
	return events
}

// created returns the event of a Job that was created.
func created(job *batchv1.Job) eventrecorder.Event {
	return normal(EventSuccessfulCreate, actionStart, job, string(job.UID), "Created job "+job.Name)
}

// aboutStatus returns the events of what the status has begun to say.
func aboutStatus(p plan.Plan) []eventrecorder.Event {
	var events []eventrecorder.Event
	for _, ended := range p.Ended {
		condition := batchv1.JobComplete
		if ended.Result == plan.Failed {
			condition = batchv1.JobFailed
		}
		events = append(events, normal(EventSawCompletedJob, actionObserve, ended.Job, string(ended.Job.UID),
			fmt.Sprintf("Saw completed job: %s, condition: %v", ended.Job.Name, condition)))
	}
	if len(p.Missed) > 0 {
		// In one event, as it is one report.
		var notes, keys []string
		for _, missed := range p.Missed {
			notes = append(notes, describeMissed(missed))
			keys = append(keys, fmt.Sprintf("%d-%d %s", missed.First.Unix(), missed.Last.Unix(), missed.Reason))
		}
		events = append(events, warning(EventMissSchedule, actionSchedule, nil, strings.Join(keys, ","), strings.Join(notes, "; ")))
	}
	if p.HeldBy != nil {
		events = append(events, normal(EventJobAlreadyActive, actionSchedule, p.HeldBy, fmt.Sprint(p.Status.NextScheduleTime),
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
