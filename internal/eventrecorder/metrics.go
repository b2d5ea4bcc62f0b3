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

package eventrecorder

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Why events are dropped.
const (
	causeQueueFull   = "queue_full"
	causeRefused     = "refused"
	causeUnavailable = "unavailable"
)

var dropped = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "cronjob_controller_events_dropped_total",
	Help: "Events that were not written, by cause: too many waited, the API server refused it, or did not take it for a minute.",
}, []string{"cause"})

func init() { //nolint:gochecknoinits // as controller-runtime registers its own
	metrics.Registry.MustRegister(dropped)
	for _, cause := range []string{causeQueueFull, causeRefused, causeUnavailable} {
		dropped.WithLabelValues(cause)
	}
}
