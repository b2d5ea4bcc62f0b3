// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/cli-runtime/pkg/resource"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/lint"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/validate"
)

type target struct {
	// source is the file; "" for none.
	source string

	// cronJob is in the hub version. The one of an expression has no name.
	cronJob *v1.CronJob

	// form has the schedules as they were written.
	form validate.Form
}

// isStored reports whether it is a CronJob of the cluster, which runs even if admission would
// refuse it today.
func (t target) isStored() bool { return t.source == "" && t.cronJob.Name != "" }

func (t target) isExpression() bool { return t.source == "" && t.cronJob.Name == "" }

// targets returns the CronJobs that the command line names, and errors about others.
func (c *command) targets(ctx context.Context, args []string) ([]target, []error) {
	switch {
	case len(c.files) > 0:
		return c.fromFiles(ctx)
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

// fromFiles reads the CronJobs in files. It ignores objects of other kinds.
func (c *command) fromFiles(ctx context.Context) ([]target, []error) {
	builder := resource.NewLocalBuilder().Unstructured().ContinueOnError().Flatten()
	files := slices.DeleteFunc(slices.Clone(c.files), func(name string) bool { return name == "-" })
	if len(files) < len(c.files) {
		builder = builder.Stream(io.NopCloser(c.In), "standard input")
	}
	if len(files) > 0 {
		builder = builder.FilenameParam(false, &resource.FilenameOptions{Filenames: files, Recursive: c.recursive})
	}
	checker, err := lint.NewChecker(c.Clock.Now())
	if err != nil {
		return nil, []error{err}
	}
	var targets []target
	err = builder.Do().Visit(func(info *resource.Info, err error) error {
		object, ok := info.Object.(*unstructured.Unstructured)
		if err != nil || !ok {
			return err
		}
		t := target{source: info.Source}
		if err := t.read(ctx, checker, object); err != nil {
			return fmt.Errorf("%s: CronJob %s: %w", info.Source, info.Name, err)
		}
		if t.cronJob != nil {
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

// read sets the CronJob from an object of a file. It stays nil for another kind.
func (t *target) read(ctx context.Context, checker *lint.Checker, object *unstructured.Unstructured) error {
	if object.GroupVersionKind() == builtin.GVK {
		original, _, err := builtin.Decode(object)
		if err == nil {
			t.cronJob = builtin.View(original)
		}
		return err
	}
	if object.GetKind() != manifest.Kind || object.GroupVersionKind().Group != v1.GroupVersion.Group {
		return nil
	}
	refused, err := checker.Refused(ctx, object.Object)
	switch {
	case err != nil:
		return err
	case len(refused) > 0:
		return errors.New(refused[0].String())
	}
	t.form = validate.FormOf(object.Object)
	unstructured.RemoveNestedField(object.Object, "spec", "jobTemplate") // an invalid one does not change ticks
	t.cronJob, err = lint.Hub(object.Object)
	return err
}

// explain adds to an error about a schedule where the schedule is.
func (t target) explain(err error) error {
	if invalid := (&field.Error{}); t.isExpression() && errors.As(err, &invalid) {
		err = errors.New(invalid.Detail)
	}
	return fmt.Errorf("%s: %w", t, err)
}

// String describes where the schedule is.
func (t target) String() string {
	switch {
	case t.isExpression():
		return fmt.Sprintf("the expression %q", t.cronJob.Spec.Schedule)
	case t.source == "":
		return "CronJob " + t.cronJob.Name
	}
	return t.source + ": CronJob " + t.cronJob.Name
}

// warnings returns the warnings of admission about the schedules.
func (t target) warnings() []string {
	var found []string
	if t.isExpression() {
		for _, warning := range schedule.Warnings(t.cronJob.Spec.Schedule) {
			found = append(found, t.String()+": "+warning.String())
		}
		return found
	}
	spec := &t.cronJob.Spec
	for _, warning := range t.form.Warnings(append([]string{spec.Schedule}, spec.AdditionalSchedules...)...) {
		found = append(found, t.String()+": "+warning.String())
	}
	return found
}
