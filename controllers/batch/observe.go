/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package batch

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// observed is what a reconcile starts from.
type observed struct {
	plan.Input
	key types.NamespacedName

	// pending is what the reconciles before have left for this one.
	pending *pending

	// stored is the CronJob as it is stored: without defaults. It may be shared with the cache:
	// nobody changes it.
	stored *v1.CronJob

	// undecodable says why the CronJob can't be decoded; then nothing else of it is known.
	undecodable string

	// isJobNotCached says that the cache lacks a Job that was started: it lags, or the Job is gone.
	isJobNotCached bool

	// isTerminating says that the namespace is being deleted: nothing can be created in it, not
	// even an event.
	isTerminating bool

	// failed says that a request failed, and firstRetry after what time it is tried again at first.
	failed     bool
	firstRetry time.Duration
}

// observe gathers what a plan is made from. It returns nil when the CronJob is gone.
func (r *CronJobReconciler) observe(ctx context.Context, key types.NamespacedName, known *pending) (*observed, error) {
	seen := &observed{key: key, pending: known, firstRetry: firstRetry}
	if err := r.read(ctx, seen); err != nil || seen.stored == nil {
		return nil, err
	}
	if seen.undecodable != "" {
		seen.Now = r.Clock.Now()
		return seen, nil
	}
	seen.Input = plan.NewInput(seen.stored, r.Clock.Now(), specEditedAt(seen.stored))
	seen.StatusFailed, seen.LeadingSince = known.statusFailed, r.leadingSince
	seen.SeenAt = known.see(seen.stored, seen.Now)
	r.settleCreate(ctx, seen)
	return seen, r.readJobs(ctx, seen)
}

// read finds the CronJob as it is stored; none when it is gone.
func (r *CronJobReconciler) read(ctx context.Context, seen *observed) error {
	cached := &v1.CronJob{}
	// A plan only reads, so that nothing need be copied out of the cache.
	err := r.Get(ctx, seen.key, cached, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		r.memory.forget(seen.key)
		return nil
	case err != nil:
		return fmt.Errorf("reading the CronJob: %w", err)
	}
	seen.pending.begin(cached.UID)
	seen.stored, seen.undecodable = cached, informer.DecodingError(cached)
	if seen.undecodable != "" {
		return nil
	}
	seen.stored = r.memory.newest(seen.key, cached)
	if seen.pending.isStale {
		r.readLive(ctx, seen)
	}
	return nil
}

// readLive reads the CronJob from the API server, as its status could not be written. If that
// fails, too, what is known has to do: at worst a status is made from it that conflicts.
func (r *CronJobReconciler) readLive(ctx context.Context, seen *observed) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stored := &v1.CronJob{}
	err := r.APIReader.Get(ctx, seen.key, stored)
	switch {
	case apierrors.IsNotFound(err):
		seen.stored = nil // and stale until the cache knows, too
	case err != nil:
		r.failed(ctx, seen, requestRead, fmt.Errorf("reading the CronJob, whose status could not be written: %w", err))
	default:
		seen.stored = stored
		seen.pending.begin(stored.UID)
		seen.pending.isStale = false
		r.keepWritten(ctx, seen.key, stored)
	}
}

// readJobs finds the Jobs that the CronJob controls. The cache may lack those that were started a
// moment ago: the ones that the status does not tell of yet are remembered, and what the status
// says runs is looked up before it is believed to be gone.
func (r *CronJobReconciler) readJobs(ctx context.Context, seen *observed) error {
	c := seen.stored
	list := &batchv1.JobList{}
	if err := r.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingFields{ownerIndex: string(c.UID)},
		client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the Jobs: %w", err)
	}
	seen.Jobs = make([]*batchv1.Job, 0, len(list.Items)+1)
	cached := make(map[types.UID]*batchv1.Job, len(list.Items))
	for i := range list.Items {
		job := &list.Items[i]
		seen.Jobs = append(seen.Jobs, job)
		cached[job.UID] = job
	}
	for i := range seen.pending.runs {
		run := &seen.pending.runs[i]
		if job := cached[run.job.UID]; job != nil {
			run.see(job)
			continue
		}
		r.readRun(ctx, seen, run)
		cached[run.job.UID] = run.job
	}
	for _, ref := range c.Status.Active {
		if cached[ref.UID] != nil {
			continue
		}
		if job, _ := r.find(ctx, seen, ref.Name, statusWrittenAt(c)); job != nil && job.UID == ref.UID {
			seen.addUncached(job)
		}
	}
	return nil
}

// readRun finds the Job of a run that neither the status nor the cache has. If no status could be
// written since it was started, it may have been deleted since.
func (r *CronJobReconciler) readRun(ctx context.Context, seen *observed, run *unrecordedRun) {
	if seen.pending.statusFailed && !run.isGone {
		job, err := r.lookUp(ctx, seen.stored, run.job.Name)
		switch {
		case err != nil:
			r.failed(ctx, seen, requestRead, err)
			run.isGone = seen.Now.Sub(run.job.CreationTimestamp.Time) >= plan.MaxCacheLag
		case job == nil || job.UID != run.job.UID:
			run.isGone = true
		default:
			run.see(job)
		}
	}
	if run.isGone {
		seen.Gone = append(seen.Gone, run.job)
		return
	}
	seen.addUncached(run.job)
	seen.isJobNotCached = true
}

// addUncached adds a Job that the cache lacks. If it has ended, the cache is outdated.
func (seen *observed) addUncached(job *batchv1.Job) {
	seen.Jobs = append(seen.Jobs, job)
	seen.Outdated = seen.Outdated || plan.ResultOf(job) != ""
}

// hasUID reports whether a Job of that UID is among a few.
func hasUID(jobs []*batchv1.Job, uid types.UID) bool {
	return slices.ContainsFunc(jobs, func(job *batchv1.Job) bool { return job.UID == uid })
}

// specEditedAt returns when the spec was last edited, as the managed fields say; zero if they do
// not. Who has set nothing but labels has not edited it.
func specEditedAt(c *v1.CronJob) time.Time {
	newest := time.Time{}
	for _, entry := range c.ManagedFields {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(newest) && setsSpec(entry) {
			newest = entry.Time.Time
		}
	}
	return newest
}

// statusWrittenAt returns when the status was last written, as the managed fields say; zero if they
// do not.
func statusWrittenAt(c *v1.CronJob) time.Time {
	newest := time.Time{}
	for _, entry := range c.ManagedFields {
		if entry.Subresource == "status" && entry.Time != nil && entry.Time.After(newest) {
			newest = entry.Time.Time
		}
	}
	return newest
}
