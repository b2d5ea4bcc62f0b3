// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package helmtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTheObjectsAreThoseThatKustomizeBuilds(t *testing.T) {
	for dir, values := range map[string]string{
		"default":                   "{}",
		"overlays/prometheus":       "{prometheus: {servicemonitor: {enabled: true}, rules: {enabled: true}}}",
		"overlays/network-policy":   "{networkPolicy: {enabled: true}}",
		"grafana":                   "{grafana: {dashboards: {enabled: true}}}",
		"overlays/grafana-operator": "{grafana: {dashboards: {enabled: true, instanceLabels: {dashboards: grafana}}}}",
	} {
		t.Run(dir, func(t *testing.T) {
			want := build(t, "default")
			maps.Copy(want, build(t, dir))
			delete(want, "Namespace//project-system") // Helm creates it
			assertSame(t, want.withoutOrigin(), asInConfig.with(values).render(t).withoutOrigin())
		})
	}
}

// everything has all objects that the chart can have.
const everything = "{networkPolicy: {enabled: true}, prometheus: {servicemonitor: {enabled: true}, rules: {enabled: true}}, " +
	"grafana: {dashboards: {enabled: true, instanceLabels: {dashboards: grafana}}}}"

func TestTheNameAndNamespaceOfTheReleaseAreEverywhere(t *testing.T) {
	tests := map[string]struct {
		release    release
		wantPrefix string
	}{
		"a name without the chart's": {release{"other", "elsewhere", everything}, "other-cronjob-operator-"},
		"a name with the chart's":    {release{"my-cronjob-operator", "elsewhere", everything}, "my-cronjob-operator-"},
		"a name with a dot":          {release{"a.b", "elsewhere", everything}, "a-b-cronjob-operator-"},
		"a namespace like a number":  {release{"other", "1e3", everything}, "other-cronjob-operator-"},
		"another full name":          {release{"other", "elsewhere", "{fullnameOverride: cj, " + everything[1:]}, "cj-"},
		"another chart's name":       {release{"other", "elsewhere", "{nameOverride: cj, " + everything[1:]}, "other-cj-"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(asInConfig.with(everything).render(t).withoutOrigin())
			require.NoError(t, err)
			raw = bytes.ReplaceAll(raw, []byte("project-system"), []byte(tt.release.namespace))
			raw = bytes.ReplaceAll(raw, []byte("project-"), []byte(tt.wantPrefix))
			want := objects{}
			require.NoError(t, json.Unmarshal(raw, &want))
			assertSame(t, want, tt.release.with("{image: {repository: controller, tag: latest}}").render(t).withoutOrigin())
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

func TestTheObjectsHaveTheLabelsOfTheReleaseAndTheCommonOnes(t *testing.T) {
	values := "{commonLabels: {team: a, app.kubernetes.io/name: other}, " + everything[1:]
	rendered := release{"other", "elsewhere", values}.render(t)
	for key, o := range rendered {
		labels := o.GetLabels()
		assert.Equal(t, "project", labels["app.kubernetes.io/name"], key)
		assert.Equal(t, "other", labels["app.kubernetes.io/instance"], key)
		assert.Equal(t, "Helm", labels["app.kubernetes.io/managed-by"], key)
		assert.NotEmpty(t, labels["app.kubernetes.io/version"], key)
		assert.Regexp(t, `^cronjob-operator-\d`, labels["helm.sh/chart"], key)
		assert.Equal(t, "a", labels["team"], key)
	}
	manager := find[appsv1.Deployment](t, rendered, "Deployment", "other-cronjob-operator-controller-manager")
	assert.Equal(t, "a", manager.Spec.Template.Labels["team"])
	assert.NotContains(t, manager.Spec.Selector.MatchLabels, "team", "a selector can't be changed")
}

func TestHelmLintHasNothingToSay(t *testing.T) {
	for name, values := range map[string]string{"defaults": "{}", "everything": everything} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, lint.RunAll(chartDir, parseValues(t, values), "elsewhere").Messages, "not even at the level INFO")
		})
	}
}

func TestTheNotesNameTheDeploymentAndTheServices(t *testing.T) {
	_, notes, err := release{"other", "elsewhere", ownCertificate}.tryRender(t)
	require.NoError(t, err)
	assert.Contains(t, notes, "kubectl -n elsewhere rollout status deployment/other-cronjob-operator-controller-manager")
	assert.Contains(t, notes, "other-cronjob-operator-webhook-service.elsewhere.svc\n")
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
	if bytes.Equal(wantJSON, gotJSON) { // a diff of the CRD takes long
		return
	}
	assert.JSONEq(t, string(wantJSON), string(gotJSON))
}
