// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package history is the command that shows what a CronJob has run, runs, and is going to run.
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
	long = `Show the runs of CronJobs as a timeline: those that are over, those that go on, the ticks that were
missed, and those to come. Of each run it tells the result, how long after its tick it started, and
how long it took.

Runs that are over are shown as long as their Jobs exist (see successfulJobsHistoryLimit and
failedJobsHistoryLimit) or status.recentRuns has them: the newest ten; missed ticks as long as
status.missed has them: the newest five rows. A user who may not list Jobs sees those of the status.

When the output is no terminal it is a table aligned as kubectl's are, with times as in RFC 3339 and
"-" for what there is not; but for one NAME its first column names the CronJob. TRIGGER tells a run of
the Schedule from one by hand, Manual, and a Backfill. A row says if the CronJob is Suspended or
Stopped. Colours are left away if NO_COLOR is set. With -o json or yaml it is an object for one NAME,
else one whose items are these objects.`

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

	// single says that one CronJob is named, rather than any number.
	single bool
}

// NewCommand returns the command history.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:                   "history (NAME... | -l SELECTOR | -A)",
		DisableFlagsInUseLine: true,
		Short:                 "Show what a CronJob has run, runs, and is going to run",
		Long:                  long,
		Example:               example,
		Args:                  func(_ *cobra.Command, args []string) error { return c.selection.CheckChosen(args) },
		ValidArgsFunction:     cronjobs.CompleteNames(e, 0),
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
	flags.BoolVar(&c.noHeaders, "no-headers", false, "Leave out the headers of the table, when the output is no terminal.")
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
	s, ok := screenOf(out)
	if !ok {
		return c.printTable(out, histories)
	}
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

// printTable prints histories for programs: columns aligned as kubectl does it, "-" where there is
// nothing. No cell but the last has a blank in it.
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

// printRow prints cells, after the name of the CronJob if there may be several.
func (c *command) printRow(w io.Writer, title string, cells []string) {
	if !c.single {
		cells = append([]string{title}, cells...)
	}
	_, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n") // Flush returns errors
}

// textOf is a time as the table has it; "" for none.
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
