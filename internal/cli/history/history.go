// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package history is the command that shows what a CronJob has run, runs, and is going to run.
package history

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/printers"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const (
	long = `Show the runs of a CronJob as a timeline: those that are over, those that go on, the ticks that were
missed, and those to come. Of each run it tells the result, how long after its tick it started, and
how long it took.

Runs that are over are shown as long as their Jobs exist (see successfulJobsHistoryLimit and
failedJobsHistoryLimit), missed ticks as long as status.missed has them: the newest five rows.

When the output is no terminal it is a table aligned as kubectl's are, with times as in RFC 3339 and
"-" for what there is not. Colours are left away if NO_COLOR is set.`

	example = `  # Show the runs of the CronJob "backup", and the next three ticks
  kubectl cronjob history backup

  # Show the next ten ticks, too
  kubectl cronjob history backup -c 10

  # The jobs that failed, for a script
  kubectl cronjob history backup --no-headers | awk '$3 == "Failed" {print $2}'`

	defaultComing = 3
	maxComing     = 10_000
)

// command is the command line.
type command struct {
	*env.Env

	coming    int
	noHeaders bool
	output    cronjobs.Output
}

// NewCommand returns the command history.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:                   "history NAME",
		DisableFlagsInUseLine: true,
		Short:                 "Show what a CronJob has run, runs, and is going to run",
		Long:                  long,
		Example:               example,
		Args:                  cronjobs.OneName,
		ValidArgsFunction:     cronjobs.CompleteNames(e, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			return c.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&c.coming, "count", "c", defaultComing, "How many of the ticks to come to show.")
	flags.BoolVar(&c.noHeaders, "no-headers", false, "Leave out the headers of the table, when the output is no terminal.")
	c.output.AddFlag(cmd, "json", "yaml")
	return cmd
}

// check says what is wrong with the command line.
func (c *command) check() error {
	if c.coming < 0 || c.coming > maxComing {
		return fmt.Errorf("--count must be from 0 to %d, not %d", maxComing, c.coming)
	}
	return c.output.Check()
}

// run shows the history of a CronJob.
func (c *command) run(ctx context.Context, arg string) error {
	cluster, cronJob, err := cronjobs.Named(ctx, c.Env, arg)
	if err != nil {
		return err
	}
	jobs, err := cronjobs.JobsOf(ctx, cluster, cronJob)
	if err != nil {
		return err
	}
	return c.print(c.Out, makeHistory(cronJob, jobs, c.Clock.Now(), c.coming))
}

// print prints a history in the format that is asked for, or that suits the output.
func (c *command) print(out io.Writer, h History) error {
	if c.output.Format != "" {
		return c.output.Write(out, h)
	}
	if s, ok := screenOf(out); ok {
		_, err := io.WriteString(out, s.timeline(h))
		return err
	}
	return printTable(out, h, !c.noHeaders)
}

// printTable prints the history for programs: columns aligned as kubectl does it, "-" where there
// is nothing. No cell but the last has a blank in it.
func printTable(out io.Writer, h History, headers bool) error {
	w := printers.GetNewTabWriter(out)
	if headers {
		_, _ = io.WriteString(w, "TICK\tJOB\tRESULT\tSTART\tDELAY\tDURATION\tMESSAGE\n") // Flush returns errors
	}
	for _, e := range h.Entries {
		cells := []string{e.Tick, e.Job, string(e.State), e.Start, "", "", e.Message}
		if e.DelaySeconds != nil {
			cells[4] = e.delay().String()
		}
		if e.DurationSeconds != nil {
			cells[5] = e.duration().String()
		}
		for i, cell := range cells {
			if cells[i] = strings.Join(strings.Fields(strings.Map(printable, cell)), " "); cells[i] == "" {
				cells[i] = "-"
			}
		}
		_, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n")
	}
	return w.Flush()
}
