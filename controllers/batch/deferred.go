// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"tutorial.kubebuilder.io/project/internal/plan"
)

// When many CronJobs are due at once, as at midnight, the Jobs of all are created before any status
// is written: a late Job hurts its user, a late status nobody. Until its status is written a run is
// kept in memory, so that it is not started again; after a crash, the Job itself tells of it.

// The priorities in the queue: for how many seconds something has been due, see internal/fairqueue.
const (
	// tickPriority is that of a CronJob with a tick that comes due.
	tickPriority = 0

	// deferredPriority is that of one whose status does not tell of a run yet.
	deferredPriority = -10
)

// missingJobRecheck is how long after a run whose Job the cache did not have yet it is looked at
// again: had the Job been deleted by then, nothing else would tell.
const missingJobRecheck = time.Second

// nearTick is how near the next tick may be for a status not to be deferred. CronJobs that are due
// together are so every minute, or less often.
const nearTick = 30 * time.Second

// shouldDeferStatus reports whether the status and the events of a plan can wait until other
// CronJobs had their turn: those of a Job that was started, and of nothing else. It waits once at
// most, so that in a cluster too busy for its ticks the status does not fall behind for good, and
// not when the next tick is near, which would wait with it.
func shouldDeferStatus(seen *observed, result plan.Result) bool {
	return result.CanDefer && len(seen.failed) == 0 && (result.WakeAt.IsZero() || result.WakeAt.Sub(seen.Now) >= nearTick)
}

// requeueForStatus asks for the reconcile that writes a deferred status.
func requeueForStatus() ctrl.Result {
	return ctrl.Result{RequeueAfter: time.Nanosecond, Priority: new(deferredPriority)}
}
