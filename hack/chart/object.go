// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// object is a Kubernetes object, as JSON has it.
type object map[string]any

// read reads the objects of YAML documents. One that comes twice, as when two overlays share a base,
// is returned once.
func read(in *bufio.Reader) ([]object, error) {
	var objects []object
	seen := map[string]object{}
	for documents := utilyaml.NewYAMLReader(in); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		o, err := decode(document)
		if err != nil {
			return nil, err
		}
		if o == nil { // nothing between two separators
			continue
		}
		if _, err := at(o, "metadata.name"); err != nil || o.kind() == "" {
			return nil, fmt.Errorf("a document is no object with a kind and a name: %.60q", document)
		}
		first, again := seen[o.id()]
		switch {
		case !again:
			seen[o.id()] = o
			objects = append(objects, o)
		case !reflect.DeepEqual(first, o):
			return nil, fmt.Errorf("%s comes twice, and differs", o.id())
		}
	}
}

// decode decodes one YAML document; nil if it is empty. Whole numbers stay such.
func decode(document []byte) (object, error) {
	raw, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, err
	}
	var o map[string]any
	if err := utiljson.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("no object: %w", err)
	}
	return o, nil
}

func (o object) kind() string {
	kind, _ := o["kind"].(string)
	return kind
}

func (o object) name() string {
	name, _ := must(at(o, "metadata.name")).(string)
	return name
}

// id is the object's kind and its name without the prefix.
func (o object) id() string { return o.kind() + "/" + strings.TrimPrefix(o.name(), chartName+"-") }

// at returns what is at a path of keys and indices with dots between.
func at(node any, path string) (any, error) {
	for step := range strings.SplitSeq(path, ".") {
		var next any
		found := false
		switch node := node.(type) {
		case object:
			next, found = node[step]
		case map[string]any:
			next, found = node[step]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(node) {
				next, found = node[i], true
			}
		}
		if !found {
			return nil, fmt.Errorf("no %s in it", path)
		}
		node = next
	}
	return node, nil
}

// textAt returns the string at a path.
func textAt(node any, path string) (string, error) {
	found, err := at(node, path)
	if err != nil {
		return "", err
	}
	text, ok := found.(string)
	if !ok {
		return "", fmt.Errorf("%s is no string", path)
	}
	return text, nil
}

// set puts a node in the place of what is at a path. That has to be there already: otherwise config
// is not what was expected.
func set(o object, path string, node any) error {
	if _, err := at(o, path); err != nil {
		return err
	}
	return put(o, path, node)
}

// add puts a node where there is nothing yet.
func add(o object, path string, node any) error {
	if _, err := at(o, path); err == nil {
		return fmt.Errorf("has a %s, which is to be added", path)
	}
	return put(o, path, node)
}

// put puts a node at a path, whose parent has to be there.
func put(o object, path string, node any) error {
	parent, key := any(o), path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		var err error
		if parent, err = at(o, path[:i]); err != nil {
			return err
		}
		key = path[i+1:]
	}
	switch parent := parent.(type) {
	case object:
		parent[key] = node
	case map[string]any:
		parent[key] = node
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i >= len(parent) {
			return fmt.Errorf("no %s in it", path)
		}
		parent[i] = node
	default:
		return fmt.Errorf("no %s in it", path)
	}
	return nil
}

// eachString replaces every string below a node by what change makes of it.
func eachString(node any, change func(string) any) any {
	switch node := node.(type) {
	case string:
		return change(node)
	case object:
		return object(eachString(map[string]any(node), change).(map[string]any))
	case map[string]any:
		changed := make(map[string]any, len(node))
		for _, key := range slices.Sorted(maps.Keys(node)) {
			changed[key] = eachString(node[key], change)
		}
		return changed
	case []any:
		changed := make([]any, len(node))
		for i := range node {
			changed[i] = eachString(node[i], change)
		}
		return changed
	}
	return node
}

// must returns the value of a call that was checked not to fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
