// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/cli-runtime/pkg/resource"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// target is a CronJob whose times are asked for.
type target struct {
	// source is the file it is from; "" for none.
	source string

	// cronJob is the CronJob as v1. That of an expression has no name.
	cronJob *v1.CronJob

	// spoke is its spec if it was written as v2.
	spoke *v2.CronJobSpec
}

// isStored reports whether it is a CronJob of the cluster, which runs whatever admission would say
// today.
func (t target) isStored() bool { return t.source == "" && t.cronJob.Name != "" }

// isExpression reports whether it is a mere expression.
func (t target) isExpression() bool { return t.source == "" && t.cronJob.Name == "" }

// targets returns the CronJobs that the command line names, and what could not be read.
func (c *command) targets(ctx context.Context, args []string) ([]target, []error) {
	switch {
	case len(c.files) > 0:
		return c.fromFiles()
	case len(args) == 1 && isExpression(args[0]):
		return []target{{cronJob: &v1.CronJob{Spec: v1.CronJobSpec{Schedule: args[0]}}}}, nil
	}
	cluster, err := c.Client()
	if err != nil {
		return nil, []error{err}
	}
	found, errs := c.selection.ListV1(ctx, c.Env, cluster, args)
	targets := make([]target, len(found))
	for i, cronJob := range found {
		targets[i].cronJob = cronJob
	}
	return targets, errs
}

// fromFiles reads the CronJobs of manifests. Objects of other kinds are passed over.
func (c *command) fromFiles() ([]target, []error) {
	builder := resource.NewLocalBuilder().Unstructured().ContinueOnError().Flatten()
	files := slices.DeleteFunc(slices.Clone(c.files), func(name string) bool { return name == "-" })
	if len(files) < len(c.files) {
		builder = builder.Stream(io.NopCloser(c.In), "standard input")
	}
	if len(files) > 0 {
		builder = builder.FilenameParam(false, &resource.FilenameOptions{Filenames: files, Recursive: c.recursive})
	}
	var targets []target
	err := builder.Do().Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		t := target{source: info.Source, cronJob: &v1.CronJob{}}
		isCronJob, err := t.read(info)
		switch {
		case err != nil:
			return fmt.Errorf("%s: CronJob %s: %w", info.Source, info.Name, err)
		case isCronJob:
			targets = append(targets, t)
		}
		return nil
	})
	var errs []error
	if err != nil {
		for _, err := range utilerrors.Flatten(utilerrors.NewAggregate([]error{err})).Errors() {
			errs = append(errs, manifest.ExplainYAML(err))
		}
	}
	if len(targets) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("-f %v: no CronJob in it, of %s or of batch/v1", c.files, v1.GroupVersion.Group))
	}
	return targets, errs
}

// read reads an object of a file, and reports whether it is a CronJob.
func (t *target) read(info *resource.Info) (bool, error) {
	object, ok := info.Object.(*unstructured.Unstructured)
	if !ok || object.GetKind() != "CronJob" {
		return false, nil
	}
	switch object.GetAPIVersion() {
	case v1.GroupVersion.String():
		return true, decode(object, t.cronJob)
	case v2.GroupVersion.String():
		spoke := &v2.CronJob{}
		t.spoke = &spoke.Spec
		return true, cmp.Or(decode(object, spoke), spoke.ConvertTo(t.cronJob))
	case batchv1.SchemeGroupVersion.String():
		original := &batchv1.CronJob{}
		err := decode(object, original)
		t.cronJob = builtin.View(original)
		return true, err
	}
	return false, nil
}

// decode decodes an object into its type. An error names the field.
func decode[T any](object *unstructured.Unstructured, into *T) error {
	raw, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err == nil {
		return nil
	}
	path, err := wrongField(object.Object, err, func(value any) error {
		raw, err := json.Marshal(value)
		return cmp.Or(err, json.Unmarshal(raw, new(T)))
	})
	wrong, badTime := &json.UnmarshalTypeError{}, &time.ParseError{}
	switch {
	case errors.As(err, &badTime):
		err = fmt.Errorf("want a time such as 2027-03-28T01:00:00Z, not %q", badTime.Value)
	case !errors.As(err, &wrong):
	case wrong.Type.Kind() == reflect.String && (wrong.Value == "bool" || strings.HasPrefix(wrong.Value, "number")):
		err = errors.New("want a string: put the value in quotes")
	default:
		err = fmt.Errorf("can't be of type %s", wrong.Value)
	}
	return fmt.Errorf("%s: %w", strings.TrimPrefix(path, "."), err)
}

// wrongField returns the path of the field that a value can't be decoded for, and the error of that
// field alone: encoding/json names none for types that decode themselves, such as times.
func wrongField(value any, err error, decode func(any) error) (string, error) {
	switch value := value.(type) {
	case map[string]any:
		if decode(map[string]any{}) != nil {
			break // no object is wanted here
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			below := func(field any) error { return decode(map[string]any{key: field}) }
			if err := below(value[key]); err != nil {
				path, err := wrongField(value[key], err, below)
				return "." + key + path, err
			}
		}
	case []any:
		if decode([]any{}) != nil {
			break // no list is wanted here
		}
		for i, item := range value {
			below := func(item any) error { return decode([]any{item}) }
			if err := below(item); err != nil {
				path, err := wrongField(item, err, below)
				return fmt.Sprintf("[%d]%s", i, path), err
			}
		}
	}
	return "", err
}

// explain says where an invalid schedule is: in which file, in which object, and if it was written
// as v2, in which of its fields.
func (t target) explain(err error) error {
	invalid := &field.Error{}
	switch {
	case t.spoke != nil:
		if wrong := manifest.CheckSchedules(t.spoke); wrong != nil && !errors.Is(wrong, schedule.ErrNeverFires) {
			err = wrong
		}
	case t.isExpression() && errors.As(err, &invalid):
		err = errors.New(invalid.Detail)
	}
	return fmt.Errorf("%s: %w", t, err)
}

// String says where the schedule is from.
func (t target) String() string {
	switch {
	case t.isExpression():
		return fmt.Sprintf("the expression %q", t.cronJob.Spec.Schedule)
	case t.source == "":
		return "CronJob " + t.cronJob.Name
	}
	return t.source + ": CronJob " + t.cronJob.Name
}

// warnings returns what admission warns of in the schedules.
func (t target) warnings() []string {
	var found []string
	for _, warning := range schedule.Warnings(t.cronJob.Spec.Schedule) {
		text := warning.At("spec.schedule", t.spoke != nil)
		if t.isExpression() {
			text = warning.String()
		}
		found = append(found, t.String()+": "+text)
	}
	for i, text := range t.cronJob.Spec.AdditionalSchedules {
		for _, warning := range schedule.Warnings(text) {
			found = append(found, t.String()+": "+warning.At(fmt.Sprintf("spec.additionalSchedules[%d]", i), t.spoke != nil))
		}
	}
	return found
}
