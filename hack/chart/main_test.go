// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// build returns what kustomize builds of all that the chart is made of.
func build(t *testing.T) []byte {
	t.Helper()
	var all []byte
	for _, overlay := range []string{"prometheus", "network-policy"} {
		command := exec.CommandContext(t.Context(), "go", "tool", "kustomize", "build", "config/overlays/"+overlay)
		command.Dir, command.Stderr = "../..", os.Stderr
		built, err := command.Output()
		require.NoError(t, err)
		all = append(append(all, "---\n"...), built...)
	}
	return all
}

// filesIn returns the files below a directory.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(content)
		return err
	}))
	return files
}

func TestFilesThatAreNoLongerMadeAreRemoved(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(dir, map[string]string{"templates/a.yaml": "a", "templates/b.yaml": "b"}))
	require.NoError(t, write(dir, map[string]string{"templates/b.yaml": "c"}))
	assert.Equal(t, map[string]string{"/templates/b.yaml": "c"}, filesIn(t, dir))
}

// What config no longer has is an error, and not a value without effect.
func TestAChangeOfConfigIsNoticed(t *testing.T) {
	built := string(build(t))
	tests := map[string]struct{ old, changed, wantError string }{
		"an object is gone":        {"name: project-metrics-reader", "name: project-reader", "no ClusterRole/metrics-reader among the objects"},
		"a kind is gone":           {"kind: Issuer\nmeta", "kind: Other\nmeta", "no Issuer among the objects"},
		"a field is gone":          {"  replicas: 2\n", "", "no spec.replicas in it"},
		"a flag is gone":           {"- --leader-elect\n", "- --lead\n", "no item for .Values.leaderElection.enabled"},
		"a flag has come":          {"- --leader-elect\n", "- --leader-elect\n        - --concurrency=3\n", "--concurrency, which is to be added"},
		"a field has come":         {"      containers:\n      - args:\n", "      tolerations: []\n      containers:\n      - args:\n", "has a spec.template.spec.tolerations"},
		"a name in a text":         {"- --leader-elect\n", "- --leader-elect\n        - --x=project-a\n", "can't be replaced"},
		"no namespace":             {"kind: Namespace", "kind: Space", "want the Namespace project-system"},
		"an image without a tag":   {"controller:latest", "registry:5000/controller", "want one with a tag"},
		"two of the same":          {"name: project-ca-issuer\n  namespace", "name: project-selfsigned-issuer\n  namespace", "comes twice, and differs"},
		"no object":                {"kind: ServiceAccount\nmetadata:", "metadata:", "no object with a kind"},
		"the certificate of whom?": {"secretName: webhook-server-cert", "secret: webhook-server-cert", "spec.secretName"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, built, tt.old)
			objects, err := read(bufio.NewReader(strings.NewReader(strings.ReplaceAll(built, tt.old, tt.changed))))
			if err == nil {
				_, err = chart(objects)
			}
			assert.ErrorContains(t, err, tt.wantError)
		})
	}
}

func TestNamesAreTheReleases(t *testing.T) {
	s := &source{namespace: "project-system", secret: "project-webhook-cert"}
	tests := map[string]struct {
		text string
		want any
	}{
		"an object's name":  {"project-a", expr(`{{ include "project.nameOf" (list $ "a") }}`)},
		"the namespace":     {"project-system", expr("{{ $.Release.Namespace | quote }}")},
		"an address":        {"project-a.project-system.svc", expr(`{{ include "project.nameOf" (list $ "a") }}.{{ $.Release.Namespace }}.svc`)},
		"the Secret's":      {"project-webhook-cert", expr(`{{ $.Values.webhook.existingSecret | default (include "project.nameOf" (list $ "webhook-cert")) | quote }}`)},
		"the chart's name":  {"project", "project"},
		"another's address": {"a.b.svc", "a.b.svc"},
		"a text":            {"a Project", "a Project"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			renamed, err := s.rename(object{"kind": "Any", "metadata": map[string]any{"name": "any"}, "text": tt.text})
			require.NoError(t, err)
			assert.Equal(t, tt.want, renamed["text"])
		})
	}
}

func TestTemplates(t *testing.T) {
	tests := map[string]struct {
		action string
		node   map[string]any
		want   string
	}{
		"YAML": {"", map[string]any{"b": []any{map[string]any{"c": int64(1), "d": "x"}}, "a": "true"}, `
a: "true"
b:
- c: 1
  d: x
`},
		"braces that are no action": {"", map[string]any{"a": "of {{ $value }}\n\n two\n", "{{b}}": "c"}, `
a: |
  of {{ "{{" }} $value }}

   two
'{{ "{{" }}b}}': c
`},
		"an object that depends": {"if .a", map[string]any{"a": expr("{{ .b }}")}, `
a: {{ .b }}
{{- end }}
`},
		"entries that depend": {"", map[string]any{"a": when(".x", "b"), "c": optional(".y")}, `
{{- if .x }}
a: b
{{- end }}
{{- with .y }}
c:
  {{- toYaml . | nindent 2 }}
{{- end }}
`},
		"items that depend": {"", map[string]any{"a": []any{when(".x", "b"), when(".x", map[string]any{"c": expr("{{ .d }}"), "e": "f"}), "g", eachOf(".y")}}, `
a:
{{- if .x }}
- b
- c: {{ .d }}
  e: f
{{- end }}
- g
{{- with .y }}
{{- toYaml . | nindent 0 }}
{{- end }}
`},
		"a map of several": {"", map[string]any{"a": map[string]any{"b": merged{[]block{asYAML(".x")}, map[string]any{"c": "d"}}}}, `
a:
  b:
    {{- toYaml .x | nindent 4 }}
    c: d
`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := document(tt.action, tt.node)
			begin := "---"
			if tt.action != "" {
				begin = "{{- " + tt.action + " }}\n---"
			}
			assert.Equal(t, begin+tt.want, got)
		})
	}
}

func TestEveryValueIsSaidOnce(t *testing.T) {
	objects, err := read(bufio.NewReader(bytes.NewReader(build(t))))
	require.NoError(t, err)
	files, err := chart(objects)
	require.NoError(t, err)
	source, err := newSource(objects)
	require.NoError(t, err)
	values, err := source.values()
	require.NoError(t, err)
	standard := map[string]any{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(files["values.yaml"]), &standard))
	var templates strings.Builder
	for path, content := range files {
		if strings.HasPrefix(path, "templates/") {
			templates.WriteString(content)
		}
	}
	for _, v := range values {
		_, err := at(standard, v.Path)
		assert.NoError(t, err, "values.yaml")
		assert.Contains(t, files["README.md"], "| `"+v.Path+"` |")
		assert.Contains(t, templates.String(), ".Values."+v.Path, "a value without effect")
		assert.NotEmpty(t, v.Schema, v.Path)
		assert.NotEmpty(t, v.About, v.Path)
	}
}
