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
// A value that its own version can't read converts to none, so it is kept in the same way.
package spoke

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

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

	// keys are those of the annotations that keep its values on objects of other versions.
	keys Members

	// none is the zero value. read returns values in their canonical form, and their texts. write
	// converts texts to values.
	none  string
	read  func(values []string) (canonical, texts []string)
	write func(texts []string) []string
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
	none := encode(zero)
	s.none = none
	s.read = func(values []string) (canonical, texts []string) {
		decoded := make([]V, 0, len(values))
		all := append([]string{cmp.Or(values[0], "null")}, values[1:]...)
		if utiljson.Unmarshal([]byte(listOf(all)), &decoded) != nil {
			decoded = each(all, func(value string) (decoded V) {
				if utiljson.Unmarshal([]byte(value), &decoded) != nil {
					return zero
				}
				return decoded
			})
		}
		canonical = elements(encode(decoded))
		for i, value := range values {
			if canonical[i] == none && value != none {
				canonical[i] = value
			}
		}
		return canonical, codec.Join(decoded)
	}
	s.write = func(texts []string) []string {
		values := elements(encode(codec.Split(texts)))
		if texts[0] == "" && values[0] == none {
			values[0] = ""
		}
		return values
	}
	return s
}

// readTexts and writeTexts read and write those of the hub. An empty text is none.
func readTexts(values []string) (canonical, texts []string) {
	texts = each(values, textOf)
	canonical = writeTexts(texts)
	for i, value := range values {
		if value != "" && value[0] != '"' {
			canonical[i] = value
		}
	}
	return canonical, texts
}

func writeTexts(texts []string) []string {
	values := elements(encode(texts))
	if texts[0] == "" {
		values[0] = ""
	}
	return values
}

// versions returns all of them, the hub first.
func (t Table) versions() []Spoke {
	all := make([]Spoke, 1, 1+len(t.Spokes))
	all[0] = Spoke{APIVersion: t.Hub.APIVersion, Object: t.Hub.Object, Members: t.Hub.Members, read: readTexts, write: writeTexts}
	all = append(all, t.Spokes...)
	for i := range all {
		version := path.Base(all[i].APIVersion)
		all[i].keys = Members{Value: t.Hub.Annotations.Value + version, List: t.Hub.Annotations.List + version}
	}
	return all
}

// find returns two versions by a name that each has.
func find(all []Spoke, name func(Spoke) string, from, to string) (*Spoke, *Spoke, error) {
	names := each(all, name)
	i, j := slices.Index(names, from), slices.Index(names, to)
	if i < 0 || j < 0 {
		return nil, nil, fmt.Errorf("converting from %.60q to %.60q: want %s", from, to, strings.Join(names, " and "))
	}
	return &all[i], &all[j], nil
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
	if kind := textOf(o.top.get("kind")); kind != t.Hub.Kind {
		return nil, fmt.Errorf("converting kind %.60q: want %s", kind, t.Hub.Kind)
	}
	all := t.versions()
	from, to, err := find(all, func(s Spoke) string { return s.APIVersion }, textOf(o.top.get("apiVersion")), apiVersion)
	if err != nil || from == to {
		return object, err
	}
	o.convert(all, from, to)
	return o.assemble(apiVersion), nil
}

// Convert sets a Go object from one of another version, whose source stays as it is. The result is
// that of ConvertJSON. If the Go type can't hold its values, because its version can't read one of
// them, they are left out. It fails only for objects of other types.
func (t Table) Convert(source, target runtime.Object) error {
	all, name := t.versions(), func(object any) string { return fmt.Sprintf("%T", object) }
	from, to, err := find(all, func(s Spoke) string { return name(s.Object) }, name(source), name(target))
	if err != nil {
		return err
	}
	o := &object{}
	raw, err := json.Marshal(source)
	if err == nil {
		o, err = takeApart(raw)
	}
	if err != nil {
		return fmt.Errorf("converting a %T: %w", source, err)
	}
	if o.spec == nil { // all of it is zero
		o.spec = members{}
	}
	o.convert(all, from, to)
	kind := target.GetObjectKind().GroupVersionKind()
	for _, left := range []Members{{}, to.Members} {
		o.spec.set(left.Value, "")
		o.spec.set(left.List, "")
		reflect.ValueOf(target).Elem().SetZero()
		if err = utiljson.Unmarshal(o.assemble(to.APIVersion), target); err == nil {
			break
		}
	}
	target.GetObjectKind().SetGroupVersionKind(kind)
	return err
}

// DropStale returns the annotations of a hub object, whose texts are given, without those of this
// package that don't convert to the texts, as after an edit.
func (t Table) DropStale(annotations map[string]string, texts ...string) map[string]string {
	all := t.versions()
	o := &object{annotations: annotations}
	o.annotate(all[0].keys, Members{})
	o.dropStale(all, writeTexts(texts), nil)
	return o.annotations
}
