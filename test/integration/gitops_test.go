// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
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
					s.requireInSync(manifest, apply, 1)

					// An edit in Git makes no drift, though the webhook writes down when it was.
					require.NoError(t, unstructured.SetNestedField(manifest.Object, "Europe/Paris", "spec", "timeZone"))
					s.requireInSync(manifest, apply, 2)
					assert.NotEmpty(t, s.get("c").Annotations[v1.EditedAnnotation])
					assert.Empty(t, s.ownersOf("metadata", "annotations", v1.EditedAnnotation))
				})
			}
		}
	}
}

// requireInSync applies a manifest, which makes a generation, and requires that the tool finds what
// is stored to be the same, and that it changes nothing when it applies it again.
func (s *space) requireInSync(manifest *unstructured.Unstructured, apply []string, generation int64) {
	s.t.Helper()
	path := s.write(manifest)
	s.kubectl(s.t, append(apply, "-n", s.ns, "-f", path)...)
	s.eventually(func() bool { return s.get("c").Status.ObservedGeneration == generation }, "the manager has not written to it")

	s.requireNoDrift(path, apply)
	s.requireSubset(manifest)
	s.requireNoWrite(path, apply)

	// The same in the other version is not a change either, and the first is none after that.
	other := map[string]string{"v1": "v2", "v2": "v1"}[manifest.GroupVersionKind().Version]
	s.requireSubset(s.inVersion(manifest, other))
	if len(apply) > 1 {
		otherPath := s.write(s.inVersion(manifest, other))
		s.requireNoDrift(otherPath, apply)
		s.kubectl(s.t, append(apply, "-n", s.ns, "-f", otherPath)...)
		s.requireNoWrite(otherPath, apply)
	}
	s.requireNoDrift(path, apply)
	assert.Equal(s.t, generation, s.get("c").Generation)
}

// requireNoWrite requires that to apply a manifest again stores nothing.
func (s *space) requireNoWrite(path string, apply []string) {
	s.t.Helper()
	before := s.get("c")
	out := s.kubectl(s.t, append(apply, "-n", s.ns, "-f", path)...)
	require.Regexp(s.t, " (unchanged|serverside-applied)$", strings.TrimSpace(out))
	require.Equal(s.t, before, s.get("c"))
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
	text, err = batch.Versions.ConvertJSON(text, "batch.tutorial.kubebuilder.io/"+version)
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
