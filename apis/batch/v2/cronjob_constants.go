// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

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
