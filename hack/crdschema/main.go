// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command crdschema finishes the CRD that controller-gen writes, in place:
//
//   - It drops the descriptions below jobTemplate. They are Kubernetes' own, take most of the file,
//     and would push it past the 256 KiB of annotations that client-side apply can carry. Where
//     users look for them, it names the command that prints them.
//   - It drops the rules below jobTemplate on what an edit may change. They are for a Job that
//     runs; a template may become any other.
//   - It joins the lines of the other descriptions, which are those of Go comments: kubectl explain
//     wraps lines itself, and keeps the line breaks that it finds.
//   - It refuses ephemeral containers. A template can't have any, and their schema is a seventh of
//     the file; without one, the API server would drop them without a word.
//   - It narrows the schema to what the Go types can decode. A stored value that passes the schema
//     and can't be decoded would fail every list and watch that contains it.
//
// It also writes the kustomize patch with which the CRD serves its storage version alone. It knows no
// version: what one of them has to say is in the markers of its types.
//
// controller-gen (v0.23) has a marker for none of the others: maxDescLen holds for all descriptions,
// and markers can't reach fields of Kubernetes' own types.
package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const (
	// quantityPattern is what resource.ParseQuantity accepts. controller-gen's pattern also admits
	// exponents that are fractions, and of any size.
	quantityPattern = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?$`

	// timePattern is what metav1.Time decodes. The format date-time also admits lower case letters
	// and offsets of any size.
	timePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`

	// intOrString holds its integer in 32 bits, which its schema does not say.
	minInt32, maxInt32 = float64(-1 << 31), float64(1<<31 - 1)
)

// described are the fields below jobTemplate that name the command that describes them.
var described = []string{"metadata", "spec", "spec.template", "spec.template.spec"}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: crdschema CRD PATCH")
		os.Exit(2)
	}
	if err := finish(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "crdschema: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// finish rewrites the CRD, and writes the patch.
func finish(path, patchPath string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		return fmt.Errorf("not a CustomResourceDefinition: %w", err)
	}
	patch := strings.Builder{}
	patch.WriteString("# Made by hack/crdschema. A list can't be patched by name, so each position is tested first.\n")
	for i, version := range crd.Spec.Versions {
		finishSchema("", version.Schema.OpenAPIV3Schema)
		if !version.Storage {
			fmt.Fprintf(&patch, "- op: test\n  path: /spec/versions/%d/name\n  value: %s\n", i, version.Name)
			fmt.Fprintf(&patch, "- op: replace\n  path: /spec/versions/%d/served\n  value: false\n", i)
		}
	}
	manifest, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return err
	}
	delete(manifest, "status") // The API server fills it in.
	out, err := yaml.Marshal(manifest)
	if err != nil {
		return err
	}
	//nolint:gosec // manifests, for all to read
	return errors.Join(os.WriteFile(path, append([]byte("---\n"), out...), 0o644), os.WriteFile(patchPath, []byte(patch.String()), 0o644))
}

// finishSchema finishes the schema of a field, and of all below it. The path names the field:
// ".spec.schedule". The items of a list are ".spec.list[]".
func finishSchema(path string, schema *apiextensionsv1.JSONSchemaProps) {
	narrow(schema)
	inTemplate, isInTemplate := strings.CutPrefix(path, ".spec.jobTemplate.")
	switch {
	case slices.Contains(described, inTemplate):
		schema.Description = fmt.Sprintf("As in a Job: `kubectl explain job.%s` describes its fields.", inTemplate)
	case isInTemplate, strings.HasSuffix(path, "[]"): // kubectl explain would add an item's to that of the list
		schema.Description = ""
	default:
		schema.Description = joinLines(schema.Description)
	}
	if inTemplate == "spec.template.spec.ephemeralContainers" {
		refuseAll(schema)
	}
	if isInTemplate {
		schema.XValidations = slices.DeleteFunc(schema.XValidations, isTransitionRule)
	}

	for name, property := range schema.Properties {
		finishSchema(path+"."+name, &property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		finishSchema(path+"[]", schema.Items.Schema)
	}
	if values := schema.AdditionalProperties; values != nil && values.Schema != nil {
		finishSchema(path+"[]", values.Schema)
	}
}

// refuseAll makes the schema that of a list that has to be empty, whatever its items are.
func refuseAll(list *apiextensionsv1.JSONSchemaProps) {
	*list = apiextensionsv1.JSONSchemaProps{
		Type: list.Type,
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{
			Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
		},
		XValidations: apiextensionsv1.ValidationRules{{
			Rule: "size(self) == 0", Message: "must be left out: only a running Pod can have ephemeral containers",
		}},
	}
}

// narrow makes the schema admit only what its Go type can decode.
func narrow(schema *apiextensionsv1.JSONSchemaProps) {
	switch {
	case schema.XIntOrString && schema.Pattern != "":
		schema.Pattern = quantityPattern
	case schema.XIntOrString:
		schema.Minimum, schema.Maximum = new(minInt32), new(maxInt32)
	case schema.Format == "date-time":
		schema.Pattern = timePattern
	}
}

// isTransitionRule reports whether a rule compares a value with the one before an edit.
func isTransitionRule(rule apiextensionsv1.ValidationRule) bool {
	return strings.Contains(rule.Rule, "oldSelf")
}

// lineBreak is a line break within a paragraph or an item of a list.
var lineBreak = regexp.MustCompile(`(\S) *\n *([^\s*-]|[*-]\S)`)

// joinLines makes one line of each paragraph and of each item of a list.
func joinLines(text string) string {
	return lineBreak.ReplaceAllString(text, "$1 $2")
}
