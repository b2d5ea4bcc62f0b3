// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
)

// inReview decodes an object as the API server does: as part of a ConversionReview, and then alone.
// It reports whether both succeed.
func inReview(object []byte) (map[string]any, bool) {
	review := map[string]any{}
	decoded := unstructured.Unstructured{}
	ok := decode([]byte(`{"response":{"convertedObjects":[`+string(object)+`]}}`), &review) && decoded.UnmarshalJSON(object) == nil
	return decoded.Object, ok
}

// requireAccepted makes the checks that the API server makes of a converted object:
// validateConvertedObject and restoreObjectMeta of
// k8s.io/apiextensions-apiserver/pkg/apiserver/conversion. It skips them if no answer could pass,
// because the object's metadata has a wrong type.
func requireAccepted(t testing.TB, object, converted []byte) {
	t.Helper()
	in, ok := inReview(object)
	if !ok {
		return
	}
	out, ok := inReview(converted)
	require.True(t, ok, "C1: the API server can decode it: %s", converted)
	if _, found := in["metadata"]; !found {
		in["metadata"] = map[string]any{}
	}
	before, ok := in["metadata"].(map[string]any)
	if !ok {
		return
	}
	after, ok := out["metadata"].(map[string]any)
	require.True(t, ok, "C1: it has metadata: %s", converted)
	for _, name := range []string{"name", "namespace", "uid"} {
		require.Equal(t, before[name], after[name])
	}
	requireAcceptedStrings(t, before["labels"], after["labels"], func(labels map[string]string) error {
		return metav1validation.ValidateLabels(labels, nil).ToAggregate()
	})
	requireAcceptedStrings(t, before["annotations"], after["annotations"], func(annotations map[string]string) error {
		return apivalidation.ValidateAnnotations(annotations, nil).ToAggregate()
	})
}

// requireAcceptedStrings makes the checks of the labels or the annotations.
func requireAcceptedStrings(t testing.TB, before, after any, validate func(map[string]string) error) {
	t.Helper()
	if after == nil {
		return
	}
	members, ok := after.(map[string]any)
	require.True(t, ok, "C1: they are an object: %v", after)
	values := make(map[string]string, len(members))
	for key, value := range members {
		values[key], ok = value.(string)
		require.True(t, ok, "C1: %q is a string: %v", key, value)
	}
	if wereStrings(before) && !assert.ObjectsAreEqual(before, after) {
		require.NoError(t, validate(values), "C1: what was changed is valid")
	}
}

// wereStrings reports whether the labels or annotations of an object are as the API server has
// them, whatever was stored.
func wereStrings(before any) bool {
	members, ok := before.(map[string]any)
	for _, value := range members {
		_, isText := value.(string)
		ok = ok && isText
	}
	return ok || before == nil
}

