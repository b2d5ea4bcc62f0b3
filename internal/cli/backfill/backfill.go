// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package backfill is the command that runs ticks of the past, and how run does it for one.
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
	long = `Run the ticks of some time in the past that have no successful run, oldest first.

They are the ticks from --from to --to, both included, of the schedule as it is now. A tick is left out
if it is known to have succeeded, to run, or to be about to. What is known are the Jobs that exist, and
status.recentRuns and status.missed of the CronJob. Of ticks that are older than these nothing is
known, and they are run, too, once you have said yes or added --yes; --only missed leaves them out.

Each tick gets the Job that the schedule would have given it: its name, its owner, and the tick in the
annotation batch.tutorial.kubebuilder.io/scheduled-at, of the Pods as well. It also has
batch.tutorial.kubebuilder.io/trigger: Backfill. Where a Job of the tick has failed before, a number is
added to the name. None of this changes lastScheduleTime. Of the backfilled Jobs that are over, the
newest three that succeeded and the newest ten that failed are kept. They say what became of the others.

If concurrencyPolicy is Forbid, one runs at a time, and none beside a Job of the schedule; no more run
than maxConcurrency allows. If it is Replace, nothing is started, as the next tick would delete what
runs. A CronJob that is suspended, or has stopped after failures, is backfilled all the same.

An interrupt leaves what runs. The same command goes on where that stopped, and never starts twice what
it has started, unless that has failed. Two commands may do so at the same time. An edit of the schedule
ends it: of other ticks, nothing is known. The exit code is 0 if all have succeeded, 1 if not, and 130
after an interrupt.`

	example = `  # See what of the first week of June has no successful run
  kubectl cronjob backfill backup --from 2026-06-01 --to 2026-06-08 --dry-run

  # Run what was missed in a night, four at once
  kubectl cronjob backfill backup --from 2026-06-01T22:00 --to 2026-06-02T06:00 --only missed --parallel 4`

	defaultParallel = 2

	// maxUnasked is how many ticks are allowed without --yes, and maxTicks how many can be.
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

	// again is the command line that goes on where this one stops.
	again string
}

// NewCommand returns the command backfill.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:                   "backfill NAME --from TIME --to TIME",
		DisableFlagsInUseLine: true,
		Short:                 "Run ticks of the past that have no successful run",
		Long:                  long,
		Example:               example,
		Args:                  cronjobs.OneName,
		ValidArgsFunction:     cronjobs.CompleteNames(e, 1),
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

// run starts what is wanted, and waits until it has ended.
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

// checkAllowed says why ticks of a CronJob can't be run besides its schedule.
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
	// ticks are all of the range, and states what is known of them.
	ticks  []time.Time
	states map[state]int

	// wanted are the ticks to run, oldest first. Their Jobs say what the record does, and how far the
	// call has come.
	wanted []wanted
	record *record
	call   call
}

type wanted struct {
	tick    time.Time
	state   state
	ended   time.Time // if it failed; else zero
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
