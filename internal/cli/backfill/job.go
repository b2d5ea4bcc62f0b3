// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

// newJob makes the Job of a past tick. The first attempt has the name that the schedule gives to
// the tick's Job; later ones have the attempt's number appended. So two commands can't start the
// same attempt twice.
func newJob(c *v1.CronJob, tick time.Time, attempt int) *batchv1.Job {
	job := cronjobs.NewJob(c, tick, v1.TriggerBackfill)
	if attempt > 1 {
		job.Name = cronjobs.JobName(c.Name, fmt.Sprintf("-%d-%d", tick.Unix(), attempt))
	}
	// The controller deletes it by a history limit. Until then it records what was backfilled.
	job.Spec.TTLSecondsAfterFinished = nil
	return job
}

// attemptOf returns the attempt in the name of a Job; 1 if there is none.
func attemptOf(name string, tick time.Time) int {
	infix := fmt.Sprintf("-%d-", tick.Unix())
	if i := strings.LastIndex(name, infix); i >= 0 {
		if attempt, err := strconv.Atoi(name[i+len(infix):]); err == nil {
			return attempt
		}
	}
	return 1
}
