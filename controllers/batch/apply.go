// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/plan"
)

// apply deletes the Jobs to be replaced and creates that of the tick.
func (r *CronJobReconciler) apply(ctx context.Context, look *lookup, p plan.Plan) plan.Outcome {
	done := r.deleteJobs(ctx, look, p.Replace, deletionTime)
	switch {
	case len(done.Ended) > 0: // whether to start may depend on how they ended
		done.RetryAt = look.now.Add(conflictRetry)
	case p.Start != nil && len(done.Deleted)+len(done.Gone) == len(p.Replace):
		r.start(ctx, look, p.Start, &done)
	}
	if done.Job != nil {
		look.known.addRun(done.Job)
	}
	return done
}

// prune deletes the Jobs beyond the history limits. It comes after the status write, which must not
// wait for it.
func (r *CronJobReconciler) prune(ctx context.Context, look *lookup, p plan.Plan) {
	done := r.deleteJobs(ctx, look, p.Prune, pruningTime)
	for _, job := range slices.Concat(done.Deleted, done.Gone) {
		look.known.pruned = look.known.pruned.Union(sets.New(job.UID))
	}
	for _, job := range done.Deleted {
		ctrl.LoggerFrom(ctx).V(1).Info("Deleted an old Job", "job", klog.KObj(job))
	}
}

const (
	// maxFailedDeletions is how many deletions may fail in one reconcile before it leaves the rest
	// to the next one. While all deletions are refused, each tick adds Jobs to delete, and to try
	// all of them each time would take longer and longer.
	maxFailedDeletions = 3

	// deletionTime is how long one reconcile may spend on deletions. The next tick must not wait
	// for more than one request.
	deletionTime = requestTimeout

	// pruningTime is after which time one reconcile leaves the rest of the old Jobs to the next one.
	// When deletions that were refused work again, each CronJob of a namespace has many: the ticks of
	// others must not wait for all of them.
	pruningTime = 250 * time.Millisecond
)

// deleteJobs deletes Jobs within the first two bounds, and begins no further deletion after a time.
// It returns what became of them. The order is random, so that a few Jobs that can't be deleted
// don't block the others.
func (r *CronJobReconciler) deleteJobs(ctx context.Context, look *lookup, jobs []*batchv1.Job, after time.Duration) (done plan.Outcome) {
	bounded, cancel := context.WithTimeout(ctx, deletionTime)
	defer cancel()
	turn, cancelTurn := context.WithTimeout(bounded, after)
	defer cancelTurn()
	failed := 0
	for tried, i := range rand.Perm(len(jobs)) { //nolint:gosec // no secret
		if failed == maxFailedDeletions {
			break
		}
		if bounded.Err() != nil || tried > 0 && turn.Err() != nil {
			look.isLeftToDelete = failed == 0 || bounded.Err() != nil // otherwise they wait for the backoff
			break
		}
		job := jobs[i]
		stored, err := r.delete(bounded, look, job)
		switch {
		case err == nil && stored == nil:
			done.Gone = append(done.Gone, job)
		case err == nil && plan.ResultOf(stored) != plan.ResultOf(job):
			done.Ended = append(done.Ended, stored)
		case err == nil:
			done.Deleted = append(done.Deleted, job)
		case tried > 0 && bounded.Err() != nil: // it had less time than requestTimeout
			look.isLeftToDelete = true
		default:
			failed++
			if !isShutdownError(ctx, err) {
				r.record(look.current, plan.FailedDelete(job, err))
			}
			r.failed(ctx, look, requestDelete, fmt.Errorf("deleting Job %s: %w", job.Name, err))
		}
	}
	return done
}

// delete deletes a Job and, in the background, its Pods. It returns the Job as it was then; nil if
// it no longer existed. A Job that has ended, but that the cache shows as running, is not deleted.
//
// A NotFound or a Conflict does not prove that the Job is gone or has changed: a webhook that refuses
// the deletion may answer the same.
func (r *CronJobReconciler) delete(ctx context.Context, look *lookup, job *batchv1.Job) (*batchv1.Job, error) {
	err := r.deleteUnchanged(ctx, job)
	if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return job, err
	}
	stored, readErr := look.read(ctx, job.Name)
	switch {
	case readErr != nil:
		return nil, err
	case stored == nil || stored.UID != job.UID:
		return nil, nil //nolint:nilnil // it is gone
	case plan.ResultOf(stored) != plan.ResultOf(job):
		return stored, nil
	case stored.ResourceVersion == job.ResourceVersion:
		return nil, err
	}
	return job, r.deleteUnchanged(ctx, stored)
}

