// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// ConvertJSON converts a CronJob of either version, as JSON, to an API version. The result is that
// of ConvertTo and ConvertFrom, which are for Go programs. But it changes only apiVersion, the
// schedules, their annotations and status.schedule, and copies everything else as bytes: "1000m"
// does not become "1", partial objects get no empty fields, and a value that the Go types can't
// decode does not fail a list.
//
// The API server checks the converted object, and fails the whole request if it has no metadata,
// labels or annotations that are not strings, or JSON that it can't decode. So ConvertJSON adds
// empty metadata, and drops such labels and annotations.
//
// It fails for what is not a JSON object, for another kind, and for unknown versions.
func ConvertJSON(object []byte, apiVersion string) ([]byte, error) {
	parts, err := takeApart(object)
	if err != nil {
		return nil, err
	}
	if kind := textOf(parts.top["kind"]); kind != "CronJob" {
		return nil, fmt.Errorf("converting kind %.60q: want CronJob", kind)
	}
	hub, spoke := v1.GroupVersion.String(), GroupVersion.String()
	switch from := textOf(parts.top["apiVersion"]); {
	case from == apiVersion && (from == hub || from == spoke):
		return object, nil
	case from == hub && apiVersion == spoke:
		parts.fromHub()
		parts.additionalFromHub()
	case from == spoke && apiVersion == hub:
		parts.toHub()
		parts.additionalToHub()
	default:
		return nil, fmt.Errorf("converting from %.60q to %.60q: want %s and %s", from, apiVersion, hub, spoke)
	}
	return parts.assemble(apiVersion), nil
}

// jsonObject is a JSON object whose members are not decoded.
type jsonObject map[string]json.RawMessage

// readObject reads the members of a value, and reports whether it is an object.
func readObject(value json.RawMessage) (jsonObject, bool) {
	var object jsonObject
	err := json.Unmarshal(value, &object)
	return object, err == nil && object != nil
}

