// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package backfill implements the command backfill, which runs ticks of the past, and the part of
// run that runs one of them.
package backfill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const (
	long = `Run the ticks of a range in the past that have no successful run, oldest first.

The range includes --from and --to, and the ticks are those of the current schedule. The command skips a
tick if it is known to have succeeded, to be running, or to be about to run. It knows that from the
existing Jobs, and from status.recentRuns and status.missed of the CronJob. About older ticks nothing is
known. They are run too, after you have confirmed it or with --yes; --only missed skips them.

Each tick gets the Job that the schedule would have created: with its name, its owner, and the tick in
the annotation batch.tutorial.kubebuilder.io/scheduled-at, also of the Pods. In addition it has
batch.tutorial.kubebuilder.io/trigger: Backfill. If a Job of the tick has failed before, a number is
added to the name. None of this changes lastScheduleTime. Of the backfilled Jobs that have ended, the
newest three successful and the newest ten failed ones are kept. They have a record of the others.

If concurrencyPolicy is Forbid, the Jobs run one at a time, and not beside a Job of the schedule. No
more Jobs run than maxConcurrency allows. If concurrencyPolicy is Replace, nothing is started, since the
next tick would delete the Jobs. A CronJob that is suspended, or has stopped after failures, is
backfilled too.

An interrupt does not end running Jobs. The same command then continues, and repeats only ticks whose
runs have failed. Two commands may run at the same time. An edit of the schedule ends the command. The
exit code is 0 if all Jobs have succeeded, 1 if not, and 130 after an interrupt.`

	example = `  # See what of the first week of June has no successful run
  kubectl cronjob backfill backup --from 2026-06-01 --to 2026-06-08 --dry-run

  # Run what was missed in a night, four at once
  kubectl cronjob backfill backup --from 2026-06-01T22:00 --to 2026-06-02T06:00 --only missed --parallel 4`

	defaultParallel = 2

	// maxUnasked is how many ticks are allowed without --yes, and maxTicks with it.
	maxUnasked = 1_000
	maxTicks   = 100_000
)

type command struct {
	*env.Env

	from, to string
	parallel int
	only     state
	yes      bool
	dryRun   cronjobs.DryRun

	// again is the command line that continues an interrupted backfill.
	again string
}

// NewCommand returns the command backfill.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:               "backfill NAME --from TIME --to TIME",
		Short:             "Run ticks of the past that have no successful run",
		Long:              long,
		Example:           example,
		Args:              cronjobs.OneName,
		ValidArgsFunction: cronjobs.CompleteNames(e, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			again := []string{cmd.Name(), args[0]}
			cmd.Flags().Visit(func(flag *pflag.Flag) { again = append(again, cronjobs.FlagArgs(flag)...) })
			c.again = cronjobs.CommandLine(again...)
			return c.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.from, "from", "", "The first instant of the range: "+cronjobs.TimeForms)
	flags.StringVar(&c.to, "to", "", "The last instant of the range: "+cronjobs.TimeForms)
	flags.IntVar(&c.parallel, "parallel", defaultParallel, "How many may run at once.")
	flags.StringVar((*string)(&c.only), "only", string(all), `Must be "missed", "failed", or "all". If missed, only run ticks that are known `+
		`to have been missed. If failed, only those that are known to have failed.`)
	flags.BoolVar(&c.yes, "yes", false,
		fmt.Sprintf("Run ticks of which nothing is known without a question, and allow for more than %d.", maxUnasked))
	c.dryRun.AddFlag(cmd)
	cronjobs.CompleteWords(cmd, "only", string(missed), string(failed), string(all))
	cronjobs.CompleteFlag(cmd, "from", cobra.NoFileCompletions)
	cronjobs.CompleteFlag(cmd, "to", cobra.NoFileCompletions)
	return cmd
}

func (c *command) check() error {
	switch {
	case c.from == "" || c.to == "":
		return errors.New("say which ticks: --from TIME --to TIME")
	case c.parallel < 1:
		return fmt.Errorf("--parallel must be 1 or more, not %d", c.parallel)
	case !slices.Contains([]state{missed, failed, all}, c.only):
		return fmt.Errorf(`invalid --only value (%s): must be "missed", "failed", or "all"`, c.only)
	}
	return c.dryRun.Check()
}

