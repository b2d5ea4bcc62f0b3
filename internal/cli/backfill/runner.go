// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const (
	// pollInterval is how long to wait for an event of a Job.
	pollInterval = time.Second

	// cacheLag is how long after its creation a Job may be missing in the watch.
	cacheLag = 2 * time.Second

	// refusedLimit is how long to retry a creation that the API server refuses.
	refusedLimit = 5 * time.Minute

	// tickMargin is how close to the next tick of the schedule no Job may take the last place.
	tickMargin = 500 * time.Millisecond
)

var retryBackoff = wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 8, Cap: 30 * time.Second}

// errBlocked is in the chain of the reason why the next tick has to wait.
var errBlocked = errors.New("waiting")

// errStop is in the chain of an error that a retry can't fix.
var errStop = errors.New("nothing more was started")

// runner starts Jobs, at most so many at once, and waits until they have ended.
//
//	queue ──► start: created, or there already ──► running ──► settle: how it ended ──► report
//	  ▲            │
//	  └────────────┘ refused, or has to wait
type runner struct {
	*command
	*work
	*report

	cluster client.Client
	jobs    *watchedJobs
	cronJob *v1.CronJob

	// queue has the ticks to start, oldest first, and running the running Jobs by name.
	queue   []wanted
	running map[string]started

	// backoff is for retries of a creation that has been refused since refusedAt; the next retry is
	// at retryAt. While Jobs run, refusedAt is the time of the last refusal.
	backoff            wait.Backoff
	refusedAt, retryAt time.Time
}

type started struct {
	v1.Run
	at time.Time
}

func newRunner(c *command, cluster client.Client, cronJob *v1.CronJob, w *work) *runner {
	return &runner{
		command: c, work: w, report: newReport(c.Out, c.Columns > 0, len(w.wanted)), cluster: cluster, cronJob: cronJob,
		queue: w.wanted, running: map[string]started{}, backoff: retryBackoff,
	}
}

// run runs all wanted ticks. An error says what failed and how to continue.
func (r *runner) run(ctx context.Context) error {
	var err error
	if r.jobs, err = watchJobs(ctx, r.Env, r.cronJob); err != nil {
		return err
	}
	defer r.jobs.stop()
	var stopped error // why nothing more is started; running Jobs are waited for
	for {
		if stopped == nil {
			stopped = r.fill(ctx)
		}
		if ctx.Err() != nil {
			return r.interrupted()
		}
		if len(r.running) == 0 && (stopped != nil || len(r.queue) == 0) {
			return r.verdict(stopped)
		}
		if r.pause(ctx) {
			r.settle(ctx)
		}
	}
}

// fill starts as many Jobs as may run at once. It returns an error that a retry can't fix.
func (r *runner) fill(ctx context.Context) error {
	for len(r.queue) > 0 && len(r.running) < r.parallel && !r.Clock.Now().Before(r.retryAt) {
		err := r.startNext(ctx)
		switch {
		case err == nil:
			r.queue, r.backoff, r.refusedAt, r.lastWait = r.queue[1:], retryBackoff, time.Time{}, ""
			continue
		case ctx.Err() != nil:
			return nil //nolint:nilerr // caused by the interrupt, which run reports
		case errors.Is(err, errStop):
			return err
		case errors.Is(err, errBlocked):
			r.refusedAt = time.Time{}
			r.wait(err)
			return nil
		}
		if r.refusedAt.IsZero() || len(r.running) > 0 { // a running Job may fill a quota
			r.refusedAt = r.Clock.Now()
		}
		if r.Clock.Since(r.refusedAt) > refusedLimit {
			return fmt.Errorf("%w: refused for %v: %w", errStop, refusedLimit, err)
		}
		r.wait(fmt.Errorf("%w to try again: %w", errBlocked, err))
		r.retryAt = r.Clock.Now().Add(r.backoff.Step())
	}
	return nil
}

