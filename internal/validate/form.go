// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"tutorial.kubebuilder.io/project/apis/batch"
	"tutorial.kubebuilder.io/project/apis/batch/spoke"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// Form is how the schedules of a CronJob are written in the version that the user sees. Errors and
// warnings name the places that are there. The zero value is that of the hub, where each is a text.
type Form struct {
	members spoke.Members
	spec    map[string]any
}

// FormOf returns the form of an object, which is JSON of any version.
func FormOf(object map[string]any) Form {
	for _, version := range batch.Versions.Spokes {
		if version.APIVersion == object["apiVersion"] {
			spec, _ := object["spec"].(map[string]any)
			return Form{version.Members, spec}
		}
	}
	return Form{}
}

// FormIn returns the form that a hub object has in another version.
func FormIn(apiVersion string, c *v1.CronJob) Form {
	hub := batch.Versions.Hub
	if apiVersion == hub.APIVersion {
		return Form{}
	}
	var object map[string]any
	raw, err := json.Marshal(map[string]any{ // the whole object would take longer
		"apiVersion": hub.APIVersion, "kind": hub.Kind, "metadata": map[string]any{"annotations": c.Annotations},
		"spec": map[string]any{hub.Members.Value: c.Spec.Schedule, hub.Members.List: c.Spec.AdditionalSchedules},
	})
	if err == nil {
		raw, err = batch.Versions.ConvertJSON(raw, apiVersion)
	}
	if err != nil || json.Unmarshal(raw, &object) != nil {
		return Form{}
	}
	return FormOf(object)
}

// place is where a schedule is written.
type place struct {
	path *field.Path

	// fields are those of a cron expression that are set there.
	fields map[string]string
}

// placeOf returns the place of a schedule of the hub: 0 is spec.schedule, and the others are the
// additional ones. A version may write several of them at one place.
func (f Form) placeOf(i int) place {
	path, members := field.NewPath("spec"), f.members
	if f.spec == nil {
		members = batch.Versions.Hub.Members
	}
	list, _ := f.spec[members.List].([]any)
	switch {
	case i == 0:
		return place{path.Child(members.Value), fieldsOf(f.spec[members.Value])}
	case f.spec == nil:
		return place{path.Child(members.List).Index(i - 1), nil}
	case i <= len(list):
		return place{path.Child(members.List).Index(i - 1), fieldsOf(list[i-1])}
	}
	return place{path.Child(members.Value), nil}
}

// fieldsOf returns the texts in a value.
func fieldsOf(value any) map[string]string {
	members, _ := value.(map[string]any)
	fields := make(map[string]string, len(members))
	for name, member := range members {
		if text, isText := member.(string); isText {
			fields[name] = text
		}
	}
	return fields
}

// Warning returns a warning about a schedule with the place where it is written. The schedules are
// counted as in placeOf.
func (f Form) Warning(i int, warning schedule.Warning) Warning {
	p := f.placeOf(i)
	_, isInFields := p.fields[warning.Field]
	path, reason := warning.Place(p.path.String(), isInFields)
	return Warning{path, reason}
}

// Warnings returns the warnings about the texts of schedules, in the order of placeOf.
func (f Form) Warnings(texts ...string) []Warning {
	var found []Warning
	for i, text := range texts {
		for _, warning := range schedule.Warnings(text) {
			found = append(found, f.Warning(i, warning))
		}
	}
	return found
}
