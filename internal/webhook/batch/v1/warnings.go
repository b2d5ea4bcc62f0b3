// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/webhook/logs"
)

// shortDeadline is the starting deadline, in seconds, below which a busy moment of the control
// plane is enough to miss ticks.
const shortDeadline = 10

// warnings says what is legal and probably not meant.
func warnings(spec *v1.CronJobSpec, inFields bool) admission.Warnings {
	var found admission.Warnings
	if deadline := spec.StartingDeadlineSeconds; deadline != nil && *deadline >= 0 && *deadline < shortDeadline {
		found = append(found, "spec.startingDeadlineSeconds: below 10, a tick may be missed in any busy moment of the control plane")
	}
	// The time zone does not matter for either, and a clock that shifts once a year is not worth a
	// warning.
	ticks, err := schedule.Parse(spec.Schedule, "")
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
	return append(found, unreachableDeadline(spec, ticks)...)
}

// unwatched returns the warning of a namespace in which the manager starts no Jobs. Another manager
// may, of which the webhooks don't know.
func unwatched(namespace string) string {
	return fmt.Sprintf("metadata.namespace: %q is not among the namespaces in which this operator starts Jobs (--namespaces): "+
		"nothing runs, unless another manager is there for this one", logs.Shorten(namespace, maxDetail))
}

// unreachableDeadline warns of Jobs that the next tick may replace before their own deadline ends
// them. Either they take less, and the deadline is too generous to be of use, or they take so long,
// and are never done.
func unreachableDeadline(spec *v1.CronJobSpec, ticks schedule.Schedule) admission.Warnings {
	deadline := spec.JobTemplate.Spec.ActiveDeadlineSeconds
	if spec.ConcurrencyPolicy != v1.ReplaceConcurrent || deadline == nil {
		return nil
	}
	gap, ok := gapBelow(ticks, *deadline)
	if !ok {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("spec.jobTemplate.spec.activeDeadlineSeconds: %d is longer than the %v from a tick to the next, "+
		"at which concurrencyPolicy Replace deletes a Job that still runs", *deadline, gap)}
}

// gapBelow returns a time between two ticks that is shorter than so many seconds, and reports
// whether there is one. It looks at as many ticks as a day can have, and so at each way in which
// days are divided.
func gapBelow(ticks schedule.Schedule, seconds int64) (time.Duration, bool) {
	if interval := ticks.Interval(); interval != 0 {
		return interval, int64(interval/time.Second) < seconds
	}
	const minutesOfADay = 24 * 60
	tick, ok := ticks.Next(time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC))
	for range minutesOfADay {
		next, more := ticks.Next(tick)
		if !ok || !more {
			break
		}
		if gap := next.Sub(tick); int64(gap/time.Second) < seconds {
			return gap, true
		}
		tick = next
	}
	return 0, false
}
