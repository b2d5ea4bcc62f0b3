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
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// settle asks the API server for the outcome of earlier requests: what is stored of a CronJob after
// a failed status write, and whether a Job exists whose create request got no answer. While the
// status can't be written, it also asks whether the unrecorded Jobs still exist. All requests
// together take requestTimeout at most, because a tick may be due.
func (r *CronJobReconciler) settle(ctx context.Context, seen *observed) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	known := seen.pending
	if known.isStale {
		r.readStored(ctx, seen)
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

// mayHaveRun reports whether the CronJob is to be read from the API server before its due tick
// starts: the previous leader may have run the tick, the cache may lack the status that tells so,
// and the Job may be gone. Each CronJob is read once.
func (r *CronJobReconciler) mayHaveRun(seen *observed) bool {
	if seen.pending.isRead || seen.stored == nil || seen.undecodable != "" || r.Clock.Since(r.leadingSince) >= plan.MaxCacheLag {
		return false
	}
	start := plan.Decide(seen.Input).Start
	return start != nil && !start.At.After(r.leadingSince)
}

// readStored reads the CronJob from the API server. If that fails, the reconcile goes on with the
// cached CronJob: at worst its status write is a conflict, or a tick whose Job is gone runs again.
func (r *CronJobReconciler) readStored(ctx context.Context, seen *observed) {
	seen.pending.isRead = true
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stored := &v1.CronJob{}
	err := r.APIReader.Get(ctx, seen.key, stored)
	switch {
	case isObjectNotFound(err) || err == nil && stored.UID != seen.pending.owner:
		seen.isGone = true
	case err != nil:
		r.failed(ctx, seen, requestRead, fmt.Errorf("reading the CronJob: %w", err))
	default:
		seen.pending.isStale, seen.isGone = false, false
		r.keepWritten(ctx, seen.key, stored)
	}
}

// isObjectNotFound reports whether an object does not exist. The API server also answers with 404
// while it does not serve the version, which says nothing about the object.
func isObjectNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// settleCreate finds out whether an unconfirmed Job exists, and reports whether it could. If it
// exists, it is a run that the status does not record yet.
func (r *CronJobReconciler) settleCreate(ctx context.Context, seen *observed, start unconfirmedJob) (isCertain bool) {
	job, isCertain := r.find(ctx, seen, start.name, start.at)
	if job != nil {
		seen.pending.addRun(job)
	}
	return isCertain
}

// settleRun finds out whether the Job of a run was deleted. If the API server does not answer, a
// Job that is older than MaxCacheLag and not in the cache counts as deleted.
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
		run.isGone = r.Clock.Since(run.job.CreationTimestamp.Time) >= plan.MaxCacheLag
	case job == nil || job.UID != run.job.UID:
		run.isGone = true
	default:
		run.see(job)
	}
}

