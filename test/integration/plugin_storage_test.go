// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/storage"
	"tutorial.kubebuilder.io/project/test/builders"
)

// newStoragePlane starts a control plane of its own, with the operator: the CRD is changed there.
func newStoragePlane(t *testing.T) *space {
	t.Helper()
	plane, err := startControlPlane(t.Context(), withWebhooks)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, plane.stop()) })
	require.NoError(t, plane.startSharedManager(t.Context()))
	return newSpaceOn(t, plane, nil)
}

// storeAs has the API server store what is written from now on in a version.
func (s *space) storeAs(version string) {
	s.t.Helper()
	s.editCRD(func(v *apiextensionsv1.CustomResourceDefinitionVersion) { v.Storage = v.Name == version })
	// The API server stores as before until it has heard of it itself.
	probe := s.cronJob("probe").Schedule(nextYear).Obj()
	s.eventually(func() bool {
		require.NoError(s.t, s.Client.Create(s.t.Context(), probe.DeepCopy()))
		defer s.delete("probe")
		return strings.HasSuffix(s.storedVersion("probe"), version)
	}, "it does not store as %s", version)
}

// editCRD edits each version of the CRD.
func (s *space) editCRD(edit func(*apiextensionsv1.CustomResourceDefinitionVersion)) {
	s.t.Helper()
	crd := s.crd()
	for i := range crd.Spec.Versions {
		edit(&crd.Spec.Versions[i])
	}
	s.replaceCRD(crd)
}

// replaceCRD replaces the CRD, whatever it is now.
func (s *space) replaceCRD(crd *apiextensionsv1.CustomResourceDefinition) {
	s.t.Helper()
	crd.ResourceVersion = s.crd().ResourceVersion
	text, err := json.Marshal(crd)
	require.NoError(s.t, err)
	s.kubectlWithInput(s.t, string(text), "replace", "-f", "-")
}

// dropV2 takes v2 out of the CRD, as a release does that no longer knows it.
func (s *space) dropV2() {
	s.t.Helper()
	crd := s.crd()
	crd.Spec.Versions = crd.Spec.Versions[:1]
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	s.replaceCRD(crd)
}

func (s *space) crd() *apiextensionsv1.CustomResourceDefinition {
	s.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(s.t, json.Unmarshal([]byte(s.kubectl(s.t, "get", "crd", crdName, "-o", "json")), crd))
	return crd
}

// storedVersion is the apiVersion of a CronJob in etcd, which only etcd tells.
func (s *space) storedVersion(name string) string {
	s.t.Helper()
	key := "/registry/batch.tutorial.kubebuilder.io/cronjobs/" + s.ns + "/" + name
	body, err := json.Marshal(map[string][]byte{"key": []byte(key)})
	require.NoError(s.t, err)
	response, err := http.Post(s.etcd()+"/v3/kv/range", "application/json", bytes.NewReader(body)) //nolint:noctx // etcd is here
	require.NoError(s.t, err)
	defer func() { _ = response.Body.Close() }()
	var found struct {
		Kvs []struct{ Value []byte }
	}
	require.NoError(s.t, json.NewDecoder(response.Body).Decode(&found))
	require.Len(s.t, found.Kvs, 1, key)
	var stored metav1.TypeMeta
	require.NoError(s.t, json.Unmarshal(found.Kvs[0].Value, &stored))
	return stored.APIVersion
}

// etcd is where etcd listens, by its log.
func (s *space) etcd() string {
	s.t.Helper()
	log, err := os.ReadFile(filepath.Join(s.Dir, "log", "etcd.log"))
	require.NoError(s.t, err)
	found := regexp.MustCompile(`"listen-client-urls":\["(http://[^"]+)"`).FindSubmatch(log)
	require.NotEmpty(s.t, found)
	return string(found[1])
}

// migrates runs storage migrate; it must succeed.
func (s *space) migrates(args ...string) string {
	s.t.Helper()
	out, errOut, err := s.migrate(s.t.Context(), append([]string{"storage", "migrate"}, args...)...)
	require.NoError(s.t, err, "%s%s", out, errOut)
	return out
}

// storageState runs storage.
func (s *space) storageState() (text string, state storage.State) {
	s.t.Helper()
	text, errOut, err := s.migrate(s.t.Context(), "storage")
	require.NoError(s.t, err, errOut)
	asJSON, errOut, err := s.migrate(s.t.Context(), "storage", "-o", "json")
	require.NoError(s.t, err, errOut)
	require.NoError(s.t, json.Unmarshal([]byte(asJSON), &state))
	return text, state
}

// createSettled creates a CronJob and waits until the manager has written its status, and will not
// write again.
func (s *space) createSettled(name, schedule string) {
	s.t.Helper()
	s.create(s.cronJob(name).Schedule(schedule).Obj())
	s.awaitReady(name, metav1.ConditionTrue, v1.ReasonScheduled)
}

