// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// run starts the due tick, or has it wait, according to the concurrency policy.
func (p *Plan) run(in Input, start Start) {
	isReplace, limit := in.CronJob.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent, MaxConcurrency(in.CronJob)
	mustRecord := func(job jobState) bool { return p.isOnlyTrace(in, job, start.Tick) && canRecord(in, job) }
	switch {
	case in.Uncertain && (isReplace || limit > 0): // a Job that may exist counts as running
	case limit > 0 && len(p.running) > 0 && len(p.running)+p.unobserved >= limit:
		p.hold(in, p.running[0].Job, start.Tick)
	case isReplace && !in.Unrecordable && slices.ContainsFunc(p.running, mustRecord):
		// If the Job were deleted first and this process crashed, the next one would find no trace
		// of the run and report its tick as missed.
		p.waitFor(in, p.running[0].Job, "be deleted")
		p.Again = true
	default:
		if isReplace {
			p.replace(in, start.Tick)
		}
		start.Job = NewJob(in.CronJob, start.Tick)
		p.Start = &start
		return
	}
	p.wakeBy(start.GiveUpAt)
}

// replace picks the running Jobs to delete for a tick. A backfilled Job that can't be recorded runs
// on: only its name prevents a second run.
func (p *Plan) replace(in Input, tick time.Time) {
	for _, job := range p.running {
		if job.DeletionTimestamp == nil && (job.trigger == v1.TriggerSchedule || !p.isOnlyTrace(in, job, tick)) {
			p.Replace = append(p.Replace, job.Job)
		}
	}
}

// MaxConcurrency returns how many Jobs of a CronJob may run at once; 0 for any number. It is 0 for
// Replace, where a tick never waits.
func MaxConcurrency(c *v1.CronJob) int {
	switch {
	case c.Spec.ConcurrencyPolicy == v1.ForbidConcurrent:
		return 1
	case c.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent || c.Spec.MaxConcurrency == nil:
		return 0
	}
	return max(int(*c.Spec.MaxConcurrency), 1) // the schema refuses less
}

// hold lets the tick wait until the Job has ended.
func (p *Plan) hold(in Input, job *batchv1.Job, tick time.Time) {
	if !p.waitFor(in, job, "end") {
		return
	}
	rule := ConcurrencyRule(in.CronJob)
	if in.CronJob.Spec.ConcurrencyPolicy == v1.ForbidConcurrent {
		rule = "the concurrency policy is Forbid"
	}
	p.Events = append(p.Events, normal(EventJobAlreadyActive, actionSchedule, job, tick.UTC().Format(time.RFC3339),
		fmt.Sprintf("Not starting a job because %s is running and %s", job.Name, rule)))
}

// waitFor sets the Ready condition: the due tick waits for a Job to end, or to be deleted. It
// reports whether that is new.
func (p *Plan) waitFor(in Input, job *batchv1.Job, what string) bool {
	message := fmt.Sprintf("The tick of %s waits, as %s, for Job %s to %s.",
		p.Status.NextScheduleTime.UTC().Format(time.RFC3339), ConcurrencyRule(in.CronJob), job.Name, what)
	return p.setReady(in, metav1.ConditionTrue, v1.ReasonWaiting, message)
}

// ConcurrencyRule returns the rule by which a tick waits for a Job, such as "maxConcurrency is 2".
func ConcurrencyRule(c *v1.CronJob) string {
	if c.Spec.ConcurrencyPolicy == v1.AllowConcurrent {
		return fmt.Sprintf("maxConcurrency is %d", MaxConcurrency(c))
	}
	return fmt.Sprintf("concurrencyPolicy is %s", c.Spec.ConcurrencyPolicy)
}

// JobName returns the name of a tick's Job. It depends only on the CronJob and the tick, so a
// second creation fails.
func JobName(c *v1.CronJob, tick time.Time) string {
	return fmt.Sprintf("%s-%d", c.Name, tick.Unix())
}

// NewJob makes the Job of a tick.
func NewJob(c *v1.CronJob, tick time.Time) *batchv1.Job {
	template := c.Spec.JobTemplate.DeepCopy()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       c.Namespace,
			Name:            JobName(c, tick),
			Labels:          template.Labels,
			Annotations:     template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, v1.GroupVersion.WithKind("CronJob"))},
		},
		Spec: template.Spec,
	}
	// The template must not make a scheduled Job look like a manual run or a backfill.
	delete(job.Annotations, v1.TriggerAnnotation)
	delete(job.Spec.Template.Annotations, v1.TriggerAnnotation)
	scheduledAt := tick.UTC().Format(time.RFC3339)
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, v1.ScheduledAtAnnotation, scheduledAt)
	metav1.SetMetaDataAnnotation(&job.Spec.Template.ObjectMeta, v1.ScheduledAtAnnotation, scheduledAt)
	return job
}
