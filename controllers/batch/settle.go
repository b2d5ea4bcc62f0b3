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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// settle finds out from the API server what the reconciles before have left open: what is stored of
// a CronJob whose status could not be written, whether a Job exists whose creation got no answer,
// and whether the Jobs still exist that the status does not tell of because it can't be written.
func (r *CronJobReconciler) settle(ctx context.Context, seen *observed) {
	known := seen.pending
	if known.isStale {
		r.settleStatus(ctx, seen)
	}
	for len(known.unconfirmed) > 0 && r.settleCreate(ctx, seen, known.unconfirmed[0]) {
		known.unconfirmed = known.unconfirmed[1:]
	}
	if known.statusFailed {
		for i := range known.runs {
			r.settleRun(ctx, seen, &known.runs[i])
		}
	}
}

// settleStatus reads the CronJob, as its status could not be written. If that fails, too, what is
// known has to do: at worst a status is made from it that conflicts.
func (r *CronJobReconciler) settleStatus(ctx context.Context, seen *observed) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stored := &v1.CronJob{}
	err := r.APIReader.Get(ctx, seen.key, stored)
	switch {
	case apierrors.IsNotFound(err) || err == nil && stored.UID != seen.pending.owner:
		seen.isGone = true
	case err != nil:
		r.failed(ctx, seen, requestRead, fmt.Errorf("reading the CronJob, whose status could not be written: %w", err))
	default:
		seen.pending.isStale = false
		r.keepWritten(ctx, seen.key, stored)
	}
}

// settleCreate finds out what became of a creation whose outcome was unknown, and reports whether
// it could. Its Job is a run of which the status does not tell yet.
func (r *CronJobReconciler) settleCreate(ctx context.Context, seen *observed, start unconfirmedJob) (isCertain bool) {
	job, isCertain := r.find(ctx, seen, start.name, start.at)
	if job != nil {
		seen.pending.addRun(job)
	}
	return isCertain
}

// settleRun finds out whether the Job of a run was deleted. What the cache lacks of a Job that is
// not new is gone, if the API server does not say otherwise.
func (r *CronJobReconciler) settleRun(ctx context.Context, seen *observed, run *unrecordedRun) {
	if run.isGone {
		return
	}
	if cached := r.cachedJob(ctx, seen, run.job.Name); cached != nil && cached.UID == run.job.UID {
		return
	}
	job, err := r.lookUp(ctx, seen, run.job.Name)
	switch {
	case err != nil:
		r.failed(ctx, seen, requestRead, err)
		run.isGone = r.Clock.Since(run.job.CreationTimestamp.Time) >= plan.MaxCacheLag
	case job == nil || job.UID != run.job.UID:
		run.isGone = true
	default:
		run.see(job)
	}
}

// verify looks up Jobs that the plan would otherwise take for gone, or for never started: the cache
// may be stale. Those that exist are added to what was observed. All requests together take no
// longer than requestTimeout, as the tick that is due waits for them.
func (r *CronJobReconciler) verify(ctx context.Context, seen *observed, names []string) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	seen.Verified = true
	since := seen.LeadingSince
	if written := statusWrittenAt(seen.stored); written.After(since) {
		since = written
	}
	for _, name := range names {
		if slices.Contains(seen.pending.absent, name) {
			continue
		}
		job, isCertain := r.find(ctx, seen, name, since)
		switch {
		case job == nil && isCertain:
			seen.pending.absent = append(seen.pending.absent, name)
			continue
		case job == nil:
			seen.Uncertain = true
			return // the next request would probably fail, too
		case withUID(seen.Jobs, job.UID) != nil:
			continue
		}
		seen.addUncached(job)
		if !plan.IsRecorded(seen.stored, job) {
			seen.pending.addRun(job)
		}
	}
}

// find returns a Job of ours by its name; nil if there is none. The cache may not have one that was
// created after the instant since: then the API server is asked. As long as that fails, and the
// cache may lag, it is uncertain.
func (r *CronJobReconciler) find(ctx context.Context, seen *observed, name string, since time.Time) (job *batchv1.Job, isCertain bool) {
	if cached := r.cachedJob(ctx, seen, name); cached != nil {
		return cached, true
	}
	found, err := r.lookUp(ctx, seen, name)
	if err != nil {
		r.failed(ctx, seen, requestRead, err)
		return nil, r.Clock.Since(since) >= plan.MaxCacheLag
	}
	return found, true
}

// cachedJob returns a Job as the cache has it; nil if it has none, or a stranger's.
func (r *CronJobReconciler) cachedJob(ctx context.Context, seen *observed, name string) *batchv1.Job {
	job := &batchv1.Job{}
	key := types.NamespacedName{Namespace: seen.key.Namespace, Name: name}
	if err := r.Get(ctx, key, job, client.UnsafeDisableDeepCopy); err != nil || !seen.controls(job) {
		return nil
	}
	return job
}

// lookUp returns a Job as the API server has it; nil if there is none, or if it is a stranger's.
func (r *CronJobReconciler) lookUp(ctx context.Context, seen *observed, name string) (*batchv1.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	job := &batchv1.Job{}
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: seen.key.Namespace, Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, fmt.Errorf("looking up Job %s: %w", name, err)
	case !seen.controls(job):
		return nil, nil //nolint:nilnil // there is none of ours
	}
	return trimmed(job), nil
}

// controls reports whether the CronJob controls a Job.
func (seen *observed) controls(job *batchv1.Job) bool {
	owner := metav1.GetControllerOfNoCopy(job)
	return owner != nil && owner.UID == seen.pending.owner
}
