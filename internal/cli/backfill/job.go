// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const (
	// maxJobName is how long a Job's name may be, as it labels the Job's Pods.
	maxJobName = 63

	// The annotations of a Job that a backfill starts: mark has their values.
	fromAnnotation        = "batch.tutorial.kubebuilder.io/backfill-from"
	onlyAnnotation        = "batch.tutorial.kubebuilder.io/backfill-only"
	failedUntilAnnotation = "batch.tutorial.kubebuilder.io/backfill-failed-until"
)

// newJob makes the Job of a tick of the past. The first attempt has the name that the schedule
// gives to the tick's Job; the next have their number behind it. So two commands that want the same
// start it once.
func newJob(c *v1.CronJob, tick time.Time, attempt int) *batchv1.Job {
	job := cronjobs.NewJob(c, tick, v1.TriggerBackfill)
	if attempt > 1 {
		suffix := fmt.Sprintf("-%d-%d", tick.Unix(), attempt)
		job.Name = strings.TrimRight(c.Name[:min(len(c.Name), maxJobName-len(suffix))], "-.") + suffix
	}
	// The controller deletes it, by a limit of its own. Until then it tells what was backfilled.
	job.Spec.TTLSecondsAfterFinished = nil
	return job
}

// attemptOf returns the number in the name of a tick's Job, 1 if there is none.
func attemptOf(name string, tick time.Time) int {
	infix := fmt.Sprintf("-%d-", tick.Unix())
	if i := strings.LastIndex(name, infix); i >= 0 {
		if attempt, err := strconv.Atoi(name[i+len(infix):]); err == nil {
			return attempt
		}
	}
	return 1
}

// mark is what a Job says of the call of the command that started it. The call takes its ticks
// oldest first: all that it wanted from the beginning of its range up to the Job's tick have been
// started. So the next call starts none of them again, although most of their Jobs are deleted.
type mark struct {
	// from is the beginning of the range, and to the tick of the Job.
	from, to time.Time

	// only is the state of the ticks that were wanted; all for those of each state.
	only state

	// failedUntil is when the last of the runs had ended that were to be repeated; zero for none.
	// What failed later may be repeated again.
	failedUntil time.Time
}

// set has a Job say it.
func (m mark) set(job *batchv1.Job) {
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, fromAnnotation, m.from.UTC().Format(time.RFC3339))
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, onlyAnnotation, string(m.only))
	if !m.failedUntil.IsZero() {
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, failedUntilAnnotation, m.failedUntil.UTC().Format(time.RFC3339))
	}
}

// marksOf returns what Jobs say of backfills.
func marksOf(jobs []*batchv1.Job) []mark {
	var marks []mark
	for _, job := range jobs {
		trigger, tick := plan.TriggerOf(job)
		from, err := time.Parse(time.RFC3339, job.Annotations[fromAnnotation])
		if err != nil || trigger != v1.TriggerBackfill {
			continue
		}
		failedUntil, _ := time.Parse(time.RFC3339, job.Annotations[failedUntilAnnotation])
		marks = append(marks, mark{from: from, to: tick, only: state(job.Annotations[onlyAnnotation]), failedUntil: failedUntil})
	}
	return marks
}

// isBackfilled reports whether Jobs say of a tick that it was started again since. A run of the
// tick that is known, if any, ended at some time.
func isBackfilled(marks []mark, tick time.Time, is state, ended time.Time) bool {
	return slices.ContainsFunc(marks, func(m mark) bool {
		isIn := !tick.Before(m.from) && !tick.After(m.to)
		return isIn && wants(m.only, is) && (is != failed || !ended.After(m.failedUntil))
	})
}

// all is the value of --only for ticks of each state that may be wanted.
const all state = "all"

// wants reports whether a tick is wanted.
func wants(only, is state) bool {
	return is == only || only == all && slices.Contains([]state{missed, failed, unknown}, is)
}
