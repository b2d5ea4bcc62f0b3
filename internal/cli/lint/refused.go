// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"tutorial.kubebuilder.io/project/internal/cli/manifest"
)

// Problem is an error about a field.
type Problem struct{ Path, Message string }

// String formats the problem as kubectl does.
func (p Problem) String() string { return p.Path + ": " + p.Message }

// Refused returns the problems in the spec of one of our CronJobs for which the API server or the
// webhooks would refuse it. It does not check the Job template, which may be missing.
func (c *Checker) Refused(ctx context.Context, value map[string]any) ([]Problem, error) {
	whole := maps.Clone(value)
	if spec, ok := value["spec"].(map[string]any); ok && spec["jobTemplate"] == nil {
		spec = maps.Clone(spec)
		spec["jobTemplate"] = map[string]any{}
		whole["spec"] = spec
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	objects, findings := manifest.Objects(text, false)
	if len(findings) > 0 {
		return nil, findings[0]
	}
	var refused []Problem
	for _, p := range c.check(ctx, &objects[0]) {
		isOfSpec := strings.HasPrefix(p.Field, "spec") && !strings.HasPrefix(p.Field, "spec.jobTemplate")
		if isOfSpec && p.Severity == severityError {
			refused = append(refused, Problem{p.Field, explain(&objects[0], p)})
		}
	}
	slices.SortFunc(refused, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return refused, nil
}

// FieldsOf returns the sorted fields of a member of the spec in a version.
func (c *Checker) FieldsOf(apiVersion, member string) []string {
	spec := c.schemas[manifest.Version(path.Base(apiVersion))].fields.Properties["spec"]
	return slices.Sorted(maps.Keys(spec.Properties[member].Properties))
}

// explain adds a hint to an error about a number or a boolean that should be a string.
func explain(o *manifest.Object, p finding) string {
	isScalar := slices.ContainsFunc([]string{"integer", "number", "boolean"}, func(of string) bool {
		return strings.HasSuffix(p.Message, fmt.Sprintf("must be of type string: %q", of))
	})
	if isScalar {
		return fmt.Sprintf("want a string: put %q in quotes", o.Text(p.Field))
	}
	return p.Message
}
