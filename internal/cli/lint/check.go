// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/config/crd"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
	"tutorial.kubebuilder.io/project/internal/validate"
)

// Checker checks CronJobs in the order of the API server, with its own packages: the fields, the
// metadata, the schema, and then the webhooks. The API server stops after the first of these layers
// that has errors. The checker removes the wrong fields and continues.
type Checker struct {
	schemas map[manifest.Version]schema
	now     time.Time
}

// schema is the schema of one version, in the forms that the API server uses.
type schema struct {
	fields *structuralschema.Structural
	types  schemavalidation.SchemaValidator
	rules  *cel.Validator
}

// NewChecker reads the schemas of the CustomResourceDefinition.
func NewChecker(now time.Time) (*Checker, error) {
	definition := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(crd.CronJobs, &definition); err != nil {
		return nil, err
	}
	c := &Checker{schemas: map[manifest.Version]schema{}, now: now}
	for _, version := range definition.Spec.Versions {
		properties := &apiextensions.JSONSchemaProps{}
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, properties, nil)
		if err != nil {
			return nil, err
		}
		var s schema
		if s.fields, err = structuralschema.NewStructural(properties); err != nil {
			return nil, err
		}
		if s.types, _, err = schemavalidation.NewSchemaValidator(properties); err != nil {
			return nil, err
		}
		s.rules = cel.NewValidator(s.fields, true, celconfig.PerCallLimit)
		c.schemas[manifest.Version(version.Name)] = s
	}
	return c, nil
}

// check returns the findings about a CronJob. It does not check placeholders of templates.
func (c *Checker) check(ctx context.Context, o *manifest.Object) []finding {
	findings := c.unknownFields(o)
	if o.IsPatch() {
		return append(findings, patch.about("spec",
			"not checked but for misspelled fields: without jobTemplate this is taken for a patch; check what it makes of the object"))
	}
	s := c.schemas[o.Version]
	r := refusals{object: o, value: s.decode(o.Value)}
	r.add(metadata(r.value), s.checkTypes(r.value))
	r.add(s.checkRules(ctx, r.value)) // the rules assume correct types
	hub, err := Hub(r.value)
	if err != nil {
		r.add(field.ErrorList{field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error())})
		return append(findings, r.findings...)
	}
	hub.Name = cmp.Or(hub.Name, names.SimpleNameGenerator.GenerateName(hub.GenerateName))
	form := validate.FormOf(r.value)
	r.add(validate.Name(hub), validate.Spec(&hub.Spec, form), restartPolicy(hub))
	found := likelyMistakes(&hub.Spec, form)
	for _, warning := range append(validate.Warnings(&hub.Spec, form), validate.NewWarnings(&hub.Spec, c.now)...) {
		found = append(found, warned.about(warning.Path, warning.Reason))
	}
	for _, f := range found {
		if !r.concern(f.Field) {
			findings = append(findings, f)
		}
	}
	return append(findings, r.findings...)
}

// restartPolicy refuses a template from which no Job can be created, as the API server does.
func restartPolicy(c *v1.CronJob) field.ErrorList {
	switch c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy {
	case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
		return nil
	}
	return field.ErrorList{field.Required(field.NewPath("spec", "jobTemplate", "spec", "template", "spec", "restartPolicy"),
		fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever))}
}

// unknownFields returns findings about fields that the version does not have, which are usually
// misspelled. The API server drops them, unless a client such as kubectl asks it to refuse them.
func (c *Checker) unknownFields(o *manifest.Object) []finding {
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(o.Value, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil { // another check reports it
		unknown = nil
	}
	unknown = append(unknown, pruning.PruneWithOptions(runtime.DeepCopyJSON(o.Value), c.schemas[o.Version].fields, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	var findings []finding
	for _, path := range unknown {
		if o.IsPatch() && strings.Contains(path, "$") { // a directive of a patch
			continue
		}
		findings = append(findings, unknownField.about(path,
			fmt.Sprintf("there is no such field in %s; is it misspelled, or not indented right?", o.Version)))
	}
	return findings
}

// decode returns a copy of the CronJob as the API server validates it: with defaults, without
// nulls, and without the status.
func (s *schema) decode(value map[string]any) map[string]any {
	value = runtime.DeepCopyJSON(value)
	defaulting.PruneNonNullableNullsWithoutDefaults(value, s.fields)
	defaulting.Default(value, s.fields)
	delete(value, "status")
	switch spec := value["spec"].(type) {
	case nil:
		value["spec"] = map[string]any{}
	case map[string]any:
		if spec["concurrencyPolicy"] == "" {
			delete(spec, "concurrencyPolicy")
		}
	}
	return value
}

func metadata(value map[string]any) field.ErrorList {
	path := field.NewPath("metadata")
	meta, found, err := objectmeta.GetObjectMeta(value, false)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	case !found:
		meta = &metav1.ObjectMeta{}
	}
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault // any valid one
	}
	if meta.Name == "" && meta.GenerateName != "" {
		meta.Name = "generated" // generateName has a check of its own
	}
	return apivalidation.ValidateObjectMeta(meta, true, apivalidation.NameIsDNSSubdomain, path)
}

// checkTypes checks all of the schema except its rules.
func (s *schema) checkTypes(value map[string]any) field.ErrorList {
	return append(schemavalidation.ValidateCustomResource(nil, value, s.types), listtype.ValidateListSetsAndMaps(nil, s.fields, value)...)
}

func (s *schema) checkRules(ctx context.Context, value map[string]any) field.ErrorList {
	errs, _ := s.rules.Validate(ctx, nil, s.fields, value, nil, celconfig.RuntimeCELCostBudget)
	return errs
}

// Hub converts a CronJob of any version to the hub, which the webhooks validate.
func Hub(value map[string]any) (*v1.CronJob, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if raw, err = batch.Versions.ConvertJSON(raw, batch.Versions.Hub.APIVersion); err != nil {
		return nil, err
	}
	hub := &v1.CronJob{}
	return hub, utiljson.Unmarshal(raw, hub)
}
