// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// typicalCronJob is a typical CronJob, as the API server sends it when it is created.
var typicalCronJob = cronJob(`"name":"report","namespace":"ns","uid":"0c5bfc3a-6f6e-4f0e-9a53-8bd7cf6d3a10","generation":1,`+
	`"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"report"},`+
	`"managedFields":[{"manager":"kubectl","operation":"Apply","apiVersion":"batch.tutorial.kubebuilder.io/v1","time":"2026-01-01T00:00:00Z",`+
	`"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:schedule":{},"f:jobTemplate":{"f:spec":{}}}}}]`,
	`"schedule":"*/5 9-17 * * 1-5","jobTemplate":{"metadata":{"labels":{"app":"report"}},"spec":{"backoffLimit":2,"template":{"spec":{`+
		`"restartPolicy":"OnFailure","containers":[{"name":"main","image":"registry.example/team/report:v1.2.3",`+
		`"command":["/bin/sh","-c","report --since=24h"],"env":[{"name":"TARGET","value":"archive"}],`+
		`"resources":{"limits":{"cpu":"100m","memory":"64Mi"}}}]}}}}`)

// BenchmarkAdmission answers an AdmissionReview of the API server, from bytes to bytes, with a
// cached template.
func BenchmarkAdmission(b *testing.B) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		b.Fatal(err)
	}
	v, _ := validatorOf(&apiServer{answer: validation})
	v.builtinConflicts = nil
	mutating, _ := webhooks(b)
	validating := admission.WithValidator[*v1.CronJob](scheme, v)
	edited := strings.Replace(typicalCronJob, `"app":"report"`, `"app":"billing"`, 1)
	for _, bench := range []struct {
		name    string
		webhook http.Handler
		review  string
	}{
		{"mutate a new one", mutating, reviewOf(admissionv1.Create, typicalCronJob, "null")},
		{"validate a new one", validating, reviewOf(admissionv1.Create, typicalCronJob, "null")},
		{"mutate an edited one", mutating, reviewOf(admissionv1.Update, edited, typicalCronJob)},
		{"validate an edited one", validating, reviewOf(admissionv1.Update, edited, typicalCronJob)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				answer := httptest.NewRecorder()
				request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(bench.review))
				request.Header.Set("Content-Type", "application/json")
				bench.webhook.ServeHTTP(answer, request)
				if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"allowed":true`) {
					b.Fatal(answer.Body)
				}
			}
		})
	}
}
