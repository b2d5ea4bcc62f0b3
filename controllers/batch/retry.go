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

// A failed request delays only its own retry: the reconcile continues without it, and is repeated
// after a backoff, but never later than at the next tick. So no failed request to the API server is
// returned to controller-runtime, whose backoff grows to a quarter of an hour and ignores ticks.
// Only an error of a cache read is.

const (
	// firstRetry is the first backoff of a failed request. It doubles with each failure, up to
	// lastRetry.
	firstRetry = 250 * time.Millisecond
	lastRetry  = time.Minute

	// conflictRetry is the first backoff after a conflict, which only means that the cache was
	// stale.
	conflictRetry = 50 * time.Millisecond

	// requestTimeout limits a request, so that one without an answer does not delay the next tick.
	requestTimeout = 5 * time.Second

	// createTimeout limits a create request. It is longer because admission webhooks of Jobs may be
	// slow.
	createTimeout = 15 * time.Second
)

// The kinds of requests, as the metrics name them.
const (
	requestCreate        = "create"
	requestRefusedCreate = "create_refused" // a quota, a policy, an invalid Job, a missing right
	requestDelete        = "delete"
	requestStatus        = "status"
	requestRead          = "read"
)

// failedCreate returns the metric's name for a failed creation. The alert on failures leaves
// refusals out, because most (a quota, a policy) are for the tenant to solve.
func failedCreate(err error) string {
	if isOutcomeUnknown(err) || apierrors.IsTooManyRequests(err) {
		return requestCreate
	}
	return requestRefusedCreate
}

// backoff returns how long to wait after one or more failures in a row.
func backoff(first time.Duration, failures int) time.Duration {
	const doublings = 20 // enough to reach lastRetry, and too few to overflow
	return min(first<<min(failures-1, doublings), lastRetry)
}

// failed records that a request of this reconcile failed. It logs the first of several failures in
// a row as an error.
func (r *CronJobReconciler) failed(ctx context.Context, look *lookup, request string, err error) {
	look.failed = append(look.failed, request)
	if isShutdownError(ctx, err) {
		return
	}
	requestFailures.WithLabelValues(request).Inc()
	log := ctrl.LoggerFrom(ctx).WithValues("request", request)
	switch {
	case apierrors.IsConflict(err):
		log.V(1).Info("The CronJob was edited meanwhile: trying again", "error", err.Error())
	case look.known.failures[request] > 0:
		log.V(1).Info("A request failed again", "error", err.Error())
	default:
		log.Error(err, "A request failed: trying again until it works")
	}
}

// requeue requeues for the plan's WakeAt, or earlier to retry what failed. A retry lets the ticks of
// others go first if no tick of the CronJob waits for it. requeue reads the clock again, because the
// reconcile itself took time.
func (r *CronJobReconciler) requeue(look *lookup, result plan.Result, isWritten bool) ctrl.Result {
	wake := result.WakeAt
	wakeBy := func(after time.Duration) {
		if at := look.now.Add(after); wake.IsZero() || at.Before(wake) {
			wake = at
		}
	}
	before := look.known.failures
	look.known.failures = make(map[string]int, len(look.failed))
	for _, request := range look.failed {
		look.known.failures[request] = before[request] + 1
	}
	for request, failures := range look.known.failures {
		first := firstRetry
		if request == requestStatus && apierrors.IsConflict(look.known.statusErr) {
			first = conflictRetry
		}
		wakeBy(backoff(first, failures))
	}
	if look.isLeftToDelete {
		wakeBy(firstRetry)
	}
	if result.Again && isWritten {
		wakeBy(0)
	}
	if wake.IsZero() {
		return ctrl.Result{}
	}
	priority := tickPriority
	if next := result.Status.NextScheduleTime; next == nil || next.After(look.now) { // no tick waits
		priority -= int(untilWake(result, wake, retryYield) / time.Second)
	}
	return ctrl.Result{RequeueAfter: max(wake.Sub(r.Clock.Now()), time.Millisecond), Priority: &priority}
}

// maxStatusTries is how many failures in a row a tick waits for its status write.
const maxStatusTries = 3

// isUnrecordable reports whether a tick no longer waits for a status: the last write got no answer, or
// was refused often. An answer takes milliseconds.
func (p *progress) isUnrecordable() bool {
	refusal := apierrors.APIStatus(nil)
	return p.statusErr != nil && (!errors.As(p.statusErr, &refusal) || p.failures[requestStatus] >= maxStatusTries)
}

// isOutcomeUnknown reports whether a failed request may have been carried out: it got no answer, or
// a 5xx.
func isOutcomeUnknown(err error) bool {
	status := apierrors.APIStatus(nil)
	return !errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError
}

// isShutdownError reports whether a request failed because the manager shuts down or is no longer
// the leader. The next leader continues, so it is neither logged nor in the metrics.
func isShutdownError(ctx context.Context, err error) bool {
	return errors.Is(err, lease.ErrOver) || ctx.Err() != nil
}
