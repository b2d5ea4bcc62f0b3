// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// k9sPlugin is an entry of config/k9s/plugins.yaml, with the fields of k9s that it uses.
type k9sPlugin struct {
	ShortCut    string   `json:"shortCut"`
	Description string   `json:"description"`
	Scopes      []string `json:"scopes"`
	Confirm     bool     `json:"confirm"`
	Dangerous   bool     `json:"dangerous"`
	Background  bool     `json:"background"`
	Command     string   `json:"command"`
	Args        []string `json:"args"`
}

func TestK9sRunsThePlugin(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "config", "k9s", "plugins.yaml"))
	require.NoError(t, err)
	var file struct {
		Plugins map[string]k9sPlugin `json:"plugins"`
	}
	require.NoError(t, yaml.UnmarshalStrict(text, &file))
	crd := shared.kubectl(t, "get", "crd", crdName, "-o", "jsonpath={.spec.names.shortNames[*]}")
	keys := map[string]string{}
	for name, plugin := range file.Plugins {
		assert.Equal(t, []string{crd}, plugin.Scopes, name)
		assert.NotContains(t, keys, plugin.ShortCut, name)
		assert.Equal(t, plugin.Confirm, plugin.Dangerous, "%s: what changes something is asked for, and not there in the mode --readonly", name)
		keys[plugin.ShortCut] = name
	}

	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	kubectl := s.Kubectl(t.Context())
	path := strings.Join([]string{installPlugin(t), filepath.Dir(kubectl.Path), os.Getenv("PATH")}, string(os.PathListSeparator))
	variables := map[string]string{
		"NAME": "c", "NAMESPACE": s.ns, "CONTEXT": strings.TrimSpace(s.kubectl(t, "config", "current-context")),
	}
	run := func(name string) (string, error) {
		plugin := file.Plugins[name]
		args := make([]string, len(plugin.Args))
		for i, arg := range plugin.Args {
			args[i] = os.Expand(arg, func(variable string) string { return variables[variable] })
		}
		command := exec.CommandContext(t.Context(), plugin.Command, args...)
		if plugin.Command == "kubectl" {
			command.Path, command.Err = kubectl.Path, nil
		}
		command.Env = slices.Concat(kubectl.Env, []string{"PATH=" + path})
		out, err := command.CombinedOutput()
		return string(out), err
	}
	for _, step := range []struct {
		plugin, want string
	}{
		{"cronjob-suspend", "c suspended"}, {"cronjob-resume", "c resumed"}, {"cronjob-run", "job.batch/c-manual-"}, {"cronjob-history", "Running"},
	} {
		out, err := run(step.plugin)
		assert.Contains(t, out, step.want, "%s: %v", step.plugin, err)
		delete(file.Plugins, step.plugin)
		if step.plugin == "cronjob-run" {
			s.eventually(func() bool { return len(s.get("c").Status.RecentRuns) == 1 }, "the run is not seen")
		}
	}
	job := s.jobs("c")[0]
	s.end(&job, batchv1.JobComplete)
	out, err := run("cronjob-logs")
	require.Error(t, err, "no Pod is there")
	assert.Contains(t, out, job.Name)
	delete(file.Plugins, "cronjob-logs")
	assert.Empty(t, file.Plugins, "not tried")
}
