// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARequestIsKnownForWhatItAsks(t *testing.T) {
	const ours, job = "/apis/batch.tutorial.kubebuilder.io/v1/", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"c-60"}}`
	tests := map[string]struct {
		method, url, body string
		wantTarget        Target
		wantCronJob       string
		wantJob           string
		wantWatch         bool
		wantOfCronJobs    bool
	}{
		"a Job is created": {
			method: http.MethodPost, url: "/apis/batch/v1/namespaces/ns/jobs", body: job,
			wantTarget: Creates, wantCronJob: "ns/c", wantJob: "ns/c-60",
		},
		"a template is tried": {
			method: http.MethodPost, url: "/apis/batch/v1/namespaces/ns/jobs?dryRun=All", body: job, wantTarget: Trials,
		},
		"a Job is deleted": {
			method: http.MethodDelete, url: "/apis/batch/v1/namespaces/ns/jobs/c-60", wantTarget: Deletes, wantCronJob: "ns/c",
		},
		"a Job is read": {
			method: http.MethodGet, url: "/apis/batch/v1/namespaces/ns/jobs/c-60", wantTarget: Reads, wantCronJob: "ns/c",
		},
		"Jobs are watched": {
			method: http.MethodGet, url: "/apis/batch/v1/jobs?watch=true", wantTarget: Reads, wantWatch: true,
		},
		"a status is written": {
			method: http.MethodPatch, url: ours + "namespaces/ns/cronjobs/c/status", body: "{}", wantTarget: Statuses, wantCronJob: "ns/c",
		},
		"a CronJob is read": {
			method: http.MethodGet, url: ours + "namespaces/ns/cronjobs/c", wantTarget: Reads,
		},
		"CronJobs are listed": {
			method: http.MethodGet, url: ours + "cronjobs", wantTarget: Reads, wantOfCronJobs: true,
		},
		"CronJobs are watched": {
			method: http.MethodGet, url: ours + "cronjobs?watch=1", wantTarget: Reads, wantWatch: true, wantOfCronJobs: true,
		},
		"the Lease is renewed": {
			method: http.MethodPut, url: "/apis/coordination.k8s.io/v1/namespaces/system/leases/x", body: "{}", wantTarget: Leases,
		},
		"the Lease is read": {method: http.MethodGet, url: "/apis/coordination.k8s.io/v1/namespaces/system/leases/x"},
		"anything else":     {method: http.MethodGet, url: "/apis/apps/v1/deployments"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := read(httptest.NewRequest(test.method, test.url, strings.NewReader(test.body)))
			require.NoError(t, err)
			assert.Equal(t, test.wantTarget, got.target)
			assert.Equal(t, test.wantCronJob, got.cronJob)
			assert.Equal(t, test.wantJob, got.job)
			assert.Equal(t, test.wantWatch, got.isWatch())
			assert.Equal(t, test.wantOfCronJobs, got.isOfCronJobs())
		})
	}
}
