// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"bytes"
	"encoding/json"
	"testing"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// versions are the hub and this version alone.
var versions = spoke.Table{Hub: v1.Conversion, Spokes: []spoke.Spoke{Spoke}}

// dropStale drops what is stale on a hub object.
func dropStale(hub *v1.CronJob) {
	hub.Annotations = versions.DropStale(hub.Annotations, append([]string{hub.Spec.Schedule}, hub.Spec.AdditionalSchedules...)...)
}

// fieldsOf is what a v1 text becomes; its zero value if it is not a schedule.
func fieldsOf(t testing.TB, text string) CronSchedule {
	t.Helper()
	return toSpoke(t, hubWith(text)).Spec.Schedule
}

// textOf is what a v2 schedule becomes.
func textOf(t testing.TB, schedule CronSchedule) string {
	t.Helper()
	return toHub(t, spokeWith(schedule)).Spec.Schedule
}

func encodeSchedule(schedule CronSchedule) string {
	raw, _ := json.Marshal(schedule) // the type has only strings
	return string(raw)
}

func (s *CronSchedule) fields() [5]**CronField {
	return [5]**CronField{&s.Minute, &s.Hour, &s.DayOfMonth, &s.Month, &s.DayOfWeek}
}

// encode returns a value as JSON without escapes of <, > and &.
func encode(value any) string {
	out := &bytes.Buffer{}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return string(bytes.TrimSpace(out.Bytes()))
}

// membersOf returns the members of a value; none if it is not an object.
func membersOf(t testing.TB, value json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	return members
}

// annotationsOf returns the annotations of an object; none if they are not strings.
func annotationsOf(t testing.TB, object []byte) map[string]string {
	t.Helper()
	var annotations map[string]string
	raw := membersOf(t, membersOf(t, object)["metadata"])["annotations"]
	if raw == nil || json.Unmarshal(raw, &annotations) != nil {
		return nil
	}
	return annotations
}
