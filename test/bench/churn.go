// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/results"
)

const (
	churnStage = "churn"

	// churnRate is how many CronJobs come, and go, each second, and churnAtOnce how many there are at most. With more
	// of them, what is measured is a queue.
	churnRate   = 50
	churnAtOnce = 10 * churnRate

	// churnSchedule leaves a CronJob time for one Job, and sometimes for another. churnPatience is how long that may take.
	churnSchedule = "@every 2s"
	churnPatience = time.Minute

	// churnLook is how often the manager's memory is looked at.
	churnLook = 10 * time.Second

	// churnWarmUp is after which time the manager has to have all the memory it needs, and churnLevel how long a level
	// is the median of.
	churnWarmUp = 5 * time.Minute
	churnLevel  = 3 * time.Minute
)

// gauge is a metric of the manager that has to stay where it is, and how much it may grow.
type gauge struct {
	name   string
	factor float64
	more   float64
	warms  bool // it grows until the end of the warm-up, and says nothing about a shorter run
}

// gauges may grow by a tenth, or a handful. The heap is what the last garbage collection has left of it: what is in use
// in between depends on when that was.
var gauges = []gauge{
	{name: "process_resident_memory_bytes", factor: 1.1, warms: true},
	{name: "go_gc_heap_live_bytes", factor: 1.1, warms: true},
	{name: "go_goroutines", factor: 1, more: 10},
}

// churnResult is what came of it, as it is written beside the other results. Times are in seconds.
type churnResult struct {
	Environment results.Environment `json:"environment"`
	Span        float64             `json:"span"`
	// CronJobs is how many have come and gone, Jobs how many they started, and Postponed how often none could come as
	// there were too many already.
	CronJobs  int           `json:"cronJobs"`
	Jobs      int           `json:"jobs"`
	Postponed int           `json:"postponed"`
	Levels    []levels      `json:"levels"`
	Samples   []churnSample `json:"samples"`
}

// levels are a gauge's after the warm-up and at the end.
type levels struct {
	Gauge string  `json:"gauge"`
	Early float64 `json:"early"`
	Late  float64 `json:"late"`
}

// churnSample has the gauges, in their order, at an instant.
type churnSample struct {
	At     float64   `json:"at"`
	Values []float64 `json:"values"`
}

// churn has CronJobs come, run, end and go, and sees whether the manager's memory stays as it is.
func (b *bench) churn(ctx context.Context) error {
	if err := b.plane.clear(ctx); err != nil {
		return err
	}
	ports := make([]int, 2)
	var err error
	for i := range ports {
		if ports[i], err = localcluster.FreePort(); err != nil {
			return err
		}
	}
	metrics, profiles := fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	r, err := b.plane.start(ctx, operator, "--metrics-bind-address="+metrics, "--pprof-bind-address="+profiles)
	if err != nil {
		return err
	}
	result, err := b.churnAndLook(ctx, metrics, profiles)
	if err != nil {
		return fmt.Errorf("%w%s", err, suffix(r.child.Err()))
	}
	if err := r.end(); err != nil {
		return err
	}
	b.failures = append(b.failures, result.failures()...)
	logf("%s", result.summary())
	return result.save(b.beside("churn.json"))
}

// beside returns the path of a file beside the results.
func (b *bench) beside(name string) string { return filepath.Join(filepath.Dir(b.file), name) }

// churnAndLook does both at once, until the time is over.
func (b *bench) churnAndLook(ctx context.Context, metrics, profiles string) (*churnResult, error) {
	logf("operator: %d CronJobs a second come, run, end and go, for %v", churnRate, b.churning)
	c := &churner{plane: b.plane, lives: map[string]*life{}}
	result := &churnResult{Environment: b.results.Environment, Span: b.churning.Seconds()}
	begin := time.Now()
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
			if err := sleepUntil(ctx, begin.Add(at)); err != nil {
				return err
			}
			if err := b.sample(ctx, result, at, metrics, profiles); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	result.CronJobs, result.Jobs, result.Postponed = c.lived, c.jobs, c.postponed
	result.compare()
	return result, nil
}

