/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package batch

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"tutorial.kubebuilder.io/project/internal/plan"
)

// The results of a run beside those of its Job.
const (
	resultReplaced = "replaced"
	resultDeleted  = "deleted"
)

var (
	creationSkew = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "cronjob_controller_job_creation_skew_duration_seconds",
		Help:    "Time from a tick to the creation of its Job, in seconds.",
		Buckets: prometheus.ExponentialBuckets(0.005, 2, 16), // 5 ms to 164 s
	})
	runs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cronjob_controller_runs_total",
		Help: "Runs that are over, by result: succeeded, failed, replaced by the next, or deleted by somebody.",
	}, []string{"result"})
	missedTicks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cronjob_controller_missed_ticks_total",
		Help: "Ticks that will never run, by reason. Of a long gap, at most 100 are counted.",
	}, []string{"reason"})
	requestFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cronjob_controller_request_failures_total",
		Help: "Requests to the API server that failed, each try of them, by request: create and delete (of Jobs), status, read.",
	}, []string{"request"})
	jobsActive = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cronjob_controller_jobs_active",
		Help: "Jobs of CronJobs that run.",
	})
	undecodableCronJobs = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cronjob_controller_undecodable_cronjobs",
		Help: "CronJobs that start nothing because a stored field has a type that it can't have.",
	})
)

func init() { //nolint:gochecknoinits // as controller-runtime registers its own
	metrics.Registry.MustRegister(creationSkew, runs, missedTicks, requestFailures, jobsActive, undecodableCronJobs)
	// A series that begins with its first event hides it from increase(): all begin at 0.
	for _, result := range []string{string(plan.Succeeded), string(plan.Failed), resultReplaced, resultDeleted} {
		runs.WithLabelValues(result)
	}
	for _, request := range []string{requestCreate, requestDelete, requestStatus, requestRead} {
		requestFailures.WithLabelValues(request)
	}
	for reason := range missedBecause {
		missedTicks.WithLabelValues(string(reason))
	}
}

// activeJobs adds up the Jobs that run. The zero value is ready for use.
type activeJobs struct {
	mu     sync.Mutex
	counts map[types.NamespacedName]int
	total  int
}

// set notes how many Jobs of a CronJob run.
func (a *activeJobs) set(key types.NamespacedName, count int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts == nil {
		a.counts = map[types.NamespacedName]int{}
	}
	a.total += count - a.counts[key]
	a.counts[key] = count
	if count == 0 {
		delete(a.counts, key)
	}
	jobsActive.Set(float64(a.total))
}
