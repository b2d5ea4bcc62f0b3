// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package spoke_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
)

// laws checks the laws of a conversion for any table of versions. The samples are objects as JSON,
// of any of the versions, garbage included. Each is checked along every path of up to four
// conversions, as JSON and as Go types, and each edit of one sample to what another has.
func laws(t *testing.T, table spoke.Table, samples ...string) {
	t.Helper()
	for _, sample := range samples {
		naming(t, "the sample: "+sample, func() { hold(t, table, []byte(sample), true) })
		for _, other := range samples {
			naming(t, "the sample: "+sample+"\nedited to what this one has: "+other, func() {
				editsWin(t, table, []byte(sample), []byte(other))
			})
		}
	}
}

// naming makes a check, and says of what if it fails.
func naming(t *testing.T, what string, check func()) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(what)
		}
	}()
	check()
}

// fuzzLaws checks any object along every path of up to four conversions, starting with samples.
func fuzzLaws(f *testing.F, table spoke.Table, samples ...string) {
	f.Helper()
	for _, sample := range samples {
		f.Add([]byte(sample))
	}
	f.Fuzz(func(t *testing.T, object []byte) { hold(t, table, object, false) })
}

// longestPath is how many conversions a path has.
const longestPath = 4

// hold checks one object, unless it is of none of the versions.
func hold(t testing.TB, table spoke.Table, object []byte, isSample bool) {
	t.Helper()
	source := versionOf(object)
	if _, err := table.ConvertJSON(object, source); err != nil {
		return
	}
	for _, version := range table.APIVersions() {
		before := bytes.Clone(object)
		converted := convert(t, table, object, version)
		require.Equal(t, string(converted), string(convert(t, table, object, version)), "C9: conversion is pure")
		require.Equal(t, string(before), string(object), "C9: conversion leaves its source as it is")
		require.Equal(t, version, versionOf(converted))
		if version != source {
			requireAccepted(t, object, converted)
			requireOnlyOurAnnotations(t, table, object, converted)
		}
	}
	if !hasRoom(table, object) {
		return
	}
	returns(t, table, object, isSample)
	// What is stale, or could be written in another way, is gone after one conversion there and
	// back.
	for _, other := range table.APIVersions() {
		if other != source {
			object = convert(t, table, convert(t, table, object, other), source)
		}
	}
	direct := map[string][]byte{}
	for _, version := range table.APIVersions() {
		direct[version] = convert(t, table, object, version)
	}
	walk(t, table, direct, source, []string{source}, object)
	goTypes(t, table, direct)
}

// returns checks that an object in which nothing is kept comes back from each version: what its Go
// type holds of it, or all of a sample that the Go type can't hold.
func returns(t testing.TB, table spoke.Table, object []byte, isSample bool) {
	t.Helper()
	keys := table.Hub.Annotations
	if strings.Contains(string(object), keys.Value) || strings.Contains(string(object), keys.List) || !hasStrings(object) {
		return
	}
	source := versionOf(object)
	plain := func(object []byte) (map[string]any, runtime.Object, bool) {
		all := values(t, table, object)
		raw, err := json.Marshal(all)
		require.NoError(t, err)
		typed, ok := decode(table, source, raw)
		return all, typed, ok
	}
	for _, other := range table.APIVersions() {
		back := convert(t, table, convert(t, table, object, other), source)
		want, wantTyped, isTyped := plain(object)
		got, gotTyped, ok := plain(back)
		switch {
		case isTyped:
			require.True(t, ok, "C2, C3: the Go type still holds what comes back from %s: %s", other, back)
			requireSame(t, wantTyped, gotTyped, "C2, C3: there and back is the identity, from "+other)
		case isSample:
			require.Equal(t, want, got, "C2, C3: there and back is the identity, from %s", other)
		}
	}
}

