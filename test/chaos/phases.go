// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/util/wait"

	"tutorial.kubebuilder.io/project/test/chaos/faults"
	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/jobs"
	"tutorial.kubebuilder.io/project/test/plane"
)

// idle is how long nothing may have changed to be idle, on a machine that keeps up.
const idle = 4 * time.Second

type stormRun struct {
	*options
	site    *faults.Site
	log     *history.Log
	users   *storm.Users
	jobs    *jobs.Controller
	plan    []storm.CronJob
	changed atomic.Int64 // the last change of a stored object, in nanoseconds since 1970
}

// storm runs the storm, and writes its history to a file.
func (o *options) storm(ctx context.Context, file string) (err error) {
	to, err := os.Create(file)
	if err != nil {
		return err
	}
	r := &stormRun{options: o, log: history.NewLog(to)}
	defer func() { err = errors.Join(err, r.log.Err(), to.Close()) }()
	setting := faults.Options{Manager: o.manager, Previous: o.previous, Slowness: o.slowness}
	if o.mutation != nil {
		setting.Mutate, setting.ClockStep = o.mutation.Mutate, o.mutation.ClockStep
	}
	if r.site, err = faults.Start(ctx, setting, r.log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.site.KeepLogs(o.out), r.site.Stop()) }()
	group, ctx := errgroup.WithContext(ctx)
	watching, stopWatching := context.WithCancel(ctx)
	r.jobs = jobs.New(ctx, r.site.Client, r.log, jobs.Fate(o.seed))
	r.users = &storm.Users{
		Client: r.site.Client, Log: r.log, Jobs: r.jobs, AtOnce: semaphore.NewWeighted(storm.ActsAtOnce),
		Plugin: r.plugin, Kubeconfig: r.site.Kubeconfig,
	}
	r.log.Listen(func(record history.Record) {
		if record.Revision > 0 {
			r.changed.Store(record.At.UnixNano())
		}
	})
	group.Go(func() error { return history.Watch(watching, r.site.EtcdURL, 1, r.log) })
	group.Go(func() error {
		defer stopWatching()
		err := r.phases(ctx)
		plane.Sleep(ctx, time.Second) // wait for the last records
		return err
	})
	return group.Wait()
}

// phases runs the storm, then quiet, then calm, then quiet again.
func (r *stormRun) phases(ctx context.Context) error {
	if err := r.users.Await(ctx); err != nil {
		return err
	}
	if err := r.carryOut(ctx); err != nil {
		return err
	}
	if r.calm == 0 {
		return r.settle(ctx, history.Settled)
	}
	if err := r.settle(ctx, history.Quiet); err != nil {
		return err
	}
	r.jobs.Hurry(false)
	r.begin(history.Calm)
	if err := r.users.SuspendAll(ctx, false, r.plan); err != nil {
		return err
	}
	plane.Sleep(ctx, r.calm)
	return r.settle(ctx, history.Settled)
}

func (r *stormRun) carryOut(ctx context.Context) error {
	r.begin(history.Storm)
	begin := time.Now()
	r.plan = storm.Plan(r.seed, begin, r.duration, r.cronJobs)
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.users.Run(groupCtx, begin, r.plan) })
	group.Go(func() error { return r.site.Run(groupCtx, begin, faults.Plan(r.seed, r.duration, r.faults)) })
	if err := group.Wait(); err != nil {
		return err
	}
	plane.Sleep(ctx, time.Until(begin.Add(r.duration)))
	return r.site.EndFaults(ctx)
}

// settle suspends all CronJobs and waits until no Job runs and nothing has changed for some time.
func (r *stormRun) settle(ctx context.Context, phase string) error {
	r.jobs.Hurry(true)
	if err := r.users.SuspendAll(ctx, true, r.plan); err != nil {
		return err
	}
	idle := time.Duration(float64(idle) * r.slowness)
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, r.patience, true, func(context.Context) (bool, error) {
		return r.jobs.Running() == 0 && time.Since(time.Unix(0, r.changed.Load())) >= idle, nil
	})
	if err != nil {
		return fmt.Errorf("it does not settle: %d Jobs run: %w", r.jobs.Running(), err)
	}
	r.site.ScrapeLeader(ctx)
	r.begin(phase)
	return nil
}

func (r *stormRun) begin(phase string) {
	r.log.Add(history.Record{Phase: &history.Phase{Name: phase}})
	plane.Logf("%s", phase)
}