func TestStorageIsShownAndIsMigratedWhereNoControllerDoesIt(t *testing.T) {
	t.Parallel()
	s := newStoragePlane(t)
	for i := range 7 {
		s.createSettled(fmt.Sprintf("old-%d", i), nextYear)
	}
	text, _ := s.storageState()
	assert.Regexp(t, `^VERSION +SERVED +STORAGE +STORED +OBJECTS\nv1 +true +true +true +7\nv2 +true +false +false +0\n$`, text)

	s.storeAs("v2")
	for i := range 3 {
		s.createSettled(fmt.Sprintf("new-%d", i), "@every 90m")
	}
	text, state := s.storageState()
	assert.Contains(t, text, "lists v1: kubectl cronjob storage migrate rewrites")
	require.Len(t, state.Versions, 2)
	assert.Equal(t, storage.VersionState{Name: "v1", Served: true, Stored: true, AtMost: 10}, state.Versions[0])
	assert.Equal(t, storage.VersionState{Name: "v2", Served: true, Storage: true, Stored: true, AtMost: 10}, state.Versions[1])
	before := map[string]int64{}
	for name := range s.all() {
		before[name] = s.get(name).Generation
		require.Equal(t, strings.HasPrefix(name, "new"), strings.HasSuffix(s.storedVersion(name), "/v2"), name)
	}

	out := s.migrates()
	if s.isOlderThan(t, "1.37") {
		assert.Contains(t, out, "the cluster has no StorageVersionMigration")
	} else {
		assert.Contains(t, out, "the cluster has not begun with it for 30s")
		assert.Contains(t, out, "deleted storageversionmigration.storagemigration.k8s.io/kubectl-cronjob-")
	}
	assert.Contains(t, out, "wrote 10 CronJobs\nstatus.storedVersions is [v2]\n")
	for name, generation := range before {
		assert.Equal(t, "batch.tutorial.kubebuilder.io/v2", s.storedVersion(name))
		assert.Equal(t, generation, s.get(name).Generation, "%s is as it was", name)
	}
	text, _ = s.storageState()
	assert.Regexp(t, `v1 +true +false +false +0\nv2 +true +true +true +10\n$`, text)
}

func TestACheckOfTheStorageNamesWhatWouldBeRefusedAndStoresNothing(t *testing.T) {
	t.Parallel()
	s := newStoragePlane(t)
	for name, schedule := range map[string]string{"fields": nextYear, "macro": "@yearly", "blanks": "0  0 1\t1 *", "bad": "every day", "refused": nextYear} {
		s.storeRaw(name, `{"schedule":`+strconv.Quote(schedule)+`,"jobTemplate":{}}`)
	}
	s.storeRaw("odd", suspendedInWords)
	s.kubectlWithInput(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: frozen}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [batch.tutorial.kubebuilder.io], apiVersions: ["*"], operations: [UPDATE], resources: [cronjobs]}]
  validations: [{expression: "object.metadata.name != 'refused'", message: "it is frozen"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: frozen}
spec: {policyName: frozen, validationActions: [Deny]}
`, "apply", "-f", "-")
	specs := []string{"get", "-n", s.ns, cronJobsIn("v1"), "-o", "jsonpath={range .items[*]}{.metadata.generation} {.spec}\n{end}"}
	before := s.kubectl(t, specs...)
	var out string
	s.eventually(func() bool {
		var err error
		out, _, err = s.migrate(t.Context(), "storage", "check")
		return err != nil && strings.Contains(out, "it is frozen")
	}, "the policy is not in force")
	assert.Contains(t, out, s.ns+"/refused: would be refused in v1: ")
	assert.Contains(t, out, s.ns+"/refused: would be refused in v2: ")
	assert.NotContains(t, out, "would change", "the conversion loses nothing of what is odd either")
	assert.NotContains(t, out, s.ns+"/fields")
	assert.Equal(t, before, s.kubectl(t, specs...))
	s.mend("odd", "v1")
}

// all are the CronJobs of the namespace by name.
func (s *space) all() map[string]bool {
	s.t.Helper()
	names := map[string]bool{}
	for name := range strings.FieldsSeq(s.kubectl(s.t, "get", "-n", s.ns, cronJobsIn("v1"), "-o", "jsonpath={.items[*].metadata.name}")) {
		names[name] = true
	}
	return names
}

func TestManagedFieldsOfAVersionThatIsNotServedAreCountedAndCanBeReset(t *testing.T) {
	t.Parallel()
	s := newStoragePlane(t)
	manifest := func(version, schedule, more string) string {
		return `{"apiVersion":"batch.tutorial.kubebuilder.io/` + version + `","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":` +
			schedule + more + `,"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"busybox"}]}}}}}}`
	}
	apply := []string{"apply", "-n", s.ns, "--server-side", "--field-manager=gitops", "-f", "-"}
	s.kubectlWithInput(t, manifest("v2", `{"minute":"0","hour":"0","dayOfMonth":"1","month":"1"}`, `,"timeZone":"Europe/Paris"`), apply...)
	s.create(s.cronJob("other").Schedule(nextYear).Obj())

	s.dropV2()
	changed := manifest("v1", `"0 0 2 1 *"`, "")
	s.eventually(func() bool {
		command := s.Kubectl(t.Context(), apply...)
		command.Stdin = strings.NewReader(changed)
		out, err := command.CombinedOutput()
		return err != nil && strings.Contains(string(out), "invalid group/version")
	}, "server-side apply has no trouble with them")
	text, _ := s.storageState()
	assert.Contains(t, text, "objects with managedFields about versions that are not served: 1;")

	s.kubectl(t, "patch", "-n", s.ns, crdName, "c", "--type=merge", "-p", `{"metadata":{"managedFields":[{}]}}`)
	s.kubectlWithInput(t, changed, append(apply, "--force-conflicts")...)
	assert.Equal(t, "0 0 2 1 *", s.get("c").Spec.Schedule)
	text, _ = s.storageState()
	assert.NotContains(t, text, "managedFields")
}