func (c *command) run(ctx context.Context, arg string) error {
	cluster, cronJob, err := cronjobs.Named(ctx, c.Env, arg)
	if err != nil {
		return err
	}
	if err := checkAllowed(cronJob); err != nil {
		return err
	}
	jobs, err := cronjobs.ReadWithJobs(ctx, cluster, cronJob)
	if err != nil {
		return err
	}
	work, err := c.plan(cronJob, jobs)
	if err != nil {
		return err
	}
	fmt.Fprint(c.Out, work.summary(cronJob))
	if c.dryRun != cronjobs.DryRunNone {
		return c.try(ctx, cluster, cronJob, work)
	}
	if len(work.wanted) == 0 {
		return nil
	}
	if err := c.confirm(ctx, work); err != nil {
		return err
	}
	return newRunner(c, cluster, cronJob, work).run(ctx)
}

func checkAllowed(cronJob *v1.CronJob) error {
	switch {
	case !cronJob.DeletionTimestamp.IsZero():
		return fmt.Errorf("CronJob %s is being deleted: it starts nothing any more", cronJob.Name)
	case cronJob.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent:
		return fmt.Errorf("concurrencyPolicy of CronJob %s is Replace: its next tick would delete a Job of the past that runs, "+
			"so nothing is started; set it to Allow or Forbid", cronJob.Name)
	}
	return nil
}

type work struct {
	// ticks are all ticks of the range, and states counts them by state.
	ticks  []time.Time
	states map[state]int

	// wanted are the ticks to run, oldest first. Each Job stores record, and call with the
	// progress.
	wanted []wanted
	record *record
	call   call
}

type wanted struct {
	tick    time.Time
	state   state
	ended   time.Time // of a failed run
	attempt int
}

func (c *command) plan(cronJob *v1.CronJob, jobs []*batchv1.Job) (*work, error) {
	zone, now := cronjobs.Zone(cronJob), c.Clock.Now()
	from, err := cronjobs.ParseTime("from", c.from, zone, now)
	if err != nil {
		return nil, err
	}
	to, err := cronjobs.ParseTime("to", c.to, zone, now)
	switch {
	case err != nil:
		return nil, err
	case to.Before(from):
		return nil, fmt.Errorf("--to %s is before --from %s", c.to, c.from)
	case to.After(now):
		return nil, fmt.Errorf("--to %s is in the future: the schedule runs those ticks when they come", c.to)
	}
	schedule, err := scheduleFrom(cronJob, from)
	if err != nil {
		return nil, err
	}
	limit := maxUnasked
	if c.yes {
		limit = maxTicks
	}
	w := &work{ticks: ticksIn(schedule, from, to, limit), states: map[state]int{}}
	switch {
	case len(w.ticks) == 0:
		return nil, fmt.Errorf("no tick of %q (%s) is from %s to %s", cronjobs.Expressions(cronJob), zone, c.from, c.to)
	case len(w.ticks) > maxTicks:
		return nil, fmt.Errorf("more than %d ticks are from %s to %s: take a part of them at a time", maxTicks, c.from, c.to)
	case len(w.ticks) > limit:
		return nil, fmt.Errorf("more than %d ticks are from %s to %s: add --yes if you mean that", limit, c.from, c.to)
	}
	w.pick(learn(cronJob, schedule, jobs), c.only)
	return w, nil
}

func (w *work) pick(k *known, only state) {
	w.record, w.call = k.record, call{From: w.ticks[0].Unix(), Only: only}
	for _, tick := range w.ticks {
		next := k.nextRun(tick)
		w.states[next.state]++
		if wants(only, next.state) {
			w.wanted = append(w.wanted, next)
			w.call.FailedUntil = max(w.call.FailedUntil, next.ended.Unix())
		}
	}
}

func (w *work) newJob(cronJob *v1.CronJob, next wanted) *batchv1.Job {
	job := newJob(cronJob, next.tick, next.attempt)
	w.call.To = next.tick.Unix()
	w.record.set(job, w.call)
	return job
}

func (c *command) try(ctx context.Context, cluster client.Client, cronJob *v1.CronJob, w *work) error {
	for _, next := range w.wanted {
		job := w.newJob(cronJob, next)
		if c.dryRun == cronjobs.DryRunServer {
			if err := cluster.Create(ctx, job, client.DryRunAll); err != nil {
				return fmt.Errorf("creating the Job: %w", err)
			}
		}
		fmt.Fprintf(c.Out, "job.batch/%s %s\n", job.Name, c.dryRun.Done(createdFor(cronJob, next.tick)))
	}
	return nil
}