// partialObjects are partial CronJobs of server-side apply, and objects with garbage in their
// metadata. They have no apiVersion.
func partialObjects() map[string]string {
	nested := func(depth int) string { return strings.Repeat(`{\"a\":`, depth) + "1" + strings.Repeat("}", depth) }
	kept := func(value string) string {
		return `"metadata":{"annotations":{"` + ScheduleV2Annotation + `":"` + value + `"}},"spec":{}`
	}
	const hourly = `,"spec":{"schedule":"@hourly"}`
	return map[string]string{
		"no metadata":                        `"spec":{"suspend":true}`,
		"no metadata, a kept text":           `"spec":{"schedule":"@hourly"}`,
		"no metadata, kept fields":           `"spec":{"schedule":{"minute":"0","hour":"*"}}`,
		"no metadata, an invalid schedule":   `"spec":{"schedule":{"minute":5}}`,
		"no metadata, no spec":               `"status":{"active":[]}`,
		"no spec":                            `"metadata":{"name":"c","namespace":"n","uid":"u","labels":{"a":"b"}}`,
		"a spec of null":                     `"metadata":{"name":"c"},"spec":null`,
		"a schedule of null":                 `"metadata":{"name":"c"},"spec":{"schedule":null}`,
		"metadata of nothing":                `"metadata":{}` + hourly,
		"labels of null":                     `"metadata":{"labels":null}` + hourly,
		"annotations of null":                `"metadata":{"annotations":null}` + hourly,
		"annotations that are null":          `"metadata":{"annotations":{"a":null}}` + hourly,
		"annotations that are numbers":       `"metadata":{"annotations":{"a":5}}` + hourly,
		"annotations that are a list":        `"metadata":{"annotations":["a"]}` + hourly,
		"labels that are numbers":            `"metadata":{"labels":{"a":5}}` + hourly,
		"labels that are a text":             `"metadata":{"labels":"a"}` + hourly,
		"a key that is no annotation's":      `"metadata":{"annotations":{"no key!":"b"}}` + hourly,
		"such a key beside stale fields":     `"metadata":{"annotations":{"no key!":"b","` + ScheduleV2Annotation + `":"{\"hour\":\"*\"}"}}` + hourly,
		"such a key beside a stale text":     `"metadata":{"annotations":{"no key!":"b","` + ScheduleV1Annotation + `":"@daily"}},"spec":{"schedule":{"minute":"5"}}`,
		"annotations that leave no room":     `"metadata":{"annotations":{"a":"` + strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB-1) + `"}}` + hourly,
		"annotations beyond their limit":     `"metadata":{"annotations":{"` + ScheduleV1Annotation + `":"x","a":"` + strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB) + `"}}` + hourly,
		"a kept schedule as deep as can be":  kept(nested(9_995)),
		"a kept schedule that is too deep":   kept(nested(9_996)),
		"a kept schedule far too deep":       kept(nested(9_999)),
		"a kept number that is too large":    kept(`{\"minute\":1e999}`),
		"a kept schedule of brackets":        kept(`],[`),
		"no metadata, additional texts":      `"spec":{"additionalSchedules":["@hourly"]}`,
		"no metadata, additional fields":     `"spec":{"additionalSchedules":[{"minute":"0","hour":"*"}]}`,
		"stale additional fields":            `"metadata":{"annotations":{"` + AdditionalSchedulesV2Annotation + `":"[{\"hour\":\"*\"}]"}},"spec":{}`,
		"additional garbage":                 `"metadata":{},"spec":{"additionalSchedules":[null,{"minute":5},"x"]}`,
		"a schedule that is an object in v1": `"metadata":{},"spec":{"schedule":{"hour":"?"}}`,
	}
}

func TestC1TheAPIServerAcceptsEachPartialObject(t *testing.T) {
	for name, members := range partialObjects() {
		for from, to := range map[string]string{hubVersion: spokeVersion, spokeVersion: hubVersion} {
			t.Run(name+" to "+to, func(t *testing.T) {
				object := `{"apiVersion":"` + from + `","kind":"CronJob",` + members + `}`
				requireAccepted(t, []byte(object), []byte(convertJSON(t, object, to)))
			})
		}
	}
}

func TestC4NoV1ScheduleThatIsAnObjectIsOneInV2(t *testing.T) {
	for _, schedule := range []string{`{"hour":"?"}`, `{"every":"1h"}`, `{"minute":"0","x":1}`, `{"minute":"0","hour":null}`, `{}`} {
		got := convertJSON(t, hubJSON(`"name":"c"`, `"schedule":`+schedule), spokeVersion)
		assert.JSONEq(t, spokeJSON(`"name":"c"`, `"schedule":`+encode(schedule)), got, "a text, which v2 refuses")
		again := convertJSON(t, got, hubVersion)
		assert.JSONEq(t, hubJSON(`"name":"c"`, `"schedule":`+schedule), again, "C2: which comes back as that object")
	}
}

func TestC4NoKeptScheduleTurnsValidWhenTheAPIServerDropsItsUnknownFields(t *testing.T) {
	for _, kept := range []string{`{"minute":"0","x":1}`, `{"minute":"0","hour":null}`, `{"Minute":"5","hour":"9"}`} {
		got := convertJSON(t, hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":`+encode(kept)+`}`, ``), spokeVersion)
		assert.JSONEq(t, spokeJSON(``, ``), got, kept)
	}
}
