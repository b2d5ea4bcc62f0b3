// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package spoke converts the objects of a kind between any number of versions, without loss. It
// knows no kind and no version, and imports nothing of this project, so the folder can be copied
// into another one.
//
// One version is the hub, and the others are spokes. They write one part of the spec differently: a
// value, and a list of further values. In the hub, each of these values is a text. A spoke has two
// pure functions between its values and the texts. All else is copied as bytes.
//
// Several values of one version may convert to the same of the other. If converting back does not
// restore a value, the converted object keeps it in an annotation. The annotation counts only while
// it converts to exactly what is beside it, so that no older value comes back after an edit:
//
//	hub   "@hourly"                    ──►  spoke {minute: "0"} + schedule-v1: @hourly
//	spoke {hour: "9", month: "*"}      ──►  hub   "* 9 * * *"   + schedule-v2: {"hour":"9","month":"*"}
//
// A value that its own version can't read becomes a text that contains it, in its place or in the
// annotation, and comes back as that value.
package spoke

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Table has all versions of a kind.
type Table struct {
	Hub    Hub
	Spokes []Spoke
}

// Hub is the version that all others convert to and from.
type Hub struct {
	// APIVersion and Kind are those of its objects.
	APIVersion, Kind string

	// Object is of its Go type.
	Object runtime.Object

	// Members are those of its spec that other versions write differently.
	Members Members

	// Annotations are the keys of those that keep the Members of a version, up to its name.
	Annotations Members
}

// Members are the names of two members: one value, and a list of further values. A spoke may have
// no list.
type Members struct{ Value, List string }

// Spoke is a version that converts to the hub and back. NewSpoke makes one.
type Spoke struct {
	// APIVersion is that of its objects.
	APIVersion string

	// Object is of its Go type.
	Object runtime.Object

	// Members are those of its spec that the hub writes differently.
	Members Members

	// Shown is the member of the status that shows the hub's text. It is read-only and not stored.
	// Empty for none.
	Shown string

	// none is the JSON of the zero value. read returns the canonical form of a value, and whether its
	// version can read it.
	none           string
	read           func(json.RawMessage) (string, bool)
	fromHub, toHub translation
}

// Codec is all that a version says about its values, in two functions that are total and pure. The
// first value and text are those of Members.Value, where the zero value and the empty text are
// none; the rest are those of Members.List.
type Codec[V any] struct {
	Split func(texts []string) []V
	Join  func(values []V) []string
}

// Each is the codec that converts each value by itself.
func Each[V any](split func(text string) V, join func(value V) string) Codec[V] {
	return Codec[V]{
		Split: func(texts []string) []V { return each(texts, split) },
		Join:  func(values []V) []string { return each(values, join) },
	}
}

func each[F, T any](list []F, convert func(F) T) []T {
	converted := make([]T, len(list))
	for i := range list {
		converted[i] = convert(list[i])
	}
	return converted
}

// NewSpoke gives a spoke its codec. V is any Go type whose JSON is an object. Its JSON must
// tell apart whatever the version can read: a field that is set to its zero value is not left out.
func NewSpoke[V any](s Spoke, codec Codec[V]) Spoke {
	var zero V
	none := string(encode(zero))
	s.none = none
	s.read = func(raw json.RawMessage) (string, bool) {
		var value V
		if raw == nil || utiljson.Unmarshal(raw, &value) != nil {
			return "", false
		}
		text := string(encode(value))
		return text, text != none || string(raw) == none
	}
	s.fromHub = func(texts []string) []string {
		values := each(codec.Split(texts), func(value V) string { return string(encode(value)) })
		if texts[0] == "" && values[0] == none {
			values[0] = ""
		}
		return values
	}
	s.toHub = func(texts []string) []string {
		list := append([]string{cmp.Or(texts[0], none)}, texts[1:]...)
		values := make([]V, 0, len(list))
		_ = json.Unmarshal([]byte("["+strings.Join(list, ",")+"]"), &values) // encode has made them
		return codec.Join(values)
	}
	return s
}

