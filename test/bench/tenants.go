// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// tenantCronJobs is the number of CronJobs whose delay is measured, in all namespaces but one.
	tenantCronJobs = 50

	// busyCronJobs is the number of CronJobs of that one namespace that are due every second.
	busyCronJobs = 5000

	tenantMinutes = 3

	// lateness is how long after the last of these minutes a Job may start before it counts as
	// missed.
	lateness = 30 * time.Second
)

// tenants measures the delays of the CronJobs of some namespaces, beside another namespace whose
// CronJobs are due every second.
func (b *bench) tenants(ctx context.Context) error {
	for _, neighbours := range []struct {
		what  string
		count int
		quota bool // refuses their Jobs
	}{
		{what: "nothing"},
		{what: fmt.Sprintf("%d CronJobs on `@every 1s`", busyCronJobs), count: busyCronJobs},
		{what: "a CronJob whose Jobs a quota refuses", count: 1, quota: true}, // the last, as the quota stays
	} {
		if err := b.createTenants(ctx, neighbours.count, neighbours.quota); err != nil {
			return err
		}
		plane.Logf("tenants: %d CronJobs beside %s", tenantCronJobs, neighbours.what)
		result, err := b.measureTenants(ctx, neighbours.what)
		if err != nil {
			return fmt.Errorf("beside %s: %w", neighbours.what, err)
		}
		if err := b.keep(*result); err != nil {
			return err
		}
	}
	return nil
}

// createTenants creates the CronJobs of the tenants and of the neighbours, which do not run yet.
func (b *bench) createTenants(ctx context.Context, neighbours int, quota bool) error {
	if err := b.clear(ctx); err != nil {
		return err
	}
	if quota {
		if err := b.refuseJobs(ctx); err != nil {
			return err
		}
	}
	some := batch{kind: operatorV1, prefix: "tenant", count: tenantCronJobs, schedules: []any{"* * * * *"}}
	if err := b.populate(ctx, some); err != nil {
		return err
	}
	others := batch{kind: operatorV1, prefix: "neighbour", count: neighbours, schedules: []any{"@every 1s"}, namespaces: []string{neighbour}}
	return b.populate(ctx, others, "--namespaces="+b.namespaces[0])
}

func (b *bench) measureTenants(ctx context.Context, beside string) (*results.Result, error) {
	r, err := b.start(ctx, operator)
	if err != nil {
		return nil, err
	}
	// In the first minute the operator reconciles all of them for the first time.
	first := time.Now().Truncate(time.Minute).Add(2 * time.Minute)
	if err := plane.SleepUntil(ctx, first.Add(-before)); err != nil {
		return nil, err
	}
	watch, err := b.watchStarts(ctx)
	if err != nil {
		return nil, err
	}
	if err := plane.SleepUntil(ctx, first.Add((tenantMinutes-1)*time.Minute+lateness)); err != nil {
		return nil, err
	}
	result := results.New(results.Tenants, beside, tenantCronJobs)
	judgeTenants(result, watch.stop(), first)
	return result, errors.Join(r.addMemory(result), r.Err(), b.End(r.Process))
}

func (p *cluster) refuseJobs(ctx context.Context) error {
	none := corev1.ResourceList{"count/jobs.batch": resource.Quantity{}}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: neighbour, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none},
	}
	if err := p.Client.Create(ctx, quota); err != nil {
		return fmt.Errorf("creating a quota: %w", err)
	}
	// The quota's controller, which does not run, would do this.
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if err := p.Client.Status().Update(ctx, quota); err != nil {
		return fmt.Errorf("putting a quota into force: %w", err)
	}
	return nil
}

// judgeTenants adds to a result the delays of the tenants' Jobs in each minute from the first, and
// the rate of their neighbours' Jobs.
func judgeTenants(result *results.Result, starts []start, first time.Time) {
	var delays []time.Duration
	others := 0.0
	for _, start := range starts {
		switch minute := start.scheduledAt.Sub(first); {
		case start.namespace == neighbour:
			others++
		case minute >= 0 && minute < tenantMinutes*time.Minute:
			delays = append(delays, start.seen.Sub(start.scheduledAt))
		}
	}
	want, span := tenantCronJobs*tenantMinutes, before+(tenantMinutes-1)*time.Minute+lateness
	result.Values["minutes"], result.Values["rate"] = tenantMinutes, others/span.Seconds()
	result.Values[results.Missed] = float64(want - len(delays))
	result.Quantiles(delays, want)
}
