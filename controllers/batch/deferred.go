// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"tutorial.kubebuilder.io/project/internal/plan"
)

// When many CronJobs are due at once, as at midnight, all their Jobs are created before any status
// is written: a late Job hurts its user, a late status nobody. Until its status is written, a run
// is kept in memory, so that it is not started again. After a crash, the next leader finds its Job.
// Events come last: the next run depends on the status, and on no event.

// tickPriority is that of a CronJob whose tick comes due now. The priorities in the work queue are the
// seconds for which an item has been due: see internal/fairqueue.
const tickPriority = 0

// nearTick is how near the next tick may be at most for the status not to be deferred. Most
// schedules that are due together have ticks a minute or more apart.
const nearTick = 30 * time.Second

// maxDeferral is for how long a deferred status lets all ticks go first that come due meanwhile.
const maxDeferral = 10 * time.Minute

// retryYield is for how long a retry for which no tick waits lets all ticks go first that come due
// meanwhile. While statuses are refused in a namespace, each of its CronJobs has one.
const retryYield = 10 * time.Second

// untilWake returns for how long from an instant a write that no tick waits for may wait: until the
// plan's WakeAt, or for a limit.
func untilWake(result plan.Result, from time.Time, limit time.Duration) time.Duration {
	if result.WakeAt.IsZero() {
		return limit
	}
	return min(limit, result.WakeAt.Sub(from))
}

// shouldDeferStatus reports whether the status and the events of a plan can wait for the Jobs of
// other CronJobs. Only those of a start can, and only once, so that the status does not fall behind
// for good in a cluster too busy for its ticks. They can't if the next tick is near, because it
// would have to wait for them.
func shouldDeferStatus(look *lookup, result plan.Result) bool {
	return result.CanDefer && len(look.failed) == 0 && untilWake(result, look.now, maxDeferral) >= nearTick
}

// deferredDelay marks the outcome of a reconcile that has deferred its status. All other delays are
// longer.
const deferredDelay = time.Nanosecond

// deferred returns the outcome of a reconcile that has deferred its status, which is due just after
// its deferral. It is written earlier, as soon as nothing else is due.
func deferred(look *lookup, result plan.Result) ctrl.Result {
	due := int(untilWake(result, look.now, maxDeferral)/time.Second) + 1
	return ctrl.Result{RequeueAfter: deferredDelay, Priority: new(tickPriority - due)}
}

// isDeferred reports whether a reconcile has deferred its status.
func isDeferred(outcome ctrl.Result) bool { return outcome.RequeueAfter == deferredDelay }

// HasDeferredStatuses reports whether statuses wait to be written, for which events should wait.
func (r *CronJobReconciler) HasDeferredStatuses() bool { return r.memory.hasDeferred() }