// startNext starts the first tick of the queue, unless its Job exists or existed: another command
// has started it, or this one by a request whose answer was lost.
func (r *runner) startNext(ctx context.Context) error {
	if err := r.readCronJob(ctx); err != nil {
		return err
	}
	if err := checkAllowed(r.cronJob); err != nil {
		return fmt.Errorf("%w: %w", errStop, err)
	}
	if scheduleOf(r.cronJob) != r.record.Schedule {
		return fmt.Errorf("%w: the schedule of CronJob %s was edited", errStop, r.cronJob.Name)
	}
	if err := r.checkConcurrency(r.jobs.list()); err != nil {
		return err
	}
	// The watch may be behind, and a Job of another command may be deleted soon.
	jobs, err := cronjobs.JobsOf(ctx, r.cluster, r.cronJob)
	if err != nil {
		return err
	}
	r.record.read(jobs)
	next := r.queue[0]
	job := r.newJob(r.cronJob, next)
	switch {
	case slices.ContainsFunc(jobs, func(other *batchv1.Job) bool { return other.Name == job.Name }):
		return r.join(ctx, job.Name)
	case r.record.covers(next.tick, next.state, next.ended):
		r.done(&r.others)
		return nil
	}
	if err := r.checkConcurrency(jobs); err != nil {
		return err
	}
	err = r.cluster.Create(ctx, job)
	switch {
	case err == nil:
		r.note("job.batch/%s %s", job.Name, createdFor(r.cronJob, next.tick))
	case apierrors.IsAlreadyExists(err):
		return r.join(ctx, job.Name)
	case apierrors.IsInvalid(err):
		return fmt.Errorf("%w: creating the Job: %w", errStop, err)
	default:
		return fmt.Errorf("creating the Job: %w", err)
	}
	r.noteStart(job)
	return nil
}

func (r *runner) noteStart(job *batchv1.Job) {
	r.running[job.Name] = started{plan.RunOf(job), r.Clock.Now()}
}

// readCronJob reads the CronJob again. A new one of the same name is an error.
func (r *runner) readCronJob(ctx context.Context) error {
	last := &v1.CronJob{}
	err := r.cluster.Get(ctx, client.ObjectKeyFromObject(r.cronJob), last)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: CronJob %s was deleted", errStop, r.cronJob.Name)
	case err != nil:
		return fmt.Errorf("reading the CronJob: %w", err)
	case last.UID != r.cronJob.UID:
		return fmt.Errorf("%w: CronJob %s was deleted and created again", errStop, r.cronJob.Name)
	}
	r.cronJob = last
	return nil
}

// checkConcurrency returns an error that names what has to end first, if no more Jobs may run at
// once. A tick of the schedule that is due, or about to be, goes first: otherwise both might start
// at once.
func (r *runner) checkConcurrency(jobs []*batchv1.Job) error {
	limit := plan.MaxConcurrency(r.cronJob)
	if limit == 0 {
		return nil
	}
	active, ended := sets.KeySet(r.running), sets.Set[string]{}
	for _, job := range jobs {
		if plan.ResultOf(job) != "" {
			ended.Insert(job.Name)
		} else {
			active.Insert(job.Name)
		}
	}
	for _, ref := range r.cronJob.Status.Active { // some may have been created since
		if !ended.Has(ref.Name) {
			active.Insert(ref.Name)
		}
	}
	rule := plan.ConcurrencyRule(r.cronJob)
	if len(active) >= limit {
		return fmt.Errorf("%w for job.batch/%s to end, as %s", errBlocked, sets.List(active)[0], rule)
	}
	start, isLast := plan.NextStart(r.cronJob), len(active) == limit-1
	if isLast && start != nil && !start.After(r.Clock.Now().Add(tickMargin)) {
		return fmt.Errorf("%w for the schedule to run the tick of %s, as %s",
			errBlocked, r.cronJob.Status.NextScheduleTime.UTC().Format(time.RFC3339), rule)
	}
	return nil
}

