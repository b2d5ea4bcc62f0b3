// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const (
	// recordAnnotation is the annotation of a backfilled Job whose value is a record, as JSON.
	recordAnnotation = "batch.tutorial.kubebuilder.io/backfills"

	// maxCalls and maxFailed are how many calls and failures a record has: 4 KB and 30 KB.
	maxCalls  = 50
	maxFailed = 1_000
)

// record is what is remembered of backfills, although most of their Jobs are deleted. Each Job that
// they start has what the Jobs before it say, and what has happened since. So the newest Job alone
// says all of it, and more are read only because two commands may start one at the same time.
//
// Instants are in Unix seconds, as in the names of Jobs.
type record struct {
	// Schedule is the one that has the ticks. Of the ticks of another schedule a record says nothing.
	Schedule string `json:"schedule"`

	// Calls are calls of the command, the newest last.
	Calls []call `json:"calls"`

	// Failed says of ticks when a backfilled run of them has failed last.
	Failed map[int64]int64 `json:"failed,omitempty"`
}

// call is what a call of the command has started. It takes its ticks oldest first, so that these
// are all that it wanted, up to the newest of them.
type call struct {
	// From is the beginning of its range, and To the newest tick that it has started.
	From int64 `json:"from"`
	To   int64 `json:"to"`

	// Only is the state of the ticks that were wanted; all for those of each state.
	Only state `json:"only"`

	// FailedUntil is when the last of the runs had ended that were to be repeated; 0 for none. What
	// failed later may be repeated again.
	FailedUntil int64 `json:"failedUntil,omitempty"`
}

// scheduleOf returns the schedule that a CronJob has, as a record names it.
func scheduleOf(c *v1.CronJob) string { return plan.SpecOf(&c.Spec).String() }

func recordOf(c *v1.CronJob, jobs []*batchv1.Job) *record {
	r := &record{Schedule: scheduleOf(c), Failed: map[int64]int64{}}
	r.read(jobs)
	return r
}

func (r *record) read(jobs []*batchv1.Job) {
	oldestFirst := slices.SortedStableFunc(slices.Values(jobs), func(a, b *batchv1.Job) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	for _, job := range oldestFirst {
		said, run := record{}, plan.RunOf(job)
		err := json.Unmarshal([]byte(job.Annotations[recordAnnotation]), &said)
		if err != nil || said.Schedule != r.Schedule || run.Trigger != v1.TriggerBackfill {
			continue
		}
		for _, c := range said.Calls {
			r.add(c)
		}
		for tick, ended := range said.Failed {
			r.Failed[tick] = max(r.Failed[tick], ended)
		}
		if run.Result == v1.RunFailed {
			r.fail(run)
		}
	}
}

// add notes how far a call has come.
func (r *record) add(c call) {
	isSame := func(other call) bool {
		other.To = c.To
		return other == c
	}
	if i := slices.IndexFunc(r.Calls, isSame); i >= 0 {
		c.To = max(c.To, r.Calls[i].To)
		r.Calls = slices.Delete(r.Calls, i, i+1)
	}
	r.Calls = append(r.Calls, c)
}

// fail notes a run that has failed, or whose Job was deleted.
func (r *record) fail(run v1.Run) {
	tick := run.ScheduledTime.Unix()
	r.Failed[tick] = max(r.Failed[tick], endOf(run).Unix())
}

// set has a Job say what the record does, and how far a call has come with that Job. The record
// stays as it is, since the Job may be refused. What there is no room for is forgotten, the oldest
// first.
func (r *record) set(job *batchv1.Job, c call) {
	said := record{Schedule: r.Schedule, Calls: slices.Clone(r.Calls), Failed: maps.Clone(r.Failed)}
	said.add(c)
	said.Calls = said.Calls[max(0, len(said.Calls)-maxCalls):]
	for _, tick := range slices.Sorted(maps.Keys(said.Failed))[:max(0, len(said.Failed)-maxFailed)] {
		delete(said.Failed, tick)
	}
	text, err := json.Marshal(said)
	if err != nil {
		panic(err) // it has numbers and strings
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, recordAnnotation, string(text))
}

// covers reports whether a tick was started again since by some call. A run of the tick that is
// known, if any, ended at some time.
func (r *record) covers(tick time.Time, is state, ended time.Time) bool {
	return slices.ContainsFunc(r.Calls, func(c call) bool {
		isIn := c.From <= tick.Unix() && tick.Unix() <= c.To
		return isIn && wants(c.Only, is) && (is != failed || ended.Unix() <= c.FailedUntil)
	})
}

// all is the value of --only for ticks of each state that may be wanted.
const all state = "all"

func wants(only, is state) bool {
	return is == only || only == all && slices.Contains([]state{missed, failed, unknown}, is)
}
