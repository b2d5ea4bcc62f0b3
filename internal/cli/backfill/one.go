// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"cmp"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

// OneTick makes the Job of the tick that a text names. It returns an error if the tick has run,
// unless again is true: then the Job has a new name.
func OneTick(c *v1.CronJob, jobs []*batchv1.Job, text string, again bool, now time.Time) (*batchv1.Job, error) {
	if err := checkAllowed(c); err != nil {
		return nil, err
	}
	tick, err := cronjobs.ParseTime("tick", text, cronjobs.Zone(c), now)
	switch {
	case err != nil:
		return nil, err
	case tick.After(now):
		return nil, fmt.Errorf("--tick %s is in the future: the schedule runs it when it comes", text)
	}
	ticks, err := scheduleFrom(c, tick)
	if err != nil {
		return nil, err
	}
	if err := checkTick(c, ticks, tick); err != nil {
		return nil, err
	}
	k := learn(c, ticks, jobs)
	next := k.nextRun(tick)
	if hasRun := next.attempt > 1 || next.state == backfilled; hasRun && !again {
		name := cmp.Or(k.runs[tick.Unix()].JobName, "no Job of it is left")
		return nil, fmt.Errorf("the tick of %s has run (%s, %s): --again runs it again", text, next.state, name)
	}
	w := &work{record: k.record, call: call{From: tick.Unix(), Only: all, FailedUntil: max(0, next.ended.Unix())}}
	return w.newJob(c, next), nil
}
