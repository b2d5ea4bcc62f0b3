// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/chaos/faults"
	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/chaos/storm"
)

// idle is how long nothing may have changed for all to be idle, on a machine that keeps up.
const idle = 4 * time.Second

// weather is what makes a storm.
type weather struct {
	*options
	site    *faults.Site
	log     *history.Log
	users   *storm.Users
	jobs    *storm.Jobs
	plan    []storm.CronJob
	changed atomic.Int64 // when anything stored was last seen to change, in nanoseconds since 1970
}

// phases has the storm, then quiet, then calm, then quiet again.
func (o *options) phases(ctx context.Context, site *faults.Site, log *history.Log) error {
	config := rest.CopyConfig(site.Config)
	config.QPS = -1
	direct, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	jobs := storm.NewJobs(ctx, direct, log, o.seed)
	w := &weather{
		options: o, site: site, log: log, jobs: jobs,
		users: &storm.Users{Client: direct, Log: log, Jobs: jobs},
		plan:  storm.Plan(o.seed, o.duration, o.cronJobs),
	}
	log.Listen(func(record history.Record) {
		if record.Revision > 0 {
			w.changed.Store(record.At.UnixNano())
		}
	})
	if err := w.users.MakeNamespaces(ctx); err != nil {
		return fmt.Errorf("making the namespaces: %w", err)
	}
	if err := site.GrantReads(ctx); err != nil {
		return fmt.Errorf("granting reads: %w", err)
	}
	if err := w.users.Await(ctx); err != nil {
		return err
	}
	if err := w.storm(ctx); err != nil {
		return err
	}
	if o.calm == 0 {
		return w.settle(ctx, history.Settled)
	}
	if err := w.settle(ctx, history.Quiet); err != nil {
		return err
	}
	jobs.Hurry(false)
	mark(log, history.Calm)
	if err := w.users.SuspendAll(ctx, false, w.plan); err != nil {
		return err
	}
	sleep(ctx, o.calm)
	return w.settle(ctx, history.Settled)
}

// storm carries out the plans of users and of faults.
func (w *weather) storm(ctx context.Context) error {
	mark(w.log, history.Storm)
	logf("the storm begins")
	begin := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.users.Run(groupCtx, begin, w.plan) })
	group.Go(func() error { return w.site.Run(groupCtx, begin, faults.Plan(w.seed, w.duration, w.faults)) })
	if err := group.Wait(); err != nil {
		return err
	}
	sleep(ctx, time.Until(begin.Add(w.duration)))
	logf("the storm has ended")
	return w.site.EndFaults(ctx)
}

// settle suspends all and waits until all is idle.
func (w *weather) settle(ctx context.Context, phase string) error {
	w.jobs.Hurry(true)
	if err := w.users.SuspendAll(ctx, true, w.plan); err != nil {
		return err
	}
	if err := w.awaitIdle(ctx); err != nil {
		return err
	}
	w.site.ScrapeLeader(ctx)
	mark(w.log, phase)
	logf("all is %s", phase)
	return nil
}

func mark(log *history.Log, phase string) {
	log.Add(history.Record{Phase: &history.Phase{Name: phase}})
}

// awaitIdle waits until no Job runs and nothing has changed for a while.
func (w *weather) awaitIdle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	idle := time.Duration(float64(idle) * w.slowness)
	for w.jobs.Running() > 0 || time.Since(time.Unix(0, w.changed.Load())) < idle {
		sleep(ctx, 100*time.Millisecond)
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("it does not settle: %d Jobs run", w.jobs.Running()), context.Cause(ctx))
		}
	}
	return nil
}
