// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// everyName is the field of an interval.
const everyName = "every"

// field is a field of a v2 schedule as a manifest writes it.
type field struct{ name, text string }

// fieldsOf returns the fields that are set, in their order.
func fieldsOf(s v2.CronSchedule) []field {
	var fields []field
	for _, f := range cronFields(&s) {
		if *f.value != nil {
			fields = append(fields, field{f.name, string(**f.value)})
		}
	}
	if s.Every != "" {
		fields = append(fields, field{everyName, s.Every})
	}
	return fields
}

// cronField is one of the five fields by its name.
type cronField struct {
	name  string
	value **v2.CronField
}

// cronFields returns the five fields of a schedule.
func cronFields(s *v2.CronSchedule) []cronField {
	return []cronField{
		{"minute", &s.Minute},
		{"hour", &s.Hour},
		{"dayOfMonth", &s.DayOfMonth},
		{"month", &s.Month},
		{"dayOfWeek", &s.DayOfWeek},
	}
}

// writtenOut sets the fields that are not set to "*", which means the same. In a patch, which is
// merged field by field, it says the same whatever it is merged into.
func writtenOut(s v2.CronSchedule) v2.CronSchedule {
	if s.Every != "" {
		return s
	}
	for _, f := range cronFields(&s) {
		if *f.value == nil {
			*f.value = new(v2.CronField("*"))
		}
	}
	return s
}

// toFields splits a v1 schedule, as the typed conversion does.
func toFields(text string) (v2.CronSchedule, error) {
	spoke := &v2.CronJob{}
	err := spoke.ConvertFrom(&v1.CronJob{Spec: v1.CronJobSpec{Schedule: text}})
	return spoke.Spec.Schedule, err
}

// toText joins a v2 schedule, as the typed conversion does.
func toText(fields v2.CronSchedule) (string, error) {
	hub := &v1.CronJob{}
	err := (&v2.CronJob{Spec: v2.CronJobSpec{Schedule: fields}}).ConvertTo(hub)
	return hub.Spec.Schedule, err
}

// readText reads and checks a v1 schedule. It has a zone only if it is of a built-in CronJob.
func (c *conversion) readText(job cronJob, s slot) (text, zone string, err error) {
	at := c.offset(s.value)
	if !isString(s.value) {
		return "", "", troublef(at, "%s: want a text such as \"*/5 * * * *\"", s.path)
	}
	if text = s.value.Value; job.isBuiltIn() {
		if text, zone, err = c.imported(job, s.entry); err != nil {
			return "", "", err
		}
	}
	if templateAction.MatchString(text) {
		return "", "", errTemplate(at)
	}
	if _, err := s.parse(text, zone); err != nil {
		return "", "", troublef(at, "%s: %v", s.path, err)
	}
	c.noteWarnings(s, text, false)
	if zone != "" {
		c.note(at, "the time zone in spec.schedule becomes timeZone: "+zone)
	}
	return text, zone, nil
}

// imported is what becomes of the schedule of a built-in CronJob: our text of it, and the time zone
// to be set, "" if there is none to set.
func (c *conversion) imported(job cronJob, e entry) (text, zone string, err error) {
	text, zone, hasPrefix := builtin.SplitZone(e.value.Value)
	timeZone, hasZone := lookup(job.spec, "timeZone")
	if hasPrefix && hasZone {
		return "", "", troublef(c.offset(e.value), "spec.schedule: has a time zone, and timeZone is set as well: remove one of them")
	}
	if isPartial(job.spec) {
		return text, zone, nil
	}
	original := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: e.value.Value}}
	if hasZone {
		original.Spec.TimeZone = &resolve(timeZone.value).Value
	}
	_, notes := builtin.Import(original)
	for _, note := range notes {
		c.note(c.offset(e.value), note)
	}
	return text, zone, nil
}

