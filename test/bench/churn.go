// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/measure"
	"tutorial.kubebuilder.io/project/test/bench/results"
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
	result, err := b.churnAndLook(ctx, metrics)
	if err != nil {
		return errors.Join(err, r.child.Err())
	}
	b.failures = append(b.failures, grown(result)...)
	return errors.Join(b.keep(*result), r.end())
}

// churnAndLook does both at once, until the time is over.
func (b *bench) churnAndLook(ctx context.Context, metrics string) (*results.Churn, error) {
	plane.Logf("operator: %d CronJobs a second come, run, end and go, for %v", churnRate, b.churning)
	c := &churner{cluster: b.cluster, lives: map[string]*life{}}
	begin := time.Now()
	samples := map[string][]float64{}
	group, ctx := errgroup.WithContext(ctx)
	watching, endWatch := context.WithCancel(ctx)
	defer endWatch()
	group.Go(func() error { return c.followJobs(watching) })
	group.Go(func() error {
		defer endWatch()
		return c.keepComing(ctx, begin.Add(b.churning))
	})
	group.Go(func() error {
		for at := churnLook; at <= b.churning; at += churnLook {
			if err := plane.SleepUntil(ctx, begin.Add(at)); err != nil {
				return err
			}
			for name := range gauges {
				families, err := b.metrics.Read(ctx, metrics, name)
				if err != nil {
					return err
				}
				samples[name] = append(samples[name], plane.Sum(families[name]))
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	result := &results.Churn{
		Span: b.churning.Seconds(), CronJobs: c.lived, Jobs: c.jobs, Early: map[string]float64{}, Late: map[string]float64{},
	}
	warm, level := windows(b.churning)
	for name, values := range samples {
		result.Early[name] = middle(values[min(warm, len(values)-1):min(warm+level, len(values))])
		result.Late[name] = middle(values[max(0, len(values)-level):])
	}
	return result, nil
}

// isLong reports whether a run has a level after the warm-up, and another at the end.
func isLong(span time.Duration) bool { return span >= churnWarmUp+2*churnLevel }

// windows returns after how many looks a level is taken, and over how many. Of short runs they are
// a third and a sixth, to see whether it works at all.
func windows(span time.Duration) (warm, level int) {
	if isLong(span) {
		return int(churnWarmUp / churnLook), int(churnLevel / churnLook)
	}
	return int(span / 3 / churnLook), max(1, int(span/6/churnLook))
}

// middle returns the median of some values.
func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// grown tells what has grown, and whether there was a churn at all.
func grown(r *results.Churn) []string {
	var found []string
	for name, g := range gauges {
		if g.warms && !isLong(time.Duration(r.Span*float64(time.Second))) {
			plane.Logf("%s is not judged: want -churn=%v or more", name, churnWarmUp+2*churnLevel)
			continue
		}
		if early, late := r.Early[name], r.Late[name]; early == 0 || late > early*g.factor+g.more {
			found = append(found, fmt.Sprintf("churn: %s grew from %.0f to %.0f", name, early, late))
		}
	}
	if wanted := r.Span * churnRate; float64(r.CronJobs) < wanted/2 {
		found = append(found, fmt.Sprintf("churn: %d CronJobs came and went, of %.0f: the machine is too slow for this to say anything",
			r.CronJobs, wanted))
	}
	return found
}

// churner has CronJobs come and go, and stands in for the Job controller and the garbage collector.
type churner struct {
	*cluster

	mu    sync.Mutex
	lives map[string]*life // by the CronJob's name

	lived, jobs int
}

// life is a CronJob that has not gone yet.
type life struct {
	jobs   map[string]bool // that are there
	pruned chan struct{}   // closed when the operator has deleted one
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

// live has a CronJob come, run until the operator has deleted an ended Job of its, and go.
func (c *churner) live(ctx context.Context, namespace, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, churnPatience,
		fmt.Errorf("CronJob %s had no Job that ran, ended and was deleted in %v", name, churnPatience))
	defer cancel()
	mine := &life{jobs: map[string]bool{}, pruned: make(chan struct{})}
	c.mu.Lock()
	c.lives[name] = mine
	c.mu.Unlock()
	manifest, err := churned(namespace, name)
	if err != nil {
		return err
	}
	collection := operatorV1.in(namespace)
	if err := c.post(ctx, collection, manifest); err != nil {
		return err
	}
	select {
	case <-mine.pruned:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := c.json.Delete().AbsPath(collection, name).Do(ctx).Error(); err != nil {
		return fmt.Errorf("deleting CronJob %s: %w", name, err)
	}
	c.mu.Lock()
	delete(c.lives, name)
	c.lived++
	left := slices.Collect(maps.Keys(mine.jobs))
	c.mu.Unlock()
	for _, job := range left {
		if err := c.collect(ctx, namespace, job); err != nil {
			return err
		}
	}
	return nil
}

// churned is a CronJob that keeps no ended Jobs. Its template is its own, so that whoever remembers
// templates is to forget them, too.
func churned(namespace, name string) ([]byte, error) {
	template := jobTemplate()
	template.Labels["churn"] = name
	return json.Marshal(map[string]any{
		"apiVersion": operatorV1.apiVersion, "kind": "CronJob",
		"metadata": metav1.ObjectMeta{Namespace: namespace, Name: name},
		"spec":     map[string]any{"schedule": churnSchedule, "successfulJobsHistoryLimit": 0, "jobTemplate": template},
	})
}

// followJobs ends each Job that comes, and deletes it if its CronJob has gone, until the context
// ends.
func (c *churner) followJobs(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	err := measure.WatchJobs(groupCtx, c.typed, func(event watch.EventType, job *batchv1.Job) {
		switch {
		case event == watch.Added && c.hasCome(job):
			group.Go(func() error { return c.finish(groupCtx, job) })
		case event == watch.Added:
			group.Go(func() error { return c.collect(groupCtx, job.Namespace, job.Name) })
		case event == watch.Deleted:
			c.hasGone(job)
		}
	})
	return errors.Join(err, group.Wait())
}

// hasCome notes a Job, and reports whether its CronJob is still there.
func (c *churner) hasCome(job *batchv1.Job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs++
	owner, ok := c.lives[job.Labels["churn"]]
	if ok {
		owner.jobs[job.Name] = true
	}
	return ok
}

// hasGone notes that a Job was deleted, while its CronJob is there by the operator.
func (c *churner) hasGone(job *batchv1.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	owner, ok := c.lives[job.Labels["churn"]]
	if !ok {
		return
	}
	delete(owner.jobs, job.Name)
	select {
	case <-owner.pruned:
	default:
		close(owner.pruned)
	}
}

// finish has a Job complete.
func (c *churner) finish(ctx context.Context, job *batchv1.Job) error {
	job.Status = completed(job.CreationTimestamp)
	_, err := c.typed.BatchV1().Jobs(job.Namespace).UpdateStatus(ctx, job, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		return fmt.Errorf("ending Job %s: %w", job.Name, err)
	}
	return nil
}

// collect deletes a Job whose CronJob has gone.
func (c *churner) collect(ctx context.Context, namespace, name string) error {
	background := metav1.DeletePropagationBackground
	err := c.typed.BatchV1().Jobs(namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		return fmt.Errorf("deleting Job %s: %w", name, err)
	}
	return nil
}
