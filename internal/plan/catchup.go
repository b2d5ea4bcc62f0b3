// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// catchUpLimit returns how many ticks may be due at once: 1 unless catchUpPolicy is All.
func catchUpLimit(c *v1.CronJob) int {
	if c.Spec.CatchUpPolicy != v1.CatchUpAll {
		return 1
	}
	limit := v1.DefaultCatchUpLimit
	if c.Spec.CatchUpLimit != nil {
		limit = *c.Spec.CatchUpLimit
	}
	return int(min(max(limit, 1), v1.MaxCatchUpLimit)) // the schema refuses others
}

// oldestDue returns the oldest due tick after an instant, given the newest one. Due ticks run
// oldest first, so that lastScheduleTime moves forward; older ticks are missed. The newest is due
// even if its deadline is over.
func oldestDue(in Input, ticks schedule.Ticks, from, newest time.Time) time.Time {
	oldest := newest
	for range catchUpLimit(in.CronJob) - 1 {
		older, ok := ticks.Last(from, oldest.Add(-time.Second))
		if !ok || isLate(in, older) {
			break
		}
		oldest = older
	}
	return oldest
}

// isLate reports whether the deadline of a tick is over.
func isLate(in Input, tick time.Time) bool {
	deadline := deadlineOf(in, tick)
	return !deadline.IsZero() && in.Now.After(deadline)
}
