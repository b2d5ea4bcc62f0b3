// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package helmtest

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// read returns an object as it is stored, without what the API server writes to its status.
func read(t *testing.T, c client.Client, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(o.GroupVersionKind())
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(o), stored))
	unstructured.RemoveNestedField(stored.Object, "status")
	stored.SetResourceVersion("")
	entries := stored.GetManagedFields()
	for i := range entries {
		if entries[i].Subresource == "status" {
			entries = slices.Delete(entries, i, i+1)
			break
		}
	}
	stored.SetManagedFields(entries)
	return stored
}

// apply applies an object as Argo CD and Flux do, and tells whether the API server knows its kind.
func apply(t *testing.T, c client.Client, o *unstructured.Unstructured) bool {
	t.Helper()
	err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("gitops"), client.ForceOwnership)
	if meta.IsNoMatchError(err) && slices.Contains(foreign, o.GroupVersionKind().Group) {
		return false
	}
	require.NoError(t, err)
	return true
}

// injectCAInto writes a CA as cert-manager does, where the object has a place for one.
func injectCAInto(t *testing.T, c client.Client, o *unstructured.Unstructured, ca []byte) (injected bool) {
	t.Helper()
	var patch string
	bundle := base64.StdEncoding.EncodeToString(ca)
	switch o.GetKind() {
	case "CustomResourceDefinition":
		patch = `[{"op": "add", "path": "/spec/conversion/webhook/clientConfig/caBundle", "value": "` + bundle + `"}]`
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		patch = `[{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "` + bundle + `"}]`
	default:
		return false
	}
	require.NoError(t, c.Patch(t.Context(), o.DeepCopy(), client.RawPatch("application/json-patch+json", []byte(patch)), client.FieldOwner("ca-injector")))
	return true
}

func TestToApplyTheSameAgainOnTheServerChangesNothing(t *testing.T) {
	c, ca := startAPIServer(t)
	for name, all := range map[string]objects{
		"install.yaml": build(t, "default"),
		"the chart":    release{"other", "elsewhere", everything}.render(t),
	} {
		t.Run(name, func(t *testing.T) {
			var injected int
			for key, o := range all {
				if !apply(t, c, o) {
					continue
				}
				if injectCAInto(t, c, o, ca) {
					injected++
				}
				before := read(t, c, o)
				apply(t, c, o)
				assert.Equal(t, before, read(t, c, o), key)
			}
			assert.Equal(t, 3, injected)
		})
	}
}

func TestTheManifestsForGitOpsInstallTheChartWithValuesThatItHas(t *testing.T) {
	chart, err := os.ReadFile(filepath.Join(chartDir, "Chart.yaml"))
	require.NoError(t, err)
	var about struct{ Name string }
	require.NoError(t, yaml.Unmarshal(chart, &about))
	for file, fields := range map[string]struct{ kind, chart, values, namespace string }{
		"argocd.yaml": {"Application", "spec.source.chart", "spec.source.helm.valuesObject", "spec.destination.namespace"},
		"flux.yaml":   {"HelmRelease", "spec.chartRef.name", "spec.values", "metadata.namespace"},
	} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, "config", "gitops", file))
			require.NoError(t, err)
			all := parse(t, text)
			var found *unstructured.Unstructured
			for _, o := range all {
				if o.GetKind() == fields.kind {
					found = o
				}
			}
			require.NotNil(t, found)
			at := func(path string) any {
				value, ok, err := unstructured.NestedFieldNoCopy(found.Object, strings.Split(path, ".")...)
				require.NoError(t, err)
				require.True(t, ok, path)
				return value
			}
			assert.Equal(t, about.Name, at(fields.chart))
			values, err := yaml.Marshal(at(fields.values))
			require.NoError(t, err)
			rendered := release{"cronjob-operator", at(fields.namespace).(string), string(values)}.render(t)
			assert.Contains(t, rendered, "Deployment/project-system/cronjob-operator-controller-manager")
		})
	}
}

func TestFluxKnowsEachFieldOfItsManifest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "config", "gitops", "flux.yaml"))
	require.NoError(t, err)
	types := map[string]any{"Namespace": &corev1.Namespace{}, "OCIRepository": &sourcev1.OCIRepository{}, "HelmRelease": &helmv2.HelmRelease{}}
	all := parse(t, text)
	require.Len(t, all, len(types))
	for key, o := range all {
		raw, err := yaml.Marshal(o)
		require.NoError(t, err)
		assert.NoError(t, yaml.UnmarshalStrict(raw, types[o.GetKind()]), key)
	}
}
