// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package list implements the command list, which lists CronJobs with their recent runs.
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
	long = `List CronJobs: the schedule in English, the last run, the next run, and in STREAK a symbol for each
recent run, at most ten, the newest last:

  ✔ succeeded   ✘ failed   ▶ runs, or is queued   ! missed   ∅ deleted while it ran

The age of a run counts from its end, or from its start while it runs. Times are in the time zone of the
schedule. With an older operator, which does not record runs, STREAK is empty.

With -o json, yaml or name, the output is that of kubectl get.`

	example = `  # List the CronJobs of the namespace
  kubectl cronjob list

  # List some by name, without the header
  kubectl cronjob list backup report --no-headers

  # List those of all namespaces whose last run failed
  kubectl cronjob list -A --failing

  # List those that run next first, and then each that changes
  kubectl cronjob list --sort-by=next --watch

  # List those of an application with more columns
  kubectl cronjob list -l app=shop -o wide

  # Suspended ones, for a script
  kubectl cronjob list --suspended -o name`
)

type command struct {
	*env.Env

	selection          cronjobs.Selection
	names              []string
	failing, suspended bool
	noHeaders          bool
	order              order
	watch              bool
	output             cronjobs.Output
}

// NewCommand returns the command list.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:               "list [NAME... | -A | -l SELECTOR] [--failing] [--suspended]",
		Short:             "List CronJobs with their recent runs and the next",
		Long:              long,
		Example:           example,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cronjobs.CompleteNames(e, 0),
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
	cmd.Flags().StringVar((*string)(&c.order), "sort-by", "", "The order of the table: name; state, what needs somebody first; last, by the "+
		"newest run, the newest first; or next, by the next run. As the API server has them if not given.")
	cronjobs.CompleteWords(cmd, "sort-by", string(byName), string(byState), string(byLast), string(byNext))
	cmd.Flags().BoolVarP(&c.watch, "watch", "w", false, "After the table, print a row of each CronJob that changes.")
	c.output.AddFlag(cmd, "wide", "json", "yaml", "name")
	return cmd
}

func (c *command) check() error {
	if !c.isTable() && (c.watch || c.order != "") {
		return errors.New("--watch and --sort-by are for the table: omit -o " + c.output.Format)
	}
	return errors.Join(c.output.Check(), c.order.check(), c.selection.CheckNames(c.names))
}

func (c *command) run(ctx context.Context) error {
	cluster, err := c.Client()
	if err != nil {
		return err
	}
	if c.isTable() {
		return c.printTable(ctx, cluster)
	}
	return c.printObjects(ctx, cluster)
}

func (c *command) isTable() bool { return c.output.Format == "" || c.output.Format == "wide" }

// kind is the kind that the table reads. v1 needs no conversion webhook.
var kind = v1.GroupVersion.WithKind("CronJob")

func (c *command) printTable(ctx context.Context, cluster client.WithWatch) error {
	var found []*v1.CronJob
	errs := c.each(ctx, cluster, kind, func(object *unstructured.Unstructured) error {
		cronJob, err := cronjobs.DecodeV1(object)
		if err == nil {
			found = append(found, cronJob)
		}
		return err
	})
	if len(found)+len(errs) == 0 {
		c.selection.SayNone(c.Env)
	}
	c.order.sort(found, c.Clock.Now())
	printRows := c.newTable()
	if err := printRows(found...); err != nil {
		return err
	}
	if c.watch && len(errs) == 0 {
		return c.printChanges(ctx, cluster, found, printRows)
	}
	return cronjobs.Fail(c.Env, errs)
}

// newTable returns a function that appends rows to a table.
func (c *command) newTable() func(...*v1.CronJob) error {
	printer := printers.NewTablePrinter(printers.PrintOptions{
		WithNamespace: c.selection.AllNamespaces, Wide: c.output.Format == "wide", NoHeaders: c.noHeaders,
	})
	out := printers.GetNewTabWriter(c.Out)
	return func(cronJobs ...*v1.CronJob) error {
		table, now := &metav1.Table{ColumnDefinitions: columns}, c.Clock.Now()
		for _, cronJob := range cronJobs {
			table.Rows = append(table.Rows, rowOf(cronJob, now))
		}
		return errors.Join(printer.PrintObj(table, out), out.Flush())
	}
}

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
	list.SetResourceVersion("") // an empty one, as kubectl prints it
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

func (c *command) each(ctx context.Context, cluster client.Reader, kind schema.GroupVersionKind,
	visit func(*unstructured.Unstructured) error,
) []error {
	return c.selection.Each(ctx, c.Env, cluster, kind, c.names, func(object *unstructured.Unstructured) error {
		if !c.isInState(object) {
			return nil
		}
		return visit(object)
	})
}

func (c *command) isInState(object *unstructured.Unstructured) bool {
	return (!c.failing || isFailing(object)) && (!c.suspended || cronjobs.IsSuspended(object, c.Clock.Now()))
}

// isFailing reports whether the last run that ended has failed. It takes a CronJob of any version.
func isFailing(object *unstructured.Unstructured) bool {
	failures, _, _ := unstructured.NestedInt64(object.Object, "status", "consecutiveFailures")
	return failures > 0
}
