// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Jitter returns by how much each start of a CronJob is delayed: whole seconds, fewer than
// jitterSeconds, the same for each of its ticks. It changes nothing else of a tick.
func Jitter(c *v1.CronJob) time.Duration {
	limit := c.Spec.JitterSeconds
	if limit == nil || *limit <= 0 { // the schema refuses less than 0
		return 0
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(c.UID))                                // it never fails
	return time.Duration(hash.Sum64()%uint64(*limit)) * time.Second //nolint:gosec // less than 2^31
}

// startOf returns when a tick starts, with the jitter; zero for no tick.
func startOf(c *v1.CronJob, tick time.Time) time.Time {
	if tick.IsZero() {
		return tick
	}
	return tick.Add(Jitter(c))
}

// NextStart returns when a CronJob starts its next Job according to its status; nil if the status
// does not say.
func NextStart(c *v1.CronJob) *metav1.Time {
	if c.Status.NextStartTime != nil {
		return c.Status.NextStartTime
	}
	return c.Status.NextScheduleTime
}

// setNext sets the first tick that is not handled in the status; zero if there is none.
func (p *Plan) setNext(in Input, tick time.Time) {
	p.Status.NextScheduleTime, p.Status.NextStartTime = nil, nil
	if tick.IsZero() {
		return
	}
	p.Status.NextScheduleTime = &metav1.Time{Time: tick}
	if in.CronJob.Spec.JitterSeconds != nil {
		p.Status.NextStartTime = &metav1.Time{Time: startOf(in.CronJob, tick)}
	}
}
