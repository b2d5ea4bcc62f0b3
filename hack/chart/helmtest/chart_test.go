// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package helmtest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWithNoValuesTheChartIsConfigDefault(t *testing.T) {
	want := build(t, "default")
	delete(want, "Namespace//project-system") // Helm makes it
	assertSame(t, want.withoutOrigin(), asInConfig.render(t).withoutOrigin())
}

func TestValuesSwitchTheOverlaysOn(t *testing.T) {
	for overlay, values := range map[string]string{
		"overlays/prometheus":     "{metrics: {serviceMonitor: {enabled: true}, rules: {enabled: true}}}",
		"overlays/network-policy": "{networkPolicy: {enabled: true}}",
	} {
		t.Run(overlay, func(t *testing.T) {
			want := build(t, overlay)
			delete(want, "Namespace//project-system")
			assertSame(t, want.withoutOrigin(), asInConfig.with(values).render(t).withoutOrigin())
		})
	}
}

// everything has all objects that the chart can have.
const everything = "{networkPolicy: {enabled: true}, metrics: {serviceMonitor: {enabled: true}, rules: {enabled: true}}}"

func TestTheReleasesNameAndNamespaceAreEverywhere(t *testing.T) {
	tests := map[string]struct {
		release    release
		wantPrefix string
	}{
		"a name without the chart's": {release{"other", "elsewhere", everything}, "other-project-"},
		"a name with the chart's":    {release{"my-project", "elsewhere", everything}, "my-project-"},
		"a name with a dot":          {release{"a.b", "elsewhere", everything}, "a-b-project-"},
		"a namespace like a number":  {release{"other", "1e3", everything}, "other-project-"},
		"a name of one's own":        {release{"other", "elsewhere", "{fullnameOverride: cj, " + everything[1:]}, "cj-"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(asInConfig.with(everything).render(t).withoutOrigin())
			require.NoError(t, err)
			raw = bytes.ReplaceAll(raw, []byte("project-system"), []byte(tt.release.namespace))
			raw = bytes.ReplaceAll(raw, []byte("project-"), []byte(tt.wantPrefix))
			want := objects{}
			require.NoError(t, json.Unmarshal(raw, &want))
			assertSame(t, want, tt.release.render(t).withoutOrigin())
		})
	}
}

func TestNamesFitIntoALabelAndStayApart(t *testing.T) {
	seen := map[string]string{}
	for _, end := range []string{"a", "b"} {
		r := release{strings.Repeat("x", 52) + end, "elsewhere", everything}
		for key, o := range r.render(t) {
			if o.GetKind() == "CustomResourceDefinition" {
				continue
			}
			assert.LessOrEqual(t, len(o.GetName()), 63, key)
			assert.NotContains(t, seen, key, "two releases, one name")
			seen[key] = end
		}
	}
}

func TestTheObjectsSayWhoseTheyAre(t *testing.T) {
	for key, o := range (release{"other", "elsewhere", everything}).render(t) {
		labels := o.GetLabels()
		assert.Equal(t, "project", labels["app.kubernetes.io/name"], key)
		assert.Equal(t, "other", labels["app.kubernetes.io/instance"], key)
		assert.Equal(t, "Helm", labels["app.kubernetes.io/managed-by"], key)
		assert.NotEmpty(t, labels["app.kubernetes.io/version"], key)
		assert.Regexp(t, `^project-\d`, labels["helm.sh/chart"], key)
	}
}

func TestTheLinterIsContent(t *testing.T) {
	linter := lint.RunAll(chartDir, nil, "elsewhere")
	for _, message := range linter.Messages {
		assert.LessOrEqual(t, message.Severity, support.InfoSev, message)
	}
}

func TestTheNotesNameWhatThereIs(t *testing.T) {
	_, notes, err := release{"other", "elsewhere", ownSecret}.tryRender(t)
	require.NoError(t, err)
	assert.Contains(t, notes, "kubectl -n elsewhere rollout status deployment/other-project-controller-manager")
	assert.Contains(t, notes, "other-project-webhook-service.elsewhere.svc\n")
	assert.NotContains(t, notes, "<no value>")
}

// assertSame compares objects one by one, so that a difference is not lost among all of them.
func assertSame(t *testing.T, want, got objects) {
	t.Helper()
	require.ElementsMatch(t, want.ids(""), got.ids(""))
	byID := objects{} // with keys as they are after what was replaced in the names
	for _, o := range want {
		byID[id(o)] = o
	}
	for key, o := range got {
		if assert.Contains(t, byID, key) {
			assertSameObject(t, byID[key], o)
		}
	}
}

func assertSameObject(t *testing.T, want, got *unstructured.Unstructured) {
	t.Helper()
	wantJSON, err := json.MarshalIndent(want, "", " ")
	require.NoError(t, err)
	gotJSON, err := json.MarshalIndent(got, "", " ")
	require.NoError(t, err)
	if len(wantJSON) > 1<<16 { // the CRD: a diff of it takes long, and is no use
		assert.True(t, bytes.Equal(wantJSON, gotJSON), "%s differs", id(want))
		return
	}
	assert.JSONEq(t, string(wantJSON), string(gotJSON))
}
