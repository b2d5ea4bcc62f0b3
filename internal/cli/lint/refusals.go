// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"tutorial.kubebuilder.io/project/internal/cli/manifest"
)

// refusals collects what is wrong with a CronJob from one layer of checks to the next. What a template
// is to fill in is not checked.
type refusals struct {
	object *manifest.Object

	// value is what is left to check: the CronJob without the fields that are wrong.
	value map[string]any

	findings []finding
	paths    []string // of the fields that are wrong
}

// add adds what one layer has found. About a field that was wrong before, or of which a part was, a
// later layer has nothing to say: it was asked without it.
func (r *refusals) add(layer ...field.ErrorList) {
	var paths []string
	for _, err := range slices.Concat(layer...) {
		if r.concern(err.Field) {
			continue
		}
		paths = append(paths, err.Field)
		if !r.object.IsPlaceholder(err.Field) {
			r.findings = append(r.findings, invalid.about(err.Field, err.ErrorBody()))
		}
	}
	r.paths = append(r.paths, paths...)
	for _, path := range paths {
		remove(r.value, steps(path))
	}
}

// concern reports whether a field is one of those that are wrong, a part of one, or has one.
func (r *refusals) concern(path string) bool {
	at := steps(path)
	return slices.ContainsFunc(r.paths, func(other string) bool {
		wrong := steps(other)
		length := min(len(at), len(wrong))
		return slices.Equal(at[:length], wrong[:length])
	})
}

// steps are the names and indices in the path of a field.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}

// remove takes a field out of a value. Of a list, it takes the element and those behind it, so that
// the others keep their indices.
func remove(value any, path []string) any {
	if len(path) == 0 {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		below, ok := value[path[0]]
		switch {
		case ok && len(path) == 1:
			delete(value, path[0])
		case ok:
			value[path[0]] = remove(below, path[1:])
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		switch {
		case err != nil || i >= len(value):
		case len(path) == 1:
			return value[:i]
		default:
			value[i] = remove(value[i], path[1:])
		}
	}
	return value
}
