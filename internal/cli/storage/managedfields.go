// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// schedulePath is where the versions differ: a string in v1, an object in v2.
var schedulePath = fieldpath.MakePathOrDie("spec", "schedule")

// namesUnserved reports whether an entry is about fields of a version of ours that is not served.
func namesUnserved(entry *metav1.ManagedFieldsEntry, served []string) bool {
	gv, err := schema.ParseGroupVersion(entry.APIVersion)
	if err != nil || gv.Group != v1.GroupVersion.Group {
		return false
	}
	return !slices.Contains(served, gv.Version)
}

// cleanManagedFields moves the entries about versions that are not served to a version that is, and
// returns how many there were. Once the CRD drops the version, the API server refuses to apply to an object
// that has one.
//
// Who owns what is kept, but for the schedule, where the versions differ: a part of it in v2 is all of
// it in v1. Entries about versions that we know nothing of are dropped.
func cleanManagedFields(entries []metav1.ManagedFieldsEntry, served []string, version string) ([]metav1.ManagedFieldsEntry, int) {
	var kept, moved []metav1.ManagedFieldsEntry
	cleaned := 0
	for i := range entries {
		if !namesUnserved(&entries[i], served) {
			kept = append(kept, *entries[i].DeepCopy())
			continue
		}
		cleaned++
		if entry, ok := moveEntry(&entries[i], version); ok {
			moved = append(moved, entry)
		}
	}
	for i := range moved {
		kept = mergeEntry(kept, &moved[i])
	}
	return kept, cleaned
}

// moveEntry says an entry in another version. It reports false when nothing of it can be said.
func moveEntry(entry *metav1.ManagedFieldsEntry, version string) (metav1.ManagedFieldsEntry, bool) {
	moved := *entry.DeepCopy()
	set, ok := fieldsOf(entry)
	if !ok || entry.APIVersion != v1.GroupVersion.String() && entry.APIVersion != v2.GroupVersion.String() {
		return moved, false
	}
	rest := fieldpath.NewSet()
	ownsSchedule := false
	set.Iterate(func(path fieldpath.Path) {
		if len(path) >= len(schedulePath) && path[:len(schedulePath)].Equals(schedulePath) {
			ownsSchedule = true
			return
		}
		rest.Insert(path.Copy())
	})
	if ownsSchedule && version == v1.GroupVersion.Version {
		rest.Insert(schedulePath)
	}
	moved.APIVersion = schema.GroupVersion{Group: v1.GroupVersion.Group, Version: version}.String()
	return moved, setFields(&moved, rest)
}

// mergeEntry adds an entry, to the one of the same manager if there is one.
func mergeEntry(entries []metav1.ManagedFieldsEntry, added *metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	for i := range entries {
		entry := &entries[i]
		if entry.Manager != added.Manager || entry.Operation != added.Operation ||
			entry.Subresource != added.Subresource || entry.APIVersion != added.APIVersion {
			continue
		}
		old, _ := fieldsOf(entry)
		more, _ := fieldsOf(added)
		setFields(entry, old.Union(more))
		if entry.Time.Before(added.Time) {
			entry.Time = added.Time
		}
		return entries
	}
	return append(entries, *added)
}

// fieldsOf returns the fields of an entry; none, and false, when they can't be read.
func fieldsOf(entry *metav1.ManagedFieldsEntry) (*fieldpath.Set, bool) {
	set := fieldpath.NewSet()
	if entry.FieldsV1 == nil {
		return set, false
	}
	if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return fieldpath.NewSet(), false
	}
	return set, true
}

// setFields sets the fields of an entry. It reports false when there are none.
func setFields(entry *metav1.ManagedFieldsEntry, set *fieldpath.Set) bool {
	raw, err := set.ToJSON()
	if err != nil || set.Empty() {
		return false
	}
	entry.FieldsV1 = metav1.NewFieldsV1(string(raw))
	return true
}
