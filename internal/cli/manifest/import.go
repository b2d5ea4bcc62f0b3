// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	batchv1 "k8s.io/api/batch/v1"

	"tutorial.kubebuilder.io/project/internal/cli/builtin"
)

// imported is what becomes of the schedule of a built-in CronJob: our text of it, and the time zone
// to be set, "" if there is none to set.
func (c *conversion) imported(job cronJob, e entry) (text, zone string, err error) {
	original := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: e.value.Value}}
	timeZone, hasZone := lookup(job.spec, "timeZone")
	if hasZone {
		original.Spec.TimeZone = &resolve(timeZone.value).Value
	}
	ours, notes := builtin.Import(original)
	if ours.Spec.TimeZone != nil {
		zone = *ours.Spec.TimeZone
	}
	if _, _, prefixed := builtin.SplitZone(e.value.Value); !prefixed {
		zone = "" // which is what timeZone says
	} else if hasZone {
		return "", "", troublef(c.offset(e.value), "spec.schedule: has a time zone, and timeZone is set as well: remove one of them")
	}
	if !isPartial(job.spec) {
		for _, note := range notes {
			c.note(c.offset(e.value), note.String())
		}
	}
	return ours.Spec.Schedule, zone, nil
}