// join waits for a Job that exists already, if it is the tick's. If it has been deleted by now,
// another command has started it.
func (r *runner) join(ctx context.Context, name string) error {
	job := &batchv1.Job{}
	err := r.cluster.Get(ctx, client.ObjectKey{Namespace: r.cronJob.Namespace, Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		r.done(&r.others)
		return nil
	case err != nil:
		return fmt.Errorf("reading job.batch/%s, which is there already: %w", name, err)
	case !metav1.IsControlledBy(job, r.cronJob):
		return fmt.Errorf("%w: job.batch/%s is there already, and CronJob %s does not control it: delete it first",
			errStop, name, r.cronJob.Name)
	}
	r.note("job.batch/%s is there already", name)
	r.noteStart(job)
	if plan.ResultOf(job) != "" { // its event may have come before
		r.conclude(plan.RunOf(job))
	}
	return nil
}

// pause waits for an event of one of the CronJob's Jobs. It returns true if there is none for some
// time.
func (r *runner) pause(ctx context.Context) bool {
	for timer := r.Clock.After(pollInterval); ; {
		select {
		case <-ctx.Done():
			return false
		case <-timer:
			return true
		case event := <-r.jobs.events:
			job, ok := event.Object.(*batchv1.Job)
			if ok && metav1.IsControlledBy(job, r.cronJob) {
				r.see(ctx, event.Type, job)
				return false
			}
		}
	}
}

func (r *runner) see(ctx context.Context, event watch.EventType, job *batchv1.Job) {
	if _, ok := r.running[job.Name]; !ok {
		return
	}
	switch {
	case plan.ResultOf(job) != "":
		r.conclude(plan.RunOf(job))
	case event == watch.Deleted:
		r.concludeGone(ctx, job.Name)
	}
}

// settle looks up running Jobs that the watch does not have: they may have ended and been deleted
// while the watch was interrupted.
func (r *runner) settle(ctx context.Context) {
	for name, run := range r.running {
		if r.jobs.has(name) || r.Clock.Since(run.at) < cacheLag {
			continue
		}
		job := &batchv1.Job{}
		err := r.cluster.Get(ctx, client.ObjectKey{Namespace: r.cronJob.Namespace, Name: name}, job)
		if apierrors.IsNotFound(err) {
			r.concludeGone(ctx, name)
		} // otherwise the watch will have it
	}
}

// concludeGone reports a Job that was deleted before its end was seen.
func (r *runner) concludeGone(ctx context.Context, name string) {
	run := r.running[name].Run
	run.Result = v1.RunDeleted
	if err := r.readCronJob(ctx); err == nil {
		for _, recorded := range r.cronJob.Status.RecentRuns {
			if recorded.JobName == name && recorded.Result != v1.RunRunning {
				run = recorded
			}
		}
	}
	r.conclude(run)
}

func (r *runner) conclude(run v1.Run) {
	delete(r.running, run.JobName)
	switch run.Result {
	case v1.RunSucceeded:
		r.note("job.batch/%s completed", run.JobName)
		r.done(&r.succeeded)
		return
	case v1.RunFailed:
		r.say("job.batch/%s failed: %s", run.JobName, run.Reason)
	default:
		r.say("job.batch/%s was deleted while it ran", run.JobName)
	}
	r.done(&r.failed)
	r.record.fail(run)
}

func (r *runner) verdict(stopped error) error {
	r.finish()
	switch {
	case stopped != nil:
		return fmt.Errorf("%w; %d of %d ticks are left: to go on: %s", stopped, len(r.queue), len(r.wanted), r.again)
	case r.failed > 0:
		return fmt.Errorf("%d of %d runs failed: the same command with --only=failed runs those again", r.failed, len(r.wanted))
	}
	return nil
}

func (r *runner) interrupted() error {
	r.finish()
	text := "interrupted"
	if len(r.running) > 0 {
		text += ": job.batch/" + strings.Join(slices.Sorted(maps.Keys(r.running)), ", job.batch/") + " runs on"
	}
	return &env.ExitError{Code: env.Interrupted, Err: fmt.Errorf("%s; to go on: %s", text, r.again)}
}
