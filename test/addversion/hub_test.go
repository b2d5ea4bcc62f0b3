//go:build addversion

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package addversion

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kubectl runs kubectl, which must succeed, and returns what it prints.
func (o operator) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := o.Kubectl(t.Context(), args...).CombinedOutput()
	require.NoError(t, err, "%v: %s", args, out)
	return string(out)
}

const crd = "cronjobs.batch.tutorial.kubebuilder.io"

// patchCRD replaces a member of the versions v1 and v2 of the CRD.
func (o operator) patchCRD(t *testing.T, member, v1, v2 string) {
	t.Helper()
	o.kubectl(t, "patch", "crd", crd, "--type=json", "-p", `[{"op":"replace","path":"/spec/versions/0/`+member+`","value":`+v1+
		`},{"op":"replace","path":"/spec/versions/1/`+member+`","value":`+v2+`}]`)
}

// plugin runs the plugin.
func (o operator) plugin(t *testing.T, args ...string) string {
	t.Helper()
	command := o.Kubectl(t.Context(), args...)
	command.Path = "../../bin/kubectl-cronjob"
	command.Dir = ""
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%v: %s", args, out)
	return string(out)
}

// TestC12V2BecomesTheHub follows the rows of docs/migration.md, "A new hub", on one API server.
func TestC12V2BecomesTheHub(t *testing.T) {
	o := start(t)
	o.patchCRD(t, "storage", "true", "false")
	before := o.run(t, "../../bin/manager")
	for written, spec := range schedules {
		out, err := o.create(t, written, "written-in-"+written, spec)
		require.NoError(t, err, out)
	}
	out, err := o.create(t, "v1", "macro", `{"schedule":"@hourly"}`)
	require.NoError(t, err, out)

	o.patchCRD(t, "storage", "false", "true") // row 1
	o.plugin(t, "storage", "migrate")
	assert.Equal(t, `["v2"]`, o.kubectl(t, "get", "crd", crd, "-o=jsonpath={.status.storedVersions}"))

	require.NoError(t, o.End(before))
	o.run(t, "../../bin/manager-v2") // row 2
	o.patchCRD(t, "served", "false", "true")
	require.Eventually(t, func() bool {
		return o.Kubectl(t.Context(), "get", "--raw", "/apis/batch.tutorial.kubebuilder.io/v1").Run() != nil
	}, wait, tick, "row 4: v1 is not served")
	for written := range schedules {
		for _, read := range []string{"v2", "v3"} {
			assert.JSONEq(t, schedules[read], o.when(t, read, "written-in-"+written), "C8: %s in %s", written, read)
		}
	}
	assert.JSONEq(t, `{"schedule":{"minute":"0"}}`, o.when(t, "v2", "macro"))
	assert.Equal(t, "@hourly", o.kubectl(t, "get", crd, "macro", `-o=jsonpath={.metadata.annotations.batch\.tutorial\.kubebuilder\.io/schedule-v1}`))

	out, err = o.create(t, "v2", "wrong", `{"schedule":{"minute":"0","hour":"25"}}`)
	require.Error(t, err, "A4: the webhooks are called in v1, which is not served")
	assert.Contains(t, out, `spec.schedule.hour: Invalid value: "25"`)
	o.startsAJob(t, "v2", `{"schedule":{"every":"2s"}}`)
	assert.Contains(t, o.kubectl(t, "get", "jobs", "-o=jsonpath={.items[*].metadata.ownerReferences[0].apiVersion}"), "kubebuilder.io/v2")
}
