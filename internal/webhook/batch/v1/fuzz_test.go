// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/test/bounds"
)

// webhooks are those of the manager, without requests to the API server. They don't recover from
// panics.
func webhooks(t testing.TB) (mutating, validating http.Handler) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	validate := &admission.Webhook{Handler: newMendable(scheme, validator{}), RecoverPanic: new(false)}
	return &admission.Webhook{Handler: defaulter{clock.RealClock{}}, RecoverPanic: new(false)}, validate
}

// reviewOf returns an AdmissionReview of an object, and of the object before.
func reviewOf(operation admissionv1.Operation, object, before string) string {
	return fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u1","operation":%q,`+
		`"kind":{"group":"batch.tutorial.kubebuilder.io","version":"v1","kind":"CronJob"},"object":%s,"oldObject":%s}}`, operation, object, before)
}

// cronJob is a CronJob of v1 with metadata and a spec of some members.
func cronJob(metadata, spec string) string {
	return `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{` + metadata + `},"spec":{` + spec + `}}`
}

// ask sends any body to a webhook, and checks the answer: a review that allows the request, or
// denies it with a reason, and has the UID of the request if that could be read.
func ask(t *testing.T, webhook http.Handler, body string) *admissionv1.AdmissionResponse {
	t.Helper()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	webhook.ServeHTTP(recorder, request)
	require.Equal(t, http.StatusOK, recorder.Code)
	got := admissionv1.AdmissionReview{}
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &got))
	require.NotNil(t, got.Response)
	if !got.Response.Allowed {
		require.NotNil(t, got.Response.Result)
		require.NotEmpty(t, got.Response.Result.Message)
		require.NotZero(t, got.Response.Result.Code)
	}
	return got.Response
}

// oddCronJobs are CronJobs as a request may have them: the schema is asked after the mutating
// webhook.
var oddCronJobs = []string{
	`null`, `[]`, `"x"`, `{}`, `{"kind":"Pod","apiVersion":"v1"}`, cronJob(``, ``), cronJob(`"name":"c"`, `"schedule":"@hourly"`),
	`{"metadata":{"Annotations":{"":5}}}`,
	cronJob(`"name":5`, ``), cronJob(`"annotations":{"a":5}`, ``), cronJob(`"annotations":null,"labels":[]`, `"schedule":null`),
	cronJob(``, `"schedule":"@daily","additionalSchedules":["@hourly","@every 5m",""]`), cronJob(``, `"schedule":"@daily","additionalSchedules":[{"minute":0}]`),
	cronJob(`"annotations":{"batch.tutorial.kubebuilder.io/additional-schedules-v2":"[{\"hour\":\"*\"}]"}`, `"schedule":"@daily","additionalSchedules":["* * * * *"]`),
	cronJob(``, `"schedule":{"minute":"0"}`), cronJob(``, `"schedule":"TZ=UTC"`), cronJob(``, `"schedule":"30 12 31 12 *","timeZone":"Europe/Paris"`),
	cronJob(``, `"schedule":"0 0 L,15W * 5#3","exclude":["--12-25","2026-12-24/2027-01-02"],"notBefore":"2026-01-01T00:00:00Z"`),
	cronJob(``, `"schedule":"@daily","exclude":["","--02-30"],"notAfter":"2000-01-01T00:00:00Z"`), cronJob(``, `"notAfter":"yesterday"`),
	cronJob(``, `"schedule":"0 * * * *","additionalSchedules":["30 0 29 2 *"],"timeZone":"Europe/Paris","jitterSeconds":1800`),
	cronJob(``, `"schedule":"* * * * *","jitterSeconds":-1,"maxConcurrency":0,"stopAfterFailures":-5,"catchUpPolicy":"Some","catchUpLimit":101`),
	cronJob(``, `"schedule":"@every 5s","jitterSeconds":4,"concurrencyPolicy":"Replace","maxConcurrency":1,"catchUpPolicy":"All","catchUpLimit":2147483647`),
	cronJob(``, `"schedule":"* * * * *","timeZone":"../../etc/passwd"`), cronJob(``, `"schedule":"* * * * *","suspend":"yes"`),
	cronJob(``, `"schedule":"@every 9999999h","startingDeadlineSeconds":-1,"successfulJobsHistoryLimit":-2147483648`),
	cronJob(``, `"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"1e1.5"}}}]}}}}`),
	cronJob(`"annotations":{"batch.tutorial.kubebuilder.io/schedule-v2":"{\"minute\":0}"}`, ``),
	cronJob(`"annotations":{"batch.tutorial.kubebuilder.io/schedule-v2":"{\"hour\":\"*\"}"}`, `"schedule":"* * * * *"`),
	cronJob(`"name":"`+strings.Repeat("n", 300)+`"`, `"schedule":"`+strings.Repeat("1,", 5_000)+`"`),
	cronJob(`"creationTimestamp":"yesterday","deletionTimestamp":"2026-01-01T00:00:00Z"`, `"schedule":"\u0000\u202e"`),
}

// FuzzAdmissionReviews sends any body to both webhooks.
func FuzzAdmissionReviews(f *testing.F) {
	for _, object := range oddCronJobs {
		f.Add([]byte(reviewOf(admissionv1.Create, object, "null")))
		f.Add([]byte(reviewOf(admissionv1.Update, object, cronJob(``, `"schedule":"@daily"`))))
		f.Add([]byte(reviewOf(admissionv1.Delete, "null", object)))
	}
	for _, body := range []string{"", "null", "[]", "{}", `{"request":{}}`, `{"request":{"object":5}}`, strings.Repeat("[", 500)} {
		f.Add([]byte(body))
	}
	mutating, validating := webhooks(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		bounds.Hold(t, 4*len(body), func() {
			ask(t, mutating, string(body))
			ask(t, validating, string(body))
		})
	})
}

