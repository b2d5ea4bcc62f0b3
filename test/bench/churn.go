// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/jobs"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// churnRate is how many CronJobs are created and deleted per second, and churnAtOnce how many
	// exist at most. More of them would measure a queue.
	churnRate   = 50
	churnAtOnce = 10 * churnRate

	// churnSchedule leaves a CronJob time for one or two Jobs. churnPatience limits that time.
	churnSchedule = "@every 2s"
	churnPatience = time.Minute

	// churnSamples is how often the manager's metrics are read. The first churnWarmUp samples are a
	// warm-up. A level is the median of churnLevel samples.
	churnSamples = 180
	churnWarmUp  = churnSamples / 6
	churnLevel   = churnSamples / 10
)

// gauges are metrics of the manager that must not grow by more than a factor and a number. The live
// heap is that after the last garbage collection, since the heap in use depends on its time.
var gauges = map[string]struct{ factor, more float64 }{
	"process_resident_memory_bytes": {factor: 1.1},
	"go_gc_heap_live_bytes":         {factor: 1.1},
	"go_goroutines":                 {factor: 1, more: 10},
}

// churn creates CronJobs, lets each run a Job, deletes it, and checks whether the manager's memory
// grows.
func (b *bench) churn(ctx context.Context) error {
	if err := b.clear(ctx); err != nil {
		return err
	}
	r, err := b.start(ctx, operator)
	if err != nil {
		return err
	}
	c := &churner{cluster: b.cluster}
	samples, err := c.run(ctx, b.churning)
	if err != nil {
		return errors.Join(err, r.Err())
	}
	result := results.New(results.Churn, results.Operator, int(c.completed.Load()))
	result.Values["span"], result.Values["jobs"] = b.churning.Seconds(), float64(c.jobs.Load())
	b.failures = append(b.failures, judgeChurn(result, samples, b.churning)...)
	return errors.Join(b.keep(*result), b.End(r.Process))
}

// judgeChurn adds the levels of the gauges after the warm-up and at the end to the result. It
// returns an error if one has grown, or if there were too few CronJobs to tell.
func judgeChurn(result *results.Result, samples map[string][]float64, span time.Duration) (failures []string) {
	for name, g := range gauges {
		early := median(samples[name][churnWarmUp : churnWarmUp+churnLevel])
		late := median(samples[name][churnSamples-churnLevel:])
		result.Values["early "+name], result.Values["late "+name] = early, late
		if early == 0 || late > early*g.factor+g.more {
			failures = append(failures, fmt.Sprintf("churn: %s grew from %.0f to %.0f", name, early, late))
		}
	}
	if wanted := span.Seconds() * churnRate; float64(result.N) < wanted/2 {
		failures = append(failures, fmt.Sprintf("churn: only %d CronJobs ran, of %.0f: the machine is too slow", result.N, wanted))
	}
	return failures
}

type churner struct {
	*cluster

	completed, jobs atomic.Int64
	pruned          sync.Map // channels by the name of a CronJob, closed when the operator has deleted one of its Jobs
}

// run creates and deletes CronJobs for some time, and returns the samples of the gauges. Jobs end
// at once, in place of the Job controller, and are deleted with their CronJob.
func (c *churner) run(ctx context.Context, span time.Duration) (map[string][]float64, error) {
	revision, err := c.revision(ctx)
	if err != nil {
		return nil, err
	}
	begin, samples := time.Now(), map[string][]float64{}
	group, ctx := errgroup.WithContext(ctx)
	watching, endWatch := context.WithCancel(ctx)
	defer endWatch()
	log := history.NewLog(io.Discard)
	log.Listen(c.observe)
	jobs.New(watching, c.Client, log, func(string) (time.Duration, bool) { return 0, true })
	group.Go(func() error { return history.Watch(watching, c.EtcdURL, revision+1, log) })
	group.Go(func() error {
		defer endWatch()
		return c.runAll(ctx, begin.Add(span))
	})
	group.Go(func() error {
		for i := range churnSamples {
			if err := plane.SleepUntil(ctx, begin.Add(span*time.Duration(i+1)/churnSamples)); err != nil {
				return err
			}
			for name := range gauges {
				value, err := c.metric(ctx, name)
				if err != nil {
					return err
				}
				samples[name] = append(samples[name], value)
			}
		}
		return nil
	})
	return samples, group.Wait()
}

// observe records deleted Jobs, which are named <name of the CronJob>-<seconds of the tick>.
func (c *churner) observe(record history.Record) {
	if record.Job == nil || !record.Job.Deleted {
		return
	}
	c.jobs.Add(1)
	cronJob := record.Job.Name[:strings.LastIndexByte(record.Job.Name, '-')]
	if pruned, isWaiting := c.pruned.LoadAndDelete(cronJob); isWaiting {
		close(pruned.(chan struct{}))
	}
}

func (c *churner) runAll(ctx context.Context, end time.Time) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(churnAtOnce)
	ticker := time.NewTicker(time.Second / churnRate)
	defer ticker.Stop()
	for i := 0; time.Now().Before(end) && ctx.Err() == nil; i++ {
		<-ticker.C
		group.TryGo(func() error { return c.runOne(ctx, c.namespaceOf(i), nameOf("churn", i)) })
	}
	return group.Wait()
}

// runOne creates a CronJob that keeps no ended Jobs, waits until the operator has deleted one, and
// deletes the CronJob. It has a template of its own, so that a cache of templates has to forget it.
func (c *churner) runOne(ctx context.Context, namespace, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, churnPatience,
		fmt.Errorf("CronJob %s had no Job that ran, ended and was deleted in %v", name, churnPatience))
	defer cancel()
	template := jobTemplate.DeepCopy()
	template.Labels["churn"] = name
	pruned := make(chan struct{})
	c.pruned.Store(name, pruned)
	err := c.createOne(ctx, operatorV1, namespace, name, map[string]any{
		"schedule": churnSchedule, "successfulJobsHistoryLimit": 0, "jobTemplate": template,
	})
	if err != nil {
		return err
	}
	select {
	case <-pruned:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := c.REST.Delete().AbsPath(operatorV1.in(namespace), name).Do(ctx).Error(); err != nil {
		return fmt.Errorf("deleting CronJob %s: %w", name, err)
	}
	c.completed.Add(1)
	return nil
}