// CheckSchedules says what is wrong with the schedules of a v2 CronJob, as the API server does.
func CheckSchedules(spec *v2.CronJobSpec) error {
	_, err := checkFields(schedulePath, spec.Schedule, schedule.ParseNew)
	for i, fields := range spec.AdditionalSchedules {
		if err == nil {
			_, err = checkFields(itemPath(i), fields, schedule.ParseCombined)
		}
	}
	return err
}

// checkFields says what is wrong with one of them, and what its text would be.
func checkFields(path string, fields v2.CronSchedule, parse schedule.Parser) (string, error) {
	set := map[string]string{}
	for _, f := range fieldsOf(fields) {
		set[f.name] = f.text
	}
	if len(set) == 0 {
		return "", fmt.Errorf("%s: set at least one of minute, hour, dayOfMonth, month, dayOfWeek or every", path)
	}
	if mistakes := schedule.CheckFields(set); len(mistakes) > 0 {
		first := mistakes[0]
		if first.Field == "" {
			return "", fmt.Errorf("%s: %s", path, first.Reason)
		}
		return "", fmt.Errorf("%s.%s: Invalid value: %q: %s", path, first.Field, first.Value, first.Reason)
	}
	text, err := toText(fields)
	if err == nil {
		_, err = parse(text, "")
	}
	if err != nil {
		return text, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// noteWarnings notes what admission warns of in a schedule, which may be in fields.
func (c *conversion) noteWarnings(s slot, text string, inFields bool) {
	for _, warning := range schedule.Warnings(text) {
		c.note(c.offset(s.value), warning.At(s.path, inFields))
	}
}

// errNoFields is the error for a v2 schedule that is no mapping.
var errNoFields = errors.New("want fields such as {minute: \"*/5\"}")

// readFields reads and checks a v2 schedule. One that is part of a patch has to have all fields.
func (c *conversion) readFields(s slot, isPart bool) (v2.CronSchedule, error) {
	fields, at := v2.CronSchedule{}, c.offset(s.value)
	if s.value.Kind != yaml.MappingNode {
		return fields, troublef(at, "%s: %v", s.path, errNoFields)
	}
	for i := 0; i+1 < len(s.value.Content); i += 2 {
		key, value := s.value.Content[i], s.value.Content[i+1]
		name := s.path + "." + key.Value
		if err := c.refuseShared(entry{key: key, value: value}); err != nil {
			return fields, err
		}
		if isNull(value) {
			return fields, troublef(c.offset(key), "%s: is null, which v1 can't say: leave it out", name)
		}
		if err := setField(&fields, key.Value, value); err != nil {
			return fields, troublef(c.offset(key), "%s: %v", name, err)
		}
	}
	if isPart && fields.Every == "" && len(fieldsOf(fields)) < len(cronFields(&fields)) {
		return fields, troublef(at, "%s: a patch sets some of the fields, and those of what it patches are not known here: "+
			"write out all five", s.path)
	}
	text, err := checkFields(s.path, fields, s.parse)
	if err != nil {
		return fields, troublef(at, "%v", err)
	}
	c.noteWarnings(s, text, true)
	return fields, nil
}

// setField sets a field of a v2 schedule.
func setField(fields *v2.CronSchedule, name string, value *yaml.Node) error {
	switch {
	case value.Kind == yaml.ScalarNode && !isString(value):
		return fmt.Errorf("want a string: put %s in quotes", write(value.Value, double, false))
	case !isString(value):
		return errors.New("want a string")
	case value.Value == "":
		return errors.New("is empty")
	case name == everyName:
		fields.Every = value.Value
		return nil
	}
	for _, f := range cronFields(fields) {
		if f.name == name {
			*f.value = new(v2.CronField(value.Value))
			return nil
		}
	}
	return errors.New("is no field of a schedule")
}

// isPartial reports whether a spec is part of a patch: it lacks what every CronJob has.
func isPartial(spec *yaml.Node) bool {
	_, ok := lookup(spec, "jobTemplate")
	return !ok
}
