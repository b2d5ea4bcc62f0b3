// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// jobsEach is how many finished Jobs each CronJob has: as many as the default history limit
	// keeps.
	jobsEach = 3

	// due is how many CronJobs are due, each minute, among those that are not; and how they are
	// called.
	due       = 20
	duePrefix = "due"

	// restarts is how often a contender is started; the median counts.
	restarts = 3

	// repose is how long after all is done its memory is looked at.
	repose = 30 * time.Second
)

// restart sees how controllers come back to many CronJobs and Jobs.
func (b *bench) restart(ctx context.Context) error {
	return b.each(b.resting(), func(c contender) (*results.Result, error) { return b.comeBack(ctx, c) })
}

// comeBack restarts a contender several times.
func (b *bench) comeBack(ctx context.Context, c contender) (*results.Result, error) {
	if err := b.furnish(ctx, c); err != nil {
		return nil, err
	}
	result := &results.Result{Stage: results.Restart, Of: c.id, N: b.objects + due, Values: map[string]float64{
		"jobs": float64(b.objects * jobsEach),
	}}
	var first, last []time.Duration
	for range restarts {
		r, took, err := b.comeBackOnce(ctx, c)
		if err != nil {
			return nil, err
		}
		first, last = append(first, took[0]), append(last, took[len(took)-1])
		// Each start finds what one has left that had written all it had to.
		if err := r.awaitIdle(ctx); err != nil {
			return nil, err
		}
		if len(first) == restarts {
			if err := plane.SleepUntil(ctx, time.Now().Add(repose)); err != nil {
				return nil, err
			}
			used, err := b.used(ctx, r)
			if err != nil {
				return nil, err
			}
			result.Values[results.Resident], result.Values[results.Peak] = float64(used.resident), float64(used.peak)
		}
		if err := r.end(); err != nil {
			return nil, err
		}
	}
	result.Values["first"], result.Values["last"] = median(first).Seconds(), median(last).Seconds()
	return result, nil
}

// furnish creates the CronJobs and Jobs, and lets the contender take note of them.
func (b *bench) furnish(ctx context.Context, c contender) error {
	if err := b.clear(ctx); err != nil {
		return err
	}
	if _, err := b.populate(ctx, c, "bench", b.objects, notSoon(time.Now())); err != nil {
		return err
	}
	if err := b.createFinishedJobs(ctx, c.kind); err != nil {
		return err
	}
	if _, err := b.populate(ctx, c, duePrefix, due, "* * * * *"); err != nil {
		return err
	}
	r, err := b.settled(ctx, c)
	if err != nil {
		return err
	}
	if err := r.end(); err != nil {
		return err
	}
	return b.compact(ctx)
}

// comeBackOnce starts a contender a second after a tick, and returns when the Jobs of the tick were
// there, counted from the start of the process.
func (b *bench) comeBackOnce(ctx context.Context, c contender) (*running, []time.Duration, error) {
	tick := time.Now().Truncate(time.Minute).Add(time.Minute)
	if err := plane.SleepUntil(ctx, tick.Add(time.Second)); err != nil {
		return nil, nil, err
	}
	watch, err := b.watchStarts(ctx)
	if err != nil {
		return nil, nil, err
	}
	begin := time.Now()
	r, err := b.start(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	all, err := b.awaitStarts(ctx, r, watch, due, tick)
	if err != nil {
		return nil, nil, err
	}
	var took []time.Duration
	for _, start := range watch.stop() {
		took = append(took, start.seen.Sub(begin))
	}
	if !all {
		return nil, nil, fmt.Errorf("%d of %d CronJobs that were due had no Job %v after the tick", due-len(took), due, cut)
	}
	return r, took, nil
}

// createFinishedJobs gives each CronJob that is not due its Jobs, which have completed.
func (p *cluster) createFinishedJobs(ctx context.Context, k kind) error {
	cronJobs, err := p.cronJobs(ctx, k)
	if err != nil {
		return err
	}
	latest := time.Now().Truncate(time.Hour)
	return inParallel(ctx, len(cronJobs)*jobsEach, func(ctx context.Context, i int) error {
		owner := &cronJobs[i/jobsEach]
		job := finishedJob(k, owner, latest.Add(-time.Duration(i%jobsEach)*time.Hour))
		if err := p.Client.Create(ctx, job); err != nil {
			return fmt.Errorf("creating Job %s: %w", job.Name, err)
		}
		job.Status = plane.EndedJob(job.CreationTimestamp, job.CreationTimestamp, true)
		if err := p.Client.Status().Update(ctx, job); err != nil {
			return fmt.Errorf("ending Job %s: %w", job.Name, err)
		}
		return nil
	})
}

// finishedJob makes a Job of a CronJob for a tick, as its controller would.
func finishedJob(k kind, owner *cronJob, tick time.Time) *batchv1.Job {
	template := jobTemplate()
	annotation, suffix := batchv1.CronJobScheduledTimestampAnnotation, tick.Unix()/60
	if k.isOperators() {
		annotation, suffix = v1.ScheduledAtAnnotation, tick.Unix()
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.Metadata.Namespace, Name: fmt.Sprintf("%s-%d", owner.Metadata.Name, suffix),
			Labels:      template.Labels,
			Annotations: map[string]string{annotation: tick.UTC().Format(time.RFC3339)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: k.apiVersion, Kind: "CronJob", Name: owner.Metadata.Name, UID: owner.Metadata.UID,
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: template.Spec,
	}
}
