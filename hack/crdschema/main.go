// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command crdschema finishes the CRDs that controller-gen writes, in place:
//
//   - It drops the descriptions below jobTemplate. They are Kubernetes' own, take most of the file,
//     and would push it past the 256 KiB of annotations that client-side apply can carry. Where
//     users ask for them, it names the command that prints them.
//   - It joins the lines of the other descriptions, which are those of Go comments: kubectl explain
//     wraps lines itself, and keeps the line breaks that it finds.
//   - It drops the rules there about what an edit may change. They are for a Job, which runs; a
//     template may become any other.
//   - It narrows what the schema lets in to what the Go types can decode. A value that passes the
//     one and fails the other, once stored, would fail every list and watch that meets it.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const (
	// quantityPattern is what resource.ParseQuantity accepts. The usual pattern also lets exponents
	// be fractions and of any size.
	quantityPattern = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?$`

	// timePattern is what metav1.Time decodes; the format date-time alone also admits lower
	// case letters and offsets of any size.
	timePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`

	// intOrString holds its integer in 32 bits, which its schema does not say.
	minInt32, maxInt32 = float64(-1 << 31), float64(1<<31 - 1)
)

func main() {
	for _, path := range os.Args[1:] {
		if err := finish(path); err != nil {
			fmt.Fprintf(os.Stderr, "crdschema: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

// finish rewrites the CRD in the file at path.
func finish(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		return fmt.Errorf("not a CustomResourceDefinition: %w", err)
	}
	for i := range crd.Spec.Versions {
		schema := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		narrow(schema)
		joinDescriptions(schema)
		template := schema.Properties["spec"].Properties["jobTemplate"]
		eachChild(&template, dropDescriptions)
		eachChild(&template, dropTransitionRules)
		pointToJob(&template, "job", "spec", "template", "spec")
	}
	out, err := marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(path, out, 0o644) //nolint:gosec // a manifest, for all to read
}

// marshal writes the CRD as a manifest: without the status, which the API server fills in.
func marshal(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	manifest, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return nil, err
	}
	delete(manifest, "status")
	out, err := yaml.Marshal(manifest)
	return append([]byte("---\n"), out...), err
}

// narrow makes the schema, and all below it, admit only what its Go type can decode.
func narrow(schema *apiextensionsv1.JSONSchemaProps) {
	switch {
	case schema.XIntOrString && schema.Pattern != "":
		schema.Pattern = quantityPattern
	case schema.XIntOrString:
		schema.Minimum, schema.Maximum = new(minInt32), new(maxInt32)
	case schema.Format == "date-time":
		schema.Pattern = timePattern
	}
	eachChild(schema, narrow)
}

// joinDescriptions joins the lines of the descriptions, and leaves a list's items without one of
// their own: kubectl explain would print it as further lines of the list's.
func joinDescriptions(schema *apiextensionsv1.JSONSchemaProps) {
	schema.Description = joinLines(schema.Description)
	eachChild(schema, joinDescriptions)
	if schema.Items != nil && schema.Items.Schema != nil {
		schema.Items.Schema.Description = ""
	}
}

// joinLines makes one line of each paragraph and of each item of a list.
func joinLines(text string) string {
	var joined []string
	isOpen := false // the last line may go on
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if isOpen && line != "" && !isListItem(line) {
			joined[len(joined)-1] += " " + line
			continue
		}
		joined = append(joined, line)
		isOpen = line != ""
	}
	return strings.Join(joined, "\n")
}

func isListItem(line string) bool {
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ")
}

// pointToJob describes the field of this name, and below it those of the other names, by the
// command that describes the same field of a Job.
func pointToJob(schema *apiextensionsv1.JSONSchemaProps, path, name string, below ...string) {
	field := schema.Properties[name]
	path += "." + name
	field.Description = fmt.Sprintf("As in a Job: `kubectl explain %s` describes its fields.", path)
	if len(below) > 0 {
		pointToJob(&field, path, below[0], below[1:]...)
	}
	schema.Properties[name] = field
}

func dropDescriptions(schema *apiextensionsv1.JSONSchemaProps) {
	schema.Description = ""
	eachChild(schema, dropDescriptions)
}

func dropTransitionRules(schema *apiextensionsv1.JSONSchemaProps) {
	schema.XValidations = slices.DeleteFunc(schema.XValidations, func(rule apiextensionsv1.ValidationRule) bool {
		return strings.Contains(rule.Rule, "oldSelf")
	})
	eachChild(schema, dropTransitionRules)
}

// eachChild calls visit for each schema directly below this one.
func eachChild(schema *apiextensionsv1.JSONSchemaProps, visit func(*apiextensionsv1.JSONSchemaProps)) {
	for name, property := range schema.Properties {
		visit(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		visit(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		visit(schema.AdditionalProperties.Schema)
	}
}
