// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// What a template has besides the maps, lists and scalars of YAML.
type (
	// expr is a scalar with template actions in it, written as it is.
	expr string

	// block is lines of template that make the items of a list or the entries of a map. In it,
	// "$indent" stands for how far these are indented.
	block string

	// guarded is an entry of a map or an item of a list between an action and its end.
	guarded struct {
		action string // such as "if .Values.metrics.enabled"
		node   any
	}

	// merged is a map, of which blocks make the first entries.
	merged struct {
		blocks []block
		rest   map[string]any
	}
)

// when makes a node depend on a condition.
func when(condition string, node any) guarded { return guarded{"if " + condition, node} }

// optional is a value that has its place in the manifest only if it is set.
func optional(value string) guarded { return guarded{"with " + value, asYAML(".")} }

// asYAML writes a map or a list that is a value.
func asYAML(value string) block { return block("{{- toYaml " + value + " | nindent $indent }}") }

// eachOf writes the entries or items of a value that may be empty.
func eachOf(value string) block {
	return block("{{- with " + value + " }}\n{{- toYaml . | nindent $indent }}\n{{- end }}")
}

// document writes an object as a document of a template, between an action and its end if there is one.
func document(action string, o object) string {
	w := &writer{}
	if action != "" {
		w.line(0, "{{- "+action+" }}")
	}
	w.line(0, "---")
	w.entries(0, o)
	if action != "" {
		w.line(0, "{{- end }}")
	}
	return w.String()
}

// writer writes nodes as a template. Keys are sorted, as kustomize does.
type writer struct{ out strings.Builder }

func (w *writer) String() string { return w.out.String() }

func (w *writer) line(indent int, text string) {
	fmt.Fprintf(&w.out, "%*s%s\n", indent, "", text)
}

// entries writes what a map has.
func (w *writer) entries(indent int, entries map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if g, ok := entries[key].(guarded); ok {
			w.line(indent, "{{- "+g.action+" }}")
			w.entry(indent, key, g.node)
			w.line(indent, "{{- end }}")
			continue
		}
		w.entry(indent, key, entries[key])
	}
}

func (w *writer) entry(indent int, key string, value any) {
	heading := strings.TrimSuffix(plain(key), "\n") + ":"
	switch value := value.(type) {
	case expr:
		w.line(indent, heading+" "+string(value))
	case block:
		w.line(indent, heading)
		w.block(indent+2, value)
	case merged:
		w.line(indent, heading)
		for _, b := range value.blocks {
			w.block(indent+2, b)
		}
		w.entries(indent+2, value.rest)
	default:
		if !templated(value) {
			w.text(indent, plain(map[string]any{key: value}))
			return
		}
		w.line(indent, heading)
		if entries, ok := value.(map[string]any); ok {
			w.entries(indent+2, entries)
		} else {
			w.items(indent, value.([]any))
		}
	}
}

func (w *writer) block(indent int, b block) {
	w.text(indent, strings.ReplaceAll(string(b), "$indent", strconv.Itoa(indent))+"\n")
}

// items writes what a list has. Neighbours that depend on the same share the condition.
func (w *writer) items(indent int, items []any) {
	open := ""
	turn := func(action string) {
		if action == open {
			return
		}
		if open != "" {
			w.line(indent, "{{- end }}")
		}
		if action != "" {
			w.line(indent, "{{- "+action+" }}")
		}
		open = action
	}
	for _, item := range items {
		if g, ok := item.(guarded); ok {
			turn(g.action)
			item = g.node
		} else {
			turn("")
		}
		w.item(indent, item)
	}
	turn("")
}

func (w *writer) item(indent int, item any) {
	switch item := item.(type) {
	case expr:
		w.line(indent, "- "+string(item))
	case block:
		w.block(indent, item)
	case map[string]any:
		if !templated(item) {
			w.text(indent, plain([]any{item}))
			return
		}
		// The entries, two deeper; the dash takes the place of the first one's indentation.
		inner := &writer{}
		inner.entries(indent+2, item)
		first := slices.Sorted(maps.Keys(item))[0]
		if _, ok := item[first].(guarded); ok {
			panic(fmt.Sprintf("the first entry of an item, %s, can't depend on anything", first))
		}
		w.line(indent, "- "+strings.TrimSuffix(inner.String()[indent+2:], "\n"))
	default:
		w.text(indent, plain([]any{item}))
	}
}

// text writes lines as they are, indented.
func (w *writer) text(indent int, text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			w.line(0, "")
			continue
		}
		w.line(indent, line)
	}
}

// plain writes a node that no value changes. Braces that are no action are written so that they stay.
func plain(node any) string {
	return strings.ReplaceAll(string(must(yaml.Marshal(node))), "{{", `{{ "{{" }}`)
}

// templated reports whether there is anything but YAML in a node.
func templated(node any) bool {
	switch node := node.(type) {
	case expr, block, guarded, merged:
		return true
	case object:
		return templated(map[string]any(node))
	case map[string]any:
		for _, child := range node {
			if templated(child) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(node, templated)
	}
	return false
}
