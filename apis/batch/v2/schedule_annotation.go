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

// Several schedules of one version may convert to the same one of the other: "@hourly" and "0 * * *
// *" are both {minute: "0"}, and {hour: "9", month: "*"} is the same text as {hour: "9"}. If
// converting back does not restore a schedule, the converted object keeps it in an annotation:
//
//	v1 stored             "@hourly"          ──►  v2 {minute: "0"} + schedule-v1: @hourly
//	v2 {hour: 9, month: *}                   ──►  v1 "* 9 * * *"   + schedule-v2: {"hour":"9","month":"*"}
//
// The annotation counts only while it converts to exactly the schedule of the object. After an edit
// of that schedule it is stale and dropped, so that no older text ever comes back.
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

// keeper has the keys of the annotations that keep a field: v1 keeps its v1 value on a v2 object,
// and v2 its v2 value on a v1 object.
type keeper struct{ v1, v2 string }

var (
	scheduleKeeper   = keeper{ScheduleV1Annotation, ScheduleV2Annotation}
	additionalKeeper = keeper{AdditionalSchedulesV1Annotation, AdditionalSchedulesV2Annotation}
)

// scheduleFromHub converts a v1 schedule text and its object's annotations to v2.
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

// scheduleToHub converts a v2 schedule and its object's annotations to v1.
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

// keptSchedule reads a kept v2 schedule, and reports whether scheduleToHub would keep it for this
// text. Anything else is stale, or was not written by this package.
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

// encodeSchedule returns a schedule as JSON.
func encodeSchedule(schedule CronSchedule) string {
	raw, err := json.Marshal(schedule)
	if err != nil { // impossible: the type has only strings
		return "{}"
	}
	return string(raw)
}

// drop returns the annotations without the keeper's, in a copy. It returns them unchanged if the
// API server would refuse the rest: it checks annotations only if a conversion changes them.
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

// keep returns the annotations with this one as the only one of the keeper's. It leaves it out if
// the API server would refuse the result.
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

// areAccepted reports whether the API server accepts these annotations: it limits their size and
// keys. If a conversion returned others, it would fail, and with it every list that has the object.
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
