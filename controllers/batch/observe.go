// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"fmt"
	"slices"

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

	// pending is the state that earlier reconciles kept for this one.
	pending *pending

	// stored is the CronJob as it is stored, without defaults; nil if it is gone. It may be shared
	// with the cache, so it must not be changed.
	stored *v1.CronJob

	// isGone is whether the CronJob that pending is about no longer exists on the API server. There
	// may be another one of its name.
	isGone bool

	// undecodable is why the CronJob can't be decoded; "" if it can be. Only its metadata and
	// status are known then.
	undecodable string

	// isJobNotCached is whether the cache lacks a started Job: the cache is stale, or the Job is
	// gone.
	isJobNotCached bool

	// isTerminating is whether the namespace is being deleted: nothing can be created in it, not
	// even an event.
	isTerminating bool

	// failed has the kinds of the requests that failed, and readErr is why a read of Jobs from the API
	// server did; nil if none failed.
	failed  []string
	readErr error

	// conflicted is whether the status write failed because the CronJob was edited meanwhile, and
	// statusAnswered whether the API server answered it with any error.
	conflicted, statusAnswered bool

	// leftToDelete is whether there was no time to delete all Jobs that are to be deleted.
	leftToDelete bool
}

// observe reads from the cache what the plan is made from.
func (r *CronJobReconciler) observe(ctx context.Context, seen *observed) error {
	cached := &v1.CronJob{}
	// A plan only reads, so the cached object need not be copied.
	err := r.Get(ctx, seen.key, cached, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		r.memory.forget(seen.key)
		return nil
	case err != nil:
		return fmt.Errorf("reading the CronJob: %w", err)
	case seen.isGone && cached.UID == seen.pending.owner:
		seen.stored = nil
		return nil // the cache is stale
	}
	known, now := seen.pending, r.Clock.Now()
	known.begin(cached.UID)
	seen.stored, seen.undecodable = cached, informer.DecodingError(cached)
	if seen.undecodable != "" {
		known.isStale = false // a read from the API server can't decode it either
		seen.Now = now
		return nil
	}
	seen.stored = r.memory.newest(seen.key, cached)
	seen.Input = plan.NewInput(seen.stored, now)
	seen.SeenAt, seen.ScheduleSeenAt = known.noteGeneration(seen.stored, now)
	seen.LeadingSince = r.leadingSince
	seen.Uncertain, seen.ForgottenUntil, seen.NameTaken = len(known.unconfirmed) > 0, known.forgottenUntil, known.nameTaken
	seen.Refusals = known.attempt.recorded
	return r.observeJobs(ctx, seen)
}

// observeJobs finds the Jobs that the CronJob controls: those in the cache, the runs in pending
// that a stale cache may lack, and Jobs that were deleted before the status recorded their end.
func (r *CronJobReconciler) observeJobs(ctx context.Context, seen *observed) error {
	list := &batchv1.JobList{}
	if err := r.List(ctx, list, client.InNamespace(seen.key.Namespace), client.MatchingFields{ownerIndex: string(seen.stored.UID)},
		client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the Jobs: %w", err)
	}
	seen.Jobs = make([]*batchv1.Job, 0, len(list.Items)+1)
	for i := range list.Items {
		seen.Jobs = append(seen.Jobs, &list.Items[i])
	}
	for _, job := range r.memory.takeDeleted(seen.key) {
		if seen.controls(job) && plan.IsEndMissing(seen.stored, job) {
			seen.pending.addGone(job)
		}
	}
	for i := range seen.pending.runs {
		run := &seen.pending.runs[i]
		i := slices.IndexFunc(seen.Jobs, func(job *batchv1.Job) bool { return job.UID == run.job.UID })
		switch {
		case i >= 0 && plan.ResultOf(seen.Jobs[i]) == "" && plan.ResultOf(run.job) != "":
			seen.Jobs[i], seen.Outdated = run.job, true // no Job that has ended runs again
		case i >= 0:
			run.see(seen.Jobs[i])
		case run.isGone:
			seen.Gone = append(seen.Gone, run.job)
		default:
			seen.addUncached(run.job)
		}
	}
	return nil
}

// addUncached adds a Job that the cache lacks. If the Job has ended, the cache is stale.
func (seen *observed) addUncached(job *batchv1.Job) {
	seen.Jobs = append(seen.Jobs, job)
	seen.Outdated = seen.Outdated || plan.ResultOf(job) != ""
	seen.isJobNotCached = true
}

// withUID returns the Job with a UID; nil if there is none.
func withUID(jobs []*batchv1.Job, uid types.UID) *batchv1.Job {
	i := slices.IndexFunc(jobs, func(job *batchv1.Job) bool { return job.UID == uid })
	if i < 0 {
		return nil
	}
	return jobs[i]
}
