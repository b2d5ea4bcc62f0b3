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

// run starts the tick that is due, as the concurrency policy has it.
func (p *Plan) run(in Input, active []jobState, start Start) {
	isReplace, limit := in.CronJob.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent, MaxConcurrency(in.CronJob)
	switch {
	case in.Uncertain && (isReplace || limit > 0):
		p.wakeBy(start.GiveUpAt) // the Job that may exist would hold it back
		return
	case limit > 0 && len(active) > 0 && len(active)+p.unobserved >= limit:
		p.hold(in, active[0].Job, start)
		return
	case isReplace:
		if !in.Unrecordable && slices.ContainsFunc(active, func(job jobState) bool { return !job.accounted }) {
			// A process that knows nothing but the status would take the tick of a Job that was
			// deleted for missed.
			p.waitFor(in, active[0].Job, "be deleted")
			p.RecordFirst, p.Again = true, true
			p.wakeBy(start.GiveUpAt)
			return
		}
		for _, job := range active {
			if job.DeletionTimestamp == nil {
				p.Replace = append(p.Replace, job.Job)
			}
		}
	}
	start.Job = NewJob(in.CronJob, start.Tick)
	p.Start = &start
}

// MaxConcurrency returns how many Jobs of a CronJob may run at once; 0 for any number. Replace makes
// room by itself.
func MaxConcurrency(c *v1.CronJob) int {
	switch {
	case c.Spec.ConcurrencyPolicy == v1.ForbidConcurrent:
		return 1
	case c.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent || c.Spec.MaxConcurrency == nil:
		return 0
	}
	return max(int(*c.Spec.MaxConcurrency), 1) // less can only be stored without the schema
}

// hold lets the tick wait until the Job has ended.
func (p *Plan) hold(in Input, job *batchv1.Job, start Start) {
	p.wakeBy(start.GiveUpAt)
	if p.waitFor(in, job, "end") {
		p.HeldBy = job
	}
}

// waitFor says that the tick that is due waits for something to become of a Job, and reports
// whether that is new.
func (p *Plan) waitFor(in Input, job *batchv1.Job, what string) bool {
	message := fmt.Sprintf("The tick of %s waits, as %s, for Job %s to %s.",
		p.Status.NextScheduleTime.UTC().Format(time.RFC3339), ConcurrencyRule(in.CronJob), job.Name, what)
	return p.setReady(in, metav1.ConditionTrue, v1.ReasonWaiting, message)
}

// ConcurrencyRule says what keeps a tick of a CronJob waiting for a Job.
func ConcurrencyRule(c *v1.CronJob) string {
	if c.Spec.ConcurrencyPolicy == v1.AllowConcurrent {
		return fmt.Sprintf("maxConcurrency is %d", MaxConcurrency(c))
	}
	return fmt.Sprintf("concurrencyPolicy is %s", c.Spec.ConcurrencyPolicy)
}

// JobName returns the name of a tick's Job. It is the same whoever makes it and whenever, so that a
// tick can't run twice.
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
	// Whatever the template says, it is the schedule that asks for it.
	delete(job.Annotations, v1.TriggerAnnotation)
	delete(job.Spec.Template.Annotations, v1.TriggerAnnotation)
	scheduledAt := tick.UTC().Format(time.RFC3339)
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, v1.ScheduledAtAnnotation, scheduledAt)
	metav1.SetMetaDataAnnotation(&job.Spec.Template.ObjectMeta, v1.ScheduledAtAnnotation, scheduledAt)
	return job
}
