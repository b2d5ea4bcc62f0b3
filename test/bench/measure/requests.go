// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

// requestsMetric is the API server's count of the requests that it has answered.
const requestsMetric = "apiserver_request_total"

// relevant are the resources that a controller of CronJobs has to do with. The API server asks itself for others.
var relevant = []string{"cronjobs", "jobs", "events"}

// Requests counts requests by verb and resource, such as "create jobs" and "patch cronjobs/status". Those that
// failed are under a key of their own, with the code: "create jobs (409)".
type Requests map[string]float64

// RequestsSoFar returns what the API server has answered, to anybody, about CronJobs, Jobs and events.
// A watch counts when it ends.
func RequestsSoFar(ctx context.Context, client rest.Interface) (Requests, error) {
	body, err := client.Get().AbsPath("/metrics").Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	defer func() { _ = body.Close() }()
	return requestsIn(body)
}

// requestsIn reads them from an exposition.
func requestsIn(metrics io.Reader) (Requests, error) {
	families, err := parse(metrics, requestsMetric)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	requests := Requests{}
	for _, metric := range families[requestsMetric].GetMetric() {
		if labels := labelsOf(metric); slices.Contains(relevant, labels["resource"]) {
			requests[requestKey(labels)] += metric.GetUntyped().GetValue()
		}
	}
	return requests, nil
}

// parse reads the series of one metric, and only those: the API server has tens of thousands of others.
// Without its TYPE line the metric is untyped.
func parse(metrics io.Reader, name string) (map[string]*dto.MetricFamily, error) {
	var wanted bytes.Buffer
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		after, ok := bytes.CutPrefix(lines.Bytes(), []byte(name))
		if ok && (bytes.HasPrefix(after, []byte("{")) || bytes.HasPrefix(after, []byte(" "))) {
			wanted.Write(lines.Bytes())
			wanted.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(&wanted)
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
		if !isRead(key) {
			total += count
		}
	}
	return total
}

// isRead reports whether a key is of requests that change nothing.
func isRead(key string) bool {
	verb, _, _ := strings.Cut(key, " ")
	return slices.Contains([]string{"get", "list", "watch"}, verb)
}

// SumOf adds up a metric, over all labels, in an exposition.
func SumOf(metrics io.Reader, name string) (float64, error) {
	families, err := parse(metrics, name)
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", name, err)
	}
	total := 0.0
	for _, metric := range families[name].GetMetric() {
		total += metric.GetUntyped().GetValue()
	}
	return total, nil
}
