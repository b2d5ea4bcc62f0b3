// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// cronJob is an object with what its conversion needs.
type cronJob struct {
	object

	// specKey and spec are the spec that has the schedule.
	specKey, spec *yaml.Node

	// annotations are those in which a version carries what its schedule can't say.
	annotations map[string]string
}

// convertObject makes the edits for one object.
func (c *conversion) convertObject(o object) error {
	if err := c.replaceAPIVersion(o); err != nil || o.kind != cronJobKind {
		return err
	}
	c.converted++
	job := cronJob{object: o}
	var err error
	if job.annotations, err = c.dropCarriers(o); err != nil {
		return err
	}
	spec, ok := lookup(o.node, "spec")
	if !ok {
		return nil
	}
	job.specKey, job.spec = spec.key, resolve(spec.value)
	slots, err := c.slotsOf(job)
	switch {
	case err == nil && len(slots) == 0:
		return nil
	case spec.merged || c.aliased[job.spec]:
		return troublef(c.offset(spec.value), "spec, with the schedule in it, is an alias or is used by one: write it out")
	case err != nil:
		return err
	}
	return c.convertSchedules(job, slots)
}

// replaceAPIVersion makes the edit of the apiVersion.
func (c *conversion) replaceAPIVersion(o object) error {
	version, ok := lookup(o.node, "apiVersion")
	if !ok {
		return nil // an item that is what its list says
	}
	if err := c.refuseShared(version); err != nil {
		return err
	}
	end, err := c.scalarEnd(version.value)
	if err != nil {
		return err
	}
	c.replace(c.offset(version.value), end, write(c.options.To.apiVersion(), quoteOf(version.value), false))
	return nil
}

// refuseShared refuses a value that has an alias, an anchor or a tag, or comes from elsewhere.
func (c *conversion) refuseShared(e entry) error {
	switch at := c.offset(e.value); {
	case e.merged:
		return troublef(c.offset(e.key), "%s is merged in with <<: write it out", e.key.Value)
	case e.value.Kind == yaml.AliasNode:
		return troublef(at, "%s is the alias *%s: write it out", e.key.Value, e.value.Value)
	case e.value.Anchor != "":
		return troublef(at, "%s has the anchor &%s: write it without", e.key.Value, e.value.Anchor)
	case e.value.Style&yaml.TaggedStyle != 0:
		return troublef(at, "%s has the tag %s: write it without", e.key.Value, e.value.Tag)
	}
	return nil
}

// leftOut are the annotations that manifests don't have: those in which a version carries what its
// schedules can't say, and when a stored CronJob was edited.
var leftOut = func() []string {
	names := []string{v1.EditedAnnotation}
	for _, apiVersion := range batch.Versions.APIVersions() {
		keys := batch.Versions.Hub.AnnotationsOf(apiVersion)
		names = append(names, keys.Value, keys.List)
	}
	return names
}()

// dropCarriers reads the annotations of leftOut, and takes them out: the conversion makes use of
// them, and leaves none of them in a manifest.
func (c *conversion) dropCarriers(o object) (map[string]string, error) {
	metadata := child(o.node, "metadata")
	annotations, ok := lookup(metadata, "annotations")
	if !ok || resolve(annotations.value).Kind != yaml.MappingNode {
		return nil, nil
	}
	mapping, carried := resolve(annotations.value), map[string]string{}
	var carriers []entry
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		e := entry{key: mapping.Content[i], value: mapping.Content[i+1]}
		if e.key.Tag != mergeTag && !isString(resolve(e.value)) && !isNull(e.value) {
			return nil, troublef(c.offset(e.value), "annotation %s is not a string: put it in quotes", e.key.Value)
		}
		if name := e.key.Value; slices.Contains(leftOut, name) {
			if err := c.refuseShared(e); err != nil {
				return nil, err
			}
			carriers, carried[name] = append(carriers, e), e.value.Value
			c.note(c.offset(e.key), fmt.Sprintf("%s is left out: %s has no use for it", name, c.options.To))
		}
	}
	switch {
	case len(carriers) == 0:
		return nil, nil
	case annotations.merged || c.aliased[metadata] || c.aliased[mapping]:
		key := carriers[0].key
		return nil, troublef(c.offset(key), "%s would have to go, and is shared by an alias: remove it by hand", key.Value)
	case len(carriers)*2 == len(mapping.Content):
		return carried, c.drop(metadata, annotations)
	}
	for _, carrier := range carriers {
		if err := c.drop(mapping, carrier); err != nil {
			return nil, err
		}
	}
	return carried, nil
}

// drop takes an entry out of a mapping that has others.
func (c *conversion) drop(mapping *yaml.Node, e entry) error {
	i := slices.Index(mapping.Content, e.key)
	start := c.offset(e.key)
	end, err := c.valueEnd(e.value)
	if err != nil {
		return err
	}
	flow := mapping.Style&yaml.FlowStyle != 0
	from, to := c.lineStart(start), c.nextLine(end)
	switch last := i+2 == len(mapping.Content); {
	case last && i == 0:
		return troublef(start, "%s would have to go, and nothing would be left: remove it by hand", e.key.Value)
	case flow && last:
		to = end
		if from, err = c.valueEnd(mapping.Content[i-1]); err != nil {
			return err
		}
	case flow:
		from, to = start, c.offset(mapping.Content[i+2])
	case !c.isFirst(start):
		return troublef(start, "%s would have to go, and is not on a line of its own: remove it by hand", e.key.Value)
	}
	if strings.Contains(string(c.text[from:start])+string(c.text[end:to]), "#") ||
		e.value.Kind == yaml.MappingNode && strings.Contains(string(c.text[start:end]), "#") {
		return troublef(start, "%s would have to go, and has a comment: remove it by hand", e.key.Value)
	}
	c.replace(from, to, "")
	return nil
}
