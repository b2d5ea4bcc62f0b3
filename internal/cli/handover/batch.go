// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// Options are the flags that import and export share.
type Options struct {
	cronjobs.Selection
	DryRun  cronjobs.DryRun
	Output  string
	Wait    bool
	Timeout time.Duration

	// Grace is how long after its suspension a CronJob may still start a Job, as its controller has
	// not heard of it yet.
	Grace time.Duration
}

// AddFlags has a command take the options. The verb is what it does to CronJobs.
func (o *Options) AddFlags(command *cobra.Command, verb string) {
	o.Selection.AddFlags(command, verb)
	o.DryRun.AddFlag(command)
	flags := command.Flags()
	flags.StringVarP(&o.Output, "output", "o", "", "Print the manifests, and touch nothing. One of: (json, yaml).")
	flags.BoolVar(&o.Wait, "wait", false,
		"Wait for Jobs that run when the concurrency policy is Forbid or Replace; ticks that pass meanwhile are missed.")
	flags.DurationVar(&o.Timeout, "timeout", 10*time.Minute, "How long --wait waits, for each CronJob; 0 for as long as it takes.")
	flags.DurationVar(&o.Grace, "grace", 5*time.Second,
		"How long after its suspension a controller may not have heard of it yet; nothing is handed over so soon before a tick.")
}

// check says what is wrong with the options.
func (o *Options) check(names []string) error {
	switch {
	case o.Grace < 0:
		return fmt.Errorf("--grace=%s: use 0 or more", o.Grace)
	case o.Timeout < 0:
		return fmt.Errorf("--timeout=%s: use 0 or more", o.Timeout)
	}
	return errors.Join(o.CheckNames(names), o.DryRun.Check())
}

// Batch handles some CronJobs, each whatever happens to the others.
type Batch struct {
	*Handover

	// Printer prints manifests, if these are asked for.
	Printer printers.ResourcePrinter

	current client.ObjectKey
}

// NewBatch prepares a run.
func NewBatch(e *env.Env, o *Options, names []string) (*Batch, error) {
	if err := o.check(names); err != nil {
		return nil, err
	}
	b := &Batch{Handover: &Handover{Options: o, Env: e}}
	b.Say = func(text string) { _, _ = fmt.Fprintf(e.ErrOut, "%s: %s\n", b.name(b.current), text) }
	var err error
	if o.Output != "" {
		if b.Printer, err = genericclioptions.NewJSONYamlPrintFlags().ToPrinter(o.Output); err != nil {
			return nil, fmt.Errorf("--output=%s: use yaml or json", o.Output)
		}
	}
	b.Client, err = e.Client()
	return b, err
}

// Each calls back for each CronJob of a kind: those with the names, or all that the options select.
// It prints errors, and returns one that counts them.
func (b *Batch) Each(ctx context.Context, gvk schema.GroupVersionKind, names []string,
	handle func(context.Context, *unstructured.Unstructured) error,
) error {
	keys, err := b.find(ctx, gvk, names)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		b.print("no CronJobs of " + gvk.GroupVersion().String() + " found")
	}
	failed := 0
	for _, key := range keys {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("interrupted before %s: %w", b.name(key), err)
		}
		b.current = key
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(gvk)
		err := b.Client.Get(ctx, key, object)
		if err == nil {
			err = handle(ctx, object)
		}
		if err != nil {
			failed++
			_, _ = fmt.Fprintf(b.Env.ErrOut, "error: %s: %v\n", b.name(key), err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d failed", failed, len(keys))
	}
	return nil
}

// find returns the keys of the CronJobs to handle.
func (b *Batch) find(ctx context.Context, gvk schema.GroupVersionKind, names []string) ([]client.ObjectKey, error) {
	var keys []client.ObjectKey
	if len(names) == 0 {
		errs := b.Selection.Each(ctx, b.Env, b.Client, gvk, nil, func(object *unstructured.Unstructured) error {
			keys = append(keys, client.ObjectKeyFromObject(object))
			return nil
		})
		return keys, errors.Join(errs...)
	}
	namespace, err := b.Env.Namespace()
	for _, arg := range names {
		name, _ := cronjobs.ParseName(arg) // it was checked before
		keys = append(keys, client.ObjectKey{Namespace: namespace, Name: name})
	}
	return keys, err
}

// Find gets the other CronJob of the same name and reports whether it is there.
func (b *Batch) Find(ctx context.Context, other client.Object) (bool, error) {
	err := b.Client.Get(ctx, b.current, other)
	if err != nil && client.IgnoreNotFound(err) == nil {
		return false, nil
	}
	return err == nil, cronjobs.Explain(err)
}

// strict has the API server refuse fields that it would drop.
var strict = client.FieldValidation(metav1.FieldValidationStrict)

// Check finds out whether an object could be created: in a dry run on the client, as far as that is
// known here.
func (b *Batch) Check(ctx context.Context, object client.Object) error {
	var err error
	if ours, ok := object.(*v1.CronJob); ok && b.DryRun == cronjobs.DryRunClient {
		err = cronjobs.CheckNew(ours)
	} else if b.DryRun != cronjobs.DryRunClient {
		tried := object.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of the same type
		err = b.Client.Create(ctx, tried, strict, client.DryRunAll)
	}
	if err != nil {
		return fmt.Errorf("creating %s: %w", participantOf(object), err)
	}
	return nil
}

// Create creates a CronJob of either kind.
func (b *Batch) Create(ctx context.Context, object client.Object) (*Participant, error) {
	if err := b.Client.Create(ctx, object, strict); err != nil {
		return nil, fmt.Errorf("creating %s: %w", participantOf(object), err)
	}
	return participantOf(object), nil
}

// HandOver hands over. In a dry run it only says why that would be refused.
func (b *Batch) HandOver(ctx context.Context, from *Participant, start Start) (missed time.Time, err error) {
	switch {
	case b.DryRun == cronjobs.DryRunNone:
		return b.Handover.HandOver(ctx, from, start)
	case from.Suspended() && !from.SuspendedByUs():
		return time.Time{}, nil
	case b.DryRun == cronjobs.DryRunServer:
		if _, err := b.clockAhead(ctx, from); err != nil {
			return time.Time{}, err
		}
	}
	if b.Wait {
		return time.Time{}, nil
	}
	return time.Time{}, b.refuseJobs(ctx, from)
}

// Done prints what was done to the present CronJob, or would be, with notes and the tick that
// nobody runs, if there is one.
func (b *Batch) Done(text string, missed time.Time, notes ...string) {
	b.print(b.name(b.current) + ": " + b.DryRun.Done(text))
	if !missed.IsZero() {
		notes = append(notes, fmt.Sprintf("the tick of %s is missed: it came during the hand-over", missed.Format(time.RFC3339)))
	}
	for _, note := range notes {
		b.print("  " + note)
	}
}

func (b *Batch) print(text string) { _, _ = fmt.Fprintln(b.Env.Out, text) }

// name names a CronJob as far as is needed to tell it from the others.
func (b *Batch) name(key client.ObjectKey) string { return b.NameOf(key.Namespace, key.Name) }
