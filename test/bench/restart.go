// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/builders"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// dueEachMinute is how many CronJobs are due each minute, in addition to those that are not
	// due.
	dueEachMinute = 20

	// restarts is how often a contender is started. The median counts.
	restarts = 3

	// memoryDelay is how long after the end of all work the memory is measured.
	memoryDelay = 30 * time.Second
)

// restart measures the start of controllers with many CronJobs and Jobs.
func (b *bench) restart(ctx context.Context) error {
	contenders := b.controllers()
	slices.Reverse(contenders) // the CronJobs of the last one are stored already
	return b.each(ctx, contenders, b.measureRestarts)
}

// measureRestarts restarts a contender several times. The memory is that of the last time.
func (b *bench) measureRestarts(ctx context.Context, c contender) (*results.Result, error) {
	if err := b.prepareRestart(ctx, c); err != nil {
		return nil, err
	}
	result := results.New(results.Restart, c.id, b.objects+dueEachMinute)
	var firsts, lasts []float64
	for range restarts {
		first, last, err := b.restartOnce(ctx, c, result)
		if err != nil {
			return nil, err
		}
		firsts, lasts = append(firsts, first.Seconds()), append(lasts, last.Seconds())
	}
	result.Values["jobs"], result.Values["first"], result.Values["last"] = float64(b.objects*b.finished), median(firsts), median(lasts)
	return result, nil
}

// prepareRestart creates the CronJobs and Jobs, and lets the contender write their statuses.
func (b *bench) prepareRestart(ctx context.Context, c contender) error {
	if err := b.store(ctx, b.notDue(c.kind)); err != nil {
		return err
	}
	b.stored = batch{} // the store gets further objects
	if err := b.createFinishedJobs(ctx, c.kind, b.finished); err != nil {
		return err
	}
	if err := b.populate(ctx, batch{kind: c.kind, prefix: "due", count: dueEachMinute, schedules: []any{"* * * * *"}}); err != nil {
		return err
	}
	r, err := b.settled(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(b.End(r.Process), b.compact(ctx))
}

// restartOnce starts a contender a second after a tick, and returns when the first and the last Job
// of the tick started, since the start of the process. It adds the memory to the result.
func (b *bench) restartOnce(ctx context.Context, c contender, result *results.Result) (first, last time.Duration, err error) {
	tick := time.Now().Truncate(time.Minute).Add(time.Minute)
	if err := plane.SleepUntil(ctx, tick.Add(time.Second)); err != nil {
		return 0, 0, err
	}
	watch, err := b.watchStarts(ctx)
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	r, err := b.start(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	all, err := watch.await(ctx, r, dueEachMinute, tick.Add(timeLimit))
	starts := watch.stop()
	if err == nil && !all {
		err = fmt.Errorf("only %d of %d CronJobs had a Job %v after the tick", len(starts), dueEachMinute, timeLimit)
	}
	if err == nil {
		err = r.awaitIdle(ctx) // the next start must find all statuses written
	}
	if err != nil {
		return 0, 0, err
	}
	err = errors.Join(
		plane.SleepUntil(ctx, time.Now().Add(memoryDelay)), r.addMemory(result), b.addControlPlane(ctx, result), b.End(r.Process))
	return starts[0].seen.Sub(begin), starts[len(starts)-1].seen.Sub(begin), err
}

func (p *cluster) createFinishedJobs(ctx context.Context, k kind, each int) error {
	cronJobs, err := p.cronJobs(ctx, k)
	if err != nil {
		return err
	}
	latest := time.Now().Truncate(time.Hour)
	return inParallel(ctx, len(cronJobs)*each, func(ctx context.Context, i int) error {
		job := finishedJob(k, cronJobs[i/each], latest.Add(-time.Duration(i%each)*time.Hour))
		if err := p.Client.Create(ctx, job); err != nil {
			return fmt.Errorf("creating Job %s: %w", job.Name, err)
		}
		job.Status = builders.EndedJob(job.CreationTimestamp, job.CreationTimestamp, true)
		if err := p.Client.Status().Update(ctx, job); err != nil {
			return fmt.Errorf("ending Job %s: %w", job.Name, err)
		}
		return nil
	})
}

// finishedJob returns a Job of a CronJob for a tick. The annotation tells the controller the tick.
func finishedJob(k kind, owner cronJob, tick time.Time) *batchv1.Job {
	kind, annotations := schema.FromAPIVersionAndKind(string(k), "CronJob"), map[string]string{}
	for _, annotation := range tickAnnotations {
		annotations[annotation] = tick.UTC().Format(time.RFC3339)
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.Namespace, Name: fmt.Sprintf("%s-%d", owner.Name, tick.Unix()),
			Labels: maps.Clone(jobTemplate.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&owner, kind)},
		},
		Spec: *jobTemplate.Spec.DeepCopy(),
	}
}
