// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/measure"
	"tutorial.kubebuilder.io/project/test/bench/results"
)

// resting are the contenders of the stages in which speed is not limited by settings: the built-in as shipped would
// show what the tuned one does.
var resting = []results.Contender{results.Operator, results.Tuned}

// idle has CronJobs that are not due, and sees what that costs.
func (b *bench) idle(ctx context.Context) error {
	for _, c := range b.contenders {
		if !slices.Contains(resting, c.id) {
			continue
		}
		result, err := b.rest(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.id, err)
		}
		b.results.AddIdle(*result)
		b.failures = append(b.failures, result.Failures()...)
		b.checkMemory(c, "idle", result.Peak)
		logf("%s", result.Summary())
		if err := b.save(); err != nil {
			return err
		}
	}
	return nil
}

// rest measures a contender that has nothing to do.
func (b *bench) rest(ctx context.Context, c contender) (*results.Idle, error) {
	if err := b.plane.clear(ctx); err != nil {
		return nil, err
	}
	if _, err := b.plane.populate(ctx, c, "bench", b.objects, notSoon(time.Now())); err != nil {
		return nil, err
	}
	reconciles, flags, err := b.plane.reconcilesOf(c)
	if err != nil {
		return nil, err
	}
	r, err := b.plane.settled(ctx, c, flags...)
	if err != nil {
		return nil, err
	}
	logf("%s: idle with %d CronJobs for %v", c.id, b.objects, b.span)
	from, err := b.look(ctx, r, reconciles)
	if err != nil {
		return nil, err
	}
	peak := r.FollowResident(ctx)
	if err := sleepUntil(ctx, time.Now().Add(b.span)); err != nil {
		return nil, err
	}
	to, err := b.look(ctx, r, reconciles)
	if err != nil {
		return nil, err
	}
	requests := to.requests.Since(from.requests)
	result := &results.Idle{
		Contender: c.id, N: b.objects, Span: b.span.Seconds(), CPU: (to.cpu - from.cpu).Seconds(),
		Resident: to.resident, Peak: max(peak.Stop(), to.resident), Requests: requests, Writes: requests.Writes(),
	}
	if reconciles != nil {
		result.Reconciles = new(to.reconciles - from.reconciles)
	}
	return result, r.end()
}

// moment is how a contender was at an instant.
type moment struct {
	cpu        time.Duration
	resident   uint64
	requests   measure.Requests
	reconciles float64
}

// look sees how a contender is. The order is such that looking costs the contender nothing that is counted, at
// the begin of a span: the CPU comes last.
func (b *bench) look(ctx context.Context, r *running, reconciles func(context.Context) (float64, error)) (m moment, err error) {
	if reconciles != nil {
		if m.reconciles, err = reconciles(ctx); err != nil {
			return m, err
		}
	}
	if m.requests, err = b.plane.requests(ctx); err != nil {
		return m, err
	}
	if m.resident, err = r.Resident(); err != nil {
		return m, err
	}
	m.cpu, err = r.CPU()
	return m, err
}

// reconcilesOf returns how to ask a contender how often it has reconciled, and the flags for that; nil if it does not tell.
func (p *plane) reconcilesOf(c contender) (ask func(context.Context) (float64, error), flags []string, err error) {
	if c.id != results.Operator {
		return nil, nil, nil
	}
	port, err := localcluster.FreePort()
	if err != nil {
		return nil, nil, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	return func(ctx context.Context) (float64, error) {
		return p.managerMetric(ctx, address, "controller_runtime_reconcile_total")
	}, []string{"--metrics-bind-address=" + address}, nil
}

// managerMetric adds up one of the manager's metrics.
func (p *plane) managerMetric(ctx context.Context, address, name string) (float64, error) {
	token, err := p.typed.CoreV1().ServiceAccounts(p.namespaces[0]).CreateToken(
		ctx, metricsReader, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("asking for a token: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("reading the manager's metrics: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token.Status.Token)
	response, err := trusting.Do(request)
	if err != nil {
		return 0, fmt.Errorf("reading the manager's metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return 0, fmt.Errorf("reading the manager's metrics: %s: %s", response.Status, answer)
	}
	return measure.SumOf(response.Body, name)
}

// trusting does not verify certificates: the manager makes one for its metrics by itself.
var trusting = &http.Client{
	Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above; on the loopback interface
		DisableKeepAlives: true,
	},
}
