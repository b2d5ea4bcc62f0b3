// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// shortDeadline is the starting deadline, in seconds, below which a busy moment of the control
// plane is enough to miss ticks.
const shortDeadline = 10

// Warnings says what is legal in a spec and probably not meant: the path of a field, a colon and
// the reason. In v2, of which inFields is true, the schedule has fields, and a warning is at one of
// them.
func Warnings(spec *v1.CronJobSpec, inFields bool) []string {
	var found []string
	if deadline := spec.StartingDeadlineSeconds; deadline != nil && *deadline >= 0 && *deadline < shortDeadline {
		found = append(found, "spec.startingDeadlineSeconds: below 10, a tick may be missed in any busy moment of the control plane")
	}
	if spec.CatchUpPolicy == v1.CatchUpAll && spec.ConcurrencyPolicy == v1.ReplaceConcurrent {
		found = append(found, "spec.catchUpPolicy: with concurrencyPolicy Replace, "+
			"each of the ticks that run after an outage deletes the Job of the one before")
	}
	// The time zone does not matter for either, and a clock that shifts once a year is not worth a
	// warning.
	ticks, err := schedule.Parse(spec.Schedule, "")
	if err == nil {
		ticks, err = ticks.With(spec.AdditionalSchedules)
	}
	if err != nil {
		return found
	}
	if interval := ticks.Interval(); interval != 0 && interval < time.Minute {
		found = append(found, fmt.Sprintf("spec.schedule: a Job every %v; "+
			"for work that comes so often, a Deployment that waits in between costs the cluster far less", interval))
	}
	for _, warning := range schedule.Warnings(spec.Schedule) {
		found = append(found, warning.At("spec.schedule", inFields))
	}
	for i, text := range spec.AdditionalSchedules {
		for _, warning := range schedule.Warnings(text) {
			found = append(found, warning.At(fmt.Sprintf("spec.additionalSchedules[%d]", i), inFields))
		}
	}
	return append(found, unreachableDeadline(spec, ticks)...)
}

// unreachableDeadline warns of Jobs that the next tick may replace before their own deadline ends
// them. Either they take less, and the deadline is too generous to be of use, or they take so long,
// and are never done.
func unreachableDeadline(spec *v1.CronJobSpec, ticks schedule.Schedule) []string {
	deadline := spec.JobTemplate.Spec.ActiveDeadlineSeconds
	if spec.ConcurrencyPolicy != v1.ReplaceConcurrent || deadline == nil {
		return nil
	}
	gap := ticks.ShortestGap()
	if int64(gap/time.Second) >= *deadline {
		return nil
	}
	return []string{fmt.Sprintf("spec.jobTemplate.spec.activeDeadlineSeconds: %d is longer than the %v from a tick to the next, "+
		"at which concurrencyPolicy Replace deletes a Job that still runs", *deadline, gap)}
}

// NewWarnings warns of what is in the past already for a CronJob that is new: a suspension, and all
// of its ticks.
func NewWarnings(spec *v1.CronJobSpec, now time.Time) []string {
	var found []string
	if until := spec.SuspendUntil; until != nil && until.Time.Before(now) {
		found = append(found, "spec.suspendUntil: is in the past, so that nothing is suspended")
	}
	return append(found, warnCompleted(spec, now)...)
}
