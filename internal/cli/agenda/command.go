// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package agenda is the command that shows what is going to run when.
package agenda

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const (
	long = `Show what is going to run: the ticks of all CronJobs in the order of time, then the minutes in which
most Jobs start. Times are in your time zone, and beside it in that of the schedule if they differ.

Of each CronJob it shows at most the first 24 ticks, and how many more there are; all of them count
for the busiest minutes. Ticks of a CronJob that is suspended are marked, and do not count.`

	example = `  # Show what is going to run in this namespace until this time tomorrow
  kubectl cronjob agenda

  # Show the next hour of all namespaces
  kubectl cronjob agenda -A --within 1h

  # Show the next week of two CronJobs
  kubectl cronjob agenda backup report --within 168h`

	defaultWithin = 24 * time.Hour
	maxWithin     = 31 * 24 * time.Hour
)

// command is the command line.
type command struct {
	*env.Env

	within    time.Duration
	selection cronjobs.Selection
	output    cronjobs.Output
}

// NewCommand returns the command agenda.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:                   "agenda [NAME... | -l SELECTOR] [-A] [--within DURATION]",
		DisableFlagsInUseLine: true,
		Short:                 "Show what is going to run when",
		Long:                  long,
		Example:               example,
		Args:                  func(_ *cobra.Command, args []string) error { return c.selection.CheckNames(args) },
		ValidArgsFunction:     cronjobs.CompleteNames(e, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			return c.run(cmd.Context(), args)
		},
	}
	cmd.Flags().DurationVar(&c.within, "within", defaultWithin, "How far to look ahead, such as 90m or 48h.")
	c.selection.AddFlags(cmd, "Show")
	c.output.AddFlag(cmd, "json", "yaml")
	return cmd
}

// check says what is wrong with the command line.
func (c *command) check() error {
	if c.within <= 0 || c.within > maxWithin {
		return fmt.Errorf("--within must be above 0 and at most %.0fh, not %s", maxWithin.Hours(), c.within)
	}
	return c.output.Check()
}

// run prints the agenda. A CronJob that has none is an error, and does not keep the others from it.
func (c *command) run(ctx context.Context, args []string) error {
	cluster, err := c.Client()
	if err != nil {
		return err
	}
	agenda, count := newAgenda(c.Clock.Now(), c.within), 0
	errs := c.selection.EachV1(ctx, c.Env, cluster, args, func(cronJob *v1.CronJob) error {
		count++
		return agenda.add(cronJob)
	})
	agenda.finish()
	switch {
	case c.output.Format != "":
		err = c.output.Write(c.Out, agenda)
	case count > 0:
		err = c.print(agenda)
	case len(errs) == 0:
		c.selection.SayNone(c.Env)
	}
	if err != nil {
		return err
	}
	return cronjobs.Fail(c.Env, errs)
}
