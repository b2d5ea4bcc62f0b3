// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

// valueOf returns the value of a counter or gauge.
func valueOf(t *testing.T, metric prometheus.Metric) float64 {
	t.Helper()
	written := &dto.Metric{}
	require.NoError(t, metric.Write(written))
	return written.GetCounter().GetValue() + written.GetGauge().GetValue()
}

// A run took as long as from the creation of its Job, the tick, to its end. The end is stamped by
// another machine, whose clock may be behind.
func TestO3ARunIsCountedWithItsDurationByItsResult(t *testing.T) {
	tick := time.Date(2027, time.June, 1, 10, 0, 0, 0, time.UTC)
	c := builders.MakeCronJob("c").Obj()
	for name, tc := range map[string]struct {
		job        *builders.Job
		wantResult string
		wantTook   float64
	}{
		"succeeded":                    {builders.MakeJob(c, tick).Succeeded(tick.Add(90 * time.Second)), resultSucceeded, 90},
		"failed after more than a day": {builders.MakeJob(c, tick).Failed(tick.Add(25 * time.Hour)), resultFailed, 90_000},
		"ended before it was created":  {builders.MakeJob(c, tick).Succeeded(tick.Add(-time.Second)), resultSucceeded, 0},
	} {
		t.Run(name, func(t *testing.T) {
			measured := func() (runs uint64, sum float64) {
				written := &dto.Metric{}
				require.NoError(t, runDuration.WithLabelValues(tc.wantResult).(prometheus.Metric).Write(written))
				return written.GetHistogram().GetSampleCount(), written.GetHistogram().GetSampleSum()
			}
			counted := valueOf(t, runs.WithLabelValues(tc.wantResult))
			number, sum := measured()
			countRun(plan.RunOf(tc.job.Obj()))
			assert.InDelta(t, counted+1, valueOf(t, runs.WithLabelValues(tc.wantResult)), 0)
			gotNumber, gotSum := measured()
			assert.Equal(t, number+1, gotNumber)
			assert.InDelta(t, sum+tc.wantTook, gotSum, 0.001)
		})
	}
}

func createFails(err error) interceptor.Funcs {
	return interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return err }}
}

func TestWhatATenantMayNotCreateIsNoFailureOfTheAPIServer(t *testing.T) {
	for name, test := range map[string]struct {
		answer                  error
		wantFailed, wantRefused float64
	}{
		"a quota or a policy refuses it":   {answer: denied, wantRefused: 1},
		"the API server does not know how": {answer: apierrors.NewInternalError(errTrouble), wantFailed: 1},
		"the API server is overloaded":     {answer: apierrors.NewTooManyRequestsError("later"), wantFailed: 1},
		"nobody answers":                   {answer: errTrouble, wantFailed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every())
			s.interfere(createFails(test.answer))
			failed, refused := requestFailures.WithLabelValues(requestCreate), requestFailures.WithLabelValues(requestRefusedCreate)
			failedBefore, refusedBefore := valueOf(t, failed), valueOf(t, refused)
			s.toNextTick()
			s.reconcile()
			assert.InDelta(t, failedBefore+test.wantFailed, valueOf(t, failed), 0)
			assert.InDelta(t, refusedBefore+test.wantRefused, valueOf(t, refused), 0)
		})
	}
}

// A read may be older than one before it: from another API server, or after a lost answer.
func TestO3AMissedTickIsCountedOnceThoughAnOlderStatusIsReadAgain(t *testing.T) {
	s := newStage(t, every())
	row := func(reason plan.MissedReason, at int64) v1.MissedTicks {
		tick := metav1.Unix(at, 0)
		return v1.MissedTicks{Reason: string(reason), First: tick, Last: tick, Count: 3}
	}
	newer, older := row(plan.MissedForbidden, 120), row(plan.MissedDeadline, 60)
	count := func() float64 {
		return valueOf(t, missedTicks.WithLabelValues(newer.Reason)) + valueOf(t, missedTicks.WithLabelValues(older.Reason))
	}
	before := count()
	for _, rows := range [][]v1.MissedTicks{{older}, {newer, older}, {older}, {newer, older}} {
		s.reconciler.reportRows(s.stored(), rows)
	}
	assert.InDelta(t, before+6, count(), 0)
}

func TestANamespaceWithAMissedTickIsCountedUnlessSomebodyAskedForIt(t *testing.T) {
	for name, test := range map[string]struct {
		policy     v1.ConcurrencyPolicy
		disturb    func(s *stage)
		wantMissed float64
	}{
		"all ticks run": {disturb: func(s *stage) { s.live(2*time.Minute, true) }},
		"creations are refused": {wantMissed: 1, disturb: func(s *stage) {
			s.interfere(createFails(denied))
			s.live(2*time.Minute, false)
		}},
		"nobody looked for long": {wantMissed: 1, disturb: func(s *stage) {
			s.clock.SetTime(s.clock.Now().Add(10 * time.Minute))
			s.live(time.Minute, true)
		}},
		"a Job holds the next ticks back": {policy: v1.ForbidConcurrent, disturb: func(s *stage) { s.live(4*time.Minute, false) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Policy(test.policy))
			s.toNextTick()
			s.reconcile()
			s.awaitCached()
			test.disturb(s)
			assert.InDelta(t, 1, s.reconciler.ticked.count(s.clock.Now()), 0)
			assert.InDelta(t, test.wantMissed, s.reconciler.missed.count(s.clock.Now()), 0)
		})
	}
}

func TestR2NamespacesAreForgottenThoughNothingEverAsksForTheirCount(t *testing.T) {
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	var n recentNamespaces
	for i := range 10_000 {
		n.note(fmt.Sprint(i), now)
		now = now.Add(time.Minute)
		assert.LessOrEqual(t, len(n.last), 2*int(namespaceWindow/time.Minute)+2)
	}
}

func TestANamespaceIsForgottenAQuarterOfAnHourAfterItsLastTick(t *testing.T) {
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	var n recentNamespaces
	for i := range 5 {
		n.note(fmt.Sprint(i), start)
	}
	n.note("0", start)
	assert.InDelta(t, 5, n.count(start), 0)

	n.note("1", start.Add(10*time.Minute))
	n.note("other", start.Add(16*time.Minute))
	assert.InDelta(t, 2, n.count(start.Add(16*time.Minute)), 0, "1 and other")
	assert.Zero(t, n.count(start.Add(time.Hour)), "also where nothing ticks any more")
	assert.Empty(t, n.last)
}
