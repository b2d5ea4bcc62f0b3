//go:build addversion

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package addversion tests a tree to which test/addversion/run has added a version v3.
package addversion

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

// schedules are one schedule in each version.
var schedules = map[string]string{
	"v1": `{"schedule":"0 9 * * mon-fri","additionalSchedules":["30 17 * * mon-fri"]}`,
	"v2": `{"schedule":{"minute":"0","hour":"9","dayOfWeek":"mon-fri"},"additionalSchedules":[{"minute":"30","hour":"17","dayOfWeek":"mon-fri"}]}`,
	"v3": `{"schedule":{"times":["09:00","17:30"],"days":"mon-fri"}}`,
}

const template = `"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"busybox"}]}}}}`

// operator is a control plane on which the manager runs.
type operator struct {
	*localcluster.Cluster

	kubeconfig string // the manager's
}

// How long to wait for what takes a second, and how often to look.
const wait, tick = time.Minute, time.Second / 4

func start(t *testing.T) operator {
	t.Helper()
	cluster, err := localcluster.Start(t.Context(), localcluster.Options{Webhooks: true})
	require.NoError(t, err, "C1, A6: the API server accepts the CRD")
	t.Cleanup(func() { assert.NoError(t, cluster.Stop()) })
	kubeconfig, err := cluster.AddManager(t.Context())
	require.NoError(t, err)
	return operator{cluster, kubeconfig}
}

// run starts a build of the manager.
func (o operator) run(t *testing.T, binary string) *localcluster.Process {
	t.Helper()
	command, err := o.Manager(binary, o.kubeconfig)
	require.NoError(t, err)
	process, err := o.Run(t.Context(), command)
	require.NoError(t, err)
	return process
}

// create creates a CronJob in a version, by kubectl.
func (o operator) create(t *testing.T, version, name, spec string) (string, error) {
	t.Helper()
	create := o.Kubectl(t.Context(), "create", "-f", "-")
	create.Stdin = strings.NewReader(`{"apiVersion":"batch.tutorial.kubebuilder.io/` + version + `","kind":"CronJob","metadata":{"name":"` + name + `"},"spec":` +
		strings.TrimSuffix(spec, "}") + "," + template + "}}")
	out, err := create.CombinedOutput()
	return string(out), err
}

// when returns the schedules of a CronJob in a version, by kubectl.
func (o operator) when(t *testing.T, version, name string) string {
	t.Helper()
	out, err := o.Kubectl(t.Context(), "get", "cronjobs."+version+".batch.tutorial.kubebuilder.io", name, "-o=json").Output()
	require.NoError(t, err, version)
	var object struct {
		Spec struct {
			Schedule            json.RawMessage `json:"schedule"`
			AdditionalSchedules json.RawMessage `json:"additionalSchedules,omitempty"`
		} `json:"spec"`
	}
	require.NoError(t, json.Unmarshal(out, &object))
	spec, err := json.Marshal(object.Spec)
	require.NoError(t, err)
	return string(spec)
}

func TestC10ThreeVersionsOnARealAPIServer(t *testing.T) {
	o := start(t)
	o.run(t, "../../bin/manager")
	for written, spec := range schedules {
		out, err := o.create(t, written, "written-in-"+written, spec)
		require.NoError(t, err, out)
		for read, want := range schedules {
			assert.JSONEq(t, want, o.when(t, read, "written-in-"+written), "C8: %s in %s", written, read)
		}
	}
	out, err := o.create(t, "v3", "wrong", `{"schedule":{"times":["09:00","25:00"]}}`)
	require.Error(t, err)
	assert.Contains(t, out, `spec.schedule: Invalid value: "at 25:00": not a schedule`, "A4")

	now := time.Now().UTC()
	o.startsAJob(t, "v3", fmt.Sprintf(`{"schedule":{"times":[%q,%q]}}`, now.Add(time.Minute).Format("15:04"), now.Add(2*time.Minute).Format("15:04")))
}

// startsAJob creates a CronJob that is due soon, and waits for a Job.
func (o operator) startsAJob(t *testing.T, version, spec string) {
	t.Helper()
	out, err := o.create(t, version, "soon", spec)
	require.NoError(t, err, out)
	require.Eventually(t, func() bool {
		jobs := &batchv1.JobList{}
		return o.Client.List(t.Context(), jobs, client.InNamespace("default")) == nil && len(jobs.Items) > 0
	}, 3*time.Minute, tick, "the operator starts a Job")
}
