// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package list is the command that lists CronJobs with what became of their runs.
package list

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const (
	long = `List CronJobs: when they run, in English; how the last run went; when the next is; and in STREAK a
sign for each of the recent runs, at most ten, the newest last:

  ✔ succeeded   ✘ failed   ▶ runs   ! missed   ∅ deleted while it ran

A run that is over is as old as its end, and other runs as their start. Times are in the time zone
of the schedule. An operator that does not remember runs leaves STREAK empty.

With -o json, yaml or name the CronJobs are printed as kubectl get does.`

	example = `  # List the CronJobs of the namespace
  kubectl cronjob list

  # List some by name, without the header
  kubectl cronjob list backup report --no-headers

  # List those of all namespaces whose last run failed
  kubectl cronjob list -A --failing

  # List those of an application with more columns
  kubectl cronjob list -l app=shop -o wide

  # Suspended ones, for a script
  kubectl cronjob list --suspended -o name`
)

// command is the command line.
type command struct {
	*env.Env

	selection          cronjobs.Selection
	names              []string
	failing, suspended bool
	noHeaders          bool
	output             cronjobs.Output
}

// NewCommand returns the command list.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:                   "list [NAME... | -A | -l SELECTOR] [--failing] [--suspended]",
		DisableFlagsInUseLine: true,
		Short:                 "List CronJobs with their recent runs and the next",
		Long:                  long,
		Example:               example,
		Args:                  cobra.ArbitraryArgs,
		ValidArgsFunction:     cronjobs.CompleteNames(e, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.names = args
			if err := c.check(); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.selection.AddFlags(cmd, "List")
	cmd.Flags().BoolVar(&c.failing, "failing", false, "Only those whose last run that ended failed.")
	cmd.Flags().BoolVar(&c.suspended, "suspended", false, "Only those that are suspended now.")
	cmd.Flags().BoolVar(&c.noHeaders, "no-headers", false, "Leave out the header of the table.")
	c.output.AddFlag(cmd, "wide", "json", "yaml", "name")
	return cmd
}

// check says what is wrong with the command line.
func (c *command) check() error {
	return errors.Join(c.output.Check(), c.selection.CheckNames(c.names))
}

// run lists the CronJobs.
func (c *command) run(ctx context.Context) error {
	cluster, err := c.Client()
	if err != nil {
		return err
	}
	if c.output.Format == "" || c.output.Format == "wide" {
		return c.printTable(ctx, cluster)
	}
	return c.printObjects(ctx, cluster)
}

// printTable prints a row for each CronJob. It reads them in v1, which needs no webhook.
func (c *command) printTable(ctx context.Context, cluster client.Client) error {
	now := c.Clock.Now()
	table := &metav1.Table{ColumnDefinitions: columns}
	errs := c.each(ctx, cluster, v1.GroupVersion.WithKind("CronJob"), func(object *unstructured.Unstructured) error {
		cronJob, err := cronjobs.DecodeV1(object)
		if err == nil {
			table.Rows = append(table.Rows, rowOf(cronJob, now))
		}
		return err
	})
	if len(table.Rows)+len(errs) == 0 {
		c.selection.SayNone(c.Env)
	}
	options := printers.PrintOptions{WithNamespace: c.selection.AllNamespaces, Wide: c.output.Format == "wide", NoHeaders: c.noHeaders}
	if err := printers.NewTablePrinter(options).PrintObj(table, c.Out); err != nil {
		return err
	}
	return cronjobs.Fail(c.Env, errs)
}

// printObjects prints the CronJobs themselves, in the version that the API server prefers.
func (c *command) printObjects(ctx context.Context, cluster client.Client) error {
	flags := genericclioptions.NewPrintFlags("")
	flags.OutputFormat = &c.output.Format
	printer, err := flags.ToPrinter()
	if err != nil {
		return err
	}
	preferred, err := cluster.RESTMapper().RESTMapping(v1.GroupVersion.WithKind("CronJob").GroupKind())
	if err != nil {
		return cronjobs.Explain(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("List"))
	list.SetResourceVersion("") // it is of no version, and says so, as kubectl has it
	errs := c.each(ctx, cluster, preferred.GroupVersionKind, func(object *unstructured.Unstructured) error {
		list.Items = append(list.Items, *object)
		return nil
	})
	var object runtime.Object = list
	if len(c.names) == 1 {
		if len(list.Items) == 0 {
			return cronjobs.Fail(c.Env, errs)
		}
		object = &list.Items[0]
	}
	if err := printer.PrintObj(object, c.Out); err != nil {
		return err
	}
	return cronjobs.Fail(c.Env, errs)
}

// each calls visit with each CronJob that the flags ask for.
func (c *command) each(ctx context.Context, cluster client.Reader, kind schema.GroupVersionKind,
	visit func(*unstructured.Unstructured) error,
) []error {
	now := c.Clock.Now()
	return c.selection.Each(ctx, c.Env, cluster, kind, c.names, func(object *unstructured.Unstructured) error {
		if c.failing && !isFailing(object) || c.suspended && !cronjobs.IsSuspended(object, now) {
			return nil
		}
		return visit(object)
	})
}

// isFailing reports whether the run of a CronJob of any version failed that ended last.
func isFailing(object *unstructured.Unstructured) bool {
	failures, _, _ := unstructured.NestedInt64(object.Object, "status", "consecutiveFailures")
	return failures > 0
}
