// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"

	"tutorial.kubebuilder.io/project/internal/lease"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// A request that fails costs its own retry and nothing else: the reconcile goes on without it, and
// is repeated after a backoff, but never later than at the next tick. So no failure is returned to
// controller-runtime, whose backoff grows to a quarter of an hour and knows of no tick.

const (
	// firstRetry and lastRetry are how long a request that failed waits before it is tried again:
	// at first, and at most. It doubles each time.
	firstRetry = 250 * time.Millisecond
	lastRetry  = time.Minute

	// conflictRetry is firstRetry after a conflict, which only means that somebody else's edit came
	// first.
	conflictRetry = 50 * time.Millisecond

	// requestTimeout is how long a request may take: one that is never answered must not keep the
	// next tick waiting. Creations pass the admission of Jobs, which may take its time.
	requestTimeout = 5 * time.Second
	createTimeout  = 15 * time.Second
)

// The kinds of requests, as the metrics name them.
const (
	requestCreate        = "create"
	requestRefusedCreate = "create_refused" // by a quota, a policy, as invalid, for a missing right
	requestDelete        = "delete"
	requestStatus        = "status"
	requestRead          = "read"
)

// failedCreate is what the metrics name a creation that failed. A refusal, as by a quota, is most
// often its tenant's affair, so that the alert on failures leaves it out.
func failedCreate(err error) string {
	if isOutcomeUnknown(err) || apierrors.IsTooManyRequests(err) {
		return requestCreate
	}
	return requestRefusedCreate
}

// backoff returns how long to wait after so many failures in a row, at least one.
func backoff(first time.Duration, failures int) time.Duration {
	const doublings = 20 // more than from first to lastRetry, and few enough not to overflow
	return min(first<<min(failures-1, doublings), lastRetry)
}

// failed notes that a request of this reconcile failed. The first of a row of failures is an error
// in the log.
func (r *CronJobReconciler) failed(ctx context.Context, seen *observed, request string, err error) {
	seen.failed = append(seen.failed, request)
	if isShutdownError(ctx, err) {
		return // nobody's mistake: the next leader goes on
	}
	requestFailures.WithLabelValues(request).Inc()
	log := ctrl.LoggerFrom(ctx).WithValues("request", request)
	switch {
	case apierrors.IsConflict(err):
		log.V(1).Info("The CronJob was edited meanwhile: trying again", "error", err.Error())
	case seen.pending.failures[request] > 0:
		log.V(1).Info("A request failed again", "error", err.Error())
	default:
		log.Error(err, "A request failed: trying again until it works")
	}
}

// requeue asks for the next reconcile: when the plan asks for it, or earlier to retry what failed.
func (r *CronJobReconciler) requeue(seen *observed, result plan.Result, isWritten bool) ctrl.Result {
	known, wake := seen.pending, result.WakeAt
	wakeBy := func(after time.Duration) {
		if at := seen.Now.Add(after); wake.IsZero() || at.Before(wake) {
			wake = at
		}
	}
	known.count(seen.failed)
	for request, failures := range known.failures {
		first := firstRetry
		if request == requestStatus && seen.conflicted {
			first = conflictRetry
		}
		wakeBy(backoff(first, failures))
	}
	if seen.leftToDelete {
		wakeBy(firstRetry)
	}
	if seen.isJobNotCached {
		wakeBy(missingJobRecheck)
	}
	if result.Again && isWritten {
		wakeBy(0)
	}
	return r.sleepUntil(wake)
}

// maxConflicts is how many times in a row a tick waits for a status that could not be written.
const maxConflicts = 3

// shouldRetryConflict reports whether the status is to be made again from the edited CronJob before
// anything else is done.
func shouldRetryConflict(seen *observed) bool {
	return seen.conflicted && seen.pending.failures[requestStatus] < maxConflicts
}

// isOutcomeUnknown reports whether a request may have been carried out although it failed.
func isOutcomeUnknown(err error) bool {
	status := apierrors.APIStatus(nil)
	return !errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError
}

// isShutdownError reports whether a request was not made, or not waited for, as the manager has to
// stop or leads no more. That is nobody's mistake: the next leader goes on.
func isShutdownError(ctx context.Context, err error) bool {
	return errors.Is(err, lease.ErrOver) || ctx.Err() != nil
}