// sample looks at the gauges, and when they are to be compared takes profiles: what has grown is the difference.
func (b *bench) sample(ctx context.Context, result *churnResult, at time.Duration, metrics, profiles string) error {
	sample := churnSample{At: at.Seconds()}
	for _, g := range gauges {
		value, err := b.plane.managerMetric(ctx, metrics, g.name)
		if err != nil {
			return err
		}
		sample.Values = append(sample.Values, value)
	}
	result.Samples = append(result.Samples, sample)
	if at%time.Minute == 0 || !result.isLong() {
		logf("after %v: %.1f MiB resident, %.1f MiB of live heap, %.0f goroutines",
			at, mebibytes(sample.Values[0]), mebibytes(sample.Values[1]), sample.Values[2])
	}
	warm, over := result.windows()
	switch at {
	case warm + over:
		return b.profile(ctx, profiles, "early")
	case b.churning.Truncate(churnLook):
		return b.profile(ctx, profiles, "late")
	}
	return nil
}

// profile writes the manager's heap and goroutines to files beside the results.
func (b *bench) profile(ctx context.Context, address, when string) error {
	for _, what := range []string{"heap", "goroutine"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/debug/pprof/"+what, http.NoBody)
		if err != nil {
			return fmt.Errorf("taking a profile: %w", err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return fmt.Errorf("taking a profile: %w", err)
		}
		content, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil {
			return fmt.Errorf("taking a profile: %w", err)
		}
		//nolint:gosec // it is to be read by all
		if err := os.WriteFile(b.beside("churn-"+when+"-"+what+".pb.gz"), content, 0o644); err != nil {
			return fmt.Errorf("writing a profile: %w", err)
		}
	}
	return nil
}

// isLong reports whether the run has a level after the warm-up, and another at the end.
func (r *churnResult) isLong() bool { return r.span() >= churnWarmUp+2*churnLevel }

func (r *churnResult) span() time.Duration { return time.Duration(r.Span * float64(time.Second)) }

// windows returns after what time a level is taken, and over what time. Of short runs they are a third and a sixth, to
// see whether it works at all.
func (r *churnResult) windows() (warm, over time.Duration) {
	if r.isLong() {
		return churnWarmUp, churnLevel
	}
	return (r.span() / 3).Truncate(churnLook), (r.span() / 6).Truncate(churnLook)
}

// compare takes the levels.
func (r *churnResult) compare() {
	warm, over := r.windows()
	for i, g := range gauges {
		r.Levels = append(r.Levels, levels{
			Gauge: g.name,
			Early: r.level(i, warm.Seconds(), (warm + over).Seconds()),
			Late:  r.level(i, r.Span-over.Seconds(), r.Span),
		})
	}
}

// level is the median of a gauge from one time to another; 0 if nobody looked.
func (r *churnResult) level(gauge int, from, to float64) float64 {
	var values []float64
	for _, sample := range r.Samples {
		if sample.At >= from && sample.At <= to {
			values = append(values, sample.Values[gauge])
		}
	}
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// failures tells what has grown, and whether there was a churn at all.
func (r *churnResult) failures() []string {
	var found []string
	for i, level := range r.Levels {
		g := gauges[i]
		if g.warms && !r.isLong() {
			logf("%s is not judged: want -churn=%v or more", g.name, churnWarmUp+2*churnLevel)
			continue
		}
		if level.Early == 0 || level.Late > level.Early*g.factor+g.more {
			found = append(found, fmt.Sprintf("churn: %s grew from %.0f to %.0f; compare the profiles beside the results",
				g.name, level.Early, level.Late))
		}
	}
	if wanted := r.Span * churnRate; float64(r.CronJobs) < wanted/2 {
		found = append(found, fmt.Sprintf("churn: %d CronJobs came and went, of %.0f: the machine is too slow for this to say anything",
			r.CronJobs, wanted))
	}
	return found
}

// summary is the result in a line.
func (r *churnResult) summary() string {
	parts := []string{fmt.Sprintf("operator: %d CronJobs (%.1f a second) came, started %d Jobs and went",
		r.CronJobs, float64(r.CronJobs)/r.Span, r.Jobs)}
	for i, level := range r.Levels {
		if gauges[i].more != 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f → %.0f", level.Gauge, level.Early, level.Late))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %.1f → %.1f MiB (%+.1f %%)",
			level.Gauge, mebibytes(level.Early), mebibytes(level.Late), 100*(level.Late/level.Early-1)))
	}
	return strings.Join(parts, "; ")
}

