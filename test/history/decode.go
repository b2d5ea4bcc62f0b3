// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/plane"
)

// root is the prefix of the API server's keys in etcd.
const root = "/registry/"

// decoderOf returns the decoder of a key's values; nil if they are not recorded.
func decoderOf(key string) func([]byte) (*Record, error) {
	switch resource := strings.TrimPrefix(key, root); {
	case strings.HasPrefix(resource, v1.GroupVersion.Group+"/cronjobs/"):
		return decodeCronJob
	case strings.HasPrefix(resource, "jobs/"):
		return decodeJob
	case strings.HasPrefix(resource, "events/"):
		return decodeEvent
	}
	return nil
}

func decodeCronJob(value []byte) (*Record, error) {
	c := &v1.CronJob{}
	if err := json.Unmarshal(value, c); err != nil {
		return nil, err
	}
	state := &CronJob{
		Namespace: c.Namespace, Name: c.Name, UID: string(c.UID),
		Generation: c.Generation, Created: c.CreationTimestamp.Time, Edited: editedAt(c), Spec: specOf(&c.Spec),
		Resumed:      timeIn(c.Annotations, v1.ResumedAtAnnotation),
		LastSchedule: timeOf(c.Status.LastScheduleTime), NextSchedule: timeOf(c.Status.NextScheduleTime),
		NextStart:          timeOf(c.Status.NextStartTime),
		ObservedGeneration: max(0, c.Status.ObservedGeneration), // -1 before the first status
	}
	if ready := meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady); ready != nil {
		state.Stopped = ready.Reason == v1.ReasonStoppedAfterFailures
	}
	for _, ref := range c.Status.Active {
		state.Active = append(state.Active, string(ref.UID))
	}
	for _, m := range c.Status.Missed {
		state.Missed = append(state.Missed, Missed{Reason: m.Reason, First: m.First.Time, Last: m.Last.Time, Count: int(m.Count)})
	}
	return &Record{CronJob: state}, nil
}

func specOf(c *v1.CronJobSpec) Spec {
	spec := Spec{
		Ticks: Ticks{
			Schedule: c.Schedule, Additional: c.AdditionalSchedules, TimeZone: ptr.Deref(c.TimeZone, ""),
			NotBefore: timeOf(c.NotBefore), NotAfter: timeOf(c.NotAfter), Suspend: ptr.Deref(c.Suspend, false),
		},
		Jitter: int64(ptr.Deref(c.JitterSeconds, 0)), Policy: string(c.ConcurrencyPolicy),
		MaxConcurrency: int(ptr.Deref(c.MaxConcurrency, 0)), StopAfter: int(ptr.Deref(c.StopAfterFailures, 0)),
		Deadline:       c.StartingDeadlineSeconds,
		SucceededLimit: int(ptr.Deref(c.SuccessfulJobsHistoryLimit, 3)),
		FailedLimit:    int(ptr.Deref(c.FailedJobsHistoryLimit, 1)),
	}
	for _, days := range c.Exclude {
		spec.Exclude = append(spec.Exclude, string(days))
	}
	if c.CatchUpPolicy == v1.CatchUpAll {
		spec.CatchUp = int(ptr.Deref(c.CatchUpLimit, 10))
	}
	return spec
}

func timeOf(t *metav1.Time) time.Time { return ptr.Deref(t, metav1.Time{}).Time }

// editedAt returns the time of the last edit of the spec, as the webhook wrote it; zero for none.
func editedAt(c *v1.CronJob) time.Time {
	if c.Generation == 1 {
		return c.CreationTimestamp.Time
	}
	stamp := struct {
		Generation int64
		At         time.Time
	}{}
	err := json.Unmarshal([]byte(c.Annotations[v1.EditedAnnotation]), &stamp)
	if err != nil || c.Generation != stamp.Generation && c.Generation != stamp.Generation+1 {
		return time.Time{}
	}
	return stamp.At
}

func decodeJob(value []byte) (*Record, error) {
	job, err := plane.Decode[*batchv1.Job](value)
	if err != nil {
		return nil, err
	}
	state := &Job{
		Namespace: job.Namespace, Name: job.Name, UID: string(job.UID), Created: job.CreationTimestamp.Time,
		Backfill: job.Annotations[v1.TriggerAnnotation] == string(v1.TriggerBackfill),
		Tick:     timeIn(job.Annotations, v1.ScheduledAtAnnotation), PodTick: timeIn(job.Spec.Template.Annotations, v1.ScheduledAtAnnotation),
	}
	state.Result, state.Ended = endOf(job)
	if owner := metav1.GetControllerOf(job); owner != nil && strings.HasPrefix(owner.APIVersion, v1.GroupVersion.Group+"/") {
		state.Owner = string(owner.UID)
	}
	return &Record{Job: state}, nil
}

func timeIn(annotations map[string]string, key string) time.Time {
	at, err := time.Parse(time.RFC3339, annotations[key])
	if err != nil {
		return time.Time{}
	}
	return at
}

func endOf(job *batchv1.Job) (string, time.Time) {
	for _, condition := range job.Status.Conditions {
		switch {
		case condition.Status != corev1.ConditionTrue:
		case condition.Type == batchv1.JobComplete:
			return Succeeded, condition.LastTransitionTime.Time
		case condition.Type == batchv1.JobFailed:
			return Failed, condition.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// decodeEvent decodes a stored event, which is of the core group in any case. The record is empty
// if the event is not about one of our CronJobs.
func decodeEvent(value []byte) (*Record, error) {
	e, err := plane.Decode[*corev1.Event](value)
	if err != nil {
		return nil, err
	}
	return &Record{Event: EventAbout(e.InvolvedObject, e.Name, e.Reason, e.Message)}, nil
}

// EventAbout returns the record of an event; nil if it is not about one of our CronJobs.
func EventAbout(about corev1.ObjectReference, name, reason, note string) *Event {
	if about.Kind != "CronJob" || !strings.HasPrefix(about.APIVersion, v1.GroupVersion.Group+"/") {
		return nil
	}
	return &Event{Name: name, UID: string(about.UID), Reason: reason, Note: note}
}
