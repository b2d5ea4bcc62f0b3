// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"tutorial.kubebuilder.io/project/apis/batch"
)

// Object is a CronJob of ours in a file, and where its fields are.
type Object struct {
	// Version is that of its apiVersion.
	Version Version

	// Value is what it says, as kubectl reads it: a whole number is an int64.
	Value map[string]any

	node *yaml.Node

	// line is how many lines of the file are before its document.
	line int
}

// IsPatch reports whether it is part of a patch: it lacks the template that every CronJob has.
func (o *Object) IsPatch() bool {
	spec := child(o.node, "spec")
	return spec != nil && !isNull(spec) && isPartial(spec)
}

// Position is where the field of a path is, such as spec.schedule, counted from 1, and columns in
// characters. Where there is no such field, it is the deepest one that has it.
func (o *Object) Position(path string) (line, column int) {
	at, _ := o.find(path)
	return o.line + at.Line, at.Column
}

// IsPlaceholder reports whether Helm, Jinja, kustomize or envsubst is to fill in a field, or one
// below it.
func (o *Object) IsPlaceholder(path string) bool {
	_, value := o.find(path)
	return value != nil && hasPlaceholder(value)
}

func hasPlaceholder(n *yaml.Node) bool {
	return isPlaceholder(n) || slices.ContainsFunc(n.Content, hasPlaceholder)
}

// find returns the node that shows where a field is, and its value; no value if it is not there.
func (o *Object) find(path string) (at, value *yaml.Node) {
	at, value = o.node, o.node
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		below, ok := lookup(value, step)
		index, err := strconv.Atoi(step)
		switch {
		case ok:
			at, value = below.key, resolve(below.value)
		case err == nil && value.Kind == yaml.SequenceNode && index < len(value.Content):
			at, value = value.Content[index], resolve(value.Content[index])
		default:
			return at, nil
		}
	}
	return at, value
}

// Objects returns the CronJobs of ours in a file of YAML or JSON documents, in their order, and
// what can't be read.
func Objects(text []byte) ([]Object, []Finding) {
	if !namesOurs(text) {
		return nil, findUTF16(text, namesOurs)
	}
	var objects []Object
	var findings []Finding
	for _, p := range split(text) {
		if !namesOurs(p.body) {
			continue
		}
		c := &conversion{source: newSource(p.body), concerns: typeMeta.isOurs, isJSON: p.isJSON}
		found, err := c.objects()
		if err != nil {
			findings = append(findings, p.finding(text, remarkOf(err)))
		}
		for i := range found {
			found[i].line = bytes.Count(text[:p.start], []byte("\n"))
		}
		objects = append(objects, found...)
	}
	return objects, findings
}

// objects returns the CronJobs of ours in a document. The nodes have the positions; the values are
// read by the parser that kubectl has, which takes some scalars for others.
func (c *conversion) objects() ([]Object, error) {
	root, err := c.parse(c.isJSON)
	if at := templateAction.FindIndex(c.text); err != nil && at != nil && c.looksConcerned() {
		return nil, troublef(at[0], "it is a template: check what it renders")
	}
	if err != nil || root == nil {
		return nil, c.unreadable(err)
	}
	values, err := c.values(c.text)
	if err != nil {
		return nil, c.unreadable(err)
	}
	var ours []map[string]any
	visitCronJobs(values, typeMeta{}, func(value map[string]any, meta typeMeta) {
		if meta.kind == cronJobKind && meta.isOurs() {
			value["apiVersion"], value["kind"] = meta.apiVersion, meta.kind
			ours = append(ours, value)
		}
	})
	var found []Object
	err = c.visit(root, typeMeta{}, false, func(o object) error {
		switch {
		case !o.isOurs() || o.isList() || o.kind == "":
			return nil
		case o.kind != cronJobKind:
			return troublef(c.offset(o.node), "kind %s is not known in %s: want CronJob", o.kind, o.apiVersion)
		}
		if unknown := unknownVersion(o.apiVersion, batch.Versions.APIVersions()...); unknown != "" {
			return troublef(c.offset(o.node), "%s", unknown)
		}
		if len(found) == len(ours) {
			return troublef(c.offset(o.node), "it can't be told which object of the document this is")
		}
		_, version, _ := strings.Cut(o.apiVersion, "/")
		found = append(found, Object{Version: Version(version), Value: ours[len(found)], node: o.node})
		return nil
	})
	return found, err
}