func TestTheClusterMigratesWhereItCan(t *testing.T) {
	t.Parallel()
	s := newStoragePlane(t)
	if s.isOlderThan(t, "1.37") {
		t.Skip("StorageVersionMigration of storagemigration.k8s.io/v1 is there from Kubernetes 1.37 on")
	}
	startControllers(t, s.controlPlane, "garbage-collector-controller,storage-version-migrator-controller")
	for i := range 5 {
		s.create(s.cronJob(fmt.Sprintf("old-%d", i)).Schedule(nextYear).Obj())
	}
	s.storeAs("v2")
	out := s.migrates()
	assert.Contains(t, out, "created storageversionmigration.storagemigration.k8s.io/kubectl-cronjob-")
	assert.Contains(t, out, "Succeeded: Migration completed\n")
	assert.Contains(t, out, "status.storedVersions is [v2]")
	assert.Equal(t, []string{"v2"}, s.crd().Status.StoredVersions)
	for name := range s.all() {
		assert.Equal(t, "batch.tutorial.kubebuilder.io/v2", s.storedVersion(name))
	}
}

// TestTheProjectOfTheBookIsTakenOver has this operator follow the one of the kubebuilder book's
// tutorial: its CRD is replaced, its objects and their Jobs stay.
func TestTheProjectOfTheBookIsTakenOver(t *testing.T) {
	t.Parallel()
	plane, err := startControlPlane(t.Context(), withWebhooks)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, plane.stop()) })
	s := newSpaceOn(t, plane, map[string]string{webhooksLabel: webhooksOff})
	ours, book := s.crd(), &apiextensionsv1.CustomResourceDefinition{}
	text, err := os.ReadFile(filepath.Join("testdata", "book-crd.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, book))
	s.replaceCRD(book)

	// What its webhooks admit, and what its conversion makes of a schedule of v2 with nothing set.
	schedules := map[string]struct{ text, wantV2, wantReason string }{
		"fields":  {"0 0 1 1 *", `{"minute":"0","hour":"0","dayOfMonth":"1","month":"1"}`, v1.ReasonScheduled},
		"macro":   {"@yearly", `{"minute":"0","hour":"0","dayOfMonth":"1","month":"1"}`, v1.ReasonScheduled},
		"nothing": {"* * * * *", `{"minute":"*"}`, v1.ReasonSuspended},
		"zone":    {"TZ=UTC 0 0 1 1 *", `{}`, v1.ReasonInvalidSchedule},
	}
	for name, schedule := range schedules {
		c := s.cronJob(name).Schedule(schedule.text).Suspend(schedule.wantReason == v1.ReasonSuspended).Obj()
		s.create(c)
		c.Status.LastScheduleTime = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		c.Status.Conditions = []metav1.Condition{{
			Type: "Available", Status: metav1.ConditionTrue, Reason: "JobsActive", LastTransitionTime: metav1.Now(),
		}}
		require.NoError(t, s.Client.Status().Update(t.Context(), c))
	}
	running := builders.MakeJob(s.get("fields"), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).Obj()
	running.UID, running.ResourceVersion = "", ""
	running.Spec = s.get("fields").Spec.JobTemplate.Spec
	s.create(running)

	s.replaceCRD(ours)
	require.NoError(t, plane.startSharedManager(t.Context()))
	for name, schedule := range schedules {
		c := s.awaitReady(name, map[bool]metav1.ConditionStatus{true: metav1.ConditionFalse, false: metav1.ConditionTrue}[name == "zone"], schedule.wantReason)
		assert.NotNil(t, meta.FindStatusCondition(c.Status.Conditions, "Available"), "those of the book stay")
		inV2, err := json.Marshal(s.getV2(name).Spec.Schedule)
		require.NoError(t, err)
		assert.JSONEq(t, schedule.wantV2, string(inV2))
	}
	require.Len(t, s.get("fields").Status.Active, 1)
	assert.Equal(t, running.Name, s.get("fields").Status.Active[0].Name, "a Job that runs is counted")
	assert.Len(t, s.jobs(""), 1, "and no tick is run again")
	table, _ := s.storageState()
	assert.Regexp(t, `v1 +true +true +true +4\nv2 +true +false +false +0\n$`, table)
}
