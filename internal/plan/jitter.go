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
// jitterSeconds, that are the same for each of its ticks. All else of a tick is as without.
func Jitter(c *v1.CronJob) time.Duration {
	most := c.Spec.JitterSeconds
	if most == nil || *most <= 0 { // below 0 only a stored object can be
		return 0
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(c.UID))                               // it never fails
	return time.Duration(hash.Sum64()%uint64(*most)) * time.Second //nolint:gosec // less than 2^31
}

// startOf returns when a tick is to start; zero for none.
func startOf(c *v1.CronJob, tick time.Time) time.Time {
	if tick.IsZero() {
		return tick
	}
	return tick.Add(Jitter(c))
}

// NextStart returns when a CronJob is to start its next Job, according to its status; nil if it does
// not say.
func NextStart(c *v1.CronJob) *metav1.Time {
	if c.Status.NextStartTime != nil {
		return c.Status.NextStartTime
	}
	return c.Status.NextScheduleTime
}

// setNext has the status tell of the first tick that needs something; zero if there is none.
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