// deleteUnchanged deletes a Job, if it runs only as long as it is stored as it was seen: a stale
// cache may not show that it has ended.
func (r *CronJobReconciler) deleteUnchanged(ctx context.Context, job *batchv1.Job) error {
	target := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	only := client.Preconditions{UID: &job.UID}
	if plan.ResultOf(job) == "" {
		only.ResourceVersion = &job.ResourceVersion
	}
	return r.Client.Delete(ctx, target, client.PropagationPolicy(metav1.DeletePropagationBackground), only)
}

// maxPlanAge is how old a plan may be when its Job is created: as old as it becomes while decide and
// deleteJobs wait for answers. After a longer pause the plan is made again: a newer tick may be due,
// or the CronJob may have been edited. It is also made again if the clock was set back meanwhile, as
// the tick may not have come yet.
const maxPlanAge = requestTimeout + deletionTime + time.Second

func (r *CronJobReconciler) start(ctx context.Context, look *lookup, start *plan.Start, done *plan.Outcome) {
	job, known := start.Job, look.known
	if !known.attempt.newest.Equal(start.Newest) {
		known.attempt = attempt{newest: start.Newest}
	}
	// Round strips the monotonic reading, which ignores that the clock was set.
	if age := r.Clock.Now().Round(0).Sub(look.now.Round(0)); age < 0 || age > maxPlanAge {
		done.RetryAt = look.now
		return
	}
	if known.attempt.invalid != nil && known.attempt.generation == look.current.Generation {
		done.Refused = known.attempt.invalid // it would be refused again
		return
	}
	bounded, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	err := r.Client.Create(bounded, job)
	switch {
	case err == nil:
		done.Job = trimmed(job) // as in the cache: many may be kept until their statuses are written
	case isShutdownError(ctx, err):
		known.hold(heldJob{name: job.Name, since: look.now})
		r.failed(ctx, look, requestCreate, err)
	case isTerminating(err, job.Namespace):
		done.IsTerminating = true
	case apierrors.IsAlreadyExists(err) || isOutcomeUnknown(err):
		findCreated(ctx, look, start, done, err)
	default:
		retryCreate(look, done, err)
	}
	if done.Job != nil && !done.Existed {
		creationSkew.Observe(r.Clock.Since(plan.StartOf(look.current, start.Tick)).Seconds())
		r.ticked.note(job.Namespace, look.now)
		ctrl.LoggerFrom(ctx).Info("Started a Job", "job", klog.KObj(job), "tick", start.Tick)
	}
	if done.Job != nil || apierrors.IsAlreadyExists(err) {
		known.attempt = attempt{}
	}
}

// findCreated reads the tick's Job after a creation that was not answered, or that was answered by
// AlreadyExists: then the tick was started before, and the status or the cache was behind, or the
// Job is not the CronJob's, and the tick is missed. If the read fails too, the next plan asks for it.
func findCreated(ctx context.Context, look *lookup, start *plan.Start, done *plan.Outcome, err error) {
	job, readErr := look.read(ctx, start.Job.Name)
	if readErr != nil {
		look.known.hold(heldJob{name: start.Job.Name, since: look.now})
	}
	exists := apierrors.IsAlreadyExists(err)
	switch {
	case job != nil:
		done.Job, done.Existed = job, exists
	case !exists:
		retryCreate(look, done, err)
	case readErr == nil:
		done.NameTaken = true
		look.known.addNameTaken(start.Tick)
	}
}

// retryCreate plans the retry of a failed creation, with backoff, until its tick is missed. A Job
// that the API server calls invalid is not tried again until somebody edits the CronJob: it would
// be refused again.
func retryCreate(look *lookup, done *plan.Outcome, err error) {
	requestFailures.WithLabelValues(failedCreate(err)).Inc()
	try := &look.known.attempt
	try.failures++
	done.Refused = err
	if apierrors.IsInvalid(err) {
		try.invalid, try.generation = err, look.current.Generation
		return
	}
	done.RetryAt = look.now.Add(backoff(firstRetry, try.failures))
}

// isTerminating reports whether a creation failed because the namespace is being deleted or is
// gone. Not every NotFound means that: a webhook may answer with one about another object.
func isTerminating(err error, namespace string) bool {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) || status.Status().Details == nil {
		return false
	}
	details := status.Status().Details
	return details.Kind == "namespaces" && details.Name == namespace
}