// textOf returns a value if it is a string; "" if it is not.
func textOf(value json.RawMessage) string {
	text := ""
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// rawObject has the parts of a CronJob that a conversion reads.
type rawObject struct {
	top, metadata, spec jsonObject

	// annotations are those to write, and stored those that were read.
	annotations, stored map[string]string

	// hasMetadata and hasSpec are whether these parts are objects. Without metadata there is no
	// place to keep a schedule, and without a spec there is none to convert.
	hasMetadata, hasSpec bool
}

// takeApart splits an object into those parts.
func takeApart(object []byte) (*rawObject, error) {
	o := &rawObject{}
	var ok bool
	if o.top, ok = readObject(object); !ok {
		var nothing any
		err := json.Unmarshal(object, &nothing)
		return nil, fmt.Errorf("reading the object: %w", cmp.Or(err, errors.New("it is JSON, but no object")))
	}
	o.spec, o.hasSpec = readObject(o.top["spec"])
	if o.metadata, o.hasMetadata = readObject(o.top["metadata"]); !o.hasMetadata {
		o.metadata, o.hasMetadata = jsonObject{}, isMissing(o.top["metadata"])
	}
	o.takeStrings("labels")
	o.stored = o.takeStrings("annotations")
	o.annotations = o.stored
	return o, nil
}

// isMissing reports whether a member is absent or null.
func isMissing(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// takeStrings returns a map of strings in the metadata, and drops the member if it is anything
// else. The API server also drops it when it reads a stored object, and refuses it in a converted
// one. A null among the strings becomes an empty string.
func (o *rawObject) takeStrings(member string) map[string]string {
	raw := o.metadata[member]
	if isMissing(raw) {
		return nil
	}
	var values map[string]string
	if json.Unmarshal(raw, &values) != nil {
		delete(o.metadata, member)
		return nil
	}
	if bytes.Contains(raw, []byte("null")) {
		o.metadata[member] = encode(values)
	}
	return values
}

// fromHub converts the schedule to v2.
func (o *rawObject) fromHub() {
	o.dropShownSchedule() // v1 has no such field
	text, isText := "", true
	if raw := o.spec["schedule"]; raw != nil {
		isText = json.Unmarshal(raw, &text) == nil && string(raw) != "null"
	}
	if !o.isWhole() {
		return
	}
	if !isText {
		o.hideObject()
		return
	}
	o.showSchedule(text)
	if kept, ok := o.annotations[ScheduleV2Annotation]; ok && text == "" && isUnreadable(json.RawMessage(kept)) && isDecodable(kept) {
		o.spec["schedule"] = json.RawMessage(kept)
		o.annotations = scheduleKeeper.drop(o.annotations)
		return
	}
	var schedule CronSchedule
	schedule, o.annotations = scheduleFromHub(text, o.annotations)
	// A text that is no schedule becomes {}, and is not left out. The API server accepts edits of
	// an object with an invalid schedule that stays the same, but not of one without a schedule.
	o.setSchedule(schedule, text == "" && schedule.isZero())
}

// isWhole reports whether there is a spec with a schedule to convert, and metadata to keep one.
func (o *rawObject) isWhole() bool { return o.hasMetadata && o.hasSpec }

// hideObject converts a v1 schedule that is an object to a text. The object is invalid in v1 but
// could be valid in v2; the text is invalid in v2 too.
func (o *rawObject) hideObject() {
	raw := o.spec["schedule"]
	if _, ok := readObject(raw); ok {
		o.spec["schedule"] = encode(string(raw))
	}
}

// toHub converts the schedule to v1.
func (o *rawObject) toHub() {
	o.dropShownSchedule()
	if !o.isWhole() {
		return
	}
	raw := o.spec["schedule"]
	isSet := raw != nil
	if isSet && isUnreadable(raw) && !o.keepsText(raw) {
		// Keep what the user wrote, such as {minute: 0}. v2's schema checks it after the defaulting
		// webhook of v1, and names the wrong field.
		o.annotations = scheduleKeeper.keep(o.annotations, ScheduleV2Annotation, string(raw))
		delete(o.spec, "schedule")
		return
	}
	schedule, ok := readSchedule(raw)
	if isSet && !ok && !o.keepsText(raw) {
		return
	}
	var text string
	text, o.annotations = scheduleToHub(schedule, o.annotations)
	o.setSchedule(text, text == "")
}

// keepsText reports whether a v2 schedule is the {} that a v1 text became because it is no
// schedule.
func (o *rawObject) keepsText(raw json.RawMessage) bool {
	object, ok := readObject(raw)
	kept := o.annotations[ScheduleV1Annotation]
	return kept != "" && splitSchedule(kept).isZero() && ok && len(object) == 0
}

// setSchedule sets the schedule of the spec, or removes it if there is none.
func (o *rawObject) setSchedule(schedule any, none bool) {
	if none {
		delete(o.spec, "schedule")
		return
	}
	o.spec["schedule"] = encode(schedule)
}

// assemble puts the parts together again.
func (o *rawObject) assemble(apiVersion string) []byte {
	o.top["apiVersion"] = encode(apiVersion)
	if o.hasSpec {
		o.top["spec"] = encode(o.spec)
	}
	if o.hasMetadata {
		if !maps.Equal(o.annotations, o.stored) {
			o.setAnnotations()
		}
		o.top["metadata"] = encode(o.metadata)
	}
	return encode(o.top)
}

// setAnnotations sets the annotations in the metadata, or removes them if there are none.
func (o *rawObject) setAnnotations() {
	if len(o.annotations) == 0 {
		delete(o.metadata, "annotations")
	} else {
		o.metadata["annotations"] = encode(o.annotations)
	}
}

// readSchedule reads a v2 schedule from valid JSON, and reports whether a CronSchedule can hold all
// of it and has a field set. It ignores unknown members and nulls, because the API server drops
// them.
func readSchedule(raw json.RawMessage) (CronSchedule, bool) {
	members, _ := readObject(raw)
	schedule, count := CronSchedule{}, 0
	fields := schedule.fields()
	for name, value := range members {
		i := slices.Index(scheduleMembers, name)
		if i < 0 || string(value) == "null" {
			continue
		}
		text := ""
		switch err := json.Unmarshal(value, &text); {
		case err != nil:
			return CronSchedule{}, false
		case i < len(fields):
			*fields[i] = new(CronField(text))
		case text == "": // the same as no "every"
			return CronSchedule{}, false
		default:
			schedule.Every = text
		}
		count++
	}
	return schedule, count > 0
}

// scheduleMembers are the JSON names of a CronSchedule's fields, in order.
var scheduleMembers = []string{"minute", "hour", "dayOfMonth", "month", "dayOfWeek", "every"}

// isUnreadable reports whether a value is a wrong v2 schedule as users may write it: an object that
// readSchedule refuses, or a text as in v1.
func isUnreadable(raw json.RawMessage) bool {
	if _, ok := readObject(raw); ok {
		_, ok := readSchedule(raw)
		return !ok
	}
	text := ""
	return json.Unmarshal(raw, &text) == nil && string(raw) != "null"
}

// isDecodable reports whether the API server can decode a schedule that is valid JSON. Its nesting,
// with the five levels of the answer around it, must be within the decoder's limit, and its numbers
// must fit into Go's types.
func isDecodable(schedule string) bool {
	var values any
	return json.Unmarshal([]byte("[[[[["+schedule+"]]]]]"), &values) == nil
}

// encode returns a value that came from JSON, or has only strings, as JSON. Unlike json.Marshal, it
// does not escape <, > and &, which would take six times as many bytes.
func encode(value any) json.RawMessage {
	out := &bytes.Buffer{}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // impossible: its raw parts have been decoded before
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
