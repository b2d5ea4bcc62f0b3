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

// maxErrorBytes is how long the message about a mistake may be: it can quote what is stored.
const maxErrorBytes = 1024

// mistakeIn names the first field of a CronJob that can't be decoded, and says why: the decoder's
// own error names none below a quantity, a time or another type that decodes itself.
func mistakeIn(data []byte) string {
	path, err := findMistake("", data, reflect.TypeFor[v1.CronJob]())
	if err == nil {
		return "" // there is none
	}
	message := strings.TrimPrefix(path, ".") + ": " + strings.TrimPrefix(err.Error(), "json: ")
	return strings.ToValidUTF8(message[:min(len(message), maxErrorBytes)], "")
}

// findMistake returns the path of the first value that can't be decoded into a type though its
// parts can, and the error; none if all can.
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

// partsOf returns the parts of a value by which it is decoded into a type.
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
		_ = json.Unmarshal(data, &members) // it has no members if it is no object
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if member := memberType(t, name); member != nil {
				parts = append(parts, part{"." + name, members[name], member})
			}
		}
	case reflect.Slice:
		var items []json.RawMessage
		_ = json.Unmarshal(data, &items) // the same
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
		case tag == "" && field.Anonymous: // its members are the struct's
			if member := memberType(field.Type, name); member != nil {
				return member
			}
		}
	}
	return nil
}
