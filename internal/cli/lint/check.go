// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/config/crd"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
	"tutorial.kubebuilder.io/project/internal/validate"
)

// problem is what is wrong with a field.
type problem struct {
	rule          *rule
	path, message string
}

// checker checks CronJobs in the order in which the API server does: the fields, the metadata, the
// schema, and then the webhooks. It does so by the API server's own packages.
type checker struct {
	schemas map[manifest.Version]schema
	now     time.Time
}

// schema is that of a version, as the API server uses it.
type schema struct {
	fields *structuralschema.Structural
	types  schemavalidation.SchemaValidator
	rules  *cel.Validator
}

// newChecker reads the schemas of the CustomResourceDefinition.
func newChecker(now time.Time) (*checker, error) {
	definition := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(crd.CronJobs, &definition); err != nil {
		return nil, err
	}
	c := &checker{schemas: map[manifest.Version]schema{}, now: now}
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

// check returns what is wrong with a CronJob. What a template is to fill in is not checked.
func (c *checker) check(ctx context.Context, o *manifest.Object) []problem {
	if o.IsPatch() {
		return []problem{{&patch, "spec", "not checked: without jobTemplate this is taken for a patch; check what it makes of the object"}}
	}
	problems := c.unknownFields(o)
	refused := refusedFields(o, append(c.metadata(o), c.schema(ctx, o)...))
	if len(refused) > 0 { // the webhooks are not asked
		return append(problems, refused...)
	}
	hub, err := toHub(o)
	if err != nil {
		return append(problems, refusedFields(o, field.ErrorList{field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error())})...)
	}
	inFields := o.Version == manifest.V2
	refused = refusedFields(o, append(validate.Name(hub), validate.Spec(&hub.Spec, inFields)...))
	if len(refused) > 0 { // what is refused is not warned of
		return append(problems, refused...)
	}
	warnings := append(validate.Warnings(&hub.Spec, inFields), validate.NewWarnings(&hub.Spec, c.now)...)
	problems = append(problems, at(&warned, warnings)...)
	return append(problems, doubts(&hub.Spec, inFields)...)
}

// at makes problems of texts that have the path of the field and a colon before them.
func at(rule *rule, texts []string) []problem {
	var problems []problem
	for _, text := range texts {
		path, message, _ := strings.Cut(text, ": ")
		problems = append(problems, problem{rule, path, message})
	}
	return problems
}

// refusedFields makes problems of errors, but of those about what a template is to fill in.
func refusedFields(o *manifest.Object, errs field.ErrorList) []problem {
	var problems []problem
	for _, err := range errs {
		if !o.IsPlaceholder(err.Field) {
			problems = append(problems, problem{&invalid, err.Field, err.ErrorBody()})
		}
	}
	return problems
}

// unknownFields returns those of the fields that no version has: mostly they are misspelled. The
// API server drops them, unless it is asked to refuse them, as kubectl does.
func (c *checker) unknownFields(o *manifest.Object) []problem {
	_, _, unknown, err := objectmeta.GetObjectMetaWithOptions(o.Value, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil { // the metadata is refused
		unknown = nil
	}
	unknown = append(unknown, pruning.PruneWithOptions(runtime.DeepCopyJSON(o.Value), c.schemas[o.Version].fields, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	var problems []problem
	for _, path := range unknown {
		problems = append(problems, problem{&unknownField, path,
			fmt.Sprintf("there is no such field in %s; is it misspelled, or not indented right?", o.Version)})
	}
	return problems
}

// metadata checks the metadata.
func (c *checker) metadata(o *manifest.Object) field.ErrorList {
	path := field.NewPath("metadata")
	meta, found, err := objectmeta.GetObjectMeta(o.Value, false)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	case !found:
		meta = &metav1.ObjectMeta{}
	}
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault // or that of the kubeconfig
	}
	return apivalidation.ValidateObjectMeta(meta, true, apivalidation.NameIsDNSSubdomain, path)
}

// schema checks the rest as the version's schema says.
func (c *checker) schema(ctx context.Context, o *manifest.Object) field.ErrorList {
	s := c.schemas[o.Version]
	errs := schemavalidation.ValidateCustomResource(nil, o.Value, s.types)
	if len(errs) > 0 { // the rules count on the types
		return errs
	}
	errs, _ = s.rules.Validate(ctx, nil, s.fields, o.Value, nil, celconfig.RuntimeCELCostBudget)
	return errs
}

// toHub returns a CronJob as the webhooks see it.
func toHub(o *manifest.Object) (*v1.CronJob, error) {
	hub, spoke := &v1.CronJob{}, &v2.CronJob{}
	if o.Version == manifest.V1 {
		return hub, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Value, hub)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Value, spoke); err != nil {
		return nil, err
	}
	return hub, spoke.ConvertTo(hub)
}