// readText reads a text of the hub.
func readText(raw json.RawMessage) (string, bool) {
	if len(raw) > 1 && raw[0] == '"' && !bytes.Contains(raw, []byte(`\`)) && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), true // most are: it costs less
	}
	text := ""
	err := json.Unmarshal(raw, &text)
	return text, err == nil && !isMissing(raw)
}

// ConvertJSON converts an object, as JSON, to an API version. It changes only apiVersion, the
// members that versions write differently, their annotations, and what spokes show in the status,
// and copies everything else as bytes: "1000m" does not become "1", partial objects get no empty
// fields, and a value that Go types can't decode does not fail a list.
//
// The API server checks the converted object, and fails the whole request if it has no metadata,
// labels or annotations that are not strings, or JSON that it can't decode. So ConvertJSON adds
// empty metadata, and drops such labels and annotations.
//
// It fails for what is not a JSON object, for another kind, and for unknown versions.
func (t Table) ConvertJSON(object []byte, apiVersion string) ([]byte, error) {
	o, err := takeApart(object)
	if err != nil {
		return nil, err
	}
	if kind := textOf(o.top["kind"]); kind != t.Hub.Kind {
		return nil, fmt.Errorf("converting kind %.60q: want %s", kind, t.Hub.Kind)
	}
	stored := textOf(o.top["apiVersion"])
	all := t.dialects()
	from := find(all, func(d *dialect) bool { return d.APIVersion == stored })
	to := find(all, func(d *dialect) bool { return d.APIVersion == apiVersion })
	if from == nil || to == nil {
		known := each(all, func(d dialect) string { return d.APIVersion })
		return nil, fmt.Errorf("converting from %.60q to %.60q: want %s", stored, apiVersion, strings.Join(known, " and "))
	}
	if from == to {
		return object, nil
	}
	t.convert(o, from, to)
	return o.assemble(apiVersion), nil
}

// Convert sets a Go object from one of another version, whose source stays as it is. The result is
// that of ConvertJSON, except that a Go type can't hold a value that its version can't read: it is
// left out. It fails only for objects of other types.
func (t Table) Convert(source, target runtime.Object) error {
	all := t.dialects()
	from := find(all, func(d *dialect) bool { return reflect.TypeOf(d.Object) == reflect.TypeOf(source) })
	to := find(all, func(d *dialect) bool { return reflect.TypeOf(d.Object) == reflect.TypeOf(target) })
	if from == nil || to == nil {
		known := each(all, func(d dialect) string { return fmt.Sprintf("%T", d.Object) })
		return fmt.Errorf("converting %T to %T: want %s", source, target, strings.Join(known, " and "))
	}
	o := &rawObject{}
	raw, err := json.Marshal(source)
	if err == nil {
		o, err = takeApart(raw)
	}
	if err != nil {
		return fmt.Errorf("converting %T to %T: %w", source, target, err)
	}
	o.isTyped, o.hasSpec = true, true
	if o.spec == nil {
		o.spec = jsonObject{}
	}
	t.convert(o, from, to)
	kind := target.GetObjectKind().GroupVersionKind()
	reflect.ValueOf(target).Elem().SetZero()
	err = utiljson.Unmarshal(o.assemble(to.APIVersion), target)
	target.GetObjectKind().SetGroupVersionKind(kind)
	return err
}

// DropStale returns the annotations of a hub object, whose texts are given, without those of this
// package that don't convert to the texts, as after an edit.
func (t Table) DropStale(annotations map[string]string, texts ...string) map[string]string {
	hub := t.hub()
	o := &rawObject{annotations: annotate(annotations, []string{hub.keys.Value, hub.keys.List}, nil)}
	o.refresh(t.dialects()[1:], texts, "")
	return o.annotations
}

// convert converts an object through the hub.
func (t Table) convert(o *rawObject, from, to *dialect) {
	for i := range t.Spokes {
		o.dropShown(t.Spokes[i].Shown)
	}
	if !o.hasMetadata || !o.hasSpec {
		return
	}
	hub := t.hub()
	if from.isSpoke() {
		texts := o.translate(from, &hub, from.toHub, from.fromHub)
		o.refresh(t.dialects()[1:], texts, from.APIVersion)
	}
	if to.isSpoke() {
		texts, _, _ := o.valuesOf(&hub)
		o.translate(&hub, to, to.fromHub, to.toHub)
		o.show(to.Shown, texts[0])
	}
}
