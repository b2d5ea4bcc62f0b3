// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/test/plane"
)

const exposition = `# HELP apiserver_request_total Counter of apiserver requests.
# TYPE apiserver_request_total counter
apiserver_request_total{code="201",group="batch",resource="jobs",subresource="",verb="POST",version="v1"} 3
apiserver_request_total{code="409",group="batch",resource="jobs",subresource="",verb="POST",version="v1"} 1
apiserver_request_total{code="200",group="batch",resource="cronjobs",subresource="status",verb="PUT",version="v1"} 4
apiserver_request_total{code="200",group="other",resource="cronjobs",subresource="status",verb="PUT",version="v1"} 5
apiserver_request_total{code="200",group="",resource="events",subresource="",verb="LIST",version="v1"} 6
apiserver_request_total{code="200",group="",resource="pods",subresource="",verb="LIST",version="v1"} 7
apiserver_request_totally_different{code="200"} 8
apiserver_request_total{code="200",group="batch",resource="jobs",subresource="",verb="WATCH",version="v1"} 2
go_goroutines 12
go_goroutines_of_another_kind 13
`

func TestRequestsButWatchesAreNamedByVerbAndResource(t *testing.T) {
	families, err := plane.ParseMetrics(strings.NewReader(exposition), requestsMetric)
	require.NoError(t, err)
	got := requestsIn(families)
	assert.Equal(t, requests{"create jobs": 3, "create jobs (409)": 1, "update cronjobs/status": 9, "list events": 6}, got)
	assert.InDelta(t, 13, got.writes(), 0)
}

func TestSinceHasOnlyWhatWasAdded(t *testing.T) {
	before := requests{"create jobs": 3, "list events": 6}
	assert.Equal(t, requests{"create jobs": 2, "get jobs": 1}, requests{"create jobs": 5, "list events": 6, "get jobs": 1}.since(before))
}
