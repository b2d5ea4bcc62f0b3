// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// gitOpsTools are the ways in which tools that keep what is in Git apply it.
var gitOpsTools = map[string][]string{
	"as Argo CD":                      {"apply"},
	"as Flux":                         {"apply", "--server-side", "--field-manager=kustomize-controller", "--force-conflicts"},
	"as Argo CD with ServerSideApply": {"apply", "--server-side", "--field-manager=argocd-controller", "--force-conflicts"},
}

// inGit are schedules as they may be in Git.
var inGit = map[string]map[string]any{
	"v1": {"fields": "*/5 9-17 * * 1-5", "macro": "@yearly", "interval": "@every 2160h", "blanks": "0  0 1 1  *"},
	"v2": {
		"fields":   map[string]any{"minute": "*/5", "hour": "9-17", "dayOfWeek": "mon-fri"},
		"star":     map[string]any{"minute": "0", "hour": "*"},
		"interval": map[string]any{"every": "2160h"},
	},
}

// templateInGit is a template as it may be in Git.
const templateInGit = `jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [
	{name: main, image: busybox, resources: {limits: {cpu: 1000m, memory: "1073741824"}}}, {name: other, image: busybox}]}}}}`

func TestWhatIsInGitDoesNotDriftInEitherVersion(t *testing.T) {
	t.Parallel()
	for version, schedules := range inGit {
		for tool, apply := range gitOpsTools {
			for name, schedule := range schedules {
				t.Run(fmt.Sprint(version, " ", tool, " ", name), func(t *testing.T) {
					t.Parallel()
					s := newSpace(t)
					manifest := s.object(version, "c", templateInGit, "suspend: true", "startingDeadlineSeconds: 60")
					require.NoError(t, unstructured.SetNestedField(manifest.Object, schedule, "spec", "schedule"))
					path := s.write(manifest)
					s.kubectl(t, append(apply, "-n", s.ns, "-f", path)...)
					s.eventually(func() bool { return s.get("c").Status.ObservedGeneration == 1 }, "the manager has not written to it")

					s.requireNoDrift(path, apply)
					s.requireSubset(manifest)

					// The same in the other version is no change either, and the first is none
					// after that.
					other := map[string]string{"v1": "v2", "v2": "v1"}[version]
					s.requireSubset(s.inVersion(manifest, other))
					if len(apply) > 1 {
						otherPath := s.write(s.inVersion(manifest, other))
						s.requireNoDrift(otherPath, apply)
						s.kubectl(t, append(apply, "-n", s.ns, "-f", otherPath)...)
					}
					s.requireNoDrift(path, apply)
					assert.EqualValues(t, 1, s.get("c").Generation)
				})
			}
		}
	}
}

// write writes a manifest to a file.
func (s *space) write(manifest *unstructured.Unstructured) string {
	s.t.Helper()
	text, err := yaml.Marshal(manifest)
	require.NoError(s.t, err)
	path := filepath.Join(s.t.TempDir(), "cronjob.yaml")
	require.NoError(s.t, os.WriteFile(path, text, 0o600))
	return path
}

// inVersion converts a manifest as the plugin does, which spells the schedule in the fields alone.
func (s *space) inVersion(manifest *unstructured.Unstructured, version string) *unstructured.Unstructured {
	s.t.Helper()
	text, err := manifest.MarshalJSON()
	require.NoError(s.t, err)
	text, err = v2.ConvertJSON(text, "batch.tutorial.kubebuilder.io/"+version)
	require.NoError(s.t, err)
	converted := &unstructured.Unstructured{}
	require.NoError(s.t, json.Unmarshal(text, converted))
	converted.SetAnnotations(nil)
	return converted
}

// requireNoDrift compares with kubectl diff.
func (s *space) requireNoDrift(path string, apply []string) {
	s.t.Helper()
	diff := append([]string{"diff", "-n", s.ns, "-f", path}, apply[1:]...)
	out, err := s.tryKubectl(s.t, diff...)
	require.NoError(s.t, err, "drift: %s", out)
	require.Empty(s.t, out)
}

// requireSubset requires that all that a manifest says is so when it is read in the manifest's
// version, which is how Argo CD compares: what others have added does not count.
func (s *space) requireSubset(manifest *unstructured.Unstructured) {
	s.t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(manifest.GroupVersionKind())
	require.NoError(s.t, s.Client.Get(s.t.Context(), s.key(manifest.GetName()), live))
	want, err := json.Marshal(manifest.Object)
	require.NoError(s.t, err)
	got, err := json.Marshal(restrict(live.Object, manifest.Object))
	require.NoError(s.t, err)
	require.JSONEq(s.t, string(want), string(got))
}

// restrict leaves of a value what another one says something about.
func restrict(value, to any) any {
	object, ok := value.(map[string]any)
	wanted, alsoOK := to.(map[string]any)
	if !ok || !alsoOK {
		return restrictList(value, to)
	}
	rest := maps.Clone(object)
	for key := range object {
		if _, said := wanted[key]; !said {
			delete(rest, key)
		} else {
			rest[key] = restrict(object[key], wanted[key])
		}
	}
	return rest
}

func restrictList(value, to any) any {
	list, ok := value.([]any)
	wanted, alsoOK := to.([]any)
	if !ok || !alsoOK || len(list) != len(wanted) {
		return value
	}
	rest := make([]any, len(list))
	for i := range list {
		rest[i] = restrict(list[i], wanted[i])
	}
	return rest
}
