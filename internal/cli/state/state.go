// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package state describes the state of a CronJob by one word.
package state

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/next"
	"tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// All has all states, worst first.
var All = []string{
	"broken", "stopped", "failing", "waiting", "missed", "queued", "running", "terminating", "suspended", "completed", "new", "healthy",
}

// Of returns the state of a CronJob and an explanation. isQueued is whether all its unfinished Jobs
// are queued.
func Of(c *v1.CronJob, isQueued bool, now time.Time) (state, detail string) {
	ready := ptr.Deref(meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady), metav1.Condition{})
	start := plan.NextStart(c)
	switch broken := informer.DecodingError(c); {
	case !c.DeletionTimestamp.IsZero():
		return "terminating", "It is being deleted, and starts nothing any more."
	case broken != "":
		return "broken", broken
	case plan.IsSuspended(c, now):
		return "suspended", suspension(c)
	case plan.IsStopped(c):
		return "stopped", fmt.Sprintf("after %d failures", c.Status.ConsecutiveFailures) + lastFailure(c)
	case ready.Status == metav1.ConditionFalse:
		return "broken", ready.Message
	case ready.Reason == v1.ReasonCompleted:
		return "completed", ready.Message
	case ready.Reason == v1.ReasonWaiting:
		return "waiting", ready.Message
	case start != nil && !start.After(now):
		return "waiting", "It is due, and has not started."
	case c.Status.ConsecutiveFailures > 0:
		return "failing", fmt.Sprintf("%d in a row", c.Status.ConsecutiveFailures) + lastFailure(c)
	case isQueued:
		return "queued", "Its Job is suspended, as by Kueue."
	case plan.ActiveCount(c.Status) > 0:
		return "running", ""
	case len(c.Status.RecentRuns) == 0:
		if len(c.Status.Conditions) == 0 { // the operator has not seen it yet
			if _, err := next.Stored(c, now); err != nil {
				return "broken", err.Error()
			}
		}
		return "new", "no run yet"
	case c.Status.RecentRuns[0].Result == v1.RunMissed:
		return "missed", "the last tick"
	}
	return "healthy", ""
}

func lastFailure(c *v1.CronJob) string {
	for _, run := range c.Status.RecentRuns {
		if run.Result == v1.RunFailed && run.Reason != "" {
			return " · " + run.Reason
		}
	}
	return ""
}

func suspension(c *v1.CronJob) string {
	text := "for good"
	if !ptr.Deref(c.Spec.Suspend, false) {
		text = "until " + c.Spec.SuspendUntil.UTC().Format(time.RFC3339)
	}
	if by := suspend.ByWhom(c); by != "" {
		text += ", by " + by
	}
	return text
}
