// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

// simulation carries out the plans for a CronJob, without an API server. The tests of internal/plan
// have one that does more (edits, refusals, failures). They are in that package, so it can't be
// shared: what imports internal/plan can't be imported by them.
type simulation struct {
	cronJob *v1.CronJob
	jobs    []*batchv1.Job
	takes   func(tick time.Time) time.Duration // how long a Job runs

	// No manager runs from down until up; zero if it always does.
	down, up time.Time

	missed  []span
	removed map[string]time.Time // when Jobs were deleted, by name
}

// span is what became of a tick.
type span struct {
	Tick       time.Time
	Start, End time.Time // of the run; a missed tick has the end alone: when it was given up
	Result     v1.RunResult
	Reason     string
}

// run lets the CronJob run from its creation until the end, and returns what its status says of
// each tick, oldest first.
func (s *simulation) run(end time.Time) []span {
	s.removed = map[string]time.Time{}
	for now := s.cronJob.CreationTimestamp.Time; now.Before(end); {
		wake := s.reconcile(now)
		for _, job := range s.jobs {
			if ends := s.endOf(job); ends.After(now) && ends.Before(wake) {
				wake = ends
			}
		}
		if !wake.Before(s.down) && wake.Before(s.up) {
			wake = s.up
		}
		now = wake
	}
	spans := s.missed
	for _, run := range s.cronJob.Status.RecentRuns {
		if run.Result == v1.RunMissed {
			continue // one entry for several ticks
		}
		ended := cmp.Or(s.removed[run.JobName], end)
		if run.CompletionTime != nil {
			ended = run.CompletionTime.Time
		}
		spans = append(spans, span{run.ScheduledTime.Time, run.StartTime.Time, ended, run.Result, run.Reason})
	}
	slices.SortFunc(spans, func(a, b span) int { return a.Tick.Compare(b.Tick) })
	return spans
}

// reconcile does what the reconciler does, and returns when to look again.
func (s *simulation) reconcile(now time.Time) time.Time {
	for i, job := range s.jobs {
		if ends := s.endOf(job); !ends.After(now) {
			s.jobs[i] = job.DeepCopy()
			s.jobs[i].Status = builders.EndedJob(job.CreationTimestamp, metav1.NewTime(ends), true)
		}
	}
	in := plan.NewInput(s.cronJob, now, s.jobs...)
	p := plan.Decide(in)
	s.jobs = slices.DeleteFunc(s.jobs, func(job *batchv1.Job) bool {
		if slices.Contains(p.Replace, job) {
			s.removed[job.Name] = now
		}
		return slices.Contains(p.Replace, job) || slices.Contains(p.Prune, job)
	})
	outcome := plan.Outcome{Deleted: p.Replace}
	if p.Start != nil {
		outcome.Job = p.Start.Job.DeepCopy()
		outcome.Job.UID, outcome.Job.CreationTimestamp = types.UID(outcome.Job.Name), metav1.NewTime(now)
		s.jobs = append(s.jobs, outcome.Job)
	}
	done := plan.Conclude(in, p, outcome)
	for _, missed := range done.Missed {
		for tick, ok := missed.First, true; ok && !tick.After(missed.Last); tick, ok = in.Schedule.Next(tick) {
			s.missed = append(s.missed, span{Tick: tick, End: now, Result: v1.RunMissed, Reason: string(missed.Reason)})
		}
	}
	s.cronJob.Status = done.Status
	if done.Again {
		return now
	}
	return done.WakeAt
}

// endOf returns when a Job ends that nobody deletes.
func (s *simulation) endOf(job *batchv1.Job) time.Time {
	return job.CreationTimestamp.Add(s.takes(plan.AgeFrom(job)))
}
