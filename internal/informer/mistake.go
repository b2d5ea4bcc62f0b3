// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// maxErrorBytes limits the message about a decoding error, which may quote stored values.
const maxErrorBytes = 1024

// mistakeIn returns the first field of a CronJob that can't be decoded, and why. The decoder's own
// error names no field if the type decodes itself, as quantities and times do.
func mistakeIn(data []byte) string {
	path, err := findMistake("", data, reflect.TypeFor[v1.CronJob]())
	if err == nil {
		return ""
	}
	message := strings.TrimPrefix(path, ".") + ": " + strings.TrimPrefix(err.Error(), "json: ")
	return strings.ToValidUTF8(message[:min(len(message), maxErrorBytes)], "")
}

// findMistake returns the path and the error of the first value that can't be decoded into its type
// although its parts can be; no error if all values can be decoded.
func findMistake(path string, data []byte, t reflect.Type) (string, error) {
	err := kjson.UnmarshalCaseSensitivePreserveInts(data, reflect.New(t).Interface())
	if err == nil {
		return "", nil
	}
	for _, part := range partsOf(data, t) {
		if at, err := findMistake(path+part.path, part.data, part.t); err != nil {
			return at, err
		}
	}
	return path, err
}

// part is a member of an object or of a list.
type part struct {
	path string
	data []byte
	t    reflect.Type
}

// partsOf returns the members of an object or list, with the types that they are decoded into.
func partsOf(data []byte, t reflect.Type) []part {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	var parts []part
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		members := map[string]json.RawMessage{}
		_ = json.Unmarshal(data, &members) // there are none if it is not an object
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if member := memberType(t, name); member != nil {
				parts = append(parts, part{"." + name, members[name], member})
			}
		}
	case reflect.Slice:
		var items []json.RawMessage
		_ = json.Unmarshal(data, &items) // there are none if it is not a list
		for i, item := range items {
			parts = append(parts, part{fmt.Sprintf("[%d]", i), item, t.Elem()})
		}
	default: // it has none
	}
	return parts
}

// memberType returns the type of a member of an object; nil if a struct has no such field.
func memberType(t reflect.Type, name string) reflect.Type {
	if t.Kind() == reflect.Map {
		return t.Elem()
	}
	for field := range t.Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case tag == name:
			return field.Type
		case tag == "" && field.Anonymous: // an embedded struct
			if member := memberType(field.Type, name); member != nil {
				return member
			}
		}
	}
	return nil
}
