// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

type state string

// The states of a tick. The first three can be wanted.
const (
	missed state = "missed" // not run by the schedule, and never will be
	failed state = "failed"

	// unknown is for ticks before all that is remembered.
	unknown state = "unknown"

	succeeded state = "succeeded"
	running   state = "running"

	// waiting is for a tick that the schedule is about to run.
	waiting state = "waiting"

	// backfilled is for a tick that was backfilled with a result that is not remembered.
	backfilled state = "backfilled"
)

// known is what is known of the ticks of a CronJob: by its Jobs, by the record of deleted ones, and
// by its status, which has the newest runs and missed ticks.
type known struct {
	// runs has the most significant run of each tick, by the tick in Unix seconds: one that
	// succeeded, or else runs, or else failed last.
	runs map[int64]v1.Run

	// attempts has the number of Jobs of a tick, by the highest number in their names.
	attempts map[int64]int

	// since is the instant after which each tick that the schedule has run is remembered.
	since time.Time

	// missed has rows of missed ticks.
	missed []v1.MissedTicks

	// next is the first tick that the schedule may still run; zero for none.
	next time.Time

	record *record
}

func learn(c *v1.CronJob, ticks schedule.Ticks, jobs []*batchv1.Job) *known {
	k := &known{runs: map[int64]v1.Run{}, attempts: map[int64]int{}, since: rememberedSince(c), record: recordOf(c, jobs)}
	if next := c.Status.NextScheduleTime; next != nil {
		k.next = next.Time
	}
	exists := map[string]bool{}
	for _, job := range jobs {
		exists[job.Name] = true
		k.add(plan.RunOf(job))
	}
	for _, run := range c.Status.RecentRuns {
		if run.Result != v1.RunMissed && !exists[run.JobName] { // the Job is more recent than the status
			k.add(run)
		}
	}
	for tick, ended := range k.record.Failed {
		k.add(v1.Run{ScheduledTime: metav1.Unix(tick, 0), CompletionTime: new(metav1.Unix(ended, 0)), Result: v1.RunFailed})
	}
	for _, row := range c.Status.Missed {
		// Ignore a row that has ticks in between which have run, or that is of another schedule.
		if ticks.Count(row.First.Add(-time.Second), row.Last.Add(time.Second), plan.MaxMissedCount) == int(row.Count) {
			k.missed = append(k.missed, row)
		}
	}
	return k
}

// rememberedSince returns the instant after which the status has each tick that the schedule has
// run. Before its creation, another CronJob of this name may have run ticks.
func rememberedSince(c *v1.CronJob) time.Time {
	if c.Status.LastScheduleTime == nil {
		return c.CreationTimestamp.Time
	}
	since := c.Status.LastScheduleTime.Time
	for _, run := range c.Status.RecentRuns {
		// The first remembered tick may be wanted too, so the instant is before it.
		if before := run.ScheduledTime.Add(-time.Second); run.Trigger == v1.TriggerSchedule && before.Before(since) {
			since = before
		}
	}
	return since
}

func (k *known) add(run v1.Run) {
	if run.Trigger == v1.TriggerManual {
		return
	}
	tick := run.ScheduledTime.Unix()
	k.attempts[tick] = max(k.attempts[tick], attemptOf(run.JobName, run.ScheduledTime.Time))
	before, ok := k.runs[tick]
	if !ok || cmp.Or(cmp.Compare(weight(run), weight(before)), endOf(run).Compare(endOf(before))) > 0 {
		k.runs[tick] = run
	}
}

// weight orders the runs of one tick by significance.
func weight(run v1.Run) int {
	return slices.Index([]state{failed, running, succeeded}, stateOf(run))
}

func stateOf(run v1.Run) state {
	switch run.Result {
	case v1.RunSucceeded:
		return succeeded
	case v1.RunRunning:
		return running
	}
	return failed // or its Job was deleted while it ran
}

// endOf returns when a run ended, or else started; zero if neither is known.
func endOf(run v1.Run) time.Time {
	switch {
	case run.CompletionTime != nil:
		return run.CompletionTime.Time
	case run.StartTime != nil:
		return run.StartTime.Time
	}
	return time.Time{}
}

func (k *known) of(tick time.Time) state {
	is, run := unknown, k.runs[tick.Unix()]
	switch {
	case run.Result != "":
		is = stateOf(run)
	case !k.next.IsZero() && !tick.Before(k.next):
		is = waiting
	case k.isMissed(tick):
		is = missed
	}
	if k.record.covers(tick, is, endOf(run)) {
		return backfilled
	}
	return is
}

func (k *known) nextRun(tick time.Time) wanted {
	next := wanted{tick: tick, state: k.of(tick), attempt: k.attempts[tick.Unix()] + 1}
	if next.state == failed {
		next.ended = endOf(k.runs[tick.Unix()])
	}
	return next
}

func (k *known) isMissed(tick time.Time) bool {
	return tick.After(k.since) || slices.ContainsFunc(k.missed, func(row v1.MissedTicks) bool {
		return !tick.Before(row.First.Time) && !tick.After(row.Last.Time)
	})
}