// walk converts an object along every path that continues this one.
func walk(t testing.TB, table spoke.Table, direct map[string][]byte, at string, path []string, object []byte) {
	t.Helper()
	require.Equal(t, values(t, table, direct[at]), values(t, table, object),
		"C2, C3, C10: the path does not matter: %s", strings.Join(path, " to "))
	if len(path) > longestPath {
		return
	}
	for _, next := range table.APIVersions() {
		if next != at {
			walk(t, table, direct, next, append(slices.Clone(path), next), convert(t, table, object, next))
		}
	}
}

// goTypes checks that the Go conversion says what that of JSON does, and there and back is the
// identity if both Go types can hold all of the object.
func goTypes(t testing.TB, table spoke.Table, direct map[string][]byte) {
	t.Helper()
	for from, object := range direct {
		source, ok := decode(table, from, object)
		if !ok {
			continue
		}
		if !holds(t, table, source, object) {
			continue
		}
		for to := range direct {
			want, ok := decode(table, to, direct[to])
			if to == from || !ok {
				continue
			}
			got, back := newObject(table, to), newObject(table, from)
			before := source.DeepCopyObject()
			require.NoError(t, table.Convert(source, got), "C1: conversion is total")
			requireSame(t, before, source, "C9: conversion leaves its source as it is")
			got.GetObjectKind().SetGroupVersionKind(want.GetObjectKind().GroupVersionKind())
			requireSame(t, want, got, "Go types and JSON are converted to the same")
			if !holds(t, table, want, direct[to]) {
				continue
			}
			require.NoError(t, table.Convert(got, back), "C1: conversion is total")
			back.GetObjectKind().SetGroupVersionKind(source.GetObjectKind().GroupVersionKind())
			requireSame(t, source, back, "C2, C3: there and back is the identity")
		}
	}
}

// holds reports whether a Go object has all that JSON has. A Go type can't distinguish no spec from
// an empty one.
func holds(t testing.TB, table spoke.Table, typed runtime.Object, object []byte) bool {
	t.Helper()
	raw, err := json.Marshal(typed)
	require.NoError(t, err)
	want := values(t, table, object)
	return want["spec"] != nil && reflect.DeepEqual(values(t, table, raw), want)
}

func requireSame(t testing.TB, want, got runtime.Object, message string) {
	t.Helper()
	if !apiequality.Semantic.DeepEqual(want, got) {
		require.Equal(t, want, got, message)
	}
}

// editsWin converts one sample to each version, replaces what that version writes differently by
// what another sample has there, and checks that exactly this comes back along every path.
func editsWin(t testing.TB, table spoke.Table, sample, other []byte) {
	t.Helper()
	for _, version := range table.APIVersions() {
		object, err := table.ConvertJSON(sample, version)
		edit, err2 := table.ConvertJSON(other, version)
		if err != nil || err2 != nil {
			continue
		}
		spec, hasSpec := values(t, table, object)["spec"].(map[string]any)
		edited, isEdited := values(t, table, edit)["spec"].(map[string]any)
		if !hasSpec || !isEdited {
			continue
		}
		want := maps.Clone(spec)
		for _, each := range table.APIVersions() {
			for _, name := range membersOf(table, each) {
				delete(want, name)
			}
		}
		for _, name := range membersOf(table, version) {
			if value, ok := edited[name]; ok {
				want[name] = value
			}
		}
		whole := values(t, table, object)
		whole["spec"] = want
		raw, err := json.Marshal(whole)
		require.NoError(t, err)
		if !hasRoom(table, raw) {
			continue
		}
		for _, through := range table.APIVersions() {
			back := convert(t, table, convert(t, table, raw, through), version)
			require.Equal(t, withoutNone(values(t, table, raw)["spec"]), withoutNone(values(t, table, back)["spec"]),
				"C6, C11: an edit in %s is not undone through %s", version, through)
		}
	}
}

// withoutNone leaves out members that a Go type can't distinguish from none.
func withoutNone(spec any) any {
	members, _ := spec.(map[string]any)
	maps.DeleteFunc(members, func(_ string, value any) bool {
		object, isObject := value.(map[string]any)
		return value == "" || isObject && len(object) == 0
	})
	return members
}

