// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package builders makes the objects that tests are about, in the words of the test:
//
//	builders.MakeCronJob("c").Schedule("@hourly").Policy(v1.ForbidConcurrent).Obj()
package builders

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// CronJob builds a CronJob of the hub version.
type CronJob struct{ c v1.CronJob }

// MakeCronJob begins a CronJob in the namespace default that runs "true" every minute.
func MakeCronJob(name string) *CronJob {
	return &CronJob{v1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceDefault, Name: name, UID: types.UID("uid-of-" + name), Generation: 1,
		},
		Spec: v1.CronJobSpec{
			Schedule: "* * * * *",
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "busybox", Command: []string{"true"}}},
			}}}},
		},
		Status: v1.CronJobStatus{ObservedGeneration: -1}, // the default of the CRD
	}}
}

// Obj returns the CronJob.
func (b *CronJob) Obj() *v1.CronJob { return b.c.DeepCopy() }

// Namespace sets the namespace.
func (b *CronJob) Namespace(namespace string) *CronJob { b.c.Namespace = namespace; return b }

// Created sets the creation time.
func (b *CronJob) Created(at time.Time) *CronJob {
	b.c.CreationTimestamp = metav1.NewTime(at)
	return b
}

// Schedule sets the schedule.
func (b *CronJob) Schedule(text string) *CronJob { b.c.Spec.Schedule = text; return b }

// Also sets the additional schedules.
func (b *CronJob) Also(texts ...string) *CronJob { b.c.Spec.AdditionalSchedules = texts; return b }

// TimeZone sets the time zone.
func (b *CronJob) TimeZone(name string) *CronJob { b.c.Spec.TimeZone = &name; return b }

// Exclude sets the days on which nothing is scheduled.
func (b *CronJob) Exclude(days ...v1.ExcludedDays) *CronJob { b.c.Spec.Exclude = days; return b }

// NotBefore sets the first instant of scheduling.
func (b *CronJob) NotBefore(at time.Time) *CronJob {
	b.c.Spec.NotBefore = &metav1.Time{Time: at}
	return b
}

// NotAfter sets the last instant of scheduling.
func (b *CronJob) NotAfter(at time.Time) *CronJob {
	b.c.Spec.NotAfter = &metav1.Time{Time: at}
	return b
}

// Policy sets the concurrency policy.
func (b *CronJob) Policy(policy v1.ConcurrencyPolicy) *CronJob {
	b.c.Spec.ConcurrencyPolicy = policy
	return b
}

// MaxConcurrency sets how many Jobs may run at once.
func (b *CronJob) MaxConcurrency(limit int32) *CronJob { b.c.Spec.MaxConcurrency = &limit; return b }

// StopAfterFailures sets after how many failures in a row it stops.
func (b *CronJob) StopAfterFailures(limit int32) *CronJob {
	b.c.Spec.StopAfterFailures = &limit
	return b
}

// Jitter sets by how many seconds starts may be delayed.
func (b *CronJob) Jitter(seconds int32) *CronJob { b.c.Spec.JitterSeconds = &seconds; return b }

// CatchUp sets how many ticks run after an outage.
func (b *CronJob) CatchUp(limit int32) *CronJob {
	b.c.Spec.CatchUpPolicy, b.c.Spec.CatchUpLimit = v1.CatchUpAll, &limit
	return b
}

// Suspend sets whether it is suspended.
func (b *CronJob) Suspend(suspend bool) *CronJob { b.c.Spec.Suspend = &suspend; return b }

// Deadline sets the starting deadline.
func (b *CronJob) Deadline(seconds int64) *CronJob {
	b.c.Spec.StartingDeadlineSeconds = &seconds
	return b
}

// History sets both history limits.
func (b *CronJob) History(successful, failed int32) *CronJob {
	b.c.Spec.SuccessfulJobsHistoryLimit, b.c.Spec.FailedJobsHistoryLimit = &successful, &failed
	return b
}

// Job builds a Job that a CronJob controls.
type Job struct{ j batchv1.Job }

// MakeJob begins a running Job of a CronJob for a tick.
func MakeJob(c *v1.CronJob, tick time.Time) *Job {
	name := fmt.Sprintf("%s-%d", c.Name, tick.Unix())
	return &Job{batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.Namespace, Name: name, UID: types.UID("uid-of-" + name),
		CreationTimestamp: metav1.NewTime(tick),
		Annotations:       map[string]string{v1.ScheduledAtAnnotation: tick.UTC().Format(time.RFC3339)},
		OwnerReferences:   []metav1.OwnerReference{*metav1.NewControllerRef(c, v1.GroupVersion.WithKind("CronJob"))},
	}}}
}

// Obj returns the Job.
func (b *Job) Obj() *batchv1.Job { return b.j.DeepCopy() }

// Manual makes it a manual run: only its Pods have the time of the run.
func (b *Job) Manual() *Job {
	b.j.Spec.Template.Annotations, b.j.Annotations = b.j.Annotations, nil
	return b
}

// Backfilled makes it a backfill of its tick.
func (b *Job) Backfilled(at time.Time) *Job {
	b.j.CreationTimestamp = metav1.NewTime(at)
	b.j.Annotations[v1.TriggerAnnotation] = string(v1.TriggerBackfill)
	return b
}

// Named gives it another name, and so another UID.
func (b *Job) Named(name string) *Job {
	b.j.Name, b.j.UID = name, types.UID("uid-of-"+name)
	return b
}

// Deleting marks it as being deleted.
func (b *Job) Deleting(at time.Time) *Job {
	b.j.DeletionTimestamp = &metav1.Time{Time: at}
	return b
}

// Succeeded ends it with success.
func (b *Job) Succeeded(at time.Time) *Job {
	b.j.Status.CompletionTime = &metav1.Time{Time: at}
	return b.ended(batchv1.JobComplete, at)
}

// Failed ends it with failure.
func (b *Job) Failed(at time.Time) *Job { return b.ended(batchv1.JobFailed, at) }

func (b *Job) ended(condition batchv1.JobConditionType, at time.Time) *Job {
	b.j.Status.Conditions = append(b.j.Status.Conditions, batchv1.JobCondition{
		Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at),
	})
	return b
}

// EndedJob returns the status that the Job controller sets at the end of a Job.
func EndedJob(start, end metav1.Time, succeeds bool) batchv1.JobStatus {
	status := batchv1.JobStatus{StartTime: &start}
	conditions := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	if succeeds {
		status.CompletionTime, status.Succeeded = &end, 1
		conditions = []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	}
	for _, condition := range conditions {
		status.Conditions = append(status.Conditions, batchv1.JobCondition{
			Type: condition, Status: corev1.ConditionTrue, Reason: "Ended", LastProbeTime: end, LastTransitionTime: end,
		})
	}
	return status
}
