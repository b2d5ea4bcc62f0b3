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
	// recordAnnotation is the annotation of a backfilled Job that has a record, as JSON.
	recordAnnotation = "batch.tutorial.kubebuilder.io/backfills"

	// maxCalls and maxFailed limit the calls and failures of a record: 4 KB and 30 KB.
	maxCalls  = 50
	maxFailed = 1_000
)

// record is what is remembered of backfills after most of their Jobs are deleted. Each backfilled
// Job has the record of the Jobs before it, and what has happened since. So the newest Job has all
// of it. More are read only because two commands may start Jobs at the same time.
//
// Instants are in Unix seconds, as in the names of Jobs.
type record struct {
	// Schedule is the schedule of the ticks. The record is not valid for another schedule.
	Schedule string `json:"schedule"`

	// Calls are calls of the command, oldest first.
	Calls []call `json:"calls"`

	// Failed has, by tick, when its last failed run ended.
	Failed map[int64]int64 `json:"failed,omitempty"`
}

// call is the progress of a call of the command. It runs ticks oldest first, so it has started all
// wanted ones from From to To.
type call struct {
	// From is the first tick of the range, and To the newest tick that was started.
	From int64 `json:"from"`
	To   int64 `json:"to"`

	// Only is the state of the wanted ticks; all for any state that can be wanted.
	Only state `json:"only"`

	// FailedUntil is when the last of the failed runs that were wanted had ended; 0 for none. Runs
	// that failed later may be repeated again.
	FailedUntil int64 `json:"failedUntil,omitempty"`
}

// scheduleOf returns the schedule of a CronJob for a record.
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
		stored, run := record{}, plan.RunOf(job)
		err := json.Unmarshal([]byte(job.Annotations[recordAnnotation]), &stored)
		if err != nil || stored.Schedule != r.Schedule || run.Trigger != v1.TriggerBackfill {
			continue
		}
		for _, c := range stored.Calls {
			r.add(c)
		}
		for tick, ended := range stored.Failed {
			r.Failed[tick] = max(r.Failed[tick], ended)
		}
		if run.Result == v1.RunFailed {
			r.fail(run)
		}
	}
}

// add adds a call, or the progress of one.
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

// fail adds a run that failed, or whose Job was deleted.
func (r *record) fail(run v1.Run) {
	tick := run.ScheduledTime.Unix()
	r.Failed[tick] = max(r.Failed[tick], endOf(run).Unix())
}

// set stores the record and the progress of a call in a Job. It does not change the record, since
// the Job may be refused. Beyond the limits, it leaves out the oldest calls and failures.
func (r *record) set(job *batchv1.Job, c call) {
	updated := record{Schedule: r.Schedule, Calls: slices.Clone(r.Calls), Failed: maps.Clone(r.Failed)}
	updated.add(c)
	updated.Calls = updated.Calls[max(0, len(updated.Calls)-maxCalls):]
	for _, tick := range slices.Sorted(maps.Keys(updated.Failed))[:max(0, len(updated.Failed)-maxFailed)] {
		delete(updated.Failed, tick)
	}
	text, err := json.Marshal(updated)
	if err != nil {
		panic(err) // numbers and strings can be encoded
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, recordAnnotation, string(text))
}

// covers reports whether a call has started a tick in this state. ended is when its last known run
// ended.
func (r *record) covers(tick time.Time, is state, ended time.Time) bool {
	return slices.ContainsFunc(r.Calls, func(c call) bool {
		isIn := c.From <= tick.Unix() && tick.Unix() <= c.To
		return isIn && wants(c.Only, is) && (is != failed || ended.Unix() <= c.FailedUntil)
	})
}

// all is the value of --only for all states that can be wanted.
const all state = "all"

func wants(only, is state) bool {
	return is == only || only == all && slices.Contains([]state{missed, failed, unknown}, is)
}
