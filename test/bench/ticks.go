// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// before is how long before the tick the measuring begins.
	before = 5 * time.Second

	// collecting is how long the API server may take to collect its garbage, before that: with
	// 20,000 CronJobs, it has some gigabytes.
	collecting = 5 * time.Second

	// cut is how long after a tick the measuring of it is broken off.
	cut = 3 * time.Minute

	// quietPoll is how often we look, after the last Job, whether there are still writes. Two looks
	// without are the end.
	quietPoll = 2 * time.Second
)

// lead is how long before the tick we begin to create the CronJobs. On two processors they take a
// millisecond each or more, and the operator's, which pass webhooks and of each of which it takes
// note, some milliseconds.
func lead(c contender, n int) time.Duration {
	each := 4 * time.Millisecond
	if c.kind.isOperators() {
		each *= 3
	}
	return 25*time.Second + time.Duration(n)*each
}

// ahead is how long before the tick a contender has to be ready: we still have to read the
// CronJobs, and the API server to collect its garbage.
func ahead(n int) time.Duration { return before + collecting + time.Duration(n)*500*time.Microsecond }

// tries is how often we try to be ready for a tick in time, each time with twice the lead.
const tries = 3

// rounds is how often N CronJobs are due for each contender: it is the median that counts. Of the
// few seconds that some thousand take, one garbage collection of the API server's takes a good
// part; 20,000 see several. Fewer than a thousand are for seeing that all is well.
func rounds(n int) int {
	if n < 1000 || n >= 20000 {
		return 1
	}
	return 5
}

// ticks has N CronJobs due at once, for each number and each contender, in turn. Of what was
// measured of a contender so far it keeps the median.
func (b *bench) ticks(ctx context.Context) error {
	for _, n := range b.numbers {
		measured := map[string][]results.Result{}
		for round := range rounds(n) {
			contenders := slices.DeleteFunc(slices.Clone(b.contenders), func(c contender) bool { return round > 0 && c.slow })
			err := b.each(contenders, func(c contender) (*results.Result, error) {
				result, err := b.tick(ctx, c, n)
				if err != nil {
					return nil, fmt.Errorf("with %d CronJobs: %w", n, err)
				}
				measured[c.id] = append(measured[c.id], *result)
				return result, nil
			})
			if err != nil {
				return err
			}
			for _, all := range measured {
				b.results.Add(results.Median(all))
			}
		}
	}
	return b.results.Save(b.file)
}

// tick measures a contender once.
func (b *bench) tick(ctx context.Context, c contender, n int) (*results.Result, error) {
	allowed := lead(c, n)
	for range tries {
		tick := time.Now().Add(allowed).Truncate(time.Minute).Add(time.Minute)
		r, err := b.ready(ctx, c, n, tick)
		if err != nil {
			return nil, err
		}
		if time.Until(tick) > ahead(n) {
			result, err := b.watchTick(ctx, c, r, n, tick)
			if err == nil {
				err = r.end()
			}
			return result, err
		}
		plane.Logf("%s was not ready for its tick in %v", c.id, allowed)
		if err := r.end(); err != nil {
			return nil, err
		}
		allowed *= 2
	}
	return nil, fmt.Errorf("not ready for a tick in %v: is the machine busy otherwise?", allowed/2)
}

// ready starts a contender that is ready for N CronJobs that are due at the tick.
func (b *bench) ready(ctx context.Context, c contender, n int, tick time.Time) (*running, error) {
	if err := b.clear(ctx); err != nil {
		return nil, err
	}
	took, err := b.populate(ctx, c, "bench", n, daily(tick))
	if err != nil {
		return nil, err
	}
	plane.Logf("%s: %d CronJobs created in %.1fs, due at %s", c.id, n, took.Seconds(), tick.UTC().Format(time.TimeOnly))
	var flags []string
	if c.id == results.Bare {
		flags = append(flags, fmt.Sprintf("--tick=%d", tick.Unix()))
	}
	if err := b.compact(ctx); err != nil {
		return nil, err
	}
	return b.settled(ctx, c, flags...)
}

