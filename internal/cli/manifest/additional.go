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

// additionalName is the field of the additional schedules.
const additionalName = "additionalSchedules"

// itemPath is where an additional schedule is.
func itemPath(i int) string { return fmt.Sprintf("spec.%s[%d]", additionalName, i) }

// additionalOf returns the list of the additional schedules, and reports whether there is one.
func (c *conversion) additionalOf(spec *yaml.Node) (entry, bool, error) {
	list, ok := lookup(spec, additionalName)
	if !ok || isNull(list.value) {
		return entry{}, false, nil
	}
	items, at := resolve(list.value), c.offset(list.value)
	switch main := child(spec, "schedule"); {
	case items.Kind != yaml.SequenceNode:
		return entry{}, false, troublef(at, "spec.%s: want a list of schedules", additionalName)
	case len(items.Content) > v1.MaxAdditionalSchedules:
		return entry{}, false, troublef(at, "spec.%s: has %d schedules, must have at most %d", additionalName,
			len(items.Content), v1.MaxAdditionalSchedules)
	case main != nil && len(items.Content) > 0 && (strings.HasPrefix(main.Value, "@every") || child(main, everyName) != nil):
		return entry{}, false, troublef(c.offset(main), "spec.schedule: %v", schedule.ErrCombined)
	}
	return list, true, nil
}

// convertAdditional makes the edits of the additional schedules.
func (c *conversion) convertAdditional(job cronJob) error {
	list, ok, err := c.additionalOf(job.spec)
	if err != nil || !ok {
		return err
	}
	if err := c.refuseShared(list); err != nil {
		return err
	}
	for _, item := range list.value.Content {
		if err := c.refuseShared(entry{key: list.key, value: item}); err != nil {
			return err
		}
	}
	if c.options.To == V1 {
		return c.additionalToText(job, list)
	}
	return c.additionalToFields(job, list)
}

// additionalToFields converts additional v1 schedules. Each becomes fields between braces, so that
// whatever is around it stays where it is.
func (c *conversion) additionalToFields(job cronJob, list entry) error {
	hub, spoke := &v1.CronJob{}, &v2.CronJob{}
	hub.Annotations = job.annotations
	for i, item := range list.value.Content {
		text, err := c.readItemText(i, item)
		if err != nil {
			return err
		}
		hub.Spec.AdditionalSchedules = append(hub.Spec.AdditionalSchedules, text)
	}
	if err := spoke.ConvertFrom(hub); err != nil {
		return err
	}
	p := place{value: c.offset(list.value), keyQuotes: quoteOf(list.key)}
	var err error
	if p.afterColon, err = c.afterColon(list.key); err != nil {
		return err
	}
	for i, item := range list.value.Content {
		fields, at := spoke.Spec.AdditionalSchedules[i], c.offset(item)
		end, err := c.scalarEnd(item)
		if err != nil {
			return err
		}
		if back, err := toText(fields, nil); err == nil && back != item.Value {
			c.note(at, fmt.Sprintf("converted back to v1, the schedule would be %q", back))
		}
		p.quotes = quoteOf(item)
		c.replace(at, end, c.flowMapping(p, fieldsOf(fields)))
	}
	return nil
}

// additionalToText converts additional v2 schedules.
func (c *conversion) additionalToText(job cronJob, list entry) error {
	hub, spoke := &v1.CronJob{}, &v2.CronJob{}
	spoke.Annotations = job.annotations
	for i, item := range list.value.Content {
		fields, err := c.readItemFields(i, item)
		if err != nil {
			return err
		}
		spoke.Spec.AdditionalSchedules = append(spoke.Spec.AdditionalSchedules, fields)
	}
	if err := spoke.ConvertTo(hub); err != nil {
		return err
	}
	for i, item := range list.value.Content {
		fields, text := fieldsOf(spoke.Spec.AdditionalSchedules[i]), hub.Spec.AdditionalSchedules[i]
		if back, err := toFields(text, nil); err == nil && !slices.Equal(fieldsOf(back), fields) {
			c.note(c.offset(item), "converted back to v2, the schedule would be "+inBraces(fieldsOf(back)))
		}
		isFlow := list.value.Style&yaml.FlowStyle != 0
		if err := c.joinItem(item, write(text, fieldQuotes(item), isFlow)); err != nil {
			return err
		}
	}
	return nil
}

// joinItem puts a text in the place of the fields of an item. Comments among them go above it.
func (c *conversion) joinItem(item *yaml.Node, scalar string) error {
	start := c.offset(item)
	end, err := c.valueEnd(item)
	if err != nil {
		return err
	}
	comments, err := c.commentsAround(entry{value: item}, start, end)
	if err != nil {
		return err
	}
	line := c.lineStart(start)
	before := string(c.text[line:start])
	for _, comment := range comments {
		if strings.Trim(before, " \t") != "-" {
			return troublef(comment.at, "this comment is among the fields of a schedule: move it")
		}
		c.insert(line, c.indent(start)+comment.text+c.newline())
	}
	c.replace(start, end, scalar)
	return nil
}

// readItemText reads and checks an additional v1 schedule.
func (c *conversion) readItemText(i int, item *yaml.Node) (string, error) {
	path, at := itemPath(i), c.offset(item)
	if !isString(item) {
		return "", troublef(at, "%s: want a text such as \"0 9 * * 1-5\"", path)
	}
	if templateAction.MatchString(item.Value) {
		return "", errTemplate(at)
	}
	if _, err := schedule.ParseCombined(item.Value, ""); err != nil {
		return "", troublef(at, "%s: %v", path, err)
	}
	c.noteWarnings(at, path, item.Value, false)
	return item.Value, nil
}

// readItemFields reads and checks an additional v2 schedule.
func (c *conversion) readItemFields(i int, item *yaml.Node) (v2.CronSchedule, error) {
	path, at := itemPath(i), c.offset(item)
	fields, err := c.readFields(path, item)
	if err != nil {
		return fields, err
	}
	if err := checkFields(path, fields, schedule.ParseCombined); err != nil {
		return fields, troublef(at, "%v", err)
	}
	text, err := toText(fields, nil)
	c.noteWarnings(at, path, text, true)
	return fields, err
}

// checkAdditional returns trouble if the API server would refuse the additional schedules.
func (c *conversion) checkAdditional(spec *yaml.Node) error {
	list, ok, err := c.additionalOf(spec)
	if err != nil {
		return c.refused(child(spec, additionalName), err.Error())
	}
	if !ok {
		return nil
	}
	for i, item := range resolve(list.value).Content {
		item = resolve(item)
		switch {
		case isPlaceholder(item):
		case c.options.To == V1:
			_, err = c.readItemText(i, item)
			if err != nil {
				err = c.refused(item, err.Error())
			}
		default:
			err = c.checkFields(itemPath(i), item, false, schedule.ParseCombined)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
