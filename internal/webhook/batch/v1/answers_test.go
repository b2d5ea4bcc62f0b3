// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/bounds"
)

// post sends a review to a webhook.
func post(webhook http.Handler, review string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, validatorPath, strings.NewReader(review))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	webhook.ServeHTTP(recorder, request)
	return recorder
}

func TestR1NoAnswerRepeatsALongValue(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	validate := serve(admission.WithValidator[*v1.CronJob](scheme, validator{}).Handler)
	long := strings.Repeat(`\u0000`, 1<<20)
	for name, review := range map[string]string{
		"the kind of the review":   `{"apiVersion":"admission.k8s.io/v1","kind":"` + long + `","request":{"uid":"u"}}`,
		"the version":              `{"apiVersion":"` + long + `","kind":"AdmissionReview","request":{"uid":"u"}}`,
		"the kind of the object":   reviewOf(admissionv1.Create, `{"apiVersion":"v1","kind":"`+long+`"}`, "null"),
		"the name":                 reviewOf(admissionv1.Create, cronJob(`"name":"`+long+`"`, `"schedule":"@daily"`), "null"),
		"the schedule":             reviewOf(admissionv1.Create, cronJob(``, `"schedule":"`+long+`"`), "null"),
		"the time zone":            reviewOf(admissionv1.Create, cronJob(``, `"schedule":"@daily","timeZone":"`+long+`"`), "null"),
		"the concurrency policy":   reviewOf(admissionv1.Create, cronJob(``, `"schedule":"@daily","concurrencyPolicy":"`+long+`"`), "null"),
		"a number that is no text": reviewOf(admissionv1.Create, cronJob(``, `"schedule":`+strings.Repeat("1", 1<<20)), "null"),
		"a number of a limit":      reviewOf(admissionv1.Create, cronJob(``, `"startingDeadlineSeconds":`+strings.Repeat("1", 1<<20)), "null"),
	} {
		t.Run(name, func(t *testing.T) {
			bounds.Hold(t, len(review), func() {
				recorder := post(validate, review)
				assert.LessOrEqual(t, recorder.Body.Len(), 6*maxMessage, "of the %d bytes that were sent", len(review))
				got := admissionv1.AdmissionReview{}
				if recorder.Code == http.StatusOK {
					require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &got))
					assert.False(t, got.Response.Allowed)
					assert.NotEmpty(t, got.Response.Result.Message)
				}
			})
		})
	}
}
