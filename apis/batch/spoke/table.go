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
	APIVersion, Kind string
	Object           runtime.Object // of its Go type
	Members          Members        // of its spec, which other versions write differently
	Annotations      Members        // keys of those that keep the Members of a version, up to its name
}

// AnnotationsOf returns the keys of the annotations that keep the values of a version.
func (h Hub) AnnotationsOf(apiVersion string) Members {
	version := path.Base(apiVersion)
	return Members{Value: h.Annotations.Value + version, List: h.Annotations.List + version}
}

// Members are the names of two members: one value, and a list of further values. A spoke may have
// no list.
type Members struct{ Value, List string }

// Spoke is a version that converts to the hub and back. NewSpoke makes one.
type Spoke struct {
	APIVersion string
	Object     runtime.Object // of its Go type
	Members    Members        // of its spec, which the hub writes differently
	Shown      string         // the member of the status that shows the hub's text, if any; it is not stored

	keys  Members                                           // of the annotations that keep its values on other versions' objects
	none  string                                            // the zero value
	read  func(values []string) (canonical, texts []string) // canonical is how it writes the values
	write func(texts []string) (values []string)
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

// NewSpoke gives a spoke its codec. V is any Go type whose JSON is an object or a text. Its JSON
// must tell apart whatever the version can read: a field that is set to its zero value is not left
// out.
func NewSpoke[V any](s Spoke, codec Codec[V]) Spoke {
	var zero V
	none := encode(zero)
	s.none = none
	s.read = func(values []string) (canonical, texts []string) {
		decoded := each(values, decode[V])
		canonical = each(decoded, encode[V])
		for i, value := range values {
			if canonical[i] == none && value != none {
				canonical[i] = value // it can't be read
			}
		}
		if values[0] == "" {
			canonical[0] = ""
		}
		return canonical, codec.Join(decoded)
	}
	s.write = func(texts []string) []string {
		values := each(codec.Split(texts), encode[V])
		if texts[0] == "" && values[0] == none {
			values[0] = ""
		}
		return values
	}
	return s
}

// decode returns the value that JSON has; the zero value if it can't be read.
func decode[V any](raw string) (value V) {
	if text, isText := any(&value).(*string); isText { // it costs less
		*text = textOf(raw)
	} else if utiljson.Unmarshal([]byte(raw), &value) != nil {
		return *new(V)
	}
	return value
}

// APIVersions returns those of all versions, that of the hub first.
func (t Table) APIVersions() []string {
	return append([]string{t.Hub.APIVersion}, each(t.Spokes, func(s Spoke) string { return s.APIVersion })...)
}

// versionOfTexts is what all hubs have in common: their values are the texts.
var versionOfTexts = newVersionOfTexts()

// An empty text is none, since the Go type of a hub writes it where there is none.
func newVersionOfTexts() Spoke {
	same := func(text string) string { return text }
	s := NewSpoke(Spoke{}, Each(same, same))
	read := s.read
	s.read = func(values []string) (canonical, texts []string) {
		canonical, texts = read(values)
		canonical[0] = strings.TrimPrefix(canonical[0], s.none)
		return canonical, texts
	}
	return s
}

// versions returns all of them, the hub first.
func (t Table) versions() []Spoke {
	all := append([]Spoke{versionOfTexts}, t.Spokes...)
	all[0].APIVersion, all[0].Object, all[0].Members = t.Hub.APIVersion, t.Hub.Object, t.Hub.Members
	for i := range all {
		all[i].keys = t.Hub.AnnotationsOf(all[i].APIVersion)
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
// members that versions write differently, their annotations, and what spokes show in the status.
// All else is copied as bytes: "1000m" does not become "1", partial objects get no empty fields,
// and a value that Go types can't decode does not fail a list. It adds empty metadata, and drops
// labels and annotations that are not strings: the API server would fail the whole request.
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
	o.dropStale(all, all[0].write(texts), nil)
	return o.annotations
}
