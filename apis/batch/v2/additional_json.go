// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import "encoding/json"

// JSON may have anything in place of a list of schedules. What is none is passed on as it is: no
// schema accepts it, and that of the version which the user wrote says best what is wrong with it.
// Only a list of texts in v2, and one of v2's schedules in v1, would turn valid by that. They are
// passed on as a text that has the list, which is invalid in both versions.

// additionalMember is the field of the spec.
const additionalMember = "additionalSchedules"

// additionalFromHub converts the additional schedules to v2.
func (o *rawObject) additionalFromHub() {
	if !o.isWhole() {
		return
	}
	raw := o.spec[additionalMember]
	if hidden := json.RawMessage(textOf(raw)); len(readTexts(hidden)) > 0 && string(encode(hidden)) == string(hidden) {
		o.spec[additionalMember] = hidden // what a user wrote in v2
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

// readTexts reads a list of texts; nil if it is none.
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

// readSchedules reads a list of v2's schedules; nil if it is none. {} is one of nothing, as which a
// text shows that is no schedule.
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
