// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/measure"
	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

// idle has CronJobs that are not due, and sees what that costs.
func (b *bench) idle(ctx context.Context) error {
	for _, c := range b.resting() {
		result, err := b.rest(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.id, err)
		}
		b.checkMemory(c, "idle", result.Peak)
		if err := b.keep(*result); err != nil {
			return err
		}
	}
	return nil
}

// resting returns the contenders of the stages in which speed is not limited by settings: the
// built-in as shipped would show what the tuned one does.
func (b *bench) resting() []contender {
	return slices.DeleteFunc(slices.Clone(b.contenders), func(c contender) bool { return c.slow || c.id == results.Bare })
}

// rest measures a contender that has nothing to do.
func (b *bench) rest(ctx context.Context, c contender) (*results.Idle, error) {
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
	address, flags := "", []string(nil)
	if c.id == results.Operator {
		address = fmt.Sprintf("127.0.0.1:%d", port)
		flags = []string{"--metrics-bind-address=" + address}
	}
	r, err := b.settled(ctx, c, flags...)
	if err != nil {
		return nil, err
	}
	plane.Logf("%s: idle with %d CronJobs for %v", c.id, b.objects, b.span)
	from, err := b.look(ctx, r, address)
	if err == nil {
		err = r.ResetPeak()
	}
	if err == nil {
		err = plane.SleepUntil(ctx, time.Now().Add(b.span))
	}
	if err != nil {
		return nil, err
	}
	to, err := b.look(ctx, r, address)
	if err != nil {
		return nil, err
	}
	requests := to.requests.Since(from.requests)
	result := &results.Idle{
		Subject: results.Subject{Contender: c.id}, N: b.objects, Span: b.span.Seconds(), CPU: (to.cpu - from.cpu).Seconds(),
		Memory: to.memory, Requests: requests, Writes: requests.Writes(),
	}
	if address != "" {
		result.Reconciles = new(to.reconciles - from.reconciles)
	}
	return result, r.end()
}

// moment is how a contender was at an instant.
type moment struct {
	cpu        time.Duration
	memory     results.Memory
	requests   measure.Requests
	reconciles float64
}

// look sees how a contender is, and how often it has reconciled, if it has metrics. The order is
// such that looking costs the contender nothing that is counted, at the begin of a span: the CPU
// comes last.
func (b *bench) look(ctx context.Context, r *running, metrics string) (m moment, err error) {
	const reconciles = "controller_runtime_reconcile_total"
	if metrics != "" {
		families, err := b.metrics.Read(ctx, metrics, reconciles)
		if err != nil {
			return m, err
		}
		m.reconciles = plane.Sum(families[reconciles])
	}
	if m.requests, err = b.requests(ctx); err != nil {
		return m, err
	}
	if m.memory.Resident, m.memory.Peak, err = r.Memory(); err != nil {
		return m, err
	}
	m.cpu, err = r.CPU()
	return m, err
}
