// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package run implements the command run, which starts a Job of a CronJob now.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/backfill"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const (
	long = `Start a Job of a CronJob now, from its template, even if the CronJob is suspended.

The CronJob owns the Job and counts it like any other, in status.active and for its concurrency policy.
The newest three ended ones are kept, apart from its history limits. The schedule does not change: the
run does not replace a tick. The Job has the annotations cronjob.kubernetes.io/instantiate: manual and
batch.tutorial.kubebuilder.io/trigger: Manual, and its Pods have
batch.tutorial.kubebuilder.io/scheduled-at with the time of the run.

With --tick, the command runs a tick of the past, as backfill does. A tick that has run requires
--again.

Arguments after -- replace those of the container, and --env adds variables or replaces those of the
same name, in this Job alone.

If concurrencyPolicy is Forbid and a Job runs, or maxConcurrency Jobs run, nothing is started without
--force. If concurrencyPolicy is Replace, running Jobs are deleted first.

With --wait or --follow, the exit code is 0 if the Job has completed, and 1 if it has failed, was
deleted, or --timeout is over. An interrupt does not end the Job.`

	example = `  # Start a Job of the CronJob "backup" now
  kubectl cronjob run backup

  # Show what its Pods log, and fail if it fails
  kubectl cronjob run backup --follow

  # Run the tick of a night in the past, in the zone of the schedule
  kubectl cronjob run backup --tick 2026-06-01T02:30

  # Start a Job with other arguments
  kubectl cronjob run backup --env VERBOSE=1 -- --full --target=cold

  # Wait for it at most ten minutes
  kubectl cronjob run backup --wait --timeout=10m

  # See the Job that would be started
  kubectl cronjob run backup --dry-run=server -o yaml`
)

type command struct {
	*env.Env

	force    bool
	tick     string
	again    bool
	override override
	wait     bool
	follow   bool
	timeout  time.Duration
	dryRun   cronjobs.DryRun
	print    *genericclioptions.PrintFlags
}

// NewCommand returns the command run.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e, print: genericclioptions.NewPrintFlags("created")}
	cmd := &cobra.Command{
		Use:     "run NAME [--tick TIME] [-- ARGS]",
		Short:   "Start a Job of a CronJob now",
		Long:    long,
		Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args = args[:dash]
			}
			return cronjobs.OneName(cmd, args)
		},
		ValidArgsFunction: cronjobs.CompleteNames(e, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.override.args = args[1:]
			if err := c.check(cmd.Flags().Changed("tick")); err != nil {
				return err
			}
			return c.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&c.force, "force", false, "Start it even if concurrencyPolicy or maxConcurrency has ticks wait for a Job that runs.")
	flags.StringVar(&c.tick, "tick", "", "Run this tick of the past: "+cronjobs.TimeForms)
	flags.BoolVar(&c.again, "again", false, "Run the tick even if it has run.")
	c.override.addFlags(cmd, e)
	flags.BoolVar(&c.wait, "wait", false, "Wait until the Job has ended.")
	flags.BoolVar(&c.follow, "follow", false, "Print what the Job's Pods log as it comes, until the Job has ended.")
	flags.DurationVar(&c.timeout, "timeout", 0, "How long to wait, such as 90s or 10m; 0 for as long as it takes.")
	c.dryRun.AddFlag(cmd)
	c.print.AddFlags(cmd)
	cronjobs.CompleteFlag(cmd, "tick", cobra.NoFileCompletions)
	return cmd
}

// check returns an error if the command line is wrong. namesTick is whether --tick is given: its
// value is empty if it comes from an unset variable.
func (c *command) check(namesTick bool) error {
	if namesTick {
		if _, err := cronjobs.ParseTime("tick", c.tick, time.UTC, time.Time{}); err != nil {
			return err
		}
	}
	awaits := c.wait || c.follow
	switch {
	case c.dryRun != cronjobs.DryRunNone && awaits:
		return errors.New("--wait and --follow need a Job that runs: omit --dry-run")
	case c.follow && *c.print.OutputFormat != "":
		return errors.New("-o prints the Job, and --follow what it logs: use one of them")
	case c.timeout < 0:
		return fmt.Errorf("--timeout must not be negative: %v", c.timeout)
	case c.timeout > 0 && !awaits:
		return errors.New("--timeout goes with --wait or --follow")
	case c.again && !namesTick:
		return errors.New("--again goes with --tick")
	}
	return errors.Join(c.override.check(), c.dryRun.Check())
}

func (c *command) run(ctx context.Context, arg string) error {
	c.print.NamePrintFlags.Operation = c.dryRun.Done("created")
	printer, err := c.print.ToPrinter()
	if err != nil {
		return err
	}
	cluster, cronJob, err := cronjobs.Named(ctx, c.Env, arg)
	if err != nil {
		return err
	}
	job, err := c.start(ctx, cluster, cronJob)
	if err != nil {
		return err
	}
	out := c.Out
	if c.follow { // the log goes to the standard output
		out = c.ErrOut
	}
	if err := printer.PrintObj(job, out); err != nil {
		return err
	}
	if c.wait || c.follow {
		return c.await(ctx, job)
	}
	return nil
}

