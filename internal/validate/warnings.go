// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// shortDeadline is the starting deadline, in seconds, below which a briefly overloaded control
// plane is enough to miss ticks.
const shortDeadline = 10

// Warnings returns warnings about what is valid in a spec but probably a mistake: the path of a
// field, a colon and the reason. A warning about a schedule is where its form has it.
func Warnings(spec *v1.CronJobSpec, form Form) []string {
	var found []string
	if deadline := spec.StartingDeadlineSeconds; deadline != nil && *deadline >= 0 && *deadline < shortDeadline {
		found = append(found, "spec.startingDeadlineSeconds: below 10, a tick may be missed in any busy moment of the control plane")
	}
	if spec.CatchUpPolicy == v1.CatchUpAll && spec.ConcurrencyPolicy == v1.ReplaceConcurrent {
		found = append(found, "spec.catchUpPolicy: with concurrencyPolicy Replace, "+
			"each of the ticks that run after an outage deletes the Job of the one before")
	}
	// The warnings below need no time zone. A gap that is short only where clocks shift is not
	// worth one.
	ticks, err := schedule.ParseAll(spec.Schedule, spec.AdditionalSchedules, "")
	if err != nil {
		return found
	}
	if interval := ticks.Interval(); interval != 0 && interval < time.Minute {
		found = append(found, fmt.Sprintf("%v: a Job every %v; "+
			"for work that comes so often, a Deployment that waits in between costs the cluster far less", form.placeOf(0).path, interval))
	}
	for i, text := range append([]string{spec.Schedule}, spec.AdditionalSchedules...) {
		for _, warning := range schedule.Warnings(text) {
			found = append(found, form.placeOf(i).at(warning))
		}
	}
	return append(found, unreachableDeadline(spec, ticks)...)
}

// unreachableDeadline warns of Jobs that the next tick replaces before their activeDeadlineSeconds
// is over. The deadline has no effect on Jobs that take less time, and Jobs that take as long never
// finish.
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

// NewWarnings returns warnings about a new CronJob whose suspendUntil, or whose last tick, is in
// the past.
func NewWarnings(spec *v1.CronJobSpec, now time.Time) []string {
	var found []string
	if until := spec.SuspendUntil; until != nil && until.Time.Before(now) {
		found = append(found, "spec.suspendUntil: is in the past, so that nothing is suspended")
	}
	return append(found, warnCompleted(spec, now)...)
}
