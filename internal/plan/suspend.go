// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// IsSuspended reports whether a CronJob is suspended at an instant.
func IsSuspended(c *v1.CronJob, now time.Time) bool {
	return c.Spec.Suspend != nil && *c.Spec.Suspend || now.Before(timeOf(c.Spec.SuspendUntil))
}

// suspendedUntil returns the last instant before a past spec.suspendUntil; zero if there is none.
// Ticks up to it passed during the suspension; one at suspendUntil itself runs.
func suspendedUntil(in Input) time.Time {
	until := timeOf(in.CronJob.Spec.SuspendUntil)
	if until.IsZero() || in.Now.Before(until) {
		return time.Time{}
	}
	return until.Add(-time.Nanosecond)
}

// suspend lets ticks pass. It misses a tick that was due, and had not run, at the suspension.
func (p *Plan) suspend(in Input) {
	p.missWaiting(in, timeOf(p.Status.LastScheduleTime))
	p.setNext(in, time.Time{})
	message := "No Job is started while spec.suspend is true."
	if !*in.CronJob.Spec.Suspend {
		until := timeOf(in.CronJob.Spec.SuspendUntil)
		message = fmt.Sprintf("No Job is started until %s, as spec.suspendUntil asks.", until.UTC().Format(time.RFC3339))
		p.wakeBy(until)
	}
	p.setReady(in, metav1.ConditionTrue, v1.ReasonSuspended, message)
}
