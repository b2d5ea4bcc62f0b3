// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import "encoding/json"

// JSON may have any value in place of a list of schedules. The conversion copies a wrong value: it
// is invalid in both versions, and the schema of the version that the user wrote gives the best
// error. But a list of texts in v2, or of v2's schedules in v1, would become valid by that. Such a
// list is converted to a text that contains it, which is invalid in both versions.

// additionalMember is the field of the spec.
const additionalMember = "additionalSchedules"

// additionalFromHub converts the additional schedules to v2.
func (o *rawObject) additionalFromHub() {
	if !o.isWhole() {
		return
	}
	raw := o.spec[additionalMember]
	if hidden := json.RawMessage(textOf(raw)); len(readTexts(hidden)) > 0 && string(encode(hidden)) == string(hidden) {
		o.spec[additionalMember] = hidden // a list of texts that was written in v2
		return
	}
	texts := readTexts(raw)
	switch {
	case texts != nil || isMissing(raw):
		var schedules []CronSchedule
		if schedules, o.annotations = additionalFromHub(texts, o.annotations); len(schedules) > 0 {
			o.spec[additionalMember] = encode(schedules)
		}
	case readSchedules(raw) != nil:
		o.spec[additionalMember] = encode(string(encode(raw)))
	}
}

// additionalToHub converts the additional schedules to v1.
func (o *rawObject) additionalToHub() {
	if !o.isWhole() {
		return
	}
	raw := o.spec[additionalMember]
	schedules := readSchedules(raw)
	switch {
	case schedules != nil || isMissing(raw):
		var texts []string
		if texts, o.annotations = additionalToHub(schedules, o.annotations); len(texts) > 0 {
			o.spec[additionalMember] = encode(texts)
		}
	case readTexts(raw) != nil:
		o.spec[additionalMember] = encode(string(encode(raw)))
	}
}

// readTexts reads a list of texts; nil if the value is not one.
func readTexts(raw json.RawMessage) []string {
	elements := readList[*string](string(raw))
	if elements == nil {
		return nil
	}
	texts := make([]string, len(elements))
	for i, element := range elements {
		if element == nil {
			return nil
		}
		texts[i] = *element
	}
	return texts
}

// readSchedules reads a list of v2's schedules; nil if the value is not one. It accepts {}, to
// which a v1 text that is no schedule converts.
func readSchedules(raw json.RawMessage) []CronSchedule {
	elements := readList[json.RawMessage](string(raw))
	if elements == nil {
		return nil
	}
	schedules := make([]CronSchedule, len(elements))
	for i, element := range elements {
		var ok bool
		if schedules[i], ok = readSchedule(element); ok {
			continue
		}
		if members, isObject := readObject(element); !isObject || len(members) > 0 {
			return nil
		}
	}
	return schedules
}
