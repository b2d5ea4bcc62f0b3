// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

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
	Help: "Events that were not written, by cause: too many waited, or the API server refused it or was unavailable for a minute.",
}, []string{"cause"})

func init() { //nolint:gochecknoinits // as controller-runtime registers its own
	metrics.Registry.MustRegister(dropped)
	for _, cause := range []string{causeQueueFull, causeRefused, causeUnavailable} {
		dropped.WithLabelValues(cause)
	}
}
