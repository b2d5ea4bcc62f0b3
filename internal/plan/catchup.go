// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// catchUpLimit returns how many ticks may be due at once, and run one after the other: 1 but for
// catchUpPolicy All.
func catchUpLimit(c *v1.CronJob) int {
	if c.Spec.CatchUpPolicy != v1.CatchUpAll {
		return 1
	}
	limit := v1.DefaultCatchUpLimit
	if c.Spec.CatchUpLimit != nil {
		limit = *c.Spec.CatchUpLimit
	}
	return int(min(max(limit, 1), v1.MaxCatchUpLimit)) // others can only be stored without the schema
}

// oldestDue returns the oldest of the ticks after an instant that are due, given the newest: they run
// oldest first, so that lastScheduleTime moves forward. Those before it are missed. The newest is
// due though its deadline may be over.
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
	deadline, hasDeadline := deadlineOf(in, tick)
	return hasDeadline && in.Now.After(deadline)
}

// isNameTaken reports whether something else is known to have the name of a tick's Job. While the
// status can't tell of it, the ticks after it must not wait.
func isNameTaken(in Input, tick time.Time) bool {
	return slices.ContainsFunc(in.NameTaken, tick.Equal)
}
