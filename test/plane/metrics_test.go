// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plane_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/test/plane"
)

const exposition = `# HELP requests_total How many requests there were.
# TYPE requests_total counter
requests_total{code="200"} 8
requests_total{code="500"} 5
# TYPE seconds histogram
seconds_bucket{le="1"} 2
seconds_bucket{le="+Inf"} 3
seconds_sum 7
seconds_count 3
go_goroutines 12
`

func TestOnlyMetricsOfThePrefixAreParsedAndAddedUpOverAllLabels(t *testing.T) {
	for prefix, want := range map[string]map[string]float64{
		"requests_total": {"requests_total": 13},
		"seconds":        {"seconds": 3},
		"go_":            {"go_goroutines": 12},
		"no_such_metric": {},
	} {
		families, err := plane.ParseMetrics(strings.NewReader(exposition), prefix)
		require.NoError(t, err)
		got := map[string]float64{}
		for name, family := range families {
			got[name] = plane.Sum(family)
		}
		assert.Equal(t, want, got, prefix)
	}
}
