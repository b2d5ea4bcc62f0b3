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

// ConvertTo converts this CronJob to the hub version. An annotation keeps what the hub's fields
// can't express. Only status.schedule is lost, which ConvertFrom sets again. It fails only if the
// hub is of another kind.
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

// ConvertFrom sets this CronJob from the hub version. An annotation keeps what its fields can't
// express, so nothing is lost. It fails only if the hub is of another kind.
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
	if src.UID != "" { // not for a manifest: see showSchedule
		c.Status.Schedule = shownSchedule(src.Spec.Schedule)
	}
	return nil
}

// DropStaleSchedule removes the annotations of this package from a hub object if they don't convert
// to its schedules, as after an edit in v1. An annotation that keeps an invalid v2 schedule stays,
// so that v2's schema can refuse it.
func DropStaleSchedule(hub *v1.CronJob) {
	if hub.Spec.Schedule == "" && isUnreadable(json.RawMessage(hub.Annotations[ScheduleV2Annotation])) {
		return
	}
	schedule, annotations := scheduleFromHub(hub.Spec.Schedule, hub.Annotations)
	_, hub.Annotations = scheduleToHub(schedule, annotations)
	additional, annotations := additionalFromHub(hub.Spec.AdditionalSchedules, hub.Annotations)
	_, hub.Annotations = additionalToHub(additional, annotations)
}

// toHub converts the status to the hub version, which has no schedule in it.
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
		Missed:              s.Missed,
		Conditions:          s.Conditions,
	}
}

// statusFromHub converts a status from the hub version. It does not set the schedule.
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
		Missed:              s.Missed,
		Conditions:          s.Conditions,
	}
}
