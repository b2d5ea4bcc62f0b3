// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package logs implements the command logs, which prints the log of a run.
package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/cli/run"
)

const (
	long = `Print the log of the last run of a CronJob, of the last failed run, or of the run of a tick. It has the
logs of all containers of all Pods of the Job. If there are several, or several CronJobs, each line
begins with the name of its container.

A log exists as long as the Pods do. If the Job or the Pods of a run are gone, the error says what
status.recentRuns has about the run. With --failed, -l and -A skip CronJobs without a known failed run.

With -f, the command prints new lines until the Job has ended, also those of Pods that start meanwhile.`

	example = `  # Print what the last run of the CronJob "backup" has logged
  kubectl cronjob logs backup

  # Print what the last one that failed has logged
  kubectl cronjob logs backup --failed

  # Print what the run of a tick has logged in one container
  kubectl cronjob logs backup --tick 2026-11-21T02:30:00Z -c main

  # Follow the run that goes on
  kubectl cronjob logs backup -f

  # Print the last run of each CronJob of an application
  kubectl cronjob logs -l app=shop

  # Print the last failed run of each CronJob that has one
  kubectl cronjob logs -A --failed`
)

// errNoneFailed is the error of --failed for a CronJob without a failed run.
var errNoneFailed = errors.New("no run that failed is known")

type command struct {
	*env.Env

	selection cronjobs.Selection
	failed    bool
	options   run.LogOptions

	// tick is the value of --tick, and text the text that it was parsed from.
	tick time.Time
	text string
}

// NewCommand returns the command logs.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:               "logs (NAME... | -l SELECTOR | -A) [--failed | --tick TIME]",
		Short:             "Print what a run of a CronJob has logged",
		Long:              long,
		Example:           example,
		Args:              func(_ *cobra.Command, args []string) error { return c.selection.CheckChosen(args) },
		ValidArgsFunction: cronjobs.CompleteNames(e, 0),
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&c.failed, "failed", false, "The last run that failed.")
	flags.StringVar(&c.text, "tick", "", "The run of this tick, which kubectl cronjob history shows: "+cronjobs.TimeForms)
	flags.BoolVarP(&c.options.Follow, "follow", "f", false, "Go on until the Job has ended. It takes one CronJob.")
	flags.StringVarP(&c.options.Container, "container", "c", "", "Print the log of this container alone.")
	c.selection.AddFlags(cmd, "Print")
	cmd.MarkFlagsMutuallyExclusive("failed", "tick")
	cronjobs.CompleteFlag(cmd, "tick", cronjobs.CompleteFrom(e, ticksOf))
	cronjobs.CompleteFlag(cmd, "container", cronjobs.CompleteFrom(e, containersOf))
	return cmd
}

func ticksOf(c *v1.CronJob) []cobra.Completion {
	var ticks []cobra.Completion
	for _, r := range c.Status.RecentRuns {
		if r.JobName != "" && r.Trigger != v1.TriggerManual {
			ticks = append(ticks, cobra.CompletionWithDesc(r.ScheduledTime.UTC().Format(time.RFC3339), string(r.Result)))
		}
	}
	return ticks
}

func containersOf(c *v1.CronJob) []cobra.Completion {
	return cronjobs.AllContainerNames(c.Spec.JobTemplate.Spec.Template.Spec)
}

func (c *command) run(ctx context.Context, args []string) error {
	if err := c.setTick(time.UTC); err != nil {
		return err
	}
	cluster, err := c.Client()
	if err != nil {
		return err
	}
	found, errs := c.selection.ListV1(ctx, c.Env, cluster, args)
	if len(found) > 1 && c.options.Follow {
		return fmt.Errorf("-f takes one CronJob, and there are %d", len(found))
	}
	jobs, err := c.selection.Jobs(ctx, c.Env, cluster, found)
	if err != nil {
		return cronjobs.Fail(c.Env, append(errs, err))
	}
	c.options.Prefix = len(found) > 1
	now, skipped := c.Clock.Now(), 0
	for _, cronJob := range found {
		_ = c.setTick(cronjobs.Zone(cronJob)) // it was parsed before
		err := c.print(ctx, history.New(cronJob, jobs[cronJob.UID], now, 0), jobs[cronJob.UID])
		switch {
		case ctx.Err() != nil:
			return err
		case errors.Is(err, errNoneFailed) && len(args) == 0:
			skipped++
		case err != nil:
			errs = append(errs, c.selection.Qualify(cronJob, err))
		}
	}
	if skipped > 0 && skipped == len(found) {
		errs = append(errs, errNoneFailed)
	}
	return cronjobs.Fail(c.Env, errs)
}

// setTick parses the value of --tick, if there is one, in a time zone.
func (c *command) setTick(zone *time.Location) (err error) {
	if c.text != "" {
		c.tick, err = cronjobs.ParseTime("tick", c.text, zone, c.Clock.Now())
	}
	return err
}

func (c *command) print(ctx context.Context, h history.History, jobs []*batchv1.Job) error {
	entry, err := c.choose(h)
	if err != nil {
		return fmt.Errorf("CronJob %s: %w", h.Name, err)
	}
	i := slices.IndexFunc(jobs, func(job *batchv1.Job) bool { return job.Name == entry.Job })
	switch {
	case entry.Job == "":
		return fmt.Errorf("CronJob %s: no Job was started, and so there is no log: %s", h.Name, describe(entry))
	case i < 0:
		return fmt.Errorf("job.batch/%s is gone, and its log with it: %s", entry.Job, describe(entry))
	}
	err = run.Logs(ctx, c.Env, jobs[i], c.options)
	if errors.Is(err, run.ErrNoLog) {
		return fmt.Errorf("job.batch/%s: %w: %s", entry.Job, err, describe(entry))
	}
	return err
}

func (c *command) choose(h history.History) (history.Entry, error) {
	for _, entry := range slices.Backward(h.Entries) {
		if c.isAskedFor(entry) {
			return entry, nil
		}
	}
	switch {
	case !c.tick.IsZero():
		return history.Entry{}, fmt.Errorf("no run of the tick %s is known; kubectl cronjob history %s shows which are",
			c.tick.Format(time.RFC3339), h.Name)
	case c.failed:
		return history.Entry{}, errNoneFailed
	}
	return history.Entry{}, errors.New("no run is known")
}

func (c *command) isAskedFor(entry history.Entry) bool {
	switch {
	case !c.tick.IsZero():
		return entry.Tick.Equal(c.tick)
	case c.failed:
		return entry.State == v1.RunFailed
	}
	return entry.Job != ""
}

func describe(e history.Entry) string {
	parts := []string{string(e.State)}
	if e.Message != "" {
		parts[0] += " (" + e.Message + ")"
	}
	for _, part := range []struct {
		what string
		at   time.Time
	}{{"tick", e.Tick}, {"started", e.Start}, {"ended", e.End}} {
		if !part.at.IsZero() {
			parts = append(parts, part.what+" "+part.at.Format(time.RFC3339))
		}
	}
	return strings.Join(parts, ", ")
}
