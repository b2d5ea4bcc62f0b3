// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package helmtest renders the chart in charts/cronjob-operator with Helm's own engine, and
// compares what comes out with what kustomize builds. It is a module of its own, so that nothing
// else depends on Helm.
package helmtest

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	root     = "../../.."
	chartDir = root + "/charts/cronjob-operator"
)

// release is a chart's release.
type release struct {
	name, namespace string
	values          string // YAML
}

// asInConfig is the release that config/default describes. The names and the image there are not
// the chart's.
var asInConfig = release{"cronjob-operator", "project-system", "{fullnameOverride: project, image: {repository: controller, tag: latest}}"}

// with returns the release with further values.
func (r release) with(values string) release {
	r.values += "\n---\n" + values
	return r
}

// parseValues merges the documents of values; a later one wins.
func parseValues(t testing.TB, text string) map[string]any {
	t.Helper()
	values := map[string]any{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		further := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &further))
		values = util.MergeTables(further, values)
	}
	return values
}

// objects are objects by their kind, namespace and name.
type objects map[string]*unstructured.Unstructured

// render returns what Helm would install.
func (r release) render(t testing.TB) objects {
	t.Helper()
	manifests, _, err := r.tryRender(t)
	require.NoError(t, err)
	return parse(t, manifests)
}

// tryRender returns the manifests and the notes, or why Helm refuses.
func (r release) tryRender(t testing.TB) (manifests []byte, notes string, err error) {
	t.Helper()
	chart, err := loader.LoadDir(chartDir)
	require.NoError(t, err)
	values := parseValues(t, r.values)
	options := common.ReleaseOptions{Name: r.name, Namespace: r.namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(chart, values, options, common.DefaultCapabilities)
	if err != nil {
		return nil, "", err
	}
	rendered, err := engine.Render(chart, all)
	if err != nil {
		return nil, "", err
	}
	for _, path := range slices.Sorted(maps.Keys(rendered)) {
		switch filepath.Ext(path) {
		case ".txt":
			notes = rendered[path]
		case ".yaml":
			manifests = append(append(manifests, "\n---\n"...), rendered[path]...)
		}
	}
	return manifests, notes, nil
}

// build returns what kustomize builds of a directory in config.
func build(t testing.TB, dir string) objects {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "tool", "kustomize", "build", filepath.Join("config", dir))
	command.Dir, command.Stderr = root, os.Stderr
	manifests, err := command.Output()
	require.NoError(t, err)
	return parse(t, manifests)
}

func parse(t testing.TB, manifests []byte) objects {
	t.Helper()
	parsed := objects{}
	for documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096); ; {
		o := &unstructured.Unstructured{}
		err := documents.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return parsed
		}
		require.NoError(t, err)
		if o.Object == nil {
			continue
		}
		require.NotContains(t, parsed, id(o))
		parsed[id(o)] = o
	}
}

func id(o *unstructured.Unstructured) string {
	return strings.Join([]string{o.GetKind(), o.GetNamespace(), o.GetName()}, "/")
}

// ids are the kinds and names, without the prefix that is common to all.
func (o objects) ids(prefix string) []string {
	var found []string
	for _, object := range o {
		found = append(found, object.GetKind()+"/"+strings.TrimPrefix(object.GetName(), prefix))
	}
	slices.Sort(found)
	return found
}

// withoutOrigin leaves out what says who installed the objects: Helm or kustomize.
func (o objects) withoutOrigin() objects {
	for _, object := range o {
		object.SetLabels(without(object.GetLabels(),
			"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"))
		object.SetAnnotations(without(object.GetAnnotations(), "helm.sh/resource-policy"))
	}
	return o
}

// without returns a map without some keys; nil if nothing is left.
func without(entries map[string]string, keys ...string) map[string]string {
	maps.DeleteFunc(entries, func(key, _ string) bool { return slices.Contains(keys, key) })
	if len(entries) == 0 {
		return nil
	}
	return entries
}
