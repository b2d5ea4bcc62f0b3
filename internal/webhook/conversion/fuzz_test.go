// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"tutorial.kubebuilder.io/project/apis/batch"
	"tutorial.kubebuilder.io/project/test/bounds"
)

// reviewOf returns a ConversionReview that asks to convert objects to v2.
func reviewOf(objects ...string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u1",` +
		`"desiredAPIVersion":"batch.tutorial.kubebuilder.io/v2","objects":[` + strings.Join(objects, ",") + `]}}`
}

// cronJob is a CronJob of v1 with a spec of some members.
func cronJob(spec string) string {
	return `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{` + spec + `}}`
}

// requireClearAnswer sends any body and checks the answer: a refusal with a reason, or a review
// with the UID of the request and either all objects or an error.
func requireClearAnswer(t *testing.T, body string) apiextensionsv1.ConversionReview {
	t.Helper()
	recorder := serve(batch.Versions.ConvertJSON, body)
	if recorder.Code != http.StatusOK {
		require.Equal(t, http.StatusBadRequest, recorder.Code)
		require.Contains(t, recorder.Body.String(), "ConversionReview", "the reason says what was expected")
		return apiextensionsv1.ConversionReview{}
	}
	require.Equal(t, "application/json", recorder.Header().Get("Content-Type"))
	asked := apiextensionsv1.ConversionReview{}
	require.NoError(t, json.Unmarshal([]byte(body), &asked), "what is answered was a review")
	got := answered(t, recorder)
	require.Equal(t, asked.Request.UID, got.Response.UID)
	if got.Response.Result.Status != metav1.StatusSuccess {
		require.Equal(t, metav1.StatusFailure, got.Response.Result.Status)
		require.NotEmpty(t, got.Response.Result.Message)
		require.Empty(t, got.Response.ConvertedObjects)
		return got
	}
	require.Len(t, got.Response.ConvertedObjects, len(asked.Request.Objects))
	for _, object := range got.Response.ConvertedObjects {
		meta := metav1.TypeMeta{}
		require.NoError(t, kjson.Unmarshal(object.Raw, &meta))
		require.Equal(t, asked.Request.DesiredAPIVersion, meta.APIVersion)
	}
	return got
}

// FuzzHandler sends any body.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{
		"", "null", "[]", "{}", `{"request":null}`, `{"request":{}}`, `{"request":{"uid":5}}`, `{"request":{"uid":"\ud800"}}`,
		twoObjects, twoObjects[:100], twoObjects + twoObjects, "\ufeff" + twoObjects,
		reviewOf(`null`, `[]`, `5`, `""`), reviewOf(`{"apiVersion":1}`), reviewOf(strings.Replace(cronJob(``), `{`, `{"Kind":5,`, 1)),
		reviewOf(cronJob(``), `{}`), reviewOf(cronJob(`"schedule":"\u0000\u2028"`)),
		strings.Replace(reviewOf(cronJob(``)), "kubebuilder.io/v2", "kubebuilder.io/v3", 1),
		strings.Replace(reviewOf(cronJob(``)), `"u1"`, `"<&>\u2028"`, 1),
		reviewOf(strings.Repeat("[", 500) + strings.Repeat("]", 500)),
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		bounds.Hold(t, len(body), func() { requireClearAnswer(t, string(body)) })
	})
}

func TestATruncatedReviewIsRefusedWhereverItEnds(t *testing.T) {
	for end := range len(twoObjects) {
		got := requireClearAnswer(t, twoObjects[:end])
		require.Nil(t, got.Response, "after %d bytes", end)
	}
}

func TestReviewsOfAnySizeAreAnsweredInTime(t *testing.T) {
	many := make([]string, 10_000)
	for i := range many {
		many[i] = cronJob(fmt.Sprintf(`"schedule":"@hourly","successfulJobsHistoryLimit":%d`, i))
	}
	oneWrong := append(append([]string{}, many[:9_999]...), `{"apiVersion":"v1","kind":"Pod"}`)
	deep := strings.Repeat(`{"a":`, 9_000) + `1` + strings.Repeat(`}`, 9_000)
	tooDeep := strings.Repeat(`{"a":`, 1_000_000) + `1` + strings.Repeat(`}`, 1_000_000)
	for name, tc := range map[string]struct {
		body        string
		wantObjects int
		wantMessage string // of a review
		wantRefused bool   // with no review
	}{
		"10,000 objects":                           {body: reviewOf(many...), wantObjects: 10_000},
		"one of 10,000 that is no CronJob":         {body: reviewOf(oneWrong...), wantMessage: `object 9999: converting kind "Pod": want CronJob`},
		"an object of 20 MB":                       {body: reviewOf(cronJob(`"a":"` + strings.Repeat("x", 20<<20) + `"`)), wantObjects: 1},
		"an object that is nested deeply":          {body: reviewOf(cronJob(`"a":` + deep)), wantObjects: 1},
		"an object that is nested too deeply":      {body: reviewOf(cronJob(`"a":` + tooDeep)), wantRefused: true},
		"an object of 300,000 members":             {body: reviewOf(cronJob(manyMembers(300_000))), wantObjects: 1},
		"a million brackets":                       {body: strings.Repeat("[", 1_000_000), wantRefused: true},
		"10,000 that are no objects":               {body: reviewOf(strings.Repeat("null,", 9_999) + "null"), wantMessage: "object 0: "},
		"a review that is followed by another":     {body: reviewOf() + reviewOf(), wantRefused: true},
		"an object that ends before its review":    {body: strings.TrimSuffix(reviewOf(cronJob(``)), "}"), wantRefused: true},
		"objects that are an object":               {body: `{"request":{"uid":"u1","objects":{}}}`, wantRefused: true},
		"a version that is a number":               {body: `{"request":{"uid":"u1","desiredAPIVersion":2}}`, wantRefused: true},
		"a schedule of a million characters":       {body: reviewOf(cronJob(`"schedule":"` + strings.Repeat("1,", 500_000) + ` * * * *"`)), wantObjects: 1},
		"a version that is not one of a CronJob's": {body: `{"request":{"uid":"u1","desiredAPIVersion":"v1","objects":[` + cronJob(``) + `]}}`, wantMessage: `object 0: converting from "batch.tutorial.kubebuilder.io/v1" to "v1": want `},
	} {
		t.Run(name, func(t *testing.T) {
			bounds.Hold(t, len(tc.body), func() {
				got := requireClearAnswer(t, tc.body)
				require.Equal(t, tc.wantRefused, got.Response == nil)
				if !tc.wantRefused {
					assert.Len(t, got.Response.ConvertedObjects, tc.wantObjects)
					assert.Contains(t, got.Response.Result.Message, tc.wantMessage)
				}
			})
		})
	}
}

// manyMembers are members of an object, with distinct names.
func manyMembers(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, `"%x":0,`, i)
	}
	return text.String() + `"schedule":"@hourly"`
}
