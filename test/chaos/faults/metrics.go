// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"tutorial.kubebuilder.io/project/test/chaos/history"
)

// prefix is that of the metrics of ours.
const prefix = "cronjob_controller_"

// scraper asks managers, whose certificates are their own.
var scraper = &http.Client{
	Timeout: 5 * time.Second,
	Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // on loopback, of a child
		DisableKeepAlives: true,
	},
}

// scrape adds a manager's metrics to the history. A manager that does not answer has none: that is what faults do.
func (s *Site) scrape(ctx context.Context, m *manager) {
	asked, process := time.Now(), m.labelNow()
	values, err := s.metricsOf(ctx, m)
	if err != nil {
		s.options.Logf("no metrics of %s: %v", process, err)
		return
	}
	s.log.Add(history.Record{Metrics: &history.Metrics{Manager: process, Asked: asked, Values: values}})
}

func (s *Site) metricsOf(ctx context.Context, m *manager) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/metrics", m.metricsPort), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := scraper.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s", response.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for name, family := range families {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		for _, metric := range family.GetMetric() {
			values[strings.TrimPrefix(name, prefix)+labelsOf(metric)] = valueOf(metric)
		}
	}
	return values, nil
}

func labelsOf(metric *dto.Metric) string {
	var text strings.Builder
	for _, label := range metric.GetLabel() {
		text.WriteString("/" + label.GetValue())
	}
	return text.String()
}

// valueOf returns the value, and of a histogram how much it has observed.
func valueOf(metric *dto.Metric) float64 {
	switch {
	case metric.GetHistogram() != nil:
		return float64(metric.GetHistogram().GetSampleCount())
	case metric.GetGauge() != nil:
		return metric.GetGauge().GetValue()
	}
	return metric.GetCounter().GetValue()
}
