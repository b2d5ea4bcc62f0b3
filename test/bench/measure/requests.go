// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/rest"

	"tutorial.kubebuilder.io/project/test/plane"
)

// requestsMetric is the API server's count of the requests that it has answered.
const requestsMetric = "apiserver_request_total"

// relevant are the resources that a controller of CronJobs has to do with. The API server asks
// itself for others.
var relevant = []string{"cronjobs", "jobs", "events"}

// Requests counts requests by verb and resource, such as "create jobs" and "patch cronjobs/status".
// Those that failed are under a key of their own, with the code: "create jobs (409)".
type Requests map[string]float64

// RequestsSoFar returns what the API server has answered, to anybody, about CronJobs, Jobs and
// events. A watch counts when it ends.
func RequestsSoFar(ctx context.Context, client rest.Interface) (Requests, error) {
	body, err := client.Get().AbsPath("/metrics").Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	defer func() { _ = body.Close() }()
	return requestsIn(body)
}

// requestsIn reads them from an exposition.
func requestsIn(exposition io.Reader) (Requests, error) {
	families, err := plane.ParseMetrics(exposition, requestsMetric)
	if err != nil {
		return nil, err
	}
	requests := Requests{}
	for _, metric := range families[requestsMetric].GetMetric() {
		if labels := labelsOf(metric); slices.Contains(relevant, labels["resource"]) {
			requests[requestKey(labels)] += plane.Value(metric)
		}
	}
	return requests, nil
}

func labelsOf(metric *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, pair := range metric.GetLabel() {
		labels[pair.GetName()] = pair.GetValue()
	}
	return labels
}

// requestKey names requests as RBAC does.
func requestKey(labels map[string]string) string {
	verb := strings.ToLower(labels["verb"])
	switch verb {
	case "post":
		verb = "create"
	case "put":
		verb = "update"
	}
	key := verb + " " + labels["resource"]
	if labels["subresource"] != "" {
		key += "/" + labels["subresource"]
	}
	if code, err := strconv.Atoi(labels["code"]); err == nil && code >= 400 {
		key += " (" + labels["code"] + ")"
	}
	return key
}

// Since returns what was added to an earlier count.
func (r Requests) Since(before Requests) Requests {
	added := Requests{}
	for key, count := range r {
		if count != before[key] {
			added[key] = count - before[key]
		}
	}
	return added
}

// Writes returns how many requests were to change something.
func (r Requests) Writes() float64 {
	total := 0.0
	for key, count := range r {
		verb, _, _ := strings.Cut(key, " ")
		if !slices.Contains([]string{"get", "list", "watch"}, verb) {
			total += count
		}
	}
	return total
}