// messages returns where to print the results of Jobs, apart from the output that the user asked
// for.
func (c *command) messages() io.Writer {
	if c.follow || *c.print.OutputFormat != "" {
		return c.ErrOut
	}
	return c.Out
}

// start creates the Job, subject to the concurrency policy.
func (c *command) start(ctx context.Context, cluster client.Client, cronJob *v1.CronJob) (*batchv1.Job, error) {
	if !cronJob.DeletionTimestamp.IsZero() {
		return nil, fmt.Errorf("CronJob %s is being deleted: it starts nothing any more", cronJob.Name)
	}
	jobs, err := cronjobs.ReadWithJobs(ctx, cluster, cronJob)
	if err != nil {
		return nil, err
	}
	active := cronjobs.Active(jobs)
	job, err := c.newJob(cronJob, jobs)
	if err != nil {
		return nil, err
	}
	if len(active) > 0 {
		limit, policy := plan.MaxConcurrency(cronJob), cronJob.Spec.ConcurrencyPolicy
		switch {
		case policy == v1.ReplaceConcurrent:
			if err := c.replace(ctx, cluster, active, job); err != nil {
				return nil, err
			}
		case c.force || limit == 0 || len(active) < limit:
		case policy == v1.ForbidConcurrent:
			return nil, fmt.Errorf("concurrencyPolicy of CronJob %s is Forbid, and job.batch/%s runs: "+
				"wait until it has ended, or use --force to start another beside it", cronJob.Name, active[0].Name)
		default:
			return nil, fmt.Errorf("maxConcurrency of CronJob %s is %d, and %d Jobs run: "+
				"wait until fewer do, or use --force to start another beside them", cronJob.Name, limit, len(active))
		}
	}
	if c.dryRun != cronjobs.DryRunClient {
		if err := cluster.Create(ctx, job, &client.CreateOptions{DryRun: c.dryRun.Values()}); err != nil {
			return nil, fmt.Errorf("creating the Job: %w", err)
		}
	}
	job.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job")) // Create clears it
	return job, nil
}

// replace deletes running Jobs, and their Pods in the background, as the controller does. It
// returns an error if one can't be deleted or the new Job would be refused.
func (c *command) replace(ctx context.Context, cluster client.Client, active []*batchv1.Job, job *batchv1.Job) error {
	if c.dryRun == cronjobs.DryRunNone {
		if err := cluster.Create(ctx, job.DeepCopy(), client.DryRunAll); err != nil {
			return fmt.Errorf("creating the Job, so nothing was replaced: %w", err)
		}
	}
	for _, old := range active {
		if !old.DeletionTimestamp.IsZero() {
			continue
		}
		if c.dryRun != cronjobs.DryRunClient {
			background := metav1.DeletePropagationBackground
			err := cluster.Delete(ctx, old, &client.DeleteOptions{
				DryRun: c.dryRun.Values(), PropagationPolicy: &background,
				Preconditions: &metav1.Preconditions{UID: &old.UID},
			})
			// A conflict is about the UID: the Job is gone, and another one has its name.
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return fmt.Errorf("deleting job.batch/%s, which is to be replaced: %w", old.Name, err)
			}
		}
		fmt.Fprintf(c.messages(), "job.batch/%s %s\n", old.Name, c.dryRun.Done("deleted"))
	}
	return nil
}

const (
	// instantiateAnnotation marks manual Jobs, also those of kubectl create job --from.
	instantiateAnnotation = "cronjob.kubernetes.io/instantiate"
	manually              = "manual"
)

func (c *command) newJob(cronJob *v1.CronJob, jobs []*batchv1.Job) (*batchv1.Job, error) {
	job := newJob(cronJob, c.Clock.Now())
	if c.tick != "" {
		var err error
		if job, err = backfill.OneTick(cronJob, jobs, c.tick, c.again, c.Clock.Now()); err != nil {
			return nil, err
		}
	}
	return job, c.override.apply(&job.Spec.Template.Spec)
}

// newJob makes a manual Job from the template. Its Pods have the time of the run as their scheduled
// time, for programs that read it. The Job itself does not have that annotation, by which the
// controller recognizes the Job of a tick: a manual run changes neither lastScheduleTime nor what
// is missed.
func newJob(c *v1.CronJob, now time.Time) *batchv1.Job {
	job := cronjobs.NewJob(c, now, v1.TriggerManual)
	// No Job of a tick has such a name: those end with a number of ten digits.
	job.Name = cronjobs.JobName(c.Name, "-"+manually+"-"+rand.String(5))
	delete(job.Annotations, v1.ScheduledAtAnnotation)
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, instantiateAnnotation, manually)
	return job
}
