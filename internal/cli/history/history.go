// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package history implements the command history, which shows past, running and coming runs.
package history

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/printers"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const (
	long = `Show the runs of CronJobs as a timeline: past and running ones, missed ticks, and ticks to come. For
each run, it shows the result, how long after its tick it started, and how long it took.

Past runs are shown while their Jobs exist (see successfulJobsHistoryLimit and failedJobsHistoryLimit)
or status.recentRuns has them, which are the newest ten. Missed ticks are shown while status.missed has
them, which are the newest five rows. If you may not list Jobs, the runs are those of the status.

If the output is not a terminal, it is a table with kubectl's alignment, times in RFC 3339 and "-" for
an empty cell. Its first column names the CronJob, unless you give one NAME. TRIGGER is Schedule, Manual
or Backfill. A row says if the CronJob is Suspended or Stopped. NO_COLOR turns colours off. With -o json
or yaml, the output is an object for one NAME, and otherwise an object with these as its items.`

	example = `  # Show the runs of the CronJob "backup", and the next three ticks
  kubectl cronjob history backup

  # Show those of an application, in all namespaces
  kubectl cronjob history -l app=shop -A

  # Show the next ten ticks, too
  kubectl cronjob history backup -c 10

  # The jobs that failed, for a script
  kubectl cronjob history backup --no-headers | awk '$3 == "Failed" {print $2}'`

	defaultComing = 3
	maxComing     = 10_000
)

type command struct {
	*env.Env

	coming    int
	noHeaders bool
	selection cronjobs.Selection
	output    cronjobs.Output

	// single is whether exactly one CronJob is named.
	single bool
}

// NewCommand returns the command history.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:               "history (NAME... | -l SELECTOR | -A)",
		Short:             "Show what a CronJob has run, runs, and is going to run",
		Long:              long,
		Example:           example,
		Args:              func(_ *cobra.Command, args []string) error { return c.selection.CheckChosen(args) },
		ValidArgsFunction: cronjobs.CompleteNames(e, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			c.single = len(args) == 1
			return c.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&c.coming, "count", "c", defaultComing, "How many of the ticks to come to show.")
	flags.BoolVar(&c.noHeaders, "no-headers", false, "Leave out the headers of the table, when the output is not a terminal.")
	c.selection.AddFlags(cmd, "Show")
	c.output.AddFlag(cmd, "json", "yaml")
	return cmd
}

func (c *command) check() error {
	if c.coming < 0 || c.coming > maxComing {
		return fmt.Errorf("--count must be from 0 to %d, not %d", maxComing, c.coming)
	}
	return c.output.Check()
}

func (c *command) run(ctx context.Context, args []string) error {
	cluster, err := c.Client()
	if err != nil {
		return err
	}
	found, errs := c.selection.ListV1(ctx, c.Env, cluster, args)
	jobs, err := c.selection.Jobs(ctx, c.Env, cluster, found)
	isForbidden := apierrors.IsForbidden(err)
	switch {
	case isForbidden:
		fmt.Fprintln(c.ErrOut, "Warning: of the runs, only those that status.recentRuns has are shown:", err)
	case err != nil:
		return cronjobs.Fail(c.Env, append(errs, err))
	}
	now := c.Clock.Now()
	histories := make([]History, len(found))
	for i, cronJob := range found {
		if isForbidden {
			histories[i] = FromStatus(cronJob, now, c.coming)
		} else {
			histories[i] = New(cronJob, jobs[cronJob.UID], now, c.coming)
		}
		histories[i].title = c.selection.NameOf(cronJob.Namespace, cronJob.Name)
	}
	if err := c.print(c.Out, histories); err != nil {
		return err
	}
	return cronjobs.Fail(c.Env, errs)
}

func (c *command) print(out io.Writer, histories []History) error {
	switch {
	case c.output.Format != "" && !c.single:
		return c.output.Write(out, struct {
			Items []History `json:"items"`
		}{histories})
	case c.output.Format != "" && len(histories) == 1:
		return c.output.Write(out, histories[0])
	}
	if c.Columns == 0 {
		return c.printTable(out, histories)
	}
	s := newScreen(c.Columns)
	for i, h := range histories {
		text := s.timeline(h)
		if i > 0 {
			text = "\n" + text
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	return nil
}

// printTable prints a table for programs: columns aligned as in kubectl, with "-" for an empty
// cell. Only the last cell may contain blanks.
func (c *command) printTable(out io.Writer, histories []History) error {
	w := printers.GetNewTabWriter(out)
	header := []string{"TICK", "JOB", "RESULT", "START", "DELAY", "DURATION", "TRIGGER", "MESSAGE"}
	if !c.noHeaders && len(histories) > 0 {
		c.printRow(w, "CRONJOB", header)
	}
	for _, h := range histories {
		for _, e := range h.withHalts() {
			c.printRow(w, h.title, e.row())
		}
	}
	return w.Flush()
}

// printRow prints cells, and before them the title unless a single CronJob is named.
func (c *command) printRow(w io.Writer, title string, cells []string) {
	if !c.single {
		cells = append([]string{title}, cells...)
	}
	_, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n") // Flush returns the error
}

func textOf(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339)
}

func (e Entry) row() []string {
	cells := []string{textOf(e.Tick), e.Job, string(e.State), textOf(e.Start), "", "", string(e.trigger()), e.Message}
	if e.DelaySeconds != nil {
		cells[4] = e.Delay().String()
	}
	if e.DurationSeconds != nil {
		cells[5] = e.Duration().String()
	}
	for i, cell := range cells {
		if cells[i] = strings.Join(strings.Fields(strings.Map(printable, cell)), " "); cells[i] == "" {
			cells[i] = "-"
		}
	}
	return cells
}
