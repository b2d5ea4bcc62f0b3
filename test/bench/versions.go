// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/test/bench/results"
)

const (
	// mostCreates is how many CronJobs are created to see how fast that is.
	mostCreates = 5000

	// How often all are listed, and one is read: the median counts.
	listings = 5
	readings = 200

	// chunk is how many kubectl lists at once.
	chunk = 500
)

// versions sees what it costs to create and read CronJobs in each version, with the operator's webhooks.
func (b *bench) versions(ctx context.Context) error {
	if err := b.plane.clear(ctx); err != nil {
		return err
	}
	v := &results.Versions{
		N: b.objects, Creates: map[string]float64{}, List: map[string]float64{}, ListChunks: map[string]float64{}, Get: map[string]float64{},
	}
	creates := min(b.objects, mostCreates)
	if err := b.timeCreates(ctx, v, results.OfBuiltin, builtin, creates); err != nil {
		return err
	}
	if err := b.timePlainCreates(ctx, v, creates); err != nil {
		return err
	}
	if err := b.timeAdmission(ctx, v, creates); err != nil {
		return err
	}
	r, err := b.plane.settled(ctx, operator)
	if err != nil {
		return err
	}
	if err := b.timeCreates(ctx, v, results.OfV2, operatorV2, creates); err != nil {
		return err
	}
	if err := b.timeCreates(ctx, v, results.OfV1, operatorV1, creates); err != nil {
		return err
	}
	if _, err := b.plane.create(ctx, operatorV1, "bench", b.objects, notSoon(time.Now())); err != nil {
		return err
	}
	if err := r.AwaitIdle(ctx); err != nil {
		return err
	}
	if err := b.timeReads(ctx, v); err != nil {
		return err
	}
	b.results.SetVersions(*v)
	logf("%s", v.Summary())
	if err := r.end(); err != nil {
		return err
	}
	return b.save()
}

// timeCreates creates CronJobs and deletes them again.
func (b *bench) timeCreates(ctx context.Context, v *results.Versions, name string, k kind, count int) error {
	took, err := b.plane.create(ctx, k, "bench", count, notSoon(time.Now()))
	if err != nil {
		return err
	}
	v.Creates[name] = float64(count) / took.Seconds()
	logf("%s: %.0f creates a second", name, v.Creates[name])
	return b.plane.clear(ctx)
}

// timePlainCreates creates what has the schema of v1 and nothing besides: no webhook, no other version, nobody who
// reconciles it. That is as fast as the API server takes custom resources of this kind.
func (b *bench) timePlainCreates(ctx context.Context, v *results.Versions, count int) error {
	crd, err := b.plane.installPlainCRD(ctx, b.root)
	if err != nil {
		return err
	}
	took, err := b.plane.create(ctx, plainCRD, "bench", count, notSoon(time.Now()))
	if err != nil {
		return err
	}
	v.Creates[results.OfCRD] = float64(count) / took.Seconds()
	logf("%s: %.0f creates a second", results.OfCRD, v.Creates[results.OfCRD])
	return b.plane.uninstall(ctx, crd)
}

// timeAdmission creates CronJobs of v1 while the operator serves its webhooks and another leads: nobody reconciles.
func (b *bench) timeAdmission(ctx context.Context, v *results.Versions, count int) error {
	lease, err := b.plane.lead(ctx)
	if err != nil {
		return err
	}
	r, err := b.plane.settled(ctx, operator, "--leader-elect", "--leader-election-namespace="+lease.Namespace)
	if err != nil {
		return err
	}
	if err := b.timeCreates(ctx, v, results.OfAdmission, operatorV1, count); err != nil {
		return err
	}
	return errors.Join(r.end(), b.plane.Client.Delete(ctx, lease))
}

// timeReads lists and reads what there is, by turns in each version.
func (b *bench) timeReads(ctx context.Context, v *results.Versions) error {
	kinds := map[string]kind{results.OfV1: operatorV1, results.OfV2: operatorV2}
	names := []string{results.OfV1, results.OfV2}
	for _, measurement := range []struct {
		into  map[string]float64
		times int
		read  func(ctx context.Context, k kind, i int) error
	}{
		{v.List, listings, b.plane.list},
		{v.ListChunks, listings, b.plane.listInChunks},
		{v.Get, readings, b.plane.get},
	} {
		took := map[string][]time.Duration{}
		for i := range measurement.times + 1 { // the first time does not count
			for _, name := range names {
				begin := time.Now()
				if err := measurement.read(ctx, kinds[name], i); err != nil {
					return fmt.Errorf("reading %s: %w", name, err)
				}
				if i > 0 {
					took[name] = append(took[name], time.Since(begin))
				}
			}
		}
		for _, name := range names {
			measurement.into[name] = median(took[name]).Seconds()
		}
	}
	return nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// list reads all CronJobs in one answer.
func (p *plane) list(ctx context.Context, k kind, _ int) error {
	return p.read(ctx, k.everywhere(), nil, io.Discard)
}

// continues finds where to go on in a list. No object here has such a field.
var continues = regexp.MustCompile(`"continue":"([^"]+)"`)

// listInChunks reads all CronJobs as kubectl does.
func (p *plane) listInChunks(ctx context.Context, k kind, _ int) error {
	query := url.Values{"limit": {fmt.Sprint(chunk)}}
	for {
		var answer bytes.Buffer
		if err := p.read(ctx, k.everywhere(), query, &answer); err != nil {
			return err
		}
		found := continues.FindSubmatch(answer.Bytes())
		if found == nil {
			return nil
		}
		query.Set("continue", string(found[1]))
	}
}

// get reads one CronJob.
func (p *plane) get(ctx context.Context, k kind, i int) error {
	return p.read(ctx, k.in(p.namespaceOf(i))+"/"+nameOf("bench", i), nil, io.Discard)
}

// read reads from the API server to the last byte, and does nothing with it that would take time.
func (p *plane) read(ctx context.Context, path string, query url.Values, into io.Writer) error {
	request := p.json.Get().AbsPath(path)
	for name, values := range query {
		request.Param(name, values[0])
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	_, err = io.Copy(into, body)
	return err
}
