// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

// reconcilesMetric is the manager's count of its reconciles.
const reconcilesMetric = "controller_runtime_reconcile_total"

// idle has CronJobs that are not due, and sees what that costs.
func (b *bench) idle(ctx context.Context) error {
	return b.each(b.resting(), func(c contender) (*results.Result, error) { return b.rest(ctx, c) })
}

// resting returns the contenders of the stages in which speed is not limited by settings: the
// built-in as shipped would show what the tuned one does.
func (b *bench) resting() []contender {
	return slices.DeleteFunc(slices.Clone(b.contenders), func(c contender) bool { return c.slow || c.id == results.Bare })
}

// rest measures a contender that has nothing to do.
func (b *bench) rest(ctx context.Context, c contender) (*results.Result, error) {
	if err := b.clear(ctx); err != nil {
		return nil, err
	}
	if _, err := b.populate(ctx, c, "bench", b.objects, notSoon(time.Now())); err != nil {
		return nil, err
	}
	port, err := localcluster.FreePort()
	if err != nil {
		return nil, err
	}
	address, flags := fmt.Sprintf("127.0.0.1:%d", port), []string(nil)
	if c.id == results.Operator {
		flags = []string{"--metrics-bind-address=" + address}
	}
	r, err := b.settled(ctx, c, flags...)
	if err != nil {
		return nil, err
	}
	// Reconciles are counted outside of the rest, as that is what an answer costs.
	from, err := b.reconciles(ctx, c, address)
	if err != nil {
		return nil, err
	}
	before, err := b.used(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.resetPeak(), plane.SleepUntil(ctx, time.Now().Add(b.span))); err != nil {
		return nil, err
	}
	after, err := b.used(ctx, r)
	if err != nil {
		return nil, err
	}
	to, err := b.reconciles(ctx, c, address)
	if err != nil {
		return nil, err
	}
	requests := after.requests.since(before.requests)
	result := &results.Result{Stage: results.Idle, Of: c.id, N: b.objects, Requests: requests, Values: map[string]float64{
		"span": b.span.Seconds(), results.CPU: (after.cpu - before.cpu).Seconds(), results.Writes: requests.writes(),
		results.Resident: float64(after.resident), results.Peak: float64(after.peak),
	}}
	if c.id == results.Operator {
		result.Values[results.Reconciles] = to - from
	}
	return result, r.end()
}

// reconciles returns how often a contender has reconciled so far. Only the operator tells.
func (b *bench) reconciles(ctx context.Context, c contender, address string) (float64, error) {
	if c.id != results.Operator {
		return 0, nil
	}
	families, err := b.metrics.Read(ctx, address, reconcilesMetric)
	return plane.Sum(families[reconcilesMetric]), err
}
