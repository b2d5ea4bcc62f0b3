// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// decoderOf returns how to read what is stored at a key; nil if it is of no interest.
func decoderOf(key string) func([]byte) (*Record, error) {
	switch {
	case strings.HasPrefix(key, cronJobKeys):
		return decodeCronJob
	case strings.HasPrefix(key, jobKeys):
		return decodeJob
	case strings.HasPrefix(key, eventKeys):
		return decodeEvent
	}
	return nil
}

func decodeCronJob(value []byte) (*Record, error) {
	c := &v1.CronJob{}
	var told struct {
		Status struct {
			Missed []Missed `json:"missed"`
		} `json:"status"`
	}
	if err := errors.Join(json.Unmarshal(value, c), json.Unmarshal(value, &told)); err != nil {
		return nil, err
	}
	state := &CronJob{
		Namespace: c.Namespace, Name: c.Name, UID: string(c.UID),
		Generation: c.Generation, Created: c.CreationTimestamp.Time, Edited: editedAt(c),
		Schedule: c.Spec.Schedule, Policy: string(c.Spec.ConcurrencyPolicy), Deadline: c.Spec.StartingDeadlineSeconds,
		SucceededLimit: 3, FailedLimit: 1,
		LastSchedule: timeOf(c.Status.LastScheduleTime), NextSchedule: timeOf(c.Status.NextScheduleTime),
		ObservedGeneration: c.Status.ObservedGeneration, Missed: told.Status.Missed,
	}
	if zone := c.Spec.TimeZone; zone != nil {
		state.TimeZone = *zone
	}
	state.Suspend = c.Spec.Suspend != nil && *c.Spec.Suspend
	if limit := c.Spec.SuccessfulJobsHistoryLimit; limit != nil {
		state.SucceededLimit = int(*limit)
	}
	if limit := c.Spec.FailedJobsHistoryLimit; limit != nil {
		state.FailedLimit = int(*limit)
	}
	for _, ref := range c.Status.Active {
		state.Active = append(state.Active, string(ref.UID))
	}
	return &Record{CronJob: state}, nil
}

// editedAt returns when something other than the status was last written.
func editedAt(c *v1.CronJob) time.Time {
	newest := c.CreationTimestamp.Time
	for _, entry := range c.ManagedFields {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(newest) {
			newest = entry.Time.Time
		}
	}
	return newest
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func decodeJob(value []byte) (*Record, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(value, nil, nil)
	if err != nil {
		return nil, err
	}
	job, ok := object.(*batchv1.Job)
	if !ok {
		return nil, fmt.Errorf("a %T is no Job", object)
	}
	state := &Job{
		Namespace: job.Namespace, Name: job.Name, UID: string(job.UID), Created: job.CreationTimestamp.Time,
		Deleting: job.DeletionTimestamp != nil, Result: resultOf(job),
		Tick: tickIn(job.Annotations), PodTick: tickIn(job.Spec.Template.Annotations),
	}
	if owner := metav1.GetControllerOf(job); owner != nil && strings.HasPrefix(owner.APIVersion, v1.GroupVersion.Group+"/") {
		state.Owner = string(owner.UID)
	}
	return &Record{Job: state}, nil
}

// tickIn returns the tick that annotations name; zero if they name none.
func tickIn(annotations map[string]string) time.Time {
	tick, err := time.Parse(time.RFC3339, annotations[v1.ScheduledAtAnnotation])
	if err != nil {
		return time.Time{}
	}
	return tick
}

func resultOf(job *batchv1.Job) string {
	for _, condition := range job.Status.Conditions {
		switch {
		case condition.Status != corev1.ConditionTrue:
		case condition.Type == batchv1.JobComplete:
			return Succeeded
		case condition.Type == batchv1.JobFailed:
			return Failed
		}
	}
	return ""
}

// decodeEvent reads a stored event, which is one of the core group whatever it was written as.
func decodeEvent(value []byte) (*Record, error) {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(value, nil, nil)
	if err != nil {
		return nil, err
	}
	event := EventOf(object)
	if event == nil {
		return nil, nil //nolint:nilnil // it is not about a CronJob of ours
	}
	return &Record{Event: event}, nil
}

// EventOf returns what an event of either group says; nil if it is not about a CronJob of ours.
func EventOf(object any) *Event {
	var about corev1.ObjectReference
	event := &Event{}
	switch e := object.(type) {
	case *corev1.Event:
		about = e.InvolvedObject
		event.Name, event.Reason, event.Note = e.Name, e.Reason, e.Message
		if e.Series != nil {
			event.Repeats = int(e.Series.Count) - 1
		}
	case *eventsv1.Event:
		about = e.Regarding
		event.Name, event.Reason, event.Note = e.Name, e.Reason, e.Note
		if e.Series != nil {
			event.Repeats = int(e.Series.Count) - 1
		}
	}
	if about.Kind != "CronJob" || !strings.HasPrefix(about.APIVersion, v1.GroupVersion.Group+"/") {
		return nil
	}
	event.UID = string(about.UID)
	return event
}
