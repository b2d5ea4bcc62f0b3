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

// Warning is about what is valid in a field but probably a mistake.
type Warning struct{ Path, Reason string }

// String is the warning as kubectl shows it.
func (w Warning) String() string { return w.Path + ": " + w.Reason }

// Warnings returns the warnings about a spec. One about a schedule is where its form has it.
func Warnings(spec *v1.CronJobSpec, form Form) []Warning {
	var found []Warning
	if deadline := spec.StartingDeadlineSeconds; deadline != nil && *deadline >= 0 && *deadline < shortDeadline {
		found = append(found, Warning{"spec.startingDeadlineSeconds", "below 10, a tick may be missed in any busy moment of the control plane"})
	}
	if spec.CatchUpPolicy == v1.CatchUpAll && spec.ConcurrencyPolicy == v1.ReplaceConcurrent {
		found = append(found, Warning{"spec.catchUpPolicy", "with concurrencyPolicy Replace, " +
			"each of the ticks that run after an outage deletes the Job of the one before"})
	}
	// The warnings below need no time zone. A gap that is short only where clocks shift is not
	// worth one.
	ticks, err := schedule.ParseAll(spec.Schedule, spec.AdditionalSchedules, "")
	if err != nil {
		return found
	}
	if interval := ticks.Interval(); interval != 0 && interval < time.Minute {
		found = append(found, Warning{form.placeOf(0).path.String(), fmt.Sprintf("a Job every %v; "+
			"for work that comes so often, a Deployment that waits in between costs the cluster far less", interval)})
	}
	found = append(found, form.Warnings(append([]string{spec.Schedule}, spec.AdditionalSchedules...)...)...)
	return append(found, unreachableDeadline(spec, ticks)...)
}

// unreachableDeadline warns of Jobs that the next tick replaces before their activeDeadlineSeconds
// is over. The deadline has no effect on Jobs that take less time, and Jobs that take as long never
// finish.
func unreachableDeadline(spec *v1.CronJobSpec, ticks schedule.Schedule) []Warning {
	deadline := spec.JobTemplate.Spec.ActiveDeadlineSeconds
	if spec.ConcurrencyPolicy != v1.ReplaceConcurrent || deadline == nil {
		return nil
	}
	gap := ticks.ShortestGap()
	if int64(gap/time.Second) >= *deadline {
		return nil
	}
	return []Warning{{"spec.jobTemplate.spec.activeDeadlineSeconds", fmt.Sprintf("%d is longer than the %v from a tick to the next, "+
		"at which concurrencyPolicy Replace deletes a Job that still runs", *deadline, gap)}}
}

// NewWarnings returns warnings about a new CronJob whose suspendUntil, or whose last tick, is in
// the past.
func NewWarnings(spec *v1.CronJobSpec, now time.Time) []Warning {
	var found []Warning
	if until := spec.SuspendUntil; until != nil && until.Time.Before(now) {
		found = append(found, Warning{"spec.suspendUntil", "is in the past, so that nothing is suspended"})
	}
	return append(found, warnCompleted(spec, now)...)
}
