// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"tutorial.kubebuilder.io/project/apis/batch"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

func serve(convert Convert, body string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	Handler{Convert: convert}.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body)))
	return recorder
}

func answered(t *testing.T, recorder *httptest.ResponseRecorder) apiextensionsv1.ConversionReview {
	t.Helper()
	require.Equal(t, http.StatusOK, recorder.Code)
	review := apiextensionsv1.ConversionReview{}
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &review))
	require.Nil(t, review.Request)
	require.NotNil(t, review.Response)
	return review
}

const twoObjects = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u1",
	"desiredAPIVersion":"batch.tutorial.kubebuilder.io/v2","objects":[
	{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"a"},"spec":{"schedule":"@hourly"}},
	{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"b"},"spec":{"schedule":"garbage"}}]}}`

func TestAReviewIsAnsweredWithTheObjectsInOrder(t *testing.T) {
	got := answered(t, serve(batch.Versions.ConvertJSON, twoObjects))
	assert.Equal(t, "ConversionReview", got.Kind)
	assert.Equal(t, metav1.StatusSuccess, got.Response.Result.Status)
	assert.EqualValues(t, "u1", got.Response.UID)
	require.Len(t, got.Response.ConvertedObjects, 2)
	for i, name := range []string{"a", "b"} {
		object := v2.CronJob{}
		require.NoError(t, json.Unmarshal(got.Response.ConvertedObjects[i].Raw, &object))
		assert.Equal(t, name, object.Name)
		assert.Equal(t, "batch.tutorial.kubebuilder.io/v2", object.APIVersion)
	}
}

func TestAFailureNamesTheObject(t *testing.T) {
	calls := 0
	got := answered(t, serve(func(object []byte, _ string) ([]byte, error) {
		calls++
		if calls == 2 {
			return nil, errors.New("no such version")
		}
		return object, nil
	}, twoObjects))
	assert.Equal(t, metav1.StatusFailure, got.Response.Result.Status)
	assert.Equal(t, "object 1: no such version", got.Response.Result.Message)
	assert.Empty(t, got.Response.ConvertedObjects)
}

// panics returns how many panics of conversions the metrics count.
func panics(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "controller_runtime_conversion_webhook_panics_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	require.Fail(t, "there is no metric of the panics")
	return 0
}

func TestAPanicIsCountedAndAnsweredAndItsStackIsLogged(t *testing.T) {
	var logged strings.Builder
	logger := funcr.New(func(prefix, args string) { logged.WriteString(prefix + args) }, funcr.Options{})
	before := panics(t)
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(twoObjects))
	Handler{Convert: func(object []byte, _ string) ([]byte, error) {
		return object[len(object)+1:], nil
	}}.ServeHTTP(recorder, request.WithContext(logr.NewContext(t.Context(), logger)))

	got := answered(t, recorder)
	assert.Equal(t, metav1.StatusFailure, got.Response.Result.Status)
	assert.Equal(t, "the conversion panicked: the log of the manager has the stack", got.Response.Result.Message)
	assert.EqualValues(t, "u1", got.Response.UID)
	assert.Empty(t, got.Response.ConvertedObjects)
	assert.InDelta(t, before+1, panics(t), 0)
	assert.Contains(t, logged.String(), "slice bounds out of range")
	assert.Contains(t, logged.String(), "handler_test.go", "the stack")

	answered(t, serve(batch.Versions.ConvertJSON, twoObjects))
	assert.InDelta(t, before+1, panics(t), 0, "what does not panic is not counted")
}

func TestAReviewOfNothingIsAnswered(t *testing.T) {
	got := answered(t, serve(batch.Versions.ConvertJSON, `{"request":{"uid":"u1","desiredAPIVersion":"batch.tutorial.kubebuilder.io/v2"}}`))
	assert.Equal(t, metav1.StatusSuccess, got.Response.Result.Status)
}

func TestWhatIsNoReviewIsAClientError(t *testing.T) {
	for body, want := range map[string]string{
		"":                        "reading the ConversionReview: jsontext: unexpected EOF",
		twoObjects[:100]:          `reading the ConversionReview: jsontext: unexpected EOF within "/request" after offset 100`,
		"[]":                      "reading the ConversionReview",
		"{}":                      "the ConversionReview has no request",
		`{"request":"x"}`:         "reading the ConversionReview",
		strings.Repeat("[", 1000): "reading the ConversionReview",
	} {
		recorder := serve(batch.Versions.ConvertJSON, body)
		assert.Equal(t, http.StatusBadRequest, recorder.Code, body)
		assert.Contains(t, recorder.Body.String(), want, body)
	}
}

func TestR1LongValuesAreNeitherLoggedNorSentBack(t *testing.T) {
	logged := 0
	logger := funcr.New(func(prefix, args string) { logged += len(prefix) + len(args) }, funcr.Options{})
	long := strings.Repeat("x", 1<<20)
	for name, body := range map[string]string{
		"a kind":      reviewOf(`{"kind":"` + long + `"}`),
		"a version":   reviewOf(`{"kind":"CronJob","apiVersion":"` + long + `"}`),
		"no version":  strings.Replace(reviewOf(cronJob(``)), "kubebuilder.io/v2", long, 1),
		"no review":   `{"request":"` + long + `"}`,
		"no request":  `{"kind":"` + long + `"}`,
		"no JSON":     long,
		"many wrongs": reviewOf(strings.Repeat(`{"kind":"Pod"},`, 10_000) + `{"kind":"Pod"}`),
	} {
		for range 10 {
			recorder := httptest.NewRecorder()
			request := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body))
			Handler{Convert: batch.Versions.ConvertJSON}.ServeHTTP(recorder, request.WithContext(logr.NewContext(t.Context(), logger)))
			require.LessOrEqual(t, recorder.Body.Len(), 2*maxMessage, name)
		}
	}
	assert.Positive(t, logged)
	assert.Less(t, logged, 64<<10, "of 70 requests")
}

// brokenPipe is a client that has disconnected before the answer.
type brokenPipe struct{ http.ResponseWriter }

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAClientThatIsGoneHurtsNobody(*testing.T) {
	request := httptest.NewRequest(http.MethodPost, Path, bytes.NewBufferString(twoObjects))
	Handler{Convert: batch.Versions.ConvertJSON}.ServeHTTP(brokenPipe{httptest.NewRecorder()}, request)
}
