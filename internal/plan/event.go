// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Event is an event about a CronJob. Two that have the same reason and key are one event.
type Event struct {
	// Type, Reason, Action and Note are the fields of that name of an event in events.k8s.io/v1.
	Type, Reason, Action, Note string

	// Related is the Job that it is also about; nil if there is none.
	Related *batchv1.Job

	// Key distinguishes events with the same reason: the UID of a Job, or a tick.
	Key string
}

// The reasons of events. They are those of the built-in CronJob controller, except the last two.
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
	// EventUnknownTimeZone is for a time zone that does not exist.
	EventUnknownTimeZone = "UnknownTimeZone"
	// EventStoppedAfterFailures is for a CronJob with too many failed runs in a row.
	EventStoppedAfterFailures = "StoppedAfterFailures"
	// EventInvalidObject is for a CronJob with a stored field of a wrong type.
	EventInvalidObject = "InvalidObject"
)

// The actions of events: what the controller was doing.
const (
	actionStart    = "StartJob"
	actionDelete   = "DeleteJob"
	actionObserve  = "ObserveJob"
	actionSchedule = "Schedule"
)

// missedBecause explains each reason in the text of events.
var missedBecause = map[MissedReason]string{
	MissedDeadline:       "startingDeadlineSeconds passed before a Job could start",
	MissedSuperseded:     "a newer one was due when the controller looked again",
	MissedForbidden:      "a Job was still running when a newer time was due",
	MissedCreationFailed: "no Job could be created until a newer time was due",
	MissedEdited:         "the CronJob was edited or suspended before a Job had started",
	MissedStopped:        "the CronJob stopped after failures before a Job had started",
	MissedNameTaken:      "something else has the name of the Job",
}

// MissedReasons returns all reasons, in no order.
func MissedReasons() []MissedReason { return slices.Collect(maps.Keys(missedBecause)) }

// actionEvents returns the events of what was done, and those of earlier starts that may not have
// been reported.
func (p *Plan) actionEvents(in Input, done Outcome) []Event {
	var events []Event
	for _, job := range done.Deleted {
		events = append(events, normal(EventSuccessfulDelete, actionDelete, job, string(job.UID), "Deleted job "+job.Name))
	}
	for _, job := range append(p.unreported(in), done.Job) {
		if job == nil {
			continue
		}
		if trigger, _ := TriggerOf(job); trigger == v1.TriggerBackfill {
			continue // the controller did not create it
		}
		events = append(events, normal(EventSuccessfulCreate, actionStart, job, string(job.UID), "Created job "+job.Name))
	}
	if done.NameTaken {
		note := fmt.Sprintf("Error creating job %s: a Job of that name exists that this CronJob does not control", p.Start.Job.Name)
		events = append(events, warning(EventFailedCreate, actionStart, nil, note, note))
	}
	return events
}

// retellStarts is how long before this manager became the leader a Job may have been created whose
// start is reported again. The API server stamps the creation, and its clock may differ from ours.
const retellStarts = 10 * time.Minute

// unreported returns the unrecorded Jobs whose start may not have been reported. The previous
// leader has reported the Jobs that it started earlier.
func (p *Plan) unreported(in Input) []*batchv1.Job {
	return slices.DeleteFunc(slices.Clone(p.unrecorded), func(job *batchv1.Job) bool {
		return latest(job.CreationTimestamp.Time, AgeFrom(job)).Before(in.LeadingSince.Add(-retellStarts))
	})
}

// SawCompletedJob returns the event of a Job that has ended.
func SawCompletedJob(job *batchv1.Job) Event {
	say := normal
	if ResultOf(job) == v1.RunFailed {
		say = warning
	}
	return say(EventSawCompletedJob, actionObserve, job, string(job.UID),
		fmt.Sprintf("Saw completed job: %s, condition: %v", job.Name, endCondition(job).Type))
}

// Event returns the event of ticks that were missed.
func (m Missed) Event() Event {
	first, last := m.First.UTC().Format(time.RFC3339), m.Last.UTC().Format(time.RFC3339)
	which := fmt.Sprintf("%d scheduled times from %s to %s", m.Count, first, last)
	switch {
	case m.Count == 1:
		which = "scheduled time " + first
	case m.Count >= MaxMissedCount:
		which = fmt.Sprintf("%d or more scheduled times from %s to %s", m.Count, first, last)
	}
	return warning(EventMissSchedule, actionSchedule, nil, fmt.Sprintf("%s %d %d", m.Reason, m.First.Unix(), m.Last.Unix()),
		fmt.Sprintf("Missed %s: %s", which, missedBecause[m.Reason]))
}

// FailedDelete returns the event of a Job that could not be deleted.
func FailedDelete(job *batchv1.Job, err error) Event {
	note := fmt.Sprintf("Error deleting job %s: %v", job.Name, err)
	return warning(EventFailedDelete, actionDelete, job, string(job.UID)+" "+RefusalReason(err), note)
}

// InvalidObject returns the event of a CronJob that can't be decoded.
func InvalidObject(c *v1.CronJob, why string) Event {
	return warning(EventInvalidObject, actionSchedule, nil, keyOf(c, why), why)
}

// keyOf returns the key of what is reported once for each generation.
func keyOf(c *v1.CronJob, note string) string { return fmt.Sprintf("%d %s", c.Generation, note) }

func normal(reason, action string, related *batchv1.Job, key, note string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Action: action, Related: related, Key: key, Note: note}
}

func warning(reason, action string, related *batchv1.Job, key, note string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Action: action, Related: related, Key: key, Note: note}
}
