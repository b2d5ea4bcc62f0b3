// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
)

// noteWayBack converts the converted text back, and tells where that does not give the bytes that
// were there before. So what it tells is exactly what a user would see.
func (c *conversion) noteWayBack(root *yaml.Node, objects []object, converted []byte) {
	to, imported := c.options.To.other(), slices.ContainsFunc(objects, object.isBuiltIn)
	if imported {
		if to = V1; c.options.To == V1 {
			return // the schedules are as they were
		}
	}
	back := &conversion{source: newSource(converted), options: Options{To: to}, isJSON: c.isJSON}
	text, count, err := back.convertUnverified()
	if err != nil {
		c.note(c.offset(objects[0].node), fmt.Sprintf("it could not be converted back to %s: %v", to, err))
		return
	}
	if bytes.Equal(text, c.text) {
		return
	}
	again := &conversion{source: newSource(text), isJSON: c.isJSON}
	if c.noteSchedules(root, objects, again, to) || imported || count != countCronJobs(objects) {
		return
	}
	c.note(c.offset(objects[0].node), fmt.Sprintf("converted back to %s, blanks, comments or annotations would not be as they were", to))
}

// convertUnverified makes all edits, and no more.
func (c *conversion) convertUnverified() ([]byte, int, error) {
	root, err := c.parse(c.isJSON)
	if err != nil {
		return nil, 0, err
	}
	c.aliased = aliasTargets(root, map[*yaml.Node]bool{})
	objects, err := c.find(root, typeMeta{})
	if err != nil {
		return nil, 0, err
	}
	text, err := c.splice(root, objects)
	return text, countCronJobs(objects), err
}

// noteSchedules tells which schedules are not written as before in a text that has come back, and
// reports whether there are any.
func (c *conversion) noteSchedules(root *yaml.Node, objects []object, again *conversion, version Version) bool {
	rootAgain, err := again.parse(again.isJSON)
	if err != nil {
		return false
	}
	told := false
	before, after := schedulesOf(root), schedulesOf(rootAgain)
	for i := range min(len(before), len(after)) {
		isConverted := slices.ContainsFunc(objects, func(o object) bool { return o.node == before[i].object })
		if b, a := before[i].entry.value, after[i].entry.value; isConverted && b != nil && a != nil {
			if message := c.differs(b, again, a, version); message != "" {
				c.note(c.offset(b), message)
				told = true
			}
		}
	}
	return told
}

// differs says how a schedule that was written in one way, and has come back, is written now; "" if as before.
func (c *conversion) differs(before *yaml.Node, again *conversion, after *yaml.Node, version Version) string {
	was, now := c.written(before), again.written(after)
	if _, _, hadZone := builtin.SplitZone(before.Value); was == now || hadZone { // which has been told
		return ""
	}
	if after.Kind == yaml.MappingNode {
		fieldsWere, errWere := c.readFields(before)
		fieldsNow, errNow := again.readFields(after)
		if errWere != nil || errNow != nil || slices.Equal(fieldsOf(fieldsWere), fieldsOf(fieldsNow)) {
			return fmt.Sprintf("converted back to %s, the schedule would say the same, written in another way", version)
		}
		now = flow(fieldsNow)
	}
	return fmt.Sprintf("converted back to %s, the schedule would be %s", version, now)
}

// flow writes fields between braces.
func flow(fields v2.CronSchedule) string {
	var members []string
	for _, f := range fieldsOf(fields) {
		members = append(members, f.name+": "+write(f.text, double, true))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// written is how a value is written.
func (c *conversion) written(n *yaml.Node) string {
	end, err := c.valueEnd(n)
	if err != nil {
		return ""
	}
	return string(c.text[c.offset(n):end])
}

// scheduled is the schedule of a CronJob, which it may lack.
type scheduled struct {
	object *yaml.Node
	entry  entry
}

// schedulesOf returns the schedules of all CronJobs at or below a node, in their order.
func schedulesOf(n *yaml.Node) []scheduled {
	if n.Kind == yaml.MappingNode && text(n, "kind") == cronJobKind {
		s := scheduled{object: n}
		if spec, ok := lookup(n, "spec"); ok {
			s.entry, _ = lookup(resolve(spec.value), "schedule")
		}
		return []scheduled{s}
	}
	var found []scheduled
	for _, child := range n.Content {
		found = append(found, schedulesOf(child)...)
	}
	return found
}
