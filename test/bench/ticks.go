// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// before is how long before the tick the measurement begins.
	before = 5 * time.Second

	// timeLimit is how long after the last due start a measurement ends in any case.
	timeLimit = 3 * time.Minute

	// settling is how much longer the status and the events of each start may take.
	settling = 15 * time.Millisecond

	// quietPoll is the time between two checks for further writes. Two without any end a
	// measurement.
	quietPoll = 2 * time.Second

	// tries is how often to try to be ready for a tick in time, each time with twice the lead.
	tries = 3

	// jitter and mostJittered are the jitter and the number of CronJobs of the stage jitter.
	jitter       = 5 * time.Minute
	mostJittered = 5000
)

// load is a contender with n CronJobs, whose starts are due within a span from the first tick on;
// in the stage ticks all at once.
type load struct {
	contender
	stage string
	n     int
	span  time.Duration
}

// chosen has the minutes, from the first tick on, at which half of the CronJobs of the stage hour
// are due: as far apart as those that people choose. The others are due at any minute.
var chosen = []int{0, 15, 30}

// tickOf returns when the i-th CronJob is due. In the stage hour, it may be due half a day after
// its minute, if that is not within the span.
func (l load) tickOf(i int, first time.Time) time.Time {
	if l.stage != results.Hour {
		return first
	}
	i /= namespaceCount // the same mix in each namespace
	after := time.Duration(i/2%60) * time.Minute
	if i%2 == 0 {
		after = time.Duration(chosen[i/2%len(chosen)]) * time.Minute
	}
	if after >= l.span {
		after += 12 * time.Hour
	}
	return first.Add(after)
}

// ticks returns the ticks of the CronJobs that are due within the span, by name.
func (l load) ticks(first time.Time) map[string]time.Time {
	due := map[string]time.Time{}
	for i := range l.n {
		if at := l.tickOf(i, first); at.Sub(first) <= l.span {
			due[nameOf(benchPrefix, i)] = at
		}
	}
	return due
}

func (l load) batch(first time.Time) batch {
	b := batch{kind: l.kind, prefix: benchPrefix, count: l.n}
	for i := range l.n {
		at := l.tickOf(i, first).UTC()
		b.schedules = append(b.schedules, fmt.Sprintf("%d %d * * *", at.Minute(), at.Hour()))
	}
	if l.stage == results.Jitter {
		b.more = map[string]any{"jitterSeconds": l.span.Seconds()}
	}
	return b
}

// lead is how long before the tick to begin to create the CronJobs, given how long it last took to
// create one; 0 if none were created before.
func (l load) lead(creating time.Duration) time.Duration {
	return l.ahead() + 20*time.Second + time.Duration(l.n)*cmp.Or(creating*3/2, 20*time.Millisecond)
}

// ahead is how long before the tick a contender has to be ready. Until then, the CronJobs are read,
// and the API server collects garbage.
func (l load) ahead() time.Duration {
	return before + l.collecting() + time.Duration(l.n)*500*time.Microsecond
}

// collecting is how long the API server may take to collect garbage. With 100,000 CronJobs it has
// 15 GiB, for which ten seconds were not enough.
func (l load) collecting() time.Duration {
	return 5*time.Second + time.Duration(l.n)*200*time.Microsecond
}

// rounds is the maximum number of rounds with N CronJobs for each contender. They end when the last
// two agree, and the median counts. With some thousand CronJobs, one garbage collection of the API
// server takes a large part of the measured seconds; with 20,000 there are several. Fewer than a
// thousand are a smoke test.
func rounds(n int) int {
	if n < 1000 || n >= 20000 {
		return 1
	}
	return 5
}

// mostShipped is the maximum number of CronJobs for the built-in as shipped. With more it is cut
// off.
const mostShipped = 1000

// ticks measures N CronJobs that are due at once, for each number and each contender in turn. The
// built-in as shipped, which takes minutes, is measured once.
func (b *bench) ticks(ctx context.Context) error {
	for _, n := range b.numbers {
		measured := map[string][]results.Result{}
		for round := range rounds(n) {
			contenders := slices.DeleteFunc(slices.Clone(b.contenders), func(c contender) bool {
				return results.Agree(measured[c.id]) || c.id == results.Shipped && (round > 0 || n > mostShipped)
			})
			err := b.each(ctx, contenders, func(ctx context.Context, c contender) (*results.Result, error) {
				result, err := b.tick(ctx, load{contender: c, stage: results.Ticks, n: n})
				if err == nil {
					measured[c.id] = append(measured[c.id], *result)
				}
				return result, err
			})
			if err != nil {
				return fmt.Errorf("with %d CronJobs: %w", n, err)
			}
		}
		for _, all := range measured {
			b.results.Add(results.Median(all))
		}
	}
	return b.results.Save(b.file)
}

// jittered measures CronJobs that are due at one tick and start over five minutes.
func (b *bench) jittered(ctx context.Context) error {
	return b.each(ctx, []contender{operator}, func(ctx context.Context, c contender) (*results.Result, error) {
		return b.tick(ctx, load{c, results.Jitter, min(slices.Max(b.numbers), mostJittered), jitter})
	})
}

