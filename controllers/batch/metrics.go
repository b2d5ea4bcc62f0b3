// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"math"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// The results of a run, as the metrics name them.
const (
	resultSucceeded = "succeeded"
	resultFailed    = "failed"
	resultReplaced  = "replaced"
	resultDeleted   = "deleted"
)

var (
	creationSkew = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "cronjob_controller_job_creation_skew_duration_seconds",
		Help:    "Time from a tick, delayed by its jitter, to the creation of its Job, in seconds.",
		Buckets: prometheus.ExponentialBuckets(0.005, 2, 16), // 5 ms to 164 s
	})
	runs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cronjob_controller_runs_total",
		Help: "Runs that have ended, by result: succeeded, failed, replaced by the next, or deleted by somebody.",
	}, []string{"result"})
	runDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "cronjob_controller_run_duration_seconds",
		Help:    "Time from the creation of a Job to its end, by result: succeeded or failed, in seconds.",
		Buckets: []float64{1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400},
	}, []string{"result"})
	missedTicks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cronjob_controller_missed_ticks_total",
		Help: "Ticks that will never run, by reason. Of a long gap, at most 100 are counted.",
	}, []string{"reason"})
	requestFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cronjob_controller_request_failures_total",
		Help: "Failed requests to the API server, each retry counted, by request: create and delete (of Jobs), status, read. " +
			"A creation that was refused, for example by a quota, is create_refused.",
	}, []string{"request"})
)

func init() { //nolint:gochecknoinits // as controller-runtime registers its own
	metrics.Registry.MustRegister(creationSkew, runs, runDuration, missedTicks, requestFailures)
	// All series begin at 0: increase() does not count the first event of a series that begins with
	// it.
	for _, result := range []string{resultSucceeded, resultFailed, resultReplaced, resultDeleted} {
		runs.WithLabelValues(result)
	}
	for _, result := range []string{resultSucceeded, resultFailed} { // of others, no end is known
		runDuration.WithLabelValues(result)
	}
	for _, request := range []string{requestCreate, requestRefusedCreate, requestDelete, requestStatus, requestRead} {
		requestFailures.WithLabelValues(request)
	}
	for _, reason := range plan.MissedReasons() {
		missedTicks.WithLabelValues(string(reason))
	}
}

// registerGauges registers the gauges, which are computed at each scrape. It replaces those of an
// earlier reconciler; a process outside of tests has only one.
func (r *CronJobReconciler) registerGauges() error {
	for _, gauge := range []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cronjob_controller_jobs_active",
			Help: "Running Jobs of CronJobs.",
		}, func() float64 { return r.count(&batchv1.JobList{}, activeIndex) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cronjob_controller_undecodable_cronjobs",
			Help: "CronJobs that start nothing because a stored field has a wrong type.",
		}, func() float64 { return r.count(&v1.CronJobList{}, undecodableIndex) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cronjob_controller_stopped_cronjobs",
			Help: "CronJobs that start nothing because as many runs failed in a row as spec.stopAfterFailures allows.",
		}, func() float64 { return r.count(&v1.CronJobList{}, stoppedIndex) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cronjob_controller_namespaces_with_ticks",
			Help: "Namespaces in which a tick ran or was missed within the last 15 minutes.",
		}, func() float64 { return r.ticked.count(r.Clock.Now()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cronjob_controller_namespaces_with_missed_ticks",
			Help: "Namespaces in which a tick was missed within the last 15 minutes, except for the reasons Forbidden, Edited and Stopped.",
		}, func() float64 { return r.missed.count(r.Clock.Now()) }),
	} {
		metrics.Registry.Unregister(gauge)
		if err := metrics.Registry.Register(gauge); err != nil {
			return err
		}
	}
	return nil
}

// count returns how many cached objects are in an index; 0 unless this manager is the leader.
func (r *CronJobReconciler) count(list client.ObjectList, index string) float64 {
	if !r.leads.Load() {
		return 0
	}
	if err := r.Client.List(context.Background(), list, client.MatchingFields{index: isIndexed}, client.UnsafeDisableDeepCopy); err != nil {
		return math.NaN()
	}
	return float64(meta.LenList(list))
}
