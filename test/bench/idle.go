// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

func (b *bench) idle(ctx context.Context) error {
	return b.each(ctx, b.controllers(), b.measureIdle)
}

func (b *bench) measureIdle(ctx context.Context, c contender) (*results.Result, error) {
	r, err := b.ready(ctx, c, b.notDue(c.kind))
	if err != nil {
		return nil, err
	}
	// Reconciles are read outside of the measurement: the answer costs CPU.
	from, err := b.reconciles(ctx, c)
	if err != nil {
		return nil, err
	}
	result := results.New(results.Idle, c.id, b.objects)
	err = b.measure(ctx, r, result, func() error { return plane.SleepUntil(ctx, time.Now().Add(b.span)) })
	if err != nil {
		return nil, err
	}
	to, err := b.reconciles(ctx, c)
	if c.id == results.Operator {
		result.Values[results.Reconciles] = to - from
	}
	result.Values["span"], result.Values[results.Writes] = b.span.Seconds(), requests(result.Requests).writes()
	return result, errors.Join(err, b.addControlPlane(ctx, result), b.End(r.Process))
}

// reconciles returns how often a contender has reconciled so far. Only the operator tells.
func (b *bench) reconciles(ctx context.Context, c contender) (float64, error) {
	if c.id != results.Operator {
		return 0, nil
	}
	return b.metric(ctx, "controller_runtime_reconcile_total")
}