// hasRoom reports whether there is room for any value of an object in its annotations.
func hasRoom(table spoke.Table, object []byte) bool {
	var partial metav1.PartialObjectMetadata
	if utiljson.Unmarshal(object, &partial) != nil {
		return false
	}
	annotations := map[string]string{table.Hub.Annotations.Value + "x": strings.Repeat("x", 3*len(table.APIVersions())*len(object))}
	maps.Copy(annotations, partial.Annotations)
	return len(apivalidation.ValidateAnnotations(annotations, nil)) == 0
}

// requireOnlyOurAnnotations checks C7.
func requireOnlyOurAnnotations(t testing.TB, table spoke.Table, before, after []byte) {
	t.Helper()
	others := func(object []byte) map[string]any {
		metadata, _ := values(t, table, object)["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		for key := range annotations {
			if strings.HasPrefix(key, table.Hub.Annotations.Value) || strings.HasPrefix(key, table.Hub.Annotations.List) {
				delete(annotations, key)
			}
		}
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
		if len(metadata) == 0 {
			return nil
		}
		return metadata
	}
	if _, ok := inReview(before); !ok || !hasStrings(before) {
		return // it is repaired
	}
	require.Equal(t, others(before), others(after), "C7: of the metadata only our annotations differ")
}

// hasStrings reports whether labels and annotations of an object need no repair.
func hasStrings(object []byte) bool {
	var whole struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
	if utiljson.Unmarshal(object, &whole) != nil {
		return false
	}
	for _, name := range []string{"labels", "annotations"} {
		var members map[string]*string
		if raw := whole.Metadata[name]; raw != nil && json.Unmarshal(raw, &members) != nil {
			return false
		}
		for _, text := range members {
			if text == nil {
				return false
			}
		}
	}
	return true
}

// values are those of an object, without what spokes show in the status. Empty annotations or
// metadata are the same as none.
func values(t testing.TB, table spoke.Table, object []byte) map[string]any {
	t.Helper()
	all := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber() // 1e700 does not fit into a float64
	require.NoError(t, decoder.Decode(&all))
	for i := range table.Spokes {
		status, _ := all["status"].(map[string]any)
		if _, isShown := status[table.Spokes[i].Shown]; isShown {
			delete(status, table.Spokes[i].Shown)
			if len(status) == 0 {
				delete(all, "status")
			}
		}
	}
	metadata, _ := all["metadata"].(map[string]any)
	if annotations, _ := metadata["annotations"].(map[string]any); len(annotations) == 0 && metadata != nil {
		delete(metadata, "annotations")
	}
	if len(metadata) == 0 && (metadata != nil || all["metadata"] == nil) {
		delete(all, "metadata")
	}
	return all
}

func convert(t testing.TB, table spoke.Table, object []byte, version string) []byte {
	t.Helper()
	converted, err := table.ConvertJSON(object, version)
	require.NoError(t, err, "C1: conversion is total")
	return converted
}

func versionOf(object []byte) string {
	var meta map[string]json.RawMessage
	version := ""
	_ = json.Unmarshal(object, &meta)
	_ = json.Unmarshal(meta["apiVersion"], &version)
	return version
}

func membersOf(table spoke.Table, version string) []string {
	members := table.Hub.Members
	for i := range table.Spokes {
		if table.Spokes[i].APIVersion == version {
			members = table.Spokes[i].Members
		}
	}
	return []string{members.Value, members.List}
}

// newObject returns an object of the Go type of a version; nil if there is none.
func newObject(table spoke.Table, version string) runtime.Object {
	object := table.Hub.Object
	for i := range table.Spokes {
		if table.Spokes[i].APIVersion == version {
			object = table.Spokes[i].Object
		}
	}
	if object == nil {
		return nil
	}
	return reflect.New(reflect.TypeOf(object).Elem()).Interface().(runtime.Object)
}

// decode decodes an object as the API server's clients do, and reports whether that succeeds.
func decode(table spoke.Table, version string, raw []byte) (runtime.Object, bool) {
	object := newObject(table, version)
	return object, object != nil && utiljson.Unmarshal(raw, object) == nil
}
