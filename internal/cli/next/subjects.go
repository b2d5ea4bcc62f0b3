// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/cli-runtime/pkg/resource"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// subject is a CronJob whose times are asked for.
type subject struct {
	// source is the file it is from; "" for none.
	source string

	// cronJob is it, as v1. That of an expression has no name.
	cronJob *v1.CronJob

	// fields is its schedule if it was written as v2.
	fields *v2.CronSchedule
}

// isStored reports whether it is a CronJob of the cluster, which runs whatever admission would say
// today.
func (s subject) isStored() bool { return s.source == "" && s.cronJob.Name != "" }

// isExpression reports whether it is a mere expression.
func (s subject) isExpression() bool { return s.source == "" && s.cronJob.Name == "" }

// subjects returns the CronJobs that the command line names, and what could not be read.
func (c *command) subjects(ctx context.Context, args []string) ([]subject, []error) {
	if len(args) == 0 {
		return c.fromFiles()
	}
	if isExpression(args[0]) {
		return []subject{{cronJob: &v1.CronJob{Spec: v1.CronJobSpec{Schedule: args[0]}}}}, nil
	}
	_, cronJob, err := cronjobs.Named(ctx, c.Env, args[0])
	if err != nil {
		return nil, []error{err}
	}
	return []subject{{cronJob: cronJob}}, nil
}

// fromFiles reads the CronJobs of manifests. Objects of other kinds are passed over.
func (c *command) fromFiles() ([]subject, []error) {
	builder := resource.NewLocalBuilder().Unstructured().ContinueOnError().Flatten()
	files := slices.DeleteFunc(slices.Clone(c.files), func(name string) bool { return name == "-" })
	if len(files) < len(c.files) {
		builder = builder.Stream(io.NopCloser(c.In), "standard input")
	}
	if len(files) > 0 {
		builder = builder.FilenameParam(false, &resource.FilenameOptions{Filenames: files, Recursive: c.recursive})
	}
	var subjects []subject
	err := builder.Do().Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		s, isCronJob, err := read(info)
		if err == nil && isCronJob {
			subjects = append(subjects, s)
		}
		return err
	})
	errs := flatten(err)
	for i := range errs {
		errs[i] = manifest.ExplainYAML(errs[i])
	}
	if len(subjects) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("-f %v: no CronJob in it, of %s or of batch/v1", c.files, v1.GroupVersion.Group))
	}
	return subjects, errs
}

// flatten returns the errors that are in one.
func flatten(err error) []error {
	switch e := err.(type) { //nolint:errorlint // the list itself is meant, not one in the chain
	case nil:
		return nil
	case utilerrors.Aggregate:
		return utilerrors.Flatten(e).Errors()
	}
	return []error{err}
}

// read reads an object of a file, and reports whether it is a CronJob.
func read(info *resource.Info) (subject, bool, error) {
	s := subject{source: info.Source, cronJob: &v1.CronJob{}}
	object, ok := info.Object.(*unstructured.Unstructured)
	if !ok || object.GetKind() != "CronJob" {
		return s, false, nil
	}
	var err error
	switch object.GetAPIVersion() {
	case v1.GroupVersion.String():
		err = decode(object, s.cronJob)
	case v2.GroupVersion.String():
		spoke := &v2.CronJob{}
		if err = decode(object, spoke); err == nil {
			s.fields = &spoke.Spec.Schedule
			err = spoke.ConvertTo(s.cronJob)
		}
	case batchv1.SchemeGroupVersion.String():
		original := &batchv1.CronJob{}
		if err = decode(object, original); err == nil {
			s.cronJob = builtin.View(original)
		}
	default:
		return s, false, nil
	}
	if err != nil {
		return s, true, fmt.Errorf("%s: CronJob %s: %w", info.Source, object.GetName(), err)
	}
	return s, true, nil
}

// decode decodes an object into its type.
func decode(object *unstructured.Unstructured, into runtime.Object) error {
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	err = json.Unmarshal(raw, into)
	wrong := &json.UnmarshalTypeError{}
	if !errors.As(err, &wrong) {
		return err
	}
	if wrong.Type.Kind() == reflect.String && (wrong.Value == "bool" || strings.HasPrefix(wrong.Value, "number")) {
		return fmt.Errorf("%s: want a string: put the value in quotes", wrong.Field)
	}
	return fmt.Errorf("%s: can't be of type %s", wrong.Field, wrong.Value)
}

// explain says where an invalid schedule is: in which file, in which object, and if it was written
// as v2, in which of its fields.
func (s subject) explain(err error) error {
	if s.fields != nil {
		if wrong := manifest.CheckFields(*s.fields); wrong != nil && !errors.Is(wrong, schedule.ErrNeverFires) {
			err = wrong
		}
	}
	if s.isExpression() {
		err = withoutField(err)
	}
	return fmt.Errorf("%s: %w", s, err)
}

// String says where the schedule is from.
func (s subject) String() string {
	switch {
	case s.isExpression():
		return fmt.Sprintf("the expression %q", s.cronJob.Spec.Schedule)
	case s.source == "":
		return "CronJob " + s.cronJob.Name
	}
	return s.source + ": CronJob " + s.cronJob.Name
}

// warnings returns what admission warns of in the schedule.
func (s subject) warnings() []string {
	var found []string
	for _, warning := range schedule.Warnings(s.cronJob.Spec.Schedule) {
		told := warning.At("spec.schedule", s.fields != nil)
		if s.isExpression() {
			told = warning.String()
		}
		found = append(found, s.String()+": "+told)
	}
	return found
}

// withoutField returns what is wrong with a field's value alone.
func withoutField(err error) error {
	if invalid, ok := err.(*field.Error); ok { //nolint:errorlint // it is not wrapped
		return fmt.Errorf("%s", invalid.Detail)
	}
	return err
}
