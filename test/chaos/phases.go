// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/chaos/faults"
	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/plane"
)

// idle is how long nothing may have changed for all to be idle, on a machine that keeps up.
const idle = 4 * time.Second

// stormRun is a storm under way.
type stormRun struct {
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
	r := &stormRun{
		options: o, site: site, log: log, jobs: jobs,
		users: &storm.Users{Client: direct, Log: log, Jobs: jobs},
		plan:  storm.Plan(o.seed, o.duration, o.cronJobs),
	}
	log.Listen(func(record history.Record) {
		if record.Revision > 0 {
			r.changed.Store(record.At.UnixNano())
		}
	})
	if err := r.users.MakeNamespaces(ctx); err != nil {
		return fmt.Errorf("making the namespaces: %w", err)
	}
	if err := site.GrantReads(ctx); err != nil {
		return fmt.Errorf("granting reads: %w", err)
	}
	if err := r.users.Await(ctx); err != nil {
		return err
	}
	if err := r.storm(ctx); err != nil {
		return err
	}
	if o.calm == 0 {
		return r.settle(ctx, history.Settled)
	}
	if err := r.settle(ctx, history.Quiet); err != nil {
		return err
	}
	jobs.Hurry(false)
	mark(log, history.Calm)
	if err := r.users.SuspendAll(ctx, false, r.plan); err != nil {
		return err
	}
	plane.Sleep(ctx, o.calm)
	return r.settle(ctx, history.Settled)
}

// storm carries out the plans of users and of faults.
func (r *stormRun) storm(ctx context.Context) error {
	mark(r.log, history.Storm)
	plane.Logf("the storm begins")
	begin := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.users.Run(groupCtx, begin, r.plan) })
	group.Go(func() error { return r.site.Run(groupCtx, begin, faults.Plan(r.seed, r.duration, r.faults)) })
	if err := group.Wait(); err != nil {
		return err
	}
	plane.Sleep(ctx, time.Until(begin.Add(r.duration)))
	plane.Logf("the storm has ended")
	return r.site.EndFaults(ctx)
}

// settle suspends all and waits until all is idle.
func (r *stormRun) settle(ctx context.Context, phase string) error {
	r.jobs.Hurry(true)
	if err := r.users.SuspendAll(ctx, true, r.plan); err != nil {
		return err
	}
	if err := r.awaitIdle(ctx); err != nil {
		return err
	}
	r.site.ScrapeLeader(ctx)
	mark(r.log, phase)
	plane.Logf("all is %s", phase)
	return nil
}

func mark(log *history.Log, phase string) {
	log.Add(history.Record{Phase: &history.Phase{Name: phase}})
}

// awaitIdle waits until no Job runs and nothing has changed for a while.
func (r *stormRun) awaitIdle(ctx context.Context) error {
	idle := time.Duration(float64(idle) * r.slowness)
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, r.patience, true, func(context.Context) (bool, error) {
		return r.jobs.Running() == 0 && time.Since(time.Unix(0, r.changed.Load())) >= idle, nil
	})
	if err != nil {
		return fmt.Errorf("it does not settle: %d Jobs run: %w", r.jobs.Running(), err)
	}
	return nil
}
