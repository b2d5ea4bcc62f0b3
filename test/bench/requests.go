// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"tutorial.kubebuilder.io/project/test/plane"
)

// requestsMetric is the API server's metric of answered requests.
const requestsMetric = "apiserver_request_total"

// relevant has the resources of a controller of CronJobs. The API server itself requests others.
var relevant = []string{"cronjobs", "jobs", "events"}

// requests counts requests by verb and resource, such as "create jobs" and "patch cronjobs/status".
// Failed ones have a key with the code: "create jobs (409)". Watches are left out: they count when
// they end, and the bench has its own.
type requests map[string]float64

// requests returns the requests that the API server has answered so far, from anybody.
func (p *cluster) requests(ctx context.Context) (requests, error) {
	families, err := plane.ReadMetrics(ctx, p.REST, requestsMetric)
	return requestsIn(families), err
}

func requestsIn(families map[string]*dto.MetricFamily) requests {
	counts := requests{}
	for _, metric := range families[requestsMetric].GetMetric() {
		labels := map[string]string{}
		for _, pair := range metric.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		if slices.Contains(relevant, labels["resource"]) && labels["verb"] != "WATCH" {
			counts[requestKey(labels)] += plane.Value(metric)
		}
	}
	return counts
}

// rbacVerbs has RBAC's names of the verbs that differ in more than case.
var rbacVerbs = strings.NewReplacer("post", "create", "put", "update")

// requestKey names a request as RBAC does.
func requestKey(labels map[string]string) string {
	key := rbacVerbs.Replace(strings.ToLower(labels["verb"])) + " " + labels["resource"]
	if labels["subresource"] != "" {
		key += "/" + labels["subresource"]
	}
	if code, err := strconv.Atoi(labels["code"]); err == nil && code >= 400 {
		key += " (" + labels["code"] + ")"
	}
	return key
}

func (r requests) since(before requests) requests {
	added := requests{}
	for key, count := range r {
		if count != before[key] {
			added[key] = count - before[key]
		}
	}
	return added
}

func (r requests) statuses() float64 { return r["patch cronjobs/status"] + r["update cronjobs/status"] }

func (r requests) writes() float64 {
	total := 0.0
	for key, count := range r {
		verb, _, _ := strings.Cut(key, " ")
		if verb != "get" && verb != "list" {
			total += count
		}
	}
	return total
}
