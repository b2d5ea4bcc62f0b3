// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"encoding/json"
	"maps"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The two versions' schedules do not always say the same in the fields alone: "@hourly" and "0 * *
// * *" are both {minute: "0"}, and {hour: "9", month: "*"} is the same text as {hour: "9"}. Where
// what one version says can't be had back from the other's field, the other version carries it in
// an annotation:
//
//	v1 stored             "@hourly"          ──►  v2 {minute: "0"} + schedule-v1: @hourly
//	v2 {hour: 9, month: *}                   ──►  v1 "* 9 * * *"   + schedule-v2: {"hour":"9","month":"*"}
//
// The annotation counts only while it stands for exactly the schedule beside it. Once a user has
// changed that schedule it is stale and dropped, so that no older text ever comes back.
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

// keeper names the annotations that keep a field: what it is in v1 on a v2 object, and what it is in
// v2 on a v1 object.
type keeper struct{ v1, v2 string }

var (
	scheduleKeeper   = keeper{ScheduleV1Annotation, ScheduleV2Annotation}
	additionalKeeper = keeper{AdditionalSchedulesV1Annotation, AdditionalSchedulesV2Annotation}
)

// scheduleFromHub turns a v1 schedule text and its object's annotations into those of v2.
func scheduleFromHub(text string, annotations map[string]string) (CronSchedule, map[string]string) {
	if kept, ok := annotations[ScheduleV2Annotation]; ok {
		if schedule, ok := keptSchedule(kept, text); ok {
			return schedule, scheduleKeeper.drop(annotations)
		}
	}
	schedule := splitSchedule(text)
	if joinSchedule(schedule) == text {
		return schedule, scheduleKeeper.drop(annotations)
	}
	return schedule, scheduleKeeper.keep(annotations, ScheduleV1Annotation, text)
}

// scheduleToHub turns a v2 schedule and its object's annotations into those of v1.
func scheduleToHub(schedule CronSchedule, annotations map[string]string) (string, map[string]string) {
	text := joinSchedule(schedule)
	if kept, ok := annotations[ScheduleV1Annotation]; ok && kept != text && splitSchedule(kept).equal(schedule) {
		return kept, scheduleKeeper.drop(annotations)
	}
	if splitSchedule(text).equal(schedule) {
		return text, scheduleKeeper.drop(annotations)
	}
	return text, scheduleKeeper.keep(annotations, ScheduleV2Annotation, encodeSchedule(schedule))
}

// keptSchedule reads a kept v2 schedule, and reports whether it is one that scheduleToHub would
// keep beside this text. Anything else is stale, or somebody else's.
func keptSchedule(kept, text string) (CronSchedule, bool) {
	schedule := CronSchedule{}
	if json.Unmarshal([]byte(kept), &schedule) != nil {
		return CronSchedule{}, false
	}
	valid := joinSchedule(schedule) == text &&
		!splitSchedule(text).equal(schedule) &&
		encodeSchedule(schedule) == kept
	return schedule, valid
}

// encodeSchedule writes a schedule as JSON, always in the same way.
func encodeSchedule(schedule CronSchedule) string {
	raw, err := json.Marshal(schedule)
	if err != nil { // can't be: the type has only strings
		return "{}"
	}
	return string(raw)
}

// drop returns the annotations without the keeper's, or as they are if the API server would refuse
// the rest: it checks the annotations that a conversion changes. The argument stays as it is.
func (k keeper) drop(annotations map[string]string) map[string]string {
	_, v1 := annotations[k.v1]
	_, v2 := annotations[k.v2]
	if !v1 && !v2 {
		return annotations
	}
	rest := maps.Clone(annotations)
	delete(rest, k.v1)
	delete(rest, k.v2)
	switch {
	case !areAccepted(rest):
		return annotations
	case len(rest) == 0:
		return nil
	}
	return rest
}

// keep returns the annotations with this one as the only one of the keeper's. Without it, if the
// API server would refuse them together.
func (k keeper) keep(annotations map[string]string, key, value string) map[string]string {
	rest := k.drop(annotations)
	merged := make(map[string]string, len(rest)+1)
	maps.Copy(merged, rest)
	merged[key] = value
	if !areAccepted(merged) {
		return rest
	}
	return merged
}

// areAccepted reports whether the API server takes these annotations: their size and their keys are
// limited. A conversion that changes them to others fails, and with it every list of the object.
func areAccepted(annotations map[string]string) bool {
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		return false
	}
	for key := range annotations {
		if len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
			return false
		}
	}
	return true
}
