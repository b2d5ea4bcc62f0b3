// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

const (
	// everyName is the field of an interval.
	everyName = "every"

	// schedulePath is where the schedule is.
	schedulePath = "spec.schedule"
)

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
func toFields(text string, annotations map[string]string) (v2.CronSchedule, error) {
	spoke := &v2.CronJob{}
	hub := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}, Spec: v1.CronJobSpec{Schedule: text}}
	err := spoke.ConvertFrom(hub)
	return spoke.Spec.Schedule, err
}

// toText joins a v2 schedule, as the typed conversion does.
func toText(fields v2.CronSchedule, annotations map[string]string) (string, error) {
	hub := &v1.CronJob{}
	spoke := &v2.CronJob{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}, Spec: v2.CronJobSpec{Schedule: fields}}
	err := spoke.ConvertTo(hub)
	return hub.Spec.Schedule, err
}

// readText reads and checks a v1 schedule. It has a zone only if it is of a built-in CronJob.
func (c *conversion) readText(job cronJob, e entry) (text, zone string, err error) {
	at := c.offset(e.value)
	if !isString(e.value) {
		return "", "", troublef(at, "spec.schedule: want a text such as \"*/5 * * * *\"")
	}
	if text = e.value.Value; job.isBuiltIn() {
		if text, zone, err = c.imported(job, e); err != nil {
			return "", "", err
		}
	}
	if templateAction.MatchString(text) {
		return "", "", errTemplate(at)
	}
	if _, err := schedule.ParseNew(text, zone); err != nil {
		return "", "", troublef(at, "spec.schedule: %v", err)
	}
	c.noteWarnings(at, schedulePath, text, false)
	if zone != "" {
		c.note(at, "the time zone in spec.schedule becomes timeZone: "+zone)
	}
	return text, zone, nil
}

// imported is what becomes of the schedule of a built-in CronJob: our text of it, and the time zone
// to be set, "" if there is none to set.
func (c *conversion) imported(job cronJob, e entry) (text, zone string, err error) {
	original := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: e.value.Value}}
	timeZone, hasZone := lookup(job.spec, "timeZone")
	if hasZone {
		original.Spec.TimeZone = &resolve(timeZone.value).Value
	}
	ours, notes := builtin.Import(original)
	if ours.Spec.TimeZone != nil {
		zone = *ours.Spec.TimeZone
	}
	if _, _, prefixed := builtin.SplitZone(e.value.Value); !prefixed {
		zone = "" // which is what timeZone says
	} else if hasZone {
		return "", "", troublef(c.offset(e.value), "spec.schedule: has a time zone, and timeZone is set as well: remove one of them")
	}
	if !isPartial(job.spec) {
		for _, note := range notes {
			c.note(c.offset(e.value), note)
		}
	}
	return ours.Spec.Schedule, zone, nil
}

// scheduleToFields converts the schedule of a v1 or built-in CronJob.
func (c *conversion) scheduleToFields(job cronJob, e entry) error {
	text, zone, err := c.readText(job, e)
	if err != nil {
		return err
	}
	if c.options.To == V1 {
		if zone == "" && text == e.value.Value {
			return nil
		}
		return c.spliceText(job, e, text, zone)
	}
	fields, err := toFields(text, job.annotations)
	if err != nil {
		return troublef(c.offset(e.value), "spec.schedule: %v", err)
	}
	if back, err := toText(fields, nil); err == nil && back != text {
		c.note(c.offset(e.value), fmt.Sprintf("converted back to v1, the schedule would be %q", back))
	}
	if isPartial(job.spec) {
		fields = writtenOut(fields)
		advice := "all five fields are written out, so that it says the same whatever it is merged with"
		if fields.Every != "" {
			advice = "if what it patches sets other fields than every, set them to null here"
		}
		c.note(c.offset(e.value), "without jobTemplate this is a patch: "+advice)
	}
	return c.spliceFields(job, e, fieldsOf(fields), zone)
}

// scheduleToText converts the schedule of a v2 CronJob.
func (c *conversion) scheduleToText(job cronJob, e entry) error {
	at := c.offset(e.value)
	fields, err := c.readFields(schedulePath, e.value)
	if err != nil {
		return err
	}
	if isPartial(job.spec) && fields.Every == "" && len(fieldsOf(fields)) < len(cronFields(&fields)) {
		return troublef(at, "spec.schedule: a patch sets some of the fields, and those of what it patches are not known here: "+
			"write out all five")
	}
	if err := checkFields(schedulePath, fields, schedule.ParseNew); err != nil {
		return troublef(at, "%v", err)
	}
	text, err := toText(fields, job.annotations)
	if err != nil {
		return troublef(at, "spec.schedule: %v", err)
	}
	c.noteWarnings(at, schedulePath, text, true)
	if back, err := toFields(text, nil); err == nil && !isPartial(job.spec) && !slices.Equal(fieldsOf(back), fieldsOf(fields)) {
		c.note(at, "converted back to v2, the schedule would be "+inBraces(fieldsOf(back)))
	}
	return c.joinFields(job, e, text)
}

// inBraces writes fields on one line.
func inBraces(fields []field) string {
	members := make([]string, len(fields))
	for i, f := range fields {
		members[i] = f.name + ": " + write(f.text, double, true)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// CheckSchedules says what is wrong with the schedules of a v2 CronJob, as the API server does.
func CheckSchedules(spec *v2.CronJobSpec) error {
	err := checkFields(schedulePath, spec.Schedule, schedule.ParseNew)
	for i, fields := range spec.AdditionalSchedules {
		if err == nil {
			err = checkFields(itemPath(i), fields, schedule.ParseCombined)
		}
	}
	return err
}

// checkFields says what is wrong with one of them.
func checkFields(path string, fields v2.CronSchedule, parse schedule.Parser) error {
	set := fieldsOf(fields)
	switch {
	case len(set) == 0:
		return fmt.Errorf("%s: set at least one of minute, hour, dayOfMonth, month, dayOfWeek or every", path)
	case fields.Every != "" && len(set) > 1:
		return fmt.Errorf("%s: every can't be combined with minute, hour, dayOfMonth, month or dayOfWeek", path)
	}
	for _, f := range set {
		if mistake := schedule.CheckField(f.name, f.text); mistake != nil {
			return fmt.Errorf("%s.%s: Invalid value: %q: %s", path, mistake.Field, mistake.Value, mistake.Reason)
		}
	}
	text, err := toText(fields, nil)
	if err == nil {
		_, err = parse(text, "")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// noteWarnings notes what admission warns of in a schedule, which may be in fields.
func (c *conversion) noteWarnings(at int, path, text string, inFields bool) {
	for _, warning := range schedule.Warnings(text) {
		c.note(at, warning.At(path, inFields))
	}
}

// errNoFields is the error for a v2 schedule that is no mapping.
var errNoFields = errors.New("want fields such as {minute: \"*/5\"}")

// readFields reads a v2 schedule.
func (c *conversion) readFields(path string, mapping *yaml.Node) (v2.CronSchedule, error) {
	fields := v2.CronSchedule{}
	if mapping.Kind != yaml.MappingNode {
		return fields, troublef(c.offset(mapping), "%s: %v", path, errNoFields)
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		at, name := c.offset(key), path+"."+key.Value
		if err := c.refuseShared(entry{key: key, value: value}); err != nil {
			return fields, err
		}
		if isNull(value) {
			return fields, troublef(at, "%s: is null, which v1 can't say: leave it out", name)
		}
		if err := setField(&fields, key.Value, value); err != nil {
			return fields, troublef(at, "%s: %v", name, err)
		}
	}
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
