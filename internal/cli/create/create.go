// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package create is the command that creates a CronJob from flags, as kubectl create cronjob does
// for the built-in one. Of k8s.io/kubectl nothing is used but its ways: its options build the
// built-in kind in a function of their own.
package create

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/template"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

const (
	long = `Create a CronJob with one container, as kubectl create cronjob does for the built-in one.

What follows -- is the container's command. For all else, print the manifest with --dry-run=client -o yaml,
edit it and apply it.`

	example = `  # Create a CronJob
  kubectl cronjob create backup --image=busybox --schedule='*/5 * * * *' -- date

  # Print a manifest in v2, which needs no cluster
  kubectl cronjob create backup --image=busybox --schedule='30 2 * * *' --time-zone=Europe/Paris --v2 --dry-run=client -o yaml`
)

// command is the command line.
type command struct {
	*env.Env
	template.Flags

	schedule string
	restart  string
	dryRun   cronjobs.DryRun
	print    *genericclioptions.PrintFlags
}

// NewCommand returns the command create.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e, print: genericclioptions.NewPrintFlags("created")}
	cmd := &cobra.Command{
		Use:                   "create NAME --image=IMAGE --schedule=SCHEDULE [--v2] -- [COMMAND] [ARGS...]",
		DisableFlagsInUseLine: true,
		Short:                 "Create a CronJob from flags",
		Long:                  long,
		Example:               example,
		Args: func(cmd *cobra.Command, args []string) error {
			names := len(args)
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				names = dash
			}
			if names != 1 {
				return fmt.Errorf("exactly one NAME is required, got %d; the command goes behind --", names)
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			return c.run(cmd.Context(), args[0], args[1:])
		},
	}
	c.AddFlags(cmd)
	cmd.Flags().StringVar(&c.schedule, "schedule", "", `When it runs: five cron fields, a macro such as @daily, or "@every 90m".`)
	cmd.Flags().StringVar(&c.restart, "restart", string(corev1.RestartPolicyOnFailure), "The Pods' restart policy: OnFailure or Never.")
	c.dryRun.AddFlag(cmd)
	c.print.AddFlags(cmd)
	cronjobs.CompleteWords(cmd, "restart", string(corev1.RestartPolicyOnFailure), string(corev1.RestartPolicyNever))
	return cmd
}

// check says what is wrong with the command line.
func (c *command) check() error {
	if err := c.Check(); err != nil {
		return err
	}
	if _, err := schedule.ParseNew(c.schedule, c.TimeZone); err != nil {
		return fmt.Errorf("--schedule %q: %w", c.schedule, err)
	}
	switch corev1.RestartPolicy(c.restart) {
	case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
		return c.dryRun.Check()
	}
	return fmt.Errorf("--restart %s: want OnFailure or Never", c.restart)
}

// run creates the CronJob, or prints it.
func (c *command) run(ctx context.Context, name string, args []string) error {
	c.print.NamePrintFlags.Operation = c.dryRun.Done("created")
	printer, err := c.print.ToPrinter()
	if err != nil {
		return err
	}
	object, err := c.InVersion(c.CronJob(name, c.schedule, args, corev1.RestartPolicy(c.restart)))
	if err != nil {
		return err
	}
	object.SetNamespace(ptr.Deref(c.Env.Flags.Namespace, metav1.NamespaceNone))
	if c.dryRun != cronjobs.DryRunClient {
		if err := c.create(ctx, object); err != nil {
			return err
		}
	}
	return printer.PrintObj(object, c.Out)
}

// create has the API server create the CronJob.
func (c *command) create(ctx context.Context, object client.Object) error {
	namespace, err := c.Namespace()
	if err != nil {
		return err
	}
	cluster, err := c.Client()
	if err != nil {
		return err
	}
	kind := object.GetObjectKind().GroupVersionKind()
	object.SetNamespace(namespace)
	err = cronjobs.Explain(cluster.Create(ctx, object, &client.CreateOptions{DryRun: c.dryRun.Values()}))
	object.GetObjectKind().SetGroupVersionKind(kind) // which the client takes away
	return err
}
