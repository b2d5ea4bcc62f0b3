// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	// Reconciles are read outside the measurement, since the answer costs CPU.
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
	err = errors.Join(err, b.addControlPlane(ctx, result))
	if c.id == results.Operator {
		return result, errors.Join(err, b.addHeap(ctx, r, result))
	}
	return result, errors.Join(err, b.End(r.Process))
}

// addHeap adds to a result by how many bytes each CronJob increases the operator's live heap. It
// ends the operator, and runs it once more for a namespace without CronJobs.
func (b *bench) addHeap(ctx context.Context, r *running, result *results.Result) error {
	with, err := b.liveHeap(ctx)
	if err := errors.Join(err, b.End(r.Process)); err != nil {
		return err
	}
	r, err = b.settled(ctx, operator, "--namespaces="+metav1.NamespaceDefault)
	if err != nil {
		return err
	}
	without, err := b.liveHeap(ctx)
	result.Values[results.PerCronJob] = (with - without) / float64(result.N)
	return errors.Join(err, b.End(r.Process))
}

// reconciles returns the number of reconciles so far. Only the operator has that metric.
func (b *bench) reconciles(ctx context.Context, c contender) (float64, error) {
	if c.id != results.Operator {
		return 0, nil
	}
	return b.metric(ctx, "controller_runtime_reconcile_total")
}
