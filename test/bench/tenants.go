// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// tenantCronJobs is how many CronJobs there are whose delay is measured, in all namespaces but
	// one.
	tenantCronJobs = 50

	// hogs is how many CronJobs of one namespace are due every second.
	hogs = 5000

	// tenantMinutes is for how many minutes they are measured.
	tenantMinutes = 3

	// lateness is how long after the last of these minutes a Job may come before it counts as
	// missed.
	lateness = 30 * time.Second
)

// neighbouring is what there is in the namespace beside those that are measured.
type neighbouring struct {
	beside string
	count  int
	quota  bool
}

// tenants sees how late the CronJobs of some namespaces are, beside what another namespace does.
func (b *bench) tenants(ctx context.Context) error {
	for _, n := range []neighbouring{
		{beside: "nothing"},
		{beside: "a CronJob whose Jobs a quota refuses", count: 1, quota: true},
		{beside: fmt.Sprintf("%d CronJobs on `@every 1s`", hogs), count: hogs},
	} {
		result, err := b.measureTenants(ctx, n)
		if err != nil {
			return fmt.Errorf("beside %s: %w", n.beside, err)
		}
		if err := b.keep(*result); err != nil {
			return err
		}
	}
	return nil
}

// measureTenants measures the tenants beside a neighbour.
func (b *bench) measureTenants(ctx context.Context, n neighbouring) (*results.Result, error) {
	tenants, err := b.moveIn(ctx, n)
	if err != nil {
		return nil, err
	}
	r, err := b.start(ctx, operator)
	if err != nil {
		return nil, err
	}
	// The first minute is for the operator to take note of them all.
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
	used, err := b.used(ctx, r)
	if err != nil {
		return nil, errors.Join(err, r.Err())
	}
	result := judgeTenants(watch.stop(), tenants, first)
	result.Of, result.Values[results.Peak] = n.beside, float64(used.peak)
	return result, r.end()
}

// moveIn creates the CronJobs of the tenants, and the neighbour's, which none looks at yet. It
// returns the tenants' UIDs.
func (b *bench) moveIn(ctx context.Context, n neighbouring) (map[types.UID]bool, error) {
	if err := b.clear(ctx); err != nil {
		return nil, err
	}
	if err := b.refuseJobs(ctx, neighbour, n.quota); err != nil {
		return nil, err
	}
	r, err := b.start(ctx, operator, "--namespaces="+strings.Join(b.namespaces, ","))
	if err != nil {
		return nil, err
	}
	if _, err := b.create(ctx, b.namespaces, operatorV1, "tenant", tenantCronJobs, "* * * * *"); err != nil {
		return nil, errors.Join(err, r.Err())
	}
	cronJobs, err := b.cronJobs(ctx, operatorV1)
	if err != nil {
		return nil, err
	}
	tenants := make(map[types.UID]bool, len(cronJobs))
	for _, c := range cronJobs {
		tenants[c.Metadata.UID] = true
	}
	if _, err := b.create(ctx, []string{neighbour}, operatorV1, "neighbour", n.count, "@every 1s"); err != nil {
		return nil, errors.Join(err, r.Err())
	}
	plane.Logf("tenants: %d CronJobs on \"* * * * *\" beside %s", len(tenants), n.beside)
	return tenants, r.end()
}

// refuseJobs has a quota refuse all Jobs of a namespace, or none.
func (p *cluster) refuseJobs(ctx context.Context, namespace string, refuse bool) error {
	if !refuse {
		return p.Client.DeleteAllOf(ctx, &corev1.ResourceQuota{}, client.InNamespace(namespace))
	}
	none := corev1.ResourceList{"count/jobs.batch": resource.Quantity{}}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none},
	}
	if err := p.Client.Create(ctx, quota); err != nil {
		return fmt.Errorf("creating a quota: %w", err)
	}
	// Its controller, which does not run, would do this.
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if err := p.Client.Status().Update(ctx, quota); err != nil {
		return fmt.Errorf("putting a quota into force: %w", err)
	}
	return nil
}

// judgeTenants sees how late the tenants' Jobs were, in each minute from the first, and how many
// Jobs a second the neighbour had.
func judgeTenants(starts []start, tenants map[types.UID]bool, first time.Time) *results.Result {
	var delays []time.Duration
	others := 0
	for _, start := range starts {
		switch minute := start.scheduledAt.Sub(first); {
		case !tenants[start.owner]:
			others++
		case minute >= 0 && minute < tenantMinutes*time.Minute:
			delays = append(delays, start.seen.Sub(start.scheduledAt))
		}
	}
	want := len(tenants) * tenantMinutes
	span := before + (tenantMinutes-1)*time.Minute + lateness
	result := &results.Result{Stage: results.Tenants, N: len(tenants), Values: map[string]float64{
		"minutes": tenantMinutes, "rate": float64(others) / span.Seconds(), results.Missed: float64(want - len(delays)),
	}}
	result.Quantiles(delays, want)
	return result
}
