// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// churnRate is how many CronJobs come, and go, each second, and churnAtOnce how many there are
	// at most. With more of them, what is measured is a queue.
	churnRate   = 50
	churnAtOnce = 10 * churnRate

	// churnSchedule leaves a CronJob time for one Job, and sometimes for another. churnPatience is
	// how long that may take.
	churnSchedule = "@every 2s"
	churnPatience = time.Minute

	// churnLook is how often the manager's memory is looked at.
	churnLook = 10 * time.Second

	// churnWarmUp is after which time the manager has to have all the memory it needs, and
	// churnLevel how long a level is the median of.
	churnWarmUp = 5 * time.Minute
	churnLevel  = 3 * time.Minute
)

// gauges are metrics of the manager that have to stay where they are: they may grow by a tenth, or
// a handful. The heap is what the last garbage collection has left of it: what is in use in between
// depends on when that was.
var gauges = map[string]struct {
	factor, more float64
	warms        bool // it grows until the end of the warm-up, and says nothing about a shorter run
}{
	"process_resident_memory_bytes": {factor: 1.1, warms: true},
	"go_gc_heap_live_bytes":         {factor: 1.1, warms: true},
	"go_goroutines":                 {factor: 1, more: 10},
}

// churn has CronJobs come, run, end and go, and sees whether the manager's memory stays as it is.
func (b *bench) churn(ctx context.Context) error {
	if err := b.clear(ctx); err != nil {
		return err
	}
	port, err := localcluster.FreePort()
	if err != nil {
		return err
	}
	metrics := fmt.Sprintf("127.0.0.1:%d", port)
	r, err := b.start(ctx, operator, "--metrics-bind-address="+metrics)
	if err != nil {
		return err
	}
	c := &churner{cluster: b.cluster}
	samples, err := c.run(ctx, b.churning, metrics)
	if err != nil {
		return errors.Join(err, r.Err())
	}
	result := results.Result{Stage: results.Churn, Of: results.Operator, N: int(c.lived.Load()), Values: map[string]float64{
		"span": b.churning.Seconds(), "jobs": float64(c.jobs.Load()),
	}}
	b.failures = append(b.failures, judgeChurn(&result, samples, b.churning)...)
	return errors.Join(b.keep(result), r.end())
}

// judgeChurn takes the levels of the gauges after the warm-up and at the end, and tells what has
// grown, and whether there was a churn at all. The windows of a short run are a third and a sixth
// of it, to see whether it works at all.
func judgeChurn(result *results.Result, samples map[string][]float64, span time.Duration) (failures []string) {
	warmUp, level := churnWarmUp, churnLevel
	isLong := span >= warmUp+2*level
	if !isLong {
		warmUp, level = span/3, span/6
	}
	from, count := int(warmUp/churnLook), max(1, int(level/churnLook))
	for name, g := range gauges {
		values := samples[name]
		early := median(values[min(from, len(values)-1):min(from+count, len(values))])
		late := median(values[max(0, len(values)-count):])
		result.Values["early "+name], result.Values["late "+name] = early, late
		if isJudged := isLong || !g.warms; isJudged && (early == 0 || late > early*g.factor+g.more) {
			failures = append(failures, fmt.Sprintf("churn: %s grew from %.0f to %.0f", name, early, late))
		}
	}
	if wanted := span.Seconds() * churnRate; float64(result.N) < wanted/2 {
		failures = append(failures, fmt.Sprintf("churn: %d CronJobs came and went, of %.0f: the machine is too slow for this to say anything",
			result.N, wanted))
	}
	return failures
}

// churner has CronJobs come and go.
type churner struct {
	*cluster

	lived, jobs atomic.Int64
	pruned      sync.Map // channels by the UID of the CronJob, closed when the operator has deleted a Job of its
}

// run has CronJobs come and go for a while, and returns what the gauges were. In the place of the
// Job controller and the garbage collector, Jobs end at once, and go with their CronJob.
func (c *churner) run(ctx context.Context, span time.Duration, metrics string) (map[string][]float64, error) {
	revision, err := c.revision(ctx)
	if err != nil {
		return nil, err
	}
	begin, samples := time.Now(), map[string][]float64{}
	group, ctx := errgroup.WithContext(ctx)
	watching, endWatch := context.WithCancel(ctx)
	defer endWatch()
	log := history.NewLog(io.Discard)
	log.Listen(c.hear)
	storm.NewJobs(watching, c.Client, log, func(string) (time.Duration, bool) { return 0, true })
	group.Go(func() error { return history.Watch(watching, c.EtcdURL, revision+1, log) })
	group.Go(func() error {
		defer endWatch()
		return c.keepComing(ctx, begin.Add(span))
	})
	group.Go(func() error {
		for at := churnLook; at <= span; at += churnLook {
			if err := plane.SleepUntil(ctx, begin.Add(at)); err != nil {
				return err
			}
			for name := range gauges {
				families, err := c.metrics.Read(ctx, metrics, name)
				if err != nil {
					return err
				}
				samples[name] = append(samples[name], plane.Sum(families[name]))
			}
		}
		return nil
	})
	return samples, group.Wait()
}

// hear takes note of the Jobs that go, as each does in the end.
func (c *churner) hear(record history.Record) {
	if record.Job == nil || !record.Job.Deleted {
		return
	}
	c.jobs.Add(1)
	if pruned, isWaiting := c.pruned.LoadAndDelete(record.Job.Owner); isWaiting {
		close(pruned.(chan struct{}))
	}
}

// keepComing has CronJobs come until the end, and returns when all have gone.
func (c *churner) keepComing(ctx context.Context, end time.Time) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(churnAtOnce)
	ticker := time.NewTicker(time.Second / churnRate)
	defer ticker.Stop()
	for i := 0; time.Now().Before(end) && ctx.Err() == nil; i++ {
		<-ticker.C
		group.TryGo(func() error { return c.live(ctx, c.namespaceOf(i), nameOf("churn", i)) })
	}
	return group.Wait()
}

// live has a CronJob come that keeps no ended Jobs, run until the operator has deleted one, and go.
// Its template is its own, so that whoever remembers templates is to forget them, too.
func (c *churner) live(ctx context.Context, namespace, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, churnPatience,
		fmt.Errorf("CronJob %s had no Job that ran, ended and was deleted in %v", name, churnPatience))
	defer cancel()
	template := jobTemplate()
	template.Labels["churn"] = name
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": operatorV1.apiVersion, "kind": "CronJob",
		"metadata": metav1.ObjectMeta{Namespace: namespace, Name: name},
		"spec":     map[string]any{"schedule": churnSchedule, "successfulJobsHistoryLimit": 0, "jobTemplate": template},
	})
	if err != nil {
		return err
	}
	var created cronJob
	answer, err := c.json.Post().AbsPath(operatorV1.in(namespace)).SetHeader("Content-Type", "application/json").Body(manifest).DoRaw(ctx)
	if err == nil {
		err = json.Unmarshal(answer, &created)
	}
	if err != nil {
		return fmt.Errorf("creating CronJob %s: %w", name, err)
	}
	pruned := make(chan struct{})
	c.pruned.Store(string(created.Metadata.UID), pruned)
	select {
	case <-pruned:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := c.json.Delete().AbsPath(operatorV1.in(namespace), name).Do(ctx).Error(); err != nil {
		return fmt.Errorf("deleting CronJob %s: %w", name, err)
	}
	c.lived.Add(1)
	return nil
}
