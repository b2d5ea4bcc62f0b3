// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

const (
	// schedulePath is where the schedule is.
	schedulePath = "spec.schedule"

	// additionalName is the field of the additional schedules.
	additionalName = "additionalSchedules"
)

// slot is a place for a schedule: spec.schedule, or an item of spec.additionalSchedules.
type slot struct {
	// entry has the schedule, behind its own key or that of its list.
	entry

	// list is that of an item; spec.schedule has none.
	list entry

	// index is the place among the schedules, of which spec.schedule is the first.
	index int

	path  string
	parse schedule.Parser
}

// isItem reports whether it is an additional schedule.
func (s slot) isItem() bool { return s.list.key != nil }

// isPart reports whether it is merged field by field with that of another object. A patch has a list
// replaced as a whole.
func (s slot) isPart(spec *yaml.Node) bool { return !s.isItem() && isPartial(spec) }

// itemPath is where an additional schedule is.
func itemPath(i int) string { return fmt.Sprintf("spec.%s[%d]", additionalName, i) }

// slotsOf returns the schedules that a CronJob has, spec.schedule before the additional ones. A
// built-in CronJob has none of these.
func (c *conversion) slotsOf(job cronJob) ([]slot, error) {
	var slots []slot
	main, ok := lookup(job.spec, "schedule")
	hasMain := ok && !isNull(main.value)
	if hasMain {
		slots = append(slots, slot{entry: main, path: schedulePath, parse: schedule.ParseNew})
	}
	list, ok := lookup(job.spec, additionalName)
	if !ok || isNull(list.value) || job.isBuiltIn() {
		return slots, nil
	}
	content, at := resolve(list.value), c.offset(list.value)
	items := len(content.Content)
	switch {
	case content.Kind != yaml.SequenceNode:
		return nil, troublef(at, "spec.%s: want a list of schedules", additionalName)
	case items > v1.MaxAdditionalSchedules:
		return nil, troublef(at, "spec.%s: has %d schedules, must have at most %d", additionalName, items, v1.MaxAdditionalSchedules)
	case hasMain && items > 0 && isInterval(resolve(main.value)):
		return nil, troublef(c.offset(main.value), "%s: %v", schedulePath, schedule.ErrCombined)
	}
	for i, item := range content.Content {
		slots = append(slots, slot{
			entry: entry{key: list.key, value: item}, list: list, index: i + 1, path: itemPath(i), parse: schedule.ParseCombined,
		})
	}
	return slots, nil
}

// isInterval reports whether a schedule of either version is an interval.
func isInterval(n *yaml.Node) bool {
	return strings.HasPrefix(n.Value, "@every") || child(n, everyName) != nil
}

// convertSchedules makes the edits of the schedules.
func (c *conversion) convertSchedules(job cronJob, slots []slot) error {
	for _, s := range slots {
		if s.isItem() {
			if err := c.refuseShared(s.list); err != nil {
				return err
			}
		}
		if err := c.refuseShared(s.entry); err != nil {
			return err
		}
	}
	if job.apiVersion == V2.apiVersion() {
		return c.schedulesToText(job, slots)
	}
	return c.schedulesToFields(job, slots)
}

// schedulesToFields converts the schedules of a v1 or built-in CronJob, as the typed conversion
// does. Those of a built-in one may stay texts.
func (c *conversion) schedulesToFields(job cronJob, slots []slot) error {
	hub, spoke, zone := &v1.CronJob{}, &v2.CronJob{}, ""
	hub.Annotations = job.annotations
	texts := make([]string, slots[len(slots)-1].index+1)
	for _, s := range slots {
		var err error
		if texts[s.index], zone, err = c.readText(job, s); err != nil {
			return err
		}
	}
	hub.Spec.Schedule, hub.Spec.AdditionalSchedules = texts[0], texts[1:]
	if err := spoke.ConvertFrom(hub); err != nil {
		return err
	}
	fields := append([]v2.CronSchedule{spoke.Spec.Schedule}, spoke.Spec.AdditionalSchedules...)
	for _, s := range slots {
		if err := c.spliceSchedule(job, s, texts[s.index], fields[s.index], zone); err != nil {
			return err
		}
	}
	return nil
}

// spliceSchedule puts fields in the place of a text; or another text, which is all that a built-in
// CronJob may need.
func (c *conversion) spliceSchedule(job cronJob, s slot, text string, fields v2.CronSchedule, zone string) error {
	at := c.offset(s.value)
	if c.options.To == V1 {
		if zone == "" && text == s.value.Value {
			return nil
		}
		return c.spliceText(job, s, text, zone)
	}
	if back, err := toText(fields); err == nil && back != text {
		c.note(at, fmt.Sprintf("converted back to v1, the schedule would be %q", back))
	}
	if s.isPart(job.spec) {
		fields = writtenOut(fields)
		advice := "all five fields are written out, so that it says the same whatever it is merged with"
		if fields.Every != "" {
			advice = "if what it patches sets other fields than every, set them to null here"
		}
		c.note(at, "without jobTemplate this is a patch: "+advice)
	}
	return c.spliceFields(job, s, fieldsOf(fields), zone)
}

// schedulesToText converts the schedules of a v2 CronJob, as the typed conversion does.
func (c *conversion) schedulesToText(job cronJob, slots []slot) error {
	hub, spoke := &v1.CronJob{}, &v2.CronJob{}
	spoke.Annotations = job.annotations
	read := make([]v2.CronSchedule, slots[len(slots)-1].index+1)
	for _, s := range slots {
		var err error
		if read[s.index], err = c.readFields(s, s.isPart(job.spec)); err != nil {
			return err
		}
	}
	spoke.Spec.Schedule, spoke.Spec.AdditionalSchedules = read[0], read[1:]
	if err := spoke.ConvertTo(hub); err != nil {
		return err
	}
	texts := append([]string{hub.Spec.Schedule}, hub.Spec.AdditionalSchedules...)
	for _, s := range slots {
		text, fields := texts[s.index], fieldsOf(read[s.index])
		if back, err := toFields(text); err == nil && !s.isPart(job.spec) && !slices.Equal(fieldsOf(back), fields) {
			c.note(c.offset(s.value), "converted back to v2, the schedule would be "+c.flowMapping(place{quotes: double, gap: " "}, fieldsOf(back)))
		}
		if err := c.joinFields(job, s, text); err != nil {
			return err
		}
	}
	return nil
}
