// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"crypto/tls"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// certificateExpiry is the metric of when the webhooks' certificate expires. At each scrape it
// reads the certificate that is served: a file or a Secret may have another one.
type certificateExpiry struct {
	description *prometheus.Desc
	source      atomic.Pointer[certificateSource] // nil while nothing is served
}

// certificateSource is GetCertificate of a tls.Config.
type certificateSource func(*tls.ClientHelloInfo) (*tls.Certificate, error)

var expiry = &certificateExpiry{description: prometheus.NewDesc(
	"cronjob_controller_webhook_certificate_expiration_timestamp_seconds",
	"When the certificate that the webhooks serve expires, in seconds since 1970.", nil, nil)}

func init() { //nolint:gochecknoinits // as controller-runtime registers its own
	metrics.Registry.MustRegister(expiry)
}

// Describe implements prometheus.Collector.
func (e *certificateExpiry) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- e.description
}

// Collect implements prometheus.Collector.
func (e *certificateExpiry) Collect(collected chan<- prometheus.Metric) {
	source := e.source.Load()
	if source == nil {
		return
	}
	certificate, err := (*source)(&tls.ClientHelloInfo{})
	if err != nil || certificate == nil || certificate.Leaf == nil {
		return
	}
	collected <- prometheus.MustNewConstMetric(e.description, prometheus.GaugeValue, float64(certificate.Leaf.NotAfter.Unix()))
}
