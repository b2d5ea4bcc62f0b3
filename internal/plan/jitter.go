// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Jitter returns by how much each start of a CronJob is delayed: whole seconds, fewer than
// jitterSeconds, the same for each of its ticks. It changes nothing else of a tick.
//
// It is computed from namespace and name, so that it stays when the CronJob is created anew. The
// FNV hashes would not do: of names that differ in one digit, they spread a few over a part only.
func Jitter(c *v1.CronJob) time.Duration {
	limit := jitterLimit(c)
	if limit == 0 {
		return 0
	}
	hash := sha256.Sum256([]byte(c.Namespace + "/" + c.Name))
	seconds := binary.BigEndian.Uint64(hash[:]) % uint64(limit/time.Second) //nolint:gosec // not negative
	return time.Duration(seconds) * time.Second                             //nolint:gosec // less than 2^31
}

// jitterLimit returns what the jitter is less than, whichever version of the manager computes it;
// zero for no jitter.
func jitterLimit(c *v1.CronJob) time.Duration {
	if c.Spec.JitterSeconds == nil {
		return 0
	}
	return time.Duration(max(0, *c.Spec.JitterSeconds)) * time.Second // the schema refuses less than 0
}

// StartOf returns when a tick starts, with the jitter; zero for no tick.
//
// The next tick starts when the status says, unless the spec was edited since: another version of
// the manager may compute another jitter, and after an upgrade the tick could already be too late
// for its deadline.
func StartOf(c *v1.CronJob, tick time.Time) time.Time {
	if tick.IsZero() {
		return tick
	}
	next, start := timeOf(c.Status.NextScheduleTime), timeOf(c.Status.NextStartTime)
	isCurrent := tick.Equal(next) && c.Status.ObservedGeneration == c.Generation
	if isCurrent && !start.Before(tick) && start.Before(tick.Add(jitterLimit(c))) {
		return start
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
	p.Status.NextStartTime = nil
	if tick.IsZero() {
		p.Status.NextScheduleTime = nil
		return
	}
	if !timeOf(p.Status.NextScheduleTime).Equal(tick) { // most decisions find the one that is stored
		p.Status.NextScheduleTime = &metav1.Time{Time: tick}
	}
	if in.CronJob.Spec.JitterSeconds != nil {
		p.Status.NextStartTime = &metav1.Time{Time: StartOf(in.CronJob, tick)}
	}
}
