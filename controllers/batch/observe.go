// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

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

	// isGone says that the API server has the CronJob no more that the pending entry is about.
	// There may be another of its name.
	isGone bool

	// undecodable says why the CronJob can't be decoded; then nothing else of it is known.
	undecodable string

	// isJobNotCached says that the cache lacks a Job that was started: it lags, or the Job is gone.
	isJobNotCached bool

	// isTerminating says that the namespace is being deleted: nothing can be created in it, not
	// even an event.
	isTerminating bool

	// failed has the kinds of the requests that failed. conflicted says that the write of the status
	// did, as the CronJob was edited meanwhile.
	failed     []string
	conflicted bool

	// leftToDelete says that there was no time to delete all Jobs that are to be deleted.
	leftToDelete bool
}

// observe gathers what a plan is made from, from the cache. Of a CronJob that is gone, stored is
// nil.
func (r *CronJobReconciler) observe(ctx context.Context, seen *observed) error {
	cached := &v1.CronJob{}
	// A plan only reads, so that nothing need be copied out of the cache.
	err := r.Get(ctx, seen.key, cached, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		r.memory.forget(seen.key)
		return nil
	case err != nil:
		return fmt.Errorf("reading the CronJob: %w", err)
	case seen.isGone && cached.UID == seen.pending.owner:
		return nil // until the cache knows, too
	}
	known, now := seen.pending, r.Clock.Now()
	known.begin(cached.UID)
	seen.stored, seen.undecodable = cached, informer.DecodingError(cached)
	if seen.undecodable != "" {
		known.isStale = false // a live read can't decode it either
		seen.Now = now
		return nil
	}
	seen.stored = r.memory.newest(seen.key, cached)
	seen.Input = plan.NewInput(seen.stored, now, specEditedAt(seen.stored))
	seen.SeenAt, seen.LeadingSince = known.see(seen.stored, now), r.leadingSince
	seen.LabelledAt, seen.EditSeenAt = known.labelledAt, known.editSeenAt
	seen.Uncertain, seen.ForgottenUntil, seen.NameTaken = len(known.unconfirmed) > 0, known.forgottenUntil, known.nameTaken
	return r.observeJobs(ctx, seen)
}

// observeJobs finds the Jobs that the CronJob controls. The cache may lack those that were started
// a moment ago: they are remembered until the status tells of them.
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
	for i := range seen.pending.runs {
		run := &seen.pending.runs[i]
		switch cached := withUID(seen.Jobs, run.job.UID); {
		case cached != nil:
			run.see(cached)
		case run.isGone:
			seen.Gone = append(seen.Gone, run.job)
		default:
			seen.addUncached(run.job)
		}
	}
	return nil
}

// addUncached adds a Job that the cache lacks. If it has ended, the cache is outdated.
func (seen *observed) addUncached(job *batchv1.Job) {
	seen.Jobs = append(seen.Jobs, job)
	seen.Outdated = seen.Outdated || plan.ResultOf(job) != ""
	seen.isJobNotCached = true
}

// withUID returns the one of some Jobs that has a UID; nil if none has.
func withUID(jobs []*batchv1.Job, uid types.UID) *batchv1.Job {
	i := slices.IndexFunc(jobs, func(job *batchv1.Job) bool { return job.UID == uid })
	if i < 0 {
		return nil
	}
	return jobs[i]
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