// hour measures CronJobs that are due once an hour, for half an hour, and a bare client with the
// same Jobs. Each contender gets a control plane of its own: an API server that had 100,000
// CronJobs and now has as many others takes 19 GiB.
func (b *bench) hour(ctx context.Context) error {
	contenders := slices.DeleteFunc(slices.Clone(b.contenders), func(c contender) bool { return c.kind != operatorV1 })
	return b.each(ctx, contenders, func(ctx context.Context, c contender) (*results.Result, error) {
		if err := b.startAnew(ctx); err != nil {
			return nil, err
		}
		return b.tick(ctx, load{c, results.Hour, b.objects, b.working})
	})
}

func (b *bench) tick(ctx context.Context, l load) (*results.Result, error) {
	lead := l.lead(b.creating[l.kind])
	for range tries {
		if err := b.clear(ctx); err != nil {
			return nil, err
		}
		tick := time.Now().Add(lead).Truncate(time.Minute).Add(time.Minute)
		if err := errors.Join(b.populate(ctx, l.batch(tick)), b.compact(ctx)); err != nil {
			return nil, err
		}
		r, err := b.settled(ctx, l.contender)
		if err != nil {
			return nil, err
		}
		if time.Until(tick) > l.ahead() {
			plane.Logf("%s: %d CronJobs due from %s", l.id, l.n, tick.UTC().Format(time.TimeOnly))
			result, err := b.watchTick(ctx, l, r, tick)
			err = errors.Join(err, b.End(r.Process))
			if err == nil && l.id == results.Bare && l.stage == results.Ticks && result.Value(results.CutAfter) == nil {
				err = b.addStatuses(ctx, l, result, tick)
			}
			return result, err
		}
		plane.Logf("%s was not ready for its tick in %v", l.id, lead)
		if err := b.End(r.Process); err != nil {
			return nil, err
		}
		lead *= 2
	}
	return nil, fmt.Errorf("not ready for a tick in %v: is the machine busy otherwise?", lead/2)
}