// FuzzAdmittedObjects asks about CronJobs, and goes on with what the answers make of them: the
// defaults are set, asking again changes nothing, and what was admitted once may be stored again as
// it is. In the place of a stored CronJob, each has the annotation that says when that was edited.
func FuzzAdmittedObjects(f *testing.F) {
	for i, object := range oddCronJobs {
		f.Add([]byte(object), []byte(oddCronJobs[(i+1)%len(oddCronJobs)]))
		f.Add([]byte(object), []byte(cronJob(``, `"schedule":"@daily"`)))
	}
	mutating, validating := webhooks(f)
	f.Fuzz(func(t *testing.T, object, stored []byte) {
		if !json.Valid(object) || !json.Valid(stored) {
			return
		}
		bounds.Hold(t, 8*(len(object)+len(stored)), func() {
			assertAdmittedOnce(t, mutating, validating, object)
			assertStamped(t, mutating, object, stored)
		})
	})
}

// assertStamped replaces a stored CronJob by another one that has a forged annotation, and checks
// that it gets a new one if its spec differs, and the stored one if not.
func assertStamped(t *testing.T, mutating http.Handler, object, stored []byte) {
	t.Helper()
	before, after := map[string]any{}, map[string]any{}
	if json.Unmarshal(stored, &before) != nil || json.Unmarshal(object, &after) != nil || before == nil {
		return
	}
	before["metadata"] = map[string]any{"name": "c", "generation": 3, "annotations": map[string]any{v1.EditedAnnotation: "stored"}}
	metadata, ok := after["metadata"].(map[string]any)
	if !ok {
		return
	}
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations[v1.EditedAnnotation] = "forged"
	was, err := json.Marshal(before)
	require.NoError(t, err)
	is, err := json.Marshal(after)
	require.NoError(t, err)
	answer := ask(t, mutating, reviewOf(admissionv1.Update, string(is), string(was)))
	if len(answer.Patch) == 0 {
		require.Error(t, kjson.Unmarshal(is, &v1.CronJob{}), "S7: a forged annotation passes only in what starts no Job")
		return
	}
	result := map[string]any{} // a struct would also take members whose names differ by case
	require.NoError(t, json.Unmarshal([]byte(patched(t, string(is), answer.Patch)), &result))
	got, _, err := unstructured.NestedString(result, "metadata", "annotations", v1.EditedAnnotation)
	require.NoError(t, err)
	switch {
	case reflect.DeepEqual(before["spec"], result["spec"]):
		require.Equal(t, "stored", got, "S7: no request drops it")
	case got != "stored": // only the text of the spec differs
		require.Contains(t, got, `{"generation":3,"at":"`, "S7: no request forges it")
	}
}

func assertAdmittedOnce(t *testing.T, mutating, validating http.Handler, object []byte) {
	t.Helper()
	review := reviewOf(admissionv1.Create, string(object), "null")
	defaulted := ask(t, mutating, review)
	require.EqualValues(t, "u1", defaulted.UID)
	if !defaulted.Allowed {
		require.EqualValues(t, "u1", ask(t, validating, review).UID)
		return
	}
	if len(defaulted.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(defaulted.Patch)
		require.NoError(t, err)
		if object, err = patch.Apply(object); err != nil {
			return // not in the API server's form: it has nulls or duplicate members
		}
	}
	c := &v1.CronJob{}
	if kjson.Unmarshal(object, c) != nil || string(bytes.TrimSpace(object)) == "null" {
		return // the schema refuses it, or there is none
	}
	before := c.DeepCopy()
	c.Default()
	require.Equal(t, before, c, "A3: the defaults are set")
	again := ask(t, mutating, reviewOf(admissionv1.Create, string(object), "null"))
	require.True(t, again.Allowed)
	require.Empty(t, string(bytes.TrimPrefix(again.Patch, []byte("[]"))), "to ask again changes nothing")

	if ask(t, validating, reviewOf(admissionv1.Create, string(object), "null")).Allowed {
		update := ask(t, validating, reviewOf(admissionv1.Update, string(object), string(object)))
		assert.True(t, update.Allowed, "%v", update.Result)
	}
}

// TestCostlyObjectsAreAdmittedOrRefusedInTime asks about objects at the limits of what a request
// may have.
func TestCostlyObjectsAreAdmittedOrRefusedInTime(t *testing.T) {
	var members strings.Builder
	for i := range 25_000 { // a quarter of a megabyte, as all annotations may have
		fmt.Fprintf(&members, `\"%05x\":0,`, i)
	}
	mutating, validating := webhooks(t)
	for name, object := range map[string]string{
		"a kept schedule of many members": cronJob(`"annotations":{"`+v2.ScheduleV2Annotation+`":"{`+members.String()+`\"a\":1}"}`, ``),
		"a long schedule":                 cronJob(``, `"schedule":"`+strings.Repeat("1,", 500_000)+`"`),
		"a long time zone":                cronJob(``, `"schedule":"* * * * *","timeZone":"`+strings.Repeat("Mars/", 200_000)+`"`),
		"a long name":                     cronJob(`"name":"`+strings.Repeat("n", 1_000_000)+`"`, `"schedule":"* * * * *"`),
		"a deep object":                   cronJob(``, `"schedule":"* * * * *","a":`+strings.Repeat(`{"a":`, 9_000)+`1`+strings.Repeat(`}`, 9_000)),
	} {
		t.Run(name, func(t *testing.T) {
			body := reviewOf(admissionv1.Create, object, "null")
			bounds.Hold(t, 4*len(body), func() {
				ask(t, mutating, body)
				refused := ask(t, validating, body)
				assert.Equal(t, name == "a deep object", refused.Allowed)
			})
		})
	}
}
