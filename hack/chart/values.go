// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/yaml"
)

// value is one of the chart's values, as files/values.yaml has it.
type value struct {
	Path    string         `json:"value"` // with dots between its keys
	Default any            `json:"default"`
	From    string         `json:"from"` // an object and a path in it, in the place of Default; or "image" or "runbooks"
	Schema  map[string]any `json:"schema"`
	About   string         `json:"about"`
}

// values returns the chart's values.
func (s *source) values() ([]value, error) {
	var values []value
	if err := yaml.UnmarshalStrict([]byte(valuesFile), &values); err != nil {
		return nil, fmt.Errorf("files/values.yaml: %w", err)
	}
	for i := range values {
		v := &values[i]
		if v.From != "" {
			var err error
			if v.Default, err = s.valueFrom(v.From); err != nil {
				return nil, fmt.Errorf("the value %s: %w", v.Path, err)
			}
		}
		if types, ok := v.Schema["type"].(string); ok && v.Default == nil {
			v.Schema["type"] = []string{types, "null"}
		}
	}
	return values, nil
}

func (s *source) valueFrom(from string) (any, error) {
	switch from {
	case "image":
		return s.image, nil
	case "runbooks":
		return s.runbooks, nil
	}
	id, path, _ := strings.Cut(from, " ")
	for _, o := range s.objects {
		if o.id() == id {
			return at(o, path)
		}
	}
	return nil, fmt.Errorf("no %s among the objects", id)
}

// valuesYAML writes values.yaml: each value as it is unless it is set, and what it is about.
func valuesYAML(values []value) string {
	w := &writer{}
	w.line(0, "# Made by `make chart`: change config or hack/chart/files.")
	var above []string // the keys above the last value
	for _, v := range values {
		keys := strings.Split(v.Path, ".")
		parents, key := keys[:len(keys)-1], keys[len(keys)-1]
		same := 0
		for same < len(above) && same < len(parents) && above[same] == parents[same] {
			same++
		}
		if same == 0 {
			w.line(0, "")
		}
		for i := same; i < len(parents); i++ {
			w.line(2*i, parents[i]+":")
		}
		above = parents
		w.comment(2*len(parents), v.About)
		w.text(2*len(parents), string(must(yaml.Marshal(map[string]any{key: v.Default}))))
	}
	return w.String()
}

// comment writes a comment in lines of moderate length.
func (w *writer) comment(indent int, text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && indent+len(line)+len(word) > 100 {
			w.line(indent, "#"+line)
			line = ""
		}
		line += " " + word
	}
	w.line(indent, "#"+line)
}

// valuesTable writes the values as a table for the README.
func valuesTable(values []value) (string, error) {
	w := &writer{}
	w.line(0, "| value | default | |")
	w.line(0, "|---|---|---|")
	for _, v := range values {
		standard, err := asJSON(v.Default, "")
		if err != nil {
			return "", err
		}
		w.line(0, "| `"+v.Path+"` | `"+strings.TrimSpace(standard)+"` | "+v.About+" |")
	}
	return w.String(), nil
}

// valuesSchema writes values.schema.json. A value that is not in it is an error: it is most likely misspelt.
func valuesSchema(values []value) (string, error) {
	root := closed()
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	properties := root["properties"].(map[string]any)
	properties["global"] = map[string]any{"type": "object", "description": "What Helm hands to a chart within a chart."}
	properties["enabled"] = map[string]any{"type": "boolean", "description": "By which a chart with this one in it may leave it out."}
	for _, v := range values {
		inner := properties
		keys := strings.Split(v.Path, ".")
		for _, key := range keys[:len(keys)-1] {
			if inner[key] == nil {
				inner[key] = closed()
			}
			inner = inner[key].(map[string]any)["properties"].(map[string]any)
		}
		key := keys[len(keys)-1]
		if inner[key] != nil {
			return "", fmt.Errorf("the value %s is there twice", v.Path)
		}
		schema := map[string]any{"description": v.About}
		maps.Copy(schema, v.Schema)
		inner[key] = schema
	}
	return asJSON(root, "  ")
}

// closed is the schema of an object that has only what is put into it.
func closed() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
}

// asJSON writes JSON with characters as they are.
func asJSON(node any, indent string) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(node)
	return out.String(), err
}
