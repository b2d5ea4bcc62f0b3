// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

var (
	_ conversion.Hub         = &v1.CronJob{}
	_ conversion.Convertible = &CronJob{}
)

// ConvertTo writes this CronJob into the hub version. It loses nothing but status.schedule, which
// ConvertFrom fills in again: what the hub's fields can't say is kept in an annotation. It fails
// only when the hub is of another kind.
func (c *CronJob) ConvertTo(hub conversion.Hub) error {
	dst, ok := hub.(*v1.CronJob)
	if !ok {
		return fmt.Errorf("converting a v2 CronJob: the hub is %T, want %T", hub, dst)
	}
	src := c.DeepCopy()
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec = v1.CronJobSpec{
		TimeZone:                   src.Spec.TimeZone,
		JitterSeconds:              src.Spec.JitterSeconds,
		StartingDeadlineSeconds:    src.Spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          v1.ConcurrencyPolicy(src.Spec.ConcurrencyPolicy),
		MaxConcurrency:             src.Spec.MaxConcurrency,
		CatchUpPolicy:              v1.CatchUpPolicy(src.Spec.CatchUpPolicy),
		CatchUpLimit:               src.Spec.CatchUpLimit,
		Suspend:                    src.Spec.Suspend,
		SuspendUntil:               src.Spec.SuspendUntil,
		Exclude:                    src.Spec.Exclude,
		NotBefore:                  src.Spec.NotBefore,
		NotAfter:                   src.Spec.NotAfter,
		StopAfterFailures:          src.Spec.StopAfterFailures,
		JobTemplate:                src.Spec.JobTemplate,
		SuccessfulJobsHistoryLimit: src.Spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     src.Spec.FailedJobsHistoryLimit,
	}
	dst.Spec.Schedule, dst.Annotations = scheduleToHub(src.Spec.Schedule, src.Annotations)
	dst.Spec.AdditionalSchedules, dst.Annotations = additionalToHub(src.Spec.AdditionalSchedules, dst.Annotations)
	dst.Status = src.Status.toHub()
	return nil
}

// ConvertFrom reads this CronJob from the hub version. It loses nothing: what these fields can't
// say is kept in an annotation. It fails only when the hub is of another kind.
func (c *CronJob) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1.CronJob)
	if !ok {
		return fmt.Errorf("converting to a v2 CronJob: the hub is %T, want %T", hub, from)
	}
	src := from.DeepCopy()
	c.ObjectMeta = src.ObjectMeta
	c.Spec = CronJobSpec{
		TimeZone:                   src.Spec.TimeZone,
		JitterSeconds:              src.Spec.JitterSeconds,
		StartingDeadlineSeconds:    src.Spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          ConcurrencyPolicy(src.Spec.ConcurrencyPolicy),
		MaxConcurrency:             src.Spec.MaxConcurrency,
		CatchUpPolicy:              CatchUpPolicy(src.Spec.CatchUpPolicy),
		CatchUpLimit:               src.Spec.CatchUpLimit,
		Suspend:                    src.Spec.Suspend,
		SuspendUntil:               src.Spec.SuspendUntil,
		Exclude:                    src.Spec.Exclude,
		NotBefore:                  src.Spec.NotBefore,
		NotAfter:                   src.Spec.NotAfter,
		StopAfterFailures:          src.Spec.StopAfterFailures,
		JobTemplate:                src.Spec.JobTemplate,
		SuccessfulJobsHistoryLimit: src.Spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     src.Spec.FailedJobsHistoryLimit,
	}
	c.Spec.Schedule, c.Annotations = scheduleFromHub(src.Spec.Schedule, src.Annotations)
	c.Spec.AdditionalSchedules, c.Annotations = additionalFromHub(src.Spec.AdditionalSchedules, c.Annotations)
	c.Status = statusFromHub(src.Status)
	if src.UID != "" { // it is stored, and no manifest: see showSchedule
		c.Status.Schedule = shownSchedule(src.Spec.Schedule)
	}
	return nil
}

// DropStaleSchedule removes from a hub object the annotations of this package that do not stand for
// the schedules it has, as after an edit in v1. One that keeps what a user wrote in v2 by mistake
// stays: it is there to be refused.
func DropStaleSchedule(hub *v1.CronJob) {
	if hub.Spec.Schedule == "" && isUnreadable(json.RawMessage(hub.Annotations[ScheduleV2Annotation])) {
		return
	}
	schedule, annotations := scheduleFromHub(hub.Spec.Schedule, hub.Annotations)
	_, hub.Annotations = scheduleToHub(schedule, annotations)
	additional, annotations := additionalFromHub(hub.Spec.AdditionalSchedules, hub.Annotations)
	_, hub.Annotations = additionalToHub(additional, annotations)
}

// toHub returns the status in the hub version: all but the schedule, which follows the hub's spec.
func (s *CronJobStatus) toHub() v1.CronJobStatus {
	return v1.CronJobStatus{
		Active:              s.Active,
		ActiveCount:         s.ActiveCount,
		LastScheduleTime:    s.LastScheduleTime,
		LastSuccessfulTime:  s.LastSuccessfulTime,
		LastFailureTime:     s.LastFailureTime,
		ConsecutiveFailures: s.ConsecutiveFailures,
		FailuresTowardsStop: s.FailuresTowardsStop,
		RecentRuns:          s.RecentRuns,
		NextScheduleTime:    s.NextScheduleTime,
		NextStartTime:       s.NextStartTime,
		ObservedSchedule:    s.ObservedSchedule,
		ObservedGeneration:  s.ObservedGeneration,
		ObservedEditTime:    s.ObservedEditTime,
		Missed:              s.Missed,
		Conditions:          s.Conditions,
	}
}

// statusFromHub returns a status of the hub version in this one. It has no schedule yet.
func statusFromHub(s v1.CronJobStatus) CronJobStatus {
	return CronJobStatus{
		Active:              s.Active,
		ActiveCount:         s.ActiveCount,
		LastScheduleTime:    s.LastScheduleTime,
		LastSuccessfulTime:  s.LastSuccessfulTime,
		LastFailureTime:     s.LastFailureTime,
		ConsecutiveFailures: s.ConsecutiveFailures,
		FailuresTowardsStop: s.FailuresTowardsStop,
		RecentRuns:          s.RecentRuns,
		NextScheduleTime:    s.NextScheduleTime,
		NextStartTime:       s.NextStartTime,
		ObservedSchedule:    s.ObservedSchedule,
		ObservedGeneration:  s.ObservedGeneration,
		ObservedEditTime:    s.ObservedEditTime,
		Missed:              s.Missed,
		Conditions:          s.Conditions,
	}
}