func mebibytes(bytes float64) float64 { return bytes / (1 << 20) }

// save writes the result.
func (r *churnResult) save(file string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	//nolint:gosec // it is to be read by all
	if err := os.WriteFile(file, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// churner has CronJobs come and go, and stands in for the Job controller and the garbage collector.
type churner struct {
	plane *plane

	mu    sync.Mutex
	lives map[string]*life // by the CronJob's name

	lived, jobs, postponed int
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
		if !group.TryGo(func() error { return c.live(ctx, c.plane.namespaceOf(i), nameOf("churn", i)) }) {
			c.postponed++
		}
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
	request := c.plane.json.Post().AbsPath(collection).SetHeader("Content-Type", "application/json").Body(manifest)
	if err := request.Do(ctx).Error(); err != nil {
		return fmt.Errorf("creating CronJob %s: %w", name, err)
	}
	select {
	case <-mine.pruned:
	case <-ctx.Done():
		return fmt.Errorf("%w; those that are there: %v", context.Cause(ctx), c.jobsOf(mine))
	}
	if err := c.plane.json.Delete().AbsPath(collection, name).Do(ctx).Error(); err != nil {
		return fmt.Errorf("deleting CronJob %s: %w", name, err)
	}
	c.mu.Lock()
	delete(c.lives, name)
	c.lived++
	c.mu.Unlock()
	for _, job := range c.jobsOf(mine) {
		if err := c.collect(ctx, namespace, job); err != nil {
			return err
		}
	}
	return nil
}

// jobsOf returns the names of a CronJob's Jobs.
func (c *churner) jobsOf(l *life) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(l.jobs))
}

// churned is a CronJob that keeps no ended Jobs. Its template is its own, so that whoever remembers templates is to
// forget them, too.
func churned(namespace, name string) ([]byte, error) {
	template := jobTemplate()
	template.Labels["churn"] = name
	return json.Marshal(map[string]any{
		"apiVersion": operatorV1.apiVersion, "kind": "CronJob",
		"metadata": metav1.ObjectMeta{Namespace: namespace, Name: name},
		"spec":     map[string]any{"schedule": churnSchedule, "successfulJobsHistoryLimit": 0, "jobTemplate": template},
	})
}

// followJobs ends each Job that comes, and deletes it if its CronJob has gone, until the context ends.
func (c *churner) followJobs(ctx context.Context) error {
	jobs := c.plane.typed.BatchV1().Jobs("")
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	list, err := jobs.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return fmt.Errorf("listing the Jobs: %w", err)
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return jobs.Watch(ctx, options)
		},
	})
	if err != nil {
		return fmt.Errorf("watching the Jobs: %w", err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		job, ok := event.Object.(*batchv1.Job)
		switch {
		case event.Type == watch.Error:
			return fmt.Errorf("watching the Jobs: %w", apierrors.FromObject(event.Object))
		case !ok || ctx.Err() != nil:
		case event.Type == watch.Added && c.hasCome(job):
			group.Go(func() error { return c.finish(ctx, job) })
		case event.Type == watch.Added:
			group.Go(func() error { return c.collect(ctx, job.Namespace, job.Name) })
		case event.Type == watch.Deleted:
			c.hasGone(job)
		}
	}
	if ctx.Err() == nil {
		return errors.New("the watch of the Jobs has ended")
	}
	return group.Wait()
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
	_, err := c.plane.typed.BatchV1().Jobs(job.Namespace).UpdateStatus(ctx, job, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		return fmt.Errorf("ending Job %s: %w", job.Name, err)
	}
	return nil
}

// collect deletes a Job whose CronJob has gone.
func (c *churner) collect(ctx context.Context, namespace, name string) error {
	background := metav1.DeletePropagationBackground
	err := c.plane.typed.BatchV1().Jobs(namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		return fmt.Errorf("deleting Job %s: %w", name, err)
	}
	return nil
}
