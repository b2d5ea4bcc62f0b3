// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package spoke_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// inReview decodes an object as the API server does: as part of a ConversionReview, and then alone.
// It reports whether both succeed.
func inReview(object []byte) (map[string]any, bool) {
	review := map[string]any{}
	decoded := unstructured.Unstructured{}
	err := utiljson.Unmarshal([]byte(`{"response":{"convertedObjects":[`+string(object)+`]}}`), &review)
	return decoded.Object, decoded.UnmarshalJSON(object) == nil && err == nil
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