// verify reads Jobs from the API server that the plan would take for running, deleted or never
// started: the cache may be stale. It updates the observed Jobs.
func (r *CronJobReconciler) verify(ctx context.Context, seen *observed, names []string) {
	seen.Verified = true
	since := seen.unknownSince()
	r.ruleOut(ctx, seen, names)
	for _, name := range names {
		if i := slices.IndexFunc(seen.Jobs, func(job *batchv1.Job) bool { return job.Name == name }); i >= 0 {
			if !r.refresh(ctx, seen, i) {
				return
			}
			continue
		}
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

// maxLookUps is how many Jobs are looked up one by one. Of more, one list says which ones exist.
const maxLookUps = 10

// ruleOut notes which of many Jobs don't exist. A new leader may have to know that of 100 ticks
// that it would catch up with.
func (r *CronJobReconciler) ruleOut(ctx context.Context, seen *observed, names []string) {
	if len(names) <= maxLookUps || seen.readErr != nil {
		return
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("JobList"))
	if err := r.APIReader.List(ctx, list, client.InNamespace(seen.key.Namespace)); err != nil {
		r.failedToRead(ctx, seen, fmt.Errorf("listing the Jobs: %w", err))
		return
	}
	exist := sets.New[string]()
	for i := range list.Items {
		exist.Insert(list.Items[i].Name)
	}
	for _, name := range names {
		if !exist.Has(name) && !slices.Contains(seen.pending.absent, name) {
			seen.pending.absent = append(seen.pending.absent, name)
		}
	}
}

// unknownSince returns the latest instant at which a Job may have been created, or have ended, of
// which the status tells and the cache may not.
func (seen *observed) unknownSince() time.Time {
	return plan.LastChange(seen.stored.Status, seen.LeadingSince)
}

// refreshRunning refreshes the Jobs that seem to run.
func (r *CronJobReconciler) refreshRunning(ctx context.Context, seen *observed) {
	for i, job := range slices.Backward(seen.Jobs) { // refresh may remove the Job
		if plan.ResultOf(job) == "" && !r.refresh(ctx, seen, i) {
			return
		}
	}
}

// refresh replaces an observed Job by what the API server has, and reports whether it could. If it
// could not, the cache is trusted from MaxCacheLag after unknownSince.
func (r *CronJobReconciler) refresh(ctx context.Context, seen *observed, i int) bool {
	cached := seen.Jobs[i]
	job, err := r.lookUp(ctx, seen, cached.Name)
	switch {
	case err != nil:
		seen.Uncertain = seen.Uncertain || r.Clock.Since(seen.unknownSince()) < plan.MaxCacheLag
		return false
	case job == nil || job.UID != cached.UID:
		seen.Jobs = slices.Delete(seen.Jobs, i, i+1)
		seen.Outdated = true
	default:
		seen.Jobs[i] = job
		seen.Outdated = seen.Outdated || plan.ResultOf(job) != plan.ResultOf(cached)
	}
	return true
}

// find returns the CronJob's Job of a name; nil if there is none. It asks the API server if the
// cache lacks the Job. If that fails, the answer is uncertain until MaxCacheLag after since, the
// latest instant at which the Job may have been created: from then on the cache has it.
func (r *CronJobReconciler) find(ctx context.Context, seen *observed, name string, since time.Time) (job *batchv1.Job, isCertain bool) {
	if cached := r.cachedJob(ctx, seen, name); cached != nil {
		return cached, true
	}
	found, err := r.lookUp(ctx, seen, name)
	if err != nil {
		return nil, r.Clock.Since(since) >= plan.MaxCacheLag
	}
	return found, true
}

// cachedJob returns the CronJob's Job of a name from the cache; nil if there is none.
func (r *CronJobReconciler) cachedJob(ctx context.Context, seen *observed, name string) *batchv1.Job {
	job := &batchv1.Job{}
	key := types.NamespacedName{Namespace: seen.key.Namespace, Name: name}
	if err := r.Get(ctx, key, job, client.UnsafeDisableDeepCopy); err != nil || !seen.controls(job) {
		return nil
	}
	return job
}

// lookUp returns the CronJob's Job of a name from the API server; nil if there is none. After a read
// that failed, it makes no further request in this reconcile, which would probably fail, too.
func (r *CronJobReconciler) lookUp(ctx context.Context, seen *observed, name string) (*batchv1.Job, error) {
	if seen.readErr != nil {
		return nil, seen.readErr
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	job := &batchv1.Job{}
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: seen.key.Namespace, Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		r.failedToRead(ctx, seen, fmt.Errorf("looking up Job %s: %w", name, err))
		return nil, seen.readErr
	case !seen.controls(job):
		return nil, nil //nolint:nilnil // there is none of ours
	}
	return trimmed(job), nil
}

// failedToRead records that a read of Jobs from the API server failed.
func (r *CronJobReconciler) failedToRead(ctx context.Context, seen *observed, err error) {
	seen.readErr = err
	r.failed(ctx, seen, requestRead, err)
}

// controls reports whether the CronJob controls a Job.
func (seen *observed) controls(job *batchv1.Job) bool {
	owner := metav1.GetControllerOfNoCopy(job)
	return owner != nil && owner.UID == seen.pending.owner
}
