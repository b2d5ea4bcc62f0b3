// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package suspend has the commands that suspend CronJobs and resume them.
package suspend

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/handover"
)

// words are what differs between the two commands.
type words struct {
	verb, done, short, long, example string
}

var suspending = words{
	verb: "suspend", done: "suspended", short: "Suspend CronJobs",
	long: `Suspend CronJobs: nothing is started until they are resumed. Jobs that run go on, and ticks that pass
in the meantime never run.

Only spec.suspend is changed. One that can't be changed does not keep the others from it.`,
	example: `  # Suspend the CronJob "backup"
  kubectl cronjob suspend backup

  # Suspend those of a team, in all namespaces
  kubectl cronjob suspend -l team=data -A

  # See what would be suspended in this namespace
  kubectl cronjob suspend --all --dry-run=client`,
}

var resuming = words{
	verb: "resume", done: "resumed", short: "Resume CronJobs that are suspended",
	long: `Resume CronJobs that are suspended. Ticks that have passed while they were suspended never run: the
next one does.

Only spec.suspend is changed. One that can't be changed does not keep the others from it.`,
	example: `  # Resume the CronJob "backup"
  kubectl cronjob resume backup

  # Resume those of a team, in all namespaces
  kubectl cronjob resume -l team=data -A`,
}

// command is the command line.
type command struct {
	*env.Env
	words

	// suspend is the value to set.
	suspend bool

	selection cronjobs.Selection
	all       bool
	dryRun    cronjobs.DryRun
	print     *genericclioptions.PrintFlags
}

// NewSuspendCommand returns the command suspend.
func NewSuspendCommand(e *env.Env) *cobra.Command {
	return newCommand(&command{Env: e, words: suspending, suspend: true})
}

// NewResumeCommand returns the command resume.
func NewResumeCommand(e *env.Env) *cobra.Command {
	return newCommand(&command{Env: e, words: resuming})
}

func newCommand(c *command) *cobra.Command {
	c.print = genericclioptions.NewPrintFlags(c.done)
	cmd := &cobra.Command{
		Use:                   c.verb + " (NAME... | -l SELECTOR | --all) [-A]",
		DisableFlagsInUseLine: true,
		Short:                 c.short,
		Long:                  c.long,
		Example:               c.example,
		Args:                  cobra.ArbitraryArgs,
		ValidArgsFunction:     cronjobs.CompleteNames(c.Env, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(args); err != nil {
				return err
			}
			return c.run(cmd.Context(), args)
		},
	}
	c.selection.AddFlags(cmd, strings.ToUpper(c.verb[:1])+c.verb[1:])
	cmd.Flags().BoolVar(&c.all, "all", false, "All of the namespace.")
	c.dryRun.AddFlag(cmd)
	c.print.AddFlags(cmd)
	return cmd
}

// check says what is wrong with the command line.
func (c *command) check(args []string) error {
	ways := 0
	for _, chosen := range []bool{len(args) > 0, c.selection.Selector != "", c.all} {
		if chosen {
			ways++
		}
	}
	switch {
	case ways == 0:
		return errors.New("say which CronJobs: NAME..., -l SELECTOR or --all")
	case ways > 1:
		return errors.New("give NAMEs, -l SELECTOR or --all, not two of them")
	case c.selection.AllNamespaces && len(args) > 0:
		return errors.New("-A goes with -l or --all: a NAME is of one namespace, see -n")
	}
	return errors.Join(c.selection.Check(), c.dryRun.Check())
}

// run changes all that are named, and fails in the end if one could not be changed.
func (c *command) run(ctx context.Context, args []string) error {
	printer, err := c.print.ToPrinter()
	if err != nil {
		return err
	}
	writer, err := c.Client()
	if err != nil {
		return err
	}
	found, errs := c.find(ctx, writer, args)
	for _, object := range found {
		c.warn(object)
		changed, err := c.set(ctx, writer, object)
		if err != nil {
			errs = append(errs, fmt.Errorf("CronJob %s: %w", client.ObjectKeyFromObject(object), err))
			continue
		}
		if name, ok := printer.(*printers.NamePrinter); ok {
			name.Operation = c.operation(object, changed)
		}
		if err := printer.PrintObj(object, c.Out); err != nil {
			return err
		}
	}
	return cronjobs.Fail(c.Env, errs)
}

// warn warns before resuming what is suspended because the built-in CronJob runs in its place.
func (c *command) warn(object client.Object) {
	if _, handedOver := object.GetAnnotations()[handover.SuspendBeforeAnnotation]; handedOver && !c.suspend {
		fmt.Fprintf(c.ErrOut, "Warning: CronJob %[1]s was suspended in favour of the built-in CronJob of its name. "+
			"If that runs, both do; to hand over from it, use kubectl cronjob import %[1]s --suspend-original\n", object.GetName())
	}
}

// operation says what was done to an object; of which namespace it is, where that is not clear.
func (c *command) operation(object client.Object, changed bool) string {
	operation := "already " + c.done
	if changed {
		operation = c.dryRun.Done(c.done)
	}
	if c.selection.AllNamespaces {
		operation += " in namespace " + object.GetNamespace()
	}
	return operation
}

// find reads the CronJobs that the command line names. They are read as they are stored, in v1,
// which is always served.
func (c *command) find(ctx context.Context, reader client.Reader, args []string) ([]*unstructured.Unstructured, []error) {
	kind := v1.GroupVersion.WithKind("CronJob")
	if len(args) == 0 {
		found, err := c.selection.List(ctx, c.Env, reader, kind)
		if err != nil {
			return nil, []error{err}
		}
		if len(found) == 0 {
			fmt.Fprintln(c.ErrOut, "No resources found")
		}
		return found, nil
	}
	namespace, err := c.Namespace()
	if err != nil {
		return nil, []error{err}
	}
	var found []*unstructured.Unstructured
	var errs []error
	seen := sets.New[string]()
	for _, arg := range args {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		name, err := cronjobs.ParseName(arg)
		if err == nil {
			err = cronjobs.Explain(reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object))
		}
		switch {
		case err != nil:
			errs = append(errs, err)
		case !seen.Has(name):
			seen.Insert(name)
			found = append(found, object)
		}
	}
	return found, errs
}

// set sets spec.suspend, and reports whether it was otherwise before.
func (c *command) set(ctx context.Context, writer client.Writer, object *unstructured.Unstructured) (bool, error) {
	// What is neither true nor false counts as false: the schema lets nothing else be stored.
	current, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend")
	switch {
	case current == c.suspend:
		return false, nil
	case c.dryRun == cronjobs.DryRunClient:
		return true, unstructured.SetNestedField(object.Object, c.suspend, "spec", "suspend")
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":`+strconv.FormatBool(c.suspend)+`}}`))
	return true, writer.Patch(ctx, object, patch, &client.PatchOptions{DryRun: c.dryRun.Values()})
}
