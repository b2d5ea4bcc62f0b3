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

// refusals collects the errors of several layers of checks about a CronJob. It ignores errors about
// placeholders of templates.
type refusals struct {
	object *manifest.Object

	// value is the CronJob without the wrong fields, for the next layer.
	value map[string]any

	findings []finding
	paths    []string // of wrong fields
}

// add adds the errors of a layer. It ignores those about a field that an earlier layer found wrong,
// or a part of one, since the value of that field was removed.
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

// concern reports whether a path is that of a wrong field, a part of one, or a parent of one.
func (r *refusals) concern(path string) bool {
	at := steps(path)
	return slices.ContainsFunc(r.paths, func(other string) bool {
		wrong := steps(other)
		length := min(len(at), len(wrong))
		return slices.Equal(at[:length], wrong[:length])
	})
}

// steps returns the names and indices in a path.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}

// remove removes a field from a value. From a list, it removes the element and all after it, so
// that the indices of the others stay the same.
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
