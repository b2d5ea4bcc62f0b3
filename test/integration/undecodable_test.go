// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// suspendedInWords is a spec that the schema does not let in, and that no Go type decodes.
const suspendedInWords = `{"schedule":"@every 1s","suspend":"yes","jobTemplate":{"spec":{"template":{"spec":{` +
	`"containers":[{"name":"main","image":"busybox"}],"restartPolicy":"Never"}}}}}`

// undecodableMetric counts the CronJobs that can't be decoded.
const undecodableMetric = "cronjob_controller_undecodable_cronjobs"

// field returns a field of a stored CronJob as kubectl finds it: a client of Go types may not
// decode it.
func (s *space) field(name, jsonpath string) string {
	s.t.Helper()
	return s.kubectl(s.t, "get", "-n", s.ns, cronJobsIn("v1"), name, "-o", "jsonpath="+jsonpath)
}

// awaitInvalidObject waits until the status of a CronJob says which of its fields can't be decoded.
func (s *space) awaitInvalidObject(name, field string) {
	s.t.Helper()
	s.eventually(func() bool {
		ready := s.field(name, `{.status.conditions[?(@.type=="Ready")]['status','reason','message']}`)
		return strings.HasPrefix(ready, "False InvalidObject ") && strings.Contains(ready, field+" ")
	}, "the status of %s does not name %s", name, field)
	assert.Equal(s.t, s.field(name, "{.metadata.generation}"), s.field(name, "{.status.observedGeneration}"))
}

// mend has a CronJob that was suspended in words go on.
func (s *space) mend(name, version string) {
	s.t.Helper()
	s.kubectl(s.t, "patch", "-n", s.ns, cronJobsIn(version), name, "--type=merge", "-p", `{"spec":{"suspend":false}}`)
}

func TestC1ACronJobThatCanNotBeDecodedStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{"one namespace": 1, "two namespaces": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpaceOn(t, plainControlPlane(t), nil)
			s.storeRaw("bad", suspendedInWords)
			spaces := []*space{s}
			for len(spaces) < count {
				spaces = append(spaces, newSpaceOn(t, s.controlPlane, nil))
			}
			var namespaces []string
			for _, of := range spaces {
				of.create(of.cronJob("c").Schedule("@every 1s").Obj())
				namespaces = append(namespaces, of.ns)
			}
			port, err := localcluster.FreePort()
			require.NoError(t, err)
			url, token := fmt.Sprintf("https://127.0.0.1:%d/metrics", port), s.readerOfMetrics()
			start := func() *process {
				manager := s.startOwnManager("--namespaces="+strings.Join(namespaces, ","), fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", port))
				s.awaitMetrics(manager, port)
				return manager
			}

			var since string
			for range 2 { // a manager that is started anew finds it as well
				manager := start()
				for _, of := range spaces {
					of.awaitRuns("c", 2)
				}
				s.awaitInvalidObject("bad", "spec.suspend")
				assert.Equal(t, "1", scrape(t, url, token)[undecodableMetric])
				event := s.awaitEvent("bad", plan.EventInvalidObject)
				assert.Contains(t, event.Note, "cannot unmarshal string into Go struct field CronJobSpec.spec.suspend of type bool")
				transition := s.field("bad", "{.status.conditions[0].lastTransitionTime}")
				assert.Equal(t, cmp.Or(since, transition), transition, "it is said once")
				since = transition
				require.NoError(t, manager.terminate())
			}
			assert.Empty(t, s.jobs("bad"))
			assert.Equal(t, 1, s.statusWritesOf("bad"), "nothing is tried again and again")

			start()
			mended := time.Now()
			s.mend("bad", "v1")
			first := s.awaitJobs("bad", 1)[0]
			assert.False(t, tickOf(t, &first).Before(mended.Truncate(time.Second)), "no tick from before it was mended runs")
			s.awaitReady("bad", metav1.ConditionTrue, v1.ReasonScheduled)
			assert.Equal(t, "0", scrape(t, url, token)[undecodableMetric])
		})
	}
}

func TestC1ACronJobThatCanNotBeDecodedIsMendedThroughTheWebhooks(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.storeRaw("bad", suspendedInWords)
			s.awaitInvalidObject("bad", "spec.suspend")
			s.kubectl(t, "label", "-n", s.ns, cronJobsIn(version), "bad", "touched=true")
			s.mend("bad", version)
			s.awaitJobs("bad", 1)
		})
	}
}

// statusWritesOf returns how often the manager has written a CronJob's status.
func (s *space) statusWritesOf(name string) int {
	s.t.Helper()
	writes := 0
	for _, r := range s.audit.in(s.t, s.ns) {
		if r.Verb+" "+r.Resource == writeStatus && r.Name == name {
			writes++
		}
	}
	return writes
}

func TestC1ACronJobThatCanNoLongerBeDecodedStopsNoWatch(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	s.startOwnManager()
	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	s.awaitJobs("c", 1)
	s.storeRaw("bad", suspendedInWords)
	s.awaitInvalidObject("bad", "spec.suspend")
	s.kubectl(t, "label", "-n", s.ns, cronJobsIn("v1"), "bad", "touched=true")
	s.create(s.cronJob("later").Schedule("@every 1s").Obj())
	s.awaitJobs("later", 1)
	s.awaitRuns("c", 2)
	s.kubectl(t, "delete", "-n", s.ns, cronJobsIn("v1"), "bad")
	s.awaitRuns("c", 1)
	assert.Empty(t, s.jobs("bad"))
}

// crdWithSuspend returns the CRD as it is, with another schema of spec.suspend.
func (c *controlPlane) crdWithSuspend(t *testing.T, schema apiextensionsv1.JSONSchemaProps) string {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, json.Unmarshal([]byte(c.kubectl(t, "get", "crd", crdName, "-o", "json")), crd))
	for _, version := range crd.Spec.Versions {
		version.Schema.OpenAPIV3Schema.Properties["spec"].Properties["suspend"] = schema
	}
	changed, err := json.Marshal(crd)
	require.NoError(t, err)
	return string(changed)
}

func TestC1ACronJobStoredUnderALooserCRDStopsNoOther(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	plane, err := startControlPlane(ctx, withoutWebhooks)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, plane.stop()) })
	require.NoError(t, plane.installCRD(ctx))
	plane.kubectlWithInput(t, plane.crdWithSuspend(t, apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: new(true)}), "replace", "-f", "-")
	s, other := newSpaceOn(t, plane, nil), newSpaceOn(t, plane, nil)
	manifest := fmt.Sprintf(`{"apiVersion":%q,"kind":"CronJob","metadata":{"name":"bad"},"spec":%s}`, v1.GroupVersion, suspendedInWords)
	s.eventually(func() bool {
		apply := s.Kubectl(t.Context(), "apply", "-n", s.ns, "-f", "-")
		apply.Stdin = strings.NewReader(manifest)
		return apply.Run() == nil
	}, "the looser CRD is not in force")
	plane.kubectlWithInput(t, plane.crdWithSuspend(t, apiextensionsv1.JSONSchemaProps{Type: "boolean"}), "replace", "-f", "-")

	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	other.create(other.cronJob("c").Schedule("@every 1s").Obj())
	s.startOwnManager("--namespaces=")
	s.awaitJobs("c", 2)
	other.awaitJobs("c", 2)
	s.awaitInvalidObject("bad", "spec.suspend")
	s.mend("bad", "v1")
	s.awaitJobs("bad", 1)
	s.awaitReady("bad", metav1.ConditionTrue, v1.ReasonScheduled)
}
