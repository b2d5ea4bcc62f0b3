// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

var (
	_ conversion.Hub         = &v1.CronJob{}
	_ conversion.Convertible = &CronJob{}
)

// Annotations keep the schedules that the fields or the text of the other version can't reproduce:
// see package spoke.
const (
	// ScheduleV1Annotation holds, on a v2 object, the v1 schedule text that its fields can't
	// reproduce.
	ScheduleV1Annotation = "batch.tutorial.kubebuilder.io/schedule-v1"

	// ScheduleV2Annotation holds, on a v1 object, the v2 schedule, as JSON, that its text can't
	// reproduce.
	ScheduleV2Annotation = "batch.tutorial.kubebuilder.io/schedule-v2"

	// AdditionalSchedulesV1Annotation and AdditionalSchedulesV2Annotation hold
	// spec.additionalSchedules as a JSON list, if one of them can't be reproduced.
	AdditionalSchedulesV1Annotation = "batch.tutorial.kubebuilder.io/additional-schedules-v1"
	AdditionalSchedulesV2Annotation = "batch.tutorial.kubebuilder.io/additional-schedules-v2"
)

// Spoke is how this version converts to the hub and back.
var Spoke = spoke.NewSpoke(spoke.Spoke{
	APIVersion: GroupVersion.String(), Object: &CronJob{}, Members: v1.Conversion.Members, Shown: "schedule",
}, spoke.Each(split, join))

// ConvertTo converts this CronJob to the hub version. An annotation keeps what the hub's fields
// can't express. Only status.schedule is lost, which ConvertFrom sets again. It fails only if the
// hub is of another kind.
func (c *CronJob) ConvertTo(hub conversion.Hub) error { return convert(c, hub) }

// ConvertFrom sets this CronJob from the hub version. An annotation keeps what its fields can't
// express, so nothing is lost. It fails only if the hub is of another kind.
func (c *CronJob) ConvertFrom(hub conversion.Hub) error { return convert(hub, c) }
