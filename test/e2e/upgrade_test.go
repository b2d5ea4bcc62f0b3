//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// firstCRD is the CRD of a release that knew only v1.
const firstCRD = "test/e2e/testdata/first-release-crd.yaml"

// storedBefore are CronJobs of that release, by name, and how v2 shows their schedules.
var storedBefore = map[string]struct{ v1, v2 string }{
	"plain":         {"30 4 * * 1-5", `{"minute":"30","hour":"4","dayOfWeek":"1-5"}`},
	"macro":         {"@daily", `{"minute":"0","hour":"0"}`},
	"double-blanks": {"0  9 * *  mon", `{"minute":"0","hour":"9","dayOfWeek":"mon"}`},
	"tab":           {"15\t10 * * *", `{"minute":"15","hour":"10"}`},
	"every":         {"@every 90m", `{"every":"90m"}`},
	"garbage":       {"whenever it suits", `{}`},
}

func TestObjectsOfTheFirstReleaseSurviveTheUpgradeAndTheWayBack(t *testing.T) {
	undeployed(t)
	firstRelease(t)
	s := newSpace(t)
	uids := map[string]types.UID{}
	for name, schedule := range storedBefore {
		uids[name] = s.create(s.cronJob(name).Schedule(schedule.v1).Suspend(true)).UID
	}

	deployed(t)
	s.requireSurvivors(uids)
	for name, want := range storedBefore {
		got, err := json.Marshal(s.v2(name).Spec.Schedule)
		require.NoError(t, err)
		assert.JSONEq(t, want.v2, string(got), name)
		s.editV2(name, func(c *v2.CronJob) { c.Labels = map[string]string{"edited-in": "v2"} })
	}
	s.create(s.cronJob("edited").Schedule("@daily").Suspend(true))
	s.editV2("edited", func(c *v2.CronJob) { c.Spec.Schedule.Hour = new(v2.CronField("*")) })
	s.requireSurvivors(uids)

	other := newSpace(t)
	other.create(other.cronJob("c").Suspend(true))
	goBack(t, func() {
		// With the manager gone, v2 can't be read, and namespaces are cleared of their v2 objects:
		// this one stays.
		other.delete()
	}, other.awaitGone)
	s.requireSurvivors(uids)
	assert.Equal(t, "0 * * * *", s.v1("edited").Spec.Schedule)
	for name := range storedBefore {
		s.edit(name, func(c *v1.CronJob) { c.Labels = map[string]string{"edited-in": "v1"} })
		s.applyLabel(name, "edited-in", "v1-again")
	}
	s.requireSurvivors(uids)

	deployed(t) // and up again
	s.requireSurvivors(uids)
}

// firstRelease installs the CRD of the first release.
func firstRelease(t *testing.T) {
	t.Helper()
	kubectl(t, "apply", "-f", firstCRD)
	kubectl(t, "wait", "--for=condition=Established", "crd/"+crdName)
	await(t, func(ctx context.Context) error { return cluster.List(ctx, &v1.CronJobList{}) })
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, cluster.Get(t.Context(), types.NamespacedName{Name: crdName}, crd))
	require.Len(t, crd.Spec.Versions, 1)
	assert.Equal(t, apiextensionsv1.NoneConverter, crd.Spec.Conversion.Strategy)
	assert.Equal(t, []string{"v1"}, crd.Status.StoredVersions)
}

// goBack goes back to the first release, in the order in which nothing gets stuck.
func goBack(t *testing.T, withTheManagerGone, withV2Gone func()) {
	t.Helper()
	// 1. Nobody is asked to admit what is written any more. v1 and v2 go on.
	kubectl(t, "delete", "mutatingwebhookconfiguration/"+mutatingName, "validatingwebhookconfiguration/"+validatingName)
	// 2. The manager ends: nothing is scheduled, and v2 can't be read.
	kubectl(t, "-n", operatorNamespace, "scale", "deployment/"+deploymentName, "--replicas=0")
	kubectl(t, "-n", operatorNamespace, "wait", "--for=delete", "pod", "--selector=control-plane=controller-manager", "--timeout="+patience.String())
	withTheManagerGone()
	// 3. v2 and the conversion go.
	firstRelease(t)
	withV2Gone()
	// 4. The API server can't apply to an object of which it remembers that somebody owned a field in v2.
	objects := kubectl(t, "get", cronJobsIn("v1"), "--all-namespaces", "--no-headers", "--output=custom-columns=:.metadata.namespace,:.metadata.name")
	for line := range strings.Lines(objects) {
		object := strings.Fields(line)
		kubectl(t, "-n", object[0], "patch", cronJobsIn("v1"), object[1], "--type=merge", `--patch={"metadata":{"managedFields":[{}]}}`)
	}
	// 5. What is left of the operator goes, but not the CRD.
	kubectl(t, "delete", "namespace", operatorNamespace)
}

// requireSurvivors fails the test unless each CronJob is the one that was stored, with its schedule
// as it was.
func (s *space) requireSurvivors(uids map[string]types.UID) {
	s.t.Helper()
	for name, uid := range uids {
		c := s.v1(name)
		require.Equal(s.t, uid, c.UID, name)
		require.Equal(s.t, storedBefore[name].v1, c.Spec.Schedule, name)
	}
}

// editV2 changes a CronJob in v2.
func (s *space) editV2(name string, change func(*v2.CronJob)) {
	s.t.Helper()
	c := s.v2(name)
	before := c.DeepCopy()
	change(c)
	require.NoError(s.t, cluster.Patch(s.t.Context(), c, client.MergeFrom(before)), name)
}

// applyLabel sets a label by server-side apply, in v1.
func (s *space) applyLabel(name, key, value string) {
	s.t.Helper()
	c := &unstructured.Unstructured{}
	c.SetGroupVersionKind(v1.GroupVersion.WithKind("CronJob"))
	c.SetNamespace(s.ns)
	c.SetName(name)
	c.SetLabels(map[string]string{key: value})
	apply := client.ApplyConfigurationFromUnstructured(c)
	require.NoError(s.t, cluster.Apply(s.t.Context(), apply, client.FieldOwner("e2e"), client.ForceOwnership), name)
}
