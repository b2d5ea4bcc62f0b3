// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package next implements the command next, which shows the next ticks of a schedule.
package next

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/files"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

const (
	defaultCount = 10

	// maxCount limits the memory that a mistyped number takes.
	maxCount = 10_000
)

const (
	long = `Print the next ticks of a CronJob, a manifest or a cron expression, in the schedule's time zone and in
yours, with a description of the schedule.

An argument with a blank in it, or that starts with @, is an expression. Expressions and manifests need
no cluster. Manifests may be of any version of ours, or of the built-in CronJob, whose ticks are those
that it would have as one of ours. The command refuses what admission would refuse.

Notes show shifts of clocks: a time of day that is skipped in spring fires right after the gap, and one
that is repeated in autumn fires the first time.

With -o name, the output has the Jobs that the CronJob would start, job.batch/NAME-UNIXTIME, one per
line. With -o json or yaml, it is an object for one NAME or EXPRESSION, and otherwise an object with
these as its items.`

	example = `  # The next ten times at which the CronJob "backup" fires
  kubectl cronjob next backup

  # The next time of each CronJob of an application, in all namespaces
  kubectl cronjob next -l app=shop -A -c 1

  # The next three times of an expression, at night in Paris
  kubectl cronjob next "30 2 * * 1-5" -c 3 --time-zone Europe/Paris

  # What a manifest will do at the end of March
  kubectl cronjob next -f cronjob.yaml --from 2027-03-27

  # The same for all manifests of a directory, as JSON
  kubectl cronjob next -f manifests/ -R -o json`
)

type command struct {
	*env.Env

	files     []string
	recursive bool
	count     int
	zone      string
	from      string
	selection cronjobs.Selection
	output    cronjobs.Output

	// single is whether exactly one CronJob or expression is named.
	single bool
}

// NewCommand returns the command next.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:               `next (NAME... | "EXPRESSION" | -f FILE | -l SELECTOR | -A)`,
		Short:             "Tell when a schedule fires next",
		Long:              long,
		Example:           example,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cronjobs.CompleteNames(e, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(args); err != nil {
				return err
			}
			c.single = len(args) == 1
			return c.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	files.AddFlags(cmd, &c.files, &c.recursive)
	flags.IntVarP(&c.count, "count", "c", defaultCount, "How many times to tell.")
	flags.StringVar(&c.zone, "time-zone", "", "The time zone to read the schedule in, such as Europe/Paris, in place of the CronJob's own. "+
		"An expression is read in UTC if none is given.")
	flags.StringVar(&c.from, "from", "", "Tell the times from then on, rather than from now: "+
		cronjobs.TimeForms)
	c.selection.AddFlags(cmd, "Print the ticks of")
	c.output.AddFlag(cmd, "json", "yaml", "name")
	cronjobs.CompleteFlag(cmd, "time-zone", completeZones)
	return cmd
}

func (c *command) check(args []string) error {
	if err := c.output.Check(); err != nil {
		return err
	}
	isOneExpression := len(args) == 1 && isExpression(args[0])
	switch {
	case len(args) > 0 && len(c.files) > 0:
		return errors.New("give a NAME, an EXPRESSION or -f, not two of them")
	case (isOneExpression || len(c.files) > 0) && c.selection.HasFlags():
		return errors.New("-l and -A select CronJobs of the cluster: omit them with an EXPRESSION or -f")
	case len(args) == 0 && len(c.files) == 0 && !c.selection.HasFlags():
		return errors.New(`give the NAME of a CronJob, a cron EXPRESSION such as "0 9 * * 1-5", or -f FILE, or select with -l or -A`)
	case isUnquoted(args):
		return fmt.Errorf(`got %d arguments that are no NAMEs: quote an expression, as in kubectl cronjob next "0 9 * * 1-5"`, len(args))
	case isOneExpression && c.output.Format == "name":
		return errors.New("-o name prints the names of Jobs, and an expression has none: use -o json or yaml")
	case c.count < 1 || c.count > maxCount:
		return fmt.Errorf("--count must be from 1 to %d, not %d", maxCount, c.count)
	}
	if _, err := schedule.LoadZone(c.zone); err != nil {
		return fmt.Errorf("--time-zone: %w%s", err, didYouMean(c.zone))
	}
	if _, err := parseFrom(c.from, time.UTC, time.Time{}); err != nil {
		return err
	}
	if isOneExpression {
		return nil
	}
	return c.selection.CheckNames(args)
}

// isExpression reports whether an argument is a cron expression, not a name.
func isExpression(arg string) bool {
	return arg == "" || strings.HasPrefix(arg, "@") || strings.ContainsAny(arg, " \t\n")
}

// isUnquoted reports whether arguments are an expression without quotes, or several expressions,
// not names.
func isUnquoted(args []string) bool {
	if len(args) < 2 {
		return false
	}
	_, err := schedule.Parse(strings.Join(args, " "), "")
	return err == nil || slices.ContainsFunc(args, func(arg string) bool { return isExpression(arg) || strings.ContainsAny(arg, "*,?") })
}

func parseFrom(text string, zone *time.Location, now time.Time) (time.Time, error) {
	if text == "" {
		return now, nil
	}
	return cronjobs.ParseTime("from", text, zone, now)
}

// run prints the ticks of each CronJob that is named or selected. An error of one does not prevent
// the others.
func (c *command) run(ctx context.Context, args []string) error {
	now := c.Clock.Now()
	targets, errs := c.targets(ctx, args)
	var forecasts []Forecast
	for _, target := range targets {
		forecast, err := c.forecast(target, now)
		if err != nil {
			errs = append(errs, c.selection.Qualify(target.cronJob, err))
			continue
		}
		forecasts = append(forecasts, forecast)
		for _, warning := range target.warnings() {
			fmt.Fprintln(c.ErrOut, "Warning:", warning)
		}
	}
	if err := c.print(forecasts, now); err != nil {
		return err
	}
	return cronjobs.Fail(c.Env, errs)
}

func (c *command) forecast(t target, now time.Time) (Forecast, error) {
	cronJob := t.cronJob.DeepCopy()
	if c.zone != "" {
		cronJob.Spec.TimeZone = &c.zone
	}
	from, err := parseFrom(c.from, cronjobs.Zone(cronJob), now)
	if err != nil {
		return Forecast{}, err
	}
	if cronJob.CreationTimestamp.IsZero() {
		cronJob.CreationTimestamp.Time = from // what an interval counts from
	}
	if !t.isStored() {
		if err := cronjobs.CheckNew(cronJob); err != nil {
			return Forecast{}, t.explain(err)
		}
	}
	f, err := makeForecast(cronJob, from, now.Location(), c.count)
	if err != nil {
		return f, t.explain(err)
	}
	f.Source = t.source
	f.addWaiting(t.cronJob, now)
	return f, nil
}

// Stored returns the next tick of a CronJob in the cluster. An error names the CronJob and the
// wrong field.
func Stored(c *v1.CronJob, now time.Time) (Forecast, error) {
	f, err := makeForecast(c, now, now.Location(), 1)
	if err != nil {
		return f, target{cronJob: c}.explain(err)
	}
	f.addWaiting(c, now)
	return f, nil
}

func (f *Forecast) addWaiting(c *v1.CronJob, now time.Time) {
	tick, start := c.Status.NextScheduleTime, plan.NextStart(c)
	if tick == nil || tick.After(now) || ptr.Deref(c.Spec.Suspend, false) {
		return
	}
	f.Waiting = tick.UTC().Format(time.RFC3339)
	if start.After(now) {
		f.WaitingUntil = start.UTC().Format(time.RFC3339)
	}
}
