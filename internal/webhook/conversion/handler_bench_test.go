// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/apis/batch"
)

// typical is a typical CronJob as it is stored in v1.
const typical = `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob",
"metadata":{"name":"report","namespace":"default","uid":"0c5bfc3a-6f6e-4f0e-9a53-8bd7cf6d3a10","resourceVersion":"4711","generation":1,
"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"report"},
"managedFields":[{"manager":"kubectl","operation":"Apply","apiVersion":"batch.tutorial.kubebuilder.io/v1","time":"2026-01-01T00:00:00Z",
"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:schedule":{},"f:jobTemplate":{"f:spec":{}}}}}]},
"spec":{"schedule":"*/5 9-17 * * 1-5","concurrencyPolicy":"Allow","suspend":false,"successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1,
"jobTemplate":{"metadata":{"labels":{"app":"report"}},"spec":{"backoffLimit":2,"template":{"spec":{"restartPolicy":"OnFailure",
"containers":[{"name":"main","image":"registry.example/team/report:v1.2.3","command":["/bin/sh","-c","report --since=24h"],
"env":[{"name":"TARGET","value":"archive"}],"resources":{"limits":{"cpu":"100m","memory":"64Mi"}}}]}}}}},
"status":{"lastScheduleTime":"2026-01-02T09:00:00Z","nextScheduleTime":"2026-01-02T09:05:00Z","observedGeneration":1}}`

// BenchmarkHandler answers a ConversionReview of the API server, from bytes to bytes.
func BenchmarkHandler(b *testing.B) {
	const hub, spoke = "batch.tutorial.kubebuilder.io/v1", "batch.tutorial.kubebuilder.io/v2"
	fields, err := batch.Versions.ConvertJSON([]byte(typical), spoke)
	require.NoError(b, err)
	for _, bench := range []struct {
		name, object, to string
		count            int
	}{
		{"one v1 to v2", typical, spoke, 1},
		{"one v2 to v1", string(fields), hub, 1},
		{"list of 500 v1 to v2", typical, spoke, 500},
	} {
		review := fmt.Sprintf(
			`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":%q,"objects":[%s]}}`,
			bench.to, strings.TrimSuffix(strings.Repeat(bench.object+",", bench.count), ","))
		require.True(b, json.Valid([]byte(review)))
		b.Run(bench.name, func(b *testing.B) {
			handler := Handler{Convert: batch.Versions.ConvertJSON}
			b.ReportAllocs()
			for b.Loop() {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, Path, strings.NewReader(review)))
				if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "Success") {
					b.Fatal(answer.Body)
				}
			}
		})
	}
}
