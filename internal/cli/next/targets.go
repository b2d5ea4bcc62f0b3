// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/files"
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

// fromFiles reads the CronJobs in files, ours and the built-in ones.
func (c *command) fromFiles(ctx context.Context) ([]target, []error) {
	named, err := files.Expand(c.files, c.recursive)
	if err != nil {
		return nil, []error{err}
	}
	checker, err := lint.NewChecker(c.Clock.Now())
	if err != nil {
		return nil, []error{err}
	}
	var targets []target
	var errs []error
	for _, f := range named {
		text, err := f.Read(c.In)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Name, err))
			continue
		}
		objects, unread := manifest.Objects(text, true)
		for _, finding := range unread {
			errs = append(errs, fmt.Errorf("%s:%d: %w", f.Name, finding.Line, finding))
		}
		for i := range objects {
			t, object := target{source: f.Name}, &unstructured.Unstructured{Object: objects[i].Value}
			if err := t.read(ctx, checker, object); err != nil {
				errs = append(errs, fmt.Errorf("%s: CronJob %s: %w", f.Name, object.GetName(), err))
				continue
			}
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("-f %v: no CronJob in it, of %s or of batch/v1", c.files, v1.GroupVersion.Group))
	}
	return targets, errs
}

// read sets the CronJob from an object of a file.
func (t *target) read(ctx context.Context, checker *lint.Checker, object *unstructured.Unstructured) error {
	if object.GroupVersionKind() == builtin.GVK {
		original, _, err := builtin.Decode(object)
		if err == nil {
			t.cronJob = builtin.View(original)
		}
		return err
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