// watchTick measures what a contender that is ready does from a tick on.
func (b *bench) watchTick(ctx context.Context, l load, r *running, tick time.Time) (*results.Result, error) {
	cronJobs, err := b.awaitTick(ctx, l, tick)
	if err != nil {
		return nil, err
	}
	watch, err := b.watchStarts(ctx)
	if err != nil {
		return nil, err
	}
	result, ticks := results.New(l.stage, l.id, l.n), l.ticks(tick)
	err = b.measure(ctx, r, result, func() error {
		if time.Now().After(tick) {
			return errors.New("the tick came before we were ready to watch: is the machine busy otherwise?")
		}
		all, err := watch.await(ctx, r, len(ticks), tick.Add(l.span+timeLimit))
		if err != nil || !all {
			result.Values[results.CutAfter] = (l.span + timeLimit).Seconds()
			return err
		}
		statuses, last, err := b.awaitQuiet(ctx, len(ticks))
		result.Values[results.Written] = last.Sub(tick).Seconds()
		if l.id != results.Bare { // the bare client writes them afterwards
			result.Values[results.Statuses] = statuses.Sub(tick).Seconds()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	judge(result, watch.stop(), cronJobs, ticks, l.span)
	runs := max(result.Values[results.Seen], 1)
	result.Values[results.CPU] /= runs
	for key := range result.Requests {
		result.Requests[key] /= runs
	}
	if l.id == results.Bare || result.Value(results.CutAfter) != nil {
		return result, nil
	}
	return result, b.checkStatuses(ctx, l.kind, result, ticks)
}

func (b *bench) addStatuses(ctx context.Context, l load, result *results.Result, tick time.Time) error {
	cronJobs, err := b.cronJobs(ctx, l.kind)
	if err != nil {
		return err
	}
	took, err := b.patchStatuses(ctx, l.kind, cronJobs, tick)
	result.Values[results.Statuses] = result.Values[results.Written] + took.Seconds()
	plane.Logf("%s: %d statuses patched in %.1fs", l.id, len(cronJobs), took.Seconds())
	return err
}

// awaitTick waits until shortly before the tick, when everything is ready for it, and returns the
// CronJobs.
func (b *bench) awaitTick(ctx context.Context, l load, tick time.Time) ([]cronJob, error) {
	cronJobs, err := b.cronJobs(ctx, l.kind)
	if err != nil {
		return nil, err
	}
	if err := plane.SleepUntil(ctx, tick.Add(-before-l.collecting())); err != nil {
		return nil, err
	}
	if err := b.collectGarbage(ctx); err != nil {
		return nil, err
	}
	return cronJobs, plane.SleepUntil(ctx, tick.Add(-before))
}

// awaitQuiet waits until there are no more writes, which must be soon after as many starts. It
// returns when it first saw the last status and the last write.
func (b *bench) awaitQuiet(ctx context.Context, starts int) (statuses, last time.Time, err error) {
	limit := timeLimit + time.Duration(starts)*settling
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("there are still writes, though all Jobs are there"))
	defer cancel()
	seen := requests{} // there have been some
	for quiet := 0; quiet <= 2; quiet++ {
		now, err := b.requests(ctx)
		if err != nil {
			return statuses, last, err
		}
		if now.writes() != seen.writes() {
			quiet, last = 0, time.Now()
		}
		if now.statuses() != seen.statuses() {
			statuses = time.Now()
		}
		seen = now
		if err := plane.SleepUntil(ctx, time.Now().Add(quietPoll)); err != nil {
			return statuses, last, err
		}
	}
	return statuses, last, nil
}

// judge counts the starts, and those that should not have been, of the CronJobs with a tick. A
// delay counts from when the CronJob was to start: the tick, or with a jitter the time within the
// span that its status had.
func judge(result *results.Result, starts []start, cronJobs []cronJob, ticks map[string]time.Time, span time.Duration) {
	result.Wrong = map[string]int{}
	type due struct{ tick, at time.Time }
	dues, runs := map[types.UID]due{}, map[types.UID]int{}
	var dueAt, startedAt []time.Time
	for _, c := range cronJobs {
		tick, isDue := ticks[c.Name]
		if !isDue {
			continue
		}
		at := tick
		if result.Stage == results.Jitter {
			at = c.Status.NextStartTime
			if at.Before(tick) || !at.Before(tick.Add(span)) {
				result.Wrong["next starts that are not within the jitter"]++
			}
		}
		dues[c.UID] = due{tick, at}
		dueAt = append(dueAt, at)
	}
	var delays []time.Duration
	worst := map[time.Time]time.Duration{}
	for _, start := range starts {
		due, ours := dues[start.owner]
		if !ours || !start.scheduledAt.Equal(due.tick) {
			result.Wrong["Jobs of no CronJob, or for another tick"]++
			continue
		}
		runs[start.owner]++
		if runs[start.owner] > 1 {
			result.Wrong["Jobs too many for a tick"]++
		} else {
			delay := start.seen.Sub(due.at)
			delays = append(delays, delay)
			worst[due.tick] = max(worst[due.tick], delay)
			startedAt = append(startedAt, start.seen)
		}
		if start.seen.Before(due.at) || start.created.Before(due.at) {
			result.Wrong["Jobs before they were due"]++
		}
	}
	result.Values[results.Seen] = float64(len(delays))
	if result.Value(results.CutAfter) == nil && len(ticks) > len(delays) {
		result.Wrong["CronJobs without a Job"] = len(ticks) - len(delays)
	}
	result.Values["duePeak"], result.Values["startPeak"] = peakPerSecond(dueAt), peakPerSecond(startedAt)
	result.Quantiles(delays, len(ticks))
	if len(worst) > 1 {
		logWorst(result.Of, worst)
	}
}

// logWorst logs the longest delay of each tick, which the quantiles over several do not show.
func logWorst(of string, worst map[time.Time]time.Duration) {
	for _, tick := range slices.SortedFunc(maps.Keys(worst), time.Time.Compare) {
		plane.Logf("%s: of those due at %s, the last started %.1fs later", of, tick.UTC().Format(time.TimeOnly), worst[tick].Seconds())
	}
}

// peakPerSecond returns the most instants within one second of the clock.
func peakPerSecond(instants []time.Time) (peak float64) {
	counts := map[int64]float64{}
	for _, at := range instants {
		counts[at.Unix()]++
		peak = max(peak, counts[at.Unix()])
	}
	return peak
}

// checkStatuses counts the CronJobs with a tick whose status does not have the run.
func (b *bench) checkStatuses(ctx context.Context, k kind, result *results.Result, ticks map[string]time.Time) error {
	cronJobs, err := b.cronJobs(ctx, k)
	for _, c := range cronJobs {
		if tick, isDue := ticks[c.Name]; isDue && !c.Status.LastScheduleTime.Equal(tick) {
			result.Wrong["statuses that do not tell of the run"]++
		}
	}
	if err == nil && k.isOperators() && result.N <= inOrder && result.Stage == results.Ticks {
		err = b.checkOrder(ctx, result, cronJobs)
	}
	return err
}

// inOrder is the maximum number of CronJobs due at once for which all statuses are written before
// the first event, on any machine. With more, an event may have waited for a minute, and goes
// first.
const inOrder = 1000

// checkOrder counts the events that were written before the last status. A few don't count, since
// events don't wait for the retry of a status.
func (b *bench) checkOrder(ctx context.Context, result *results.Result, cronJobs []cronJob) error {
	last := ""
	for _, c := range cronJobs {
		if isBefore(last, c.ResourceVersion) {
			last = c.ResourceVersion
		}
	}
	events := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "EventList"}}
	err := b.Client.List(ctx, events)
	early := 0
	for _, event := range events.Items {
		if strings.HasPrefix(event.Name, benchPrefix+"-") && isBefore(event.ResourceVersion, last) {
			early++
		}
	}
	if early > result.N/10 { // without an order it would be nearly all
		result.Wrong["events before the last status"] = early
	}
	return err
}

// isBefore compares resource versions. The API server has one sequence for all objects.
func isBefore(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return a == "" || err == nil && order < 0
}