// watchTick measures what a contender does at a tick for which it is ready.
func (b *bench) watchTick(ctx context.Context, c contender, r *running, n int, tick time.Time) (*results.Result, error) {
	cronJobs, err := b.awaitTick(ctx, c.kind, tick)
	if err != nil {
		return nil, err
	}
	watch, err := b.watchStarts(ctx)
	if err != nil {
		return nil, err
	}
	before, err := b.used(ctx, r)
	if err != nil {
		return nil, err
	}
	if time.Now().After(tick) {
		return nil, errors.New("the tick came before we were ready to watch: is the machine busy otherwise?")
	}
	if err := r.resetPeak(); err != nil {
		return nil, err
	}
	all, err := b.awaitStarts(ctx, r, watch, n, tick)
	if err != nil {
		return nil, err
	}
	result := &results.Result{Stage: results.Ticks, Of: c.id, N: n, Values: map[string]float64{}}
	if all {
		written, err := b.awaitQuiet(ctx)
		if err != nil {
			return nil, err
		}
		result.Values[results.Written] = written.Sub(tick).Seconds()
	} else {
		result.Values[results.CutAfter] = cut.Seconds()
	}
	after, err := b.used(ctx, r)
	if err != nil {
		return nil, err
	}
	judge(result, watch.stop(), cronJobs, tick)
	runs := max(result.Values[results.Seen], 1)
	result.Values[results.CPU] = (after.cpu - before.cpu).Seconds() / runs
	result.Values[results.Resident], result.Values[results.Peak] = float64(before.resident), float64(after.peak)
	result.Requests = perRun(after.requests.since(before.requests), runs)
	switch {
	case !all:
		return result, nil
	case c.id == results.Bare:
		result.Values[results.Took], err = bareTook(r.LogPath)
		return result, err
	}
	return result, b.checkStatuses(ctx, c.kind, result, tick)
}

// awaitTick waits until shortly before the tick, when all is ready for it, and returns the
// CronJobs.
func (b *bench) awaitTick(ctx context.Context, k kind, tick time.Time) ([]cronJob, error) {
	cronJobs, err := b.cronJobs(ctx, k)
	if err != nil {
		return nil, err
	}
	if err := plane.SleepUntil(ctx, tick.Add(-before-collecting)); err != nil {
		return nil, err
	}
	if err := b.collectGarbage(ctx); err != nil {
		return nil, err
	}
	return cronJobs, plane.SleepUntil(ctx, tick.Add(-before))
}

// awaitStarts waits until each CronJob has started a Job, or until that takes too long. It reports
// whether all have.
func (b *bench) awaitStarts(ctx context.Context, r *running, watch *startWatch, n int, tick time.Time) (bool, error) {
	ctx, cancel := context.WithDeadline(ctx, tick.Add(cut))
	defer cancel()
	go func() {
		select {
		case <-r.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	all, err := watch.awaitOwners(ctx, n)
	if err == nil {
		err = r.Err()
	}
	return all, err
}

// awaitQuiet waits until nobody writes any more, and returns when it first saw that there were so
// many writes.
func (b *bench) awaitQuiet(ctx context.Context) (written time.Time, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, cut, errors.New("there are still writes, though all Jobs are there"))
	defer cancel()
	writes := -1.0
	for quiet := 0; quiet <= 2; quiet++ {
		requests, err := b.requests(ctx)
		if err != nil {
			return written, err
		}
		if requests.writes() != writes {
			quiet, writes, written = 0, requests.writes(), time.Now()
		}
		if err := plane.SleepUntil(ctx, time.Now().Add(quietPoll)); err != nil {
			return written, err
		}
	}
	return written, nil
}

// judge counts what was started, and what should not have been.
func judge(result *results.Result, starts []start, cronJobs []cronJob, tick time.Time) {
	result.Wrong = map[string]int{}
	runs := make(map[types.UID]int, len(cronJobs))
	for _, c := range cronJobs {
		runs[c.Metadata.UID] = 0
	}
	var delays []time.Duration
	for _, start := range starts {
		count, ours := runs[start.owner]
		switch {
		case !ours || !start.scheduledAt.Equal(tick):
			result.Wrong[results.Astray]++
			continue
		case count > 0:
			result.Wrong[results.Twice]++
		default:
			delays = append(delays, start.seen.Sub(tick))
		}
		runs[start.owner]++
		if start.seen.Before(tick) || start.created.Before(tick) {
			result.Wrong[results.Early]++
		}
	}
	result.Values[results.Seen] = float64(len(delays))
	if result.Value(results.CutAfter) == nil && result.N > len(delays) {
		result.Wrong[results.NotRun] = result.N - len(delays)
	}
	result.Quantiles(delays, result.N)
}

// checkStatuses counts the CronJobs whose status does not tell of the run.
func (b *bench) checkStatuses(ctx context.Context, k kind, result *results.Result, tick time.Time) error {
	cronJobs, err := b.cronJobs(ctx, k)
	for _, c := range cronJobs {
		if last := c.Status.LastScheduleTime; last == nil || !last.Equal(tick) {
			result.Wrong[results.Unwritten]++
		}
	}
	return err
}

// perRun divides what a contender asked for by its runs, less what the bench itself asks for: its
// watches.
func perRun(requests requests, runs float64) map[string]float64 {
	maps.DeleteFunc(requests, func(key string, _ float64) bool { return strings.HasPrefix(key, "watch ") })
	shares := make(map[string]float64, len(requests))
	for key, count := range requests {
		shares[key] = count / runs
	}
	return shares
}
