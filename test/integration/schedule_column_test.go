// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// schedulesIn returns the column SCHEDULE that kubectl prints of CronJobs in a version, by name.
func (s *space) schedulesIn(version string) map[string]string {
	s.t.Helper()
	schedules := map[string]string{}
	for _, row := range parseTable(s.t, s.kubectl(s.t, "get", "-n", s.ns, cronJobsIn(version))).rows {
		schedules[row["NAME"]] = row["SCHEDULE"]
	}
	return schedules
}

// kubectlCreate creates an object with kubectl and returns what the API server answers.
func (s *space) kubectlCreate(object *unstructured.Unstructured) *unstructured.Unstructured {
	s.t.Helper()
	manifest, err := object.MarshalJSON()
	require.NoError(s.t, err)
	created := &unstructured.Unstructured{}
	out := s.kubectlWithInput(s.t, string(manifest), "create", "-f", "-", "-o", "json")
	require.NoError(s.t, created.UnmarshalJSON([]byte(out)), out)
	return created
}

func TestAV2CronJobShowsItsScheduleAsTextBeforeTheFirstReconcile(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for name, test := range map[string]struct{ schedule, want string }{
		"fields":   {`schedule: {minute: "0", hour: "3"}`, "0 3 * * *"},
		"interval": {`schedule: {every: 90m}`, "@every 90m"},
		"kept":     {`schedule: {minute: "0", hour: "*"}`, "0 * * * *"},
	} {
		created := s.kubectlCreate(s.object("v2", name, test.schedule, "suspend: true", jobTemplate))
		assert.Equal(t, map[string]any{"schedule": test.want, "observedGeneration": int64(-1)}, created.Object["status"],
			"the manager has not written yet")
		assert.Equal(t, test.want, s.schedulesIn("v2")[name])
	}
	assert.Equal(t, s.schedulesIn("v1"), s.schedulesIn("v2"), "A7")
}

func TestBothVersionsShowTheScheduleThatIsStoredWhateverItIs(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff})
	stored := map[string]string{
		"macro": "@daily", "interval": "@every 90m", "two-blanks": "0  3  *  *  *", "garbage": "sometimes", "no-interval": "@every soon",
		"zone": "TZ=Europe/Paris 0 3 * * *", "never": "0 0 30 2 *", "json": `{"minute":"0"}`, "out-of-range": "99 * * * *",
	}
	for name, schedule := range stored {
		s.create(s.cronJob(name).Schedule(schedule).Suspend(true).Obj())
	}
	for _, version := range []string{"v1", "v2"} {
		assert.Equal(t, stored, s.schedulesIn(version), version)
	}

	tooLong := strings.Repeat("x", 5_000)
	s.storeRaw("too-long", `{"schedule":"`+tooLong+`","suspend":true,"jobTemplate":{"spec":{"template":{"spec":{"containers":[]}}}}}`)
	assert.Equal(t, tooLong[:1024]+"…", s.getV2("too-long").Status.Schedule)
}

// staleEdits change the schedule of the v2 CronJob "c" to {minute: "30"}. The file has the CronJob
// as it was read, with this schedule. All but the first edit send the status as it was read, which
// shows the schedule of before.
var staleEdits = map[string]func(s *space, file string){
	"a patch of the schedule": func(s *space, _ string) {
		s.kubectl(s.t, "patch", "-n", s.ns, cronJobsIn("v2"), "c", "--type=merge", "-p", `{"spec":{"schedule":{"minute":"30"}}}`)
	},
	"a patch of both": func(s *space, _ string) {
		s.kubectl(s.t, "patch", "-n", s.ns, cronJobsIn("v2"), "c", "--type=merge", "-p",
			`{"spec":{"schedule":{"minute":"30"}},"status":{"schedule":"0 * * * *"}}`)
	},
	"replace": func(s *space, file string) { s.kubectl(s.t, "replace", "-n", s.ns, "-f", file) },
	"apply":   func(s *space, file string) { s.kubectl(s.t, "apply", "-n", s.ns, "-f", file) },
	"edit": func(s *space, file string) {
		command := s.Kubectl(s.t.Context(), "edit", "-n", s.ns, cronJobsIn("v2"), "c")
		command.Env = append(command.Environ(), "KUBE_EDITOR=cp "+file)
		out, err := command.CombinedOutput()
		require.NoError(s.t, err, string(out))
		require.Contains(s.t, string(out), "edited")
	},
}

func TestAnEditThatSendsAStaleScheduleInTheStatusShowsTheNewOne(t *testing.T) {
	t.Parallel()
	for name, edit := range staleEdits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.kubectlCreate(s.object("v2", "c", `schedule: {minute: "0"}`, "suspend: true", jobTemplate))
			s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
			text := s.kubectl(t, "get", "-n", s.ns, cronJobsIn("v2"), "c", "-o", "yaml")
			require.Contains(t, text, "  schedule: 0 * * * *\n", "the status shows it")
			file := filepath.Join(t.TempDir(), "c.yaml")
			require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, `minute: "0"`, `minute: "30"`, 1)), 0o600))

			edit(s, file)
			assert.Equal(t, "30 * * * *", s.getV2("c").Status.Schedule)
			assert.Equal(t, map[string]string{"c": "30 * * * *"}, s.schedulesIn("v2"))
			assert.EqualValues(t, 2, s.get("c").Generation)
			s.requireNobodyOwnsTheShownSchedule("c")
		})
	}
}

func TestTheScheduleInTheStatusCanNotBeWritten(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.kubectlCreate(s.object("v2", "c", `schedule: {minute: "0"}`, "suspend: true", jobTemplate))
	before := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	for _, subresource := range [][]string{nil, {"--subresource=status"}} {
		patch := []string{"patch", "-n", s.ns, cronJobsIn("v2"), "c", "--type=merge", "-p", `{"status":{"schedule":"mine"}}`}
		s.kubectl(t, append(patch, subresource...)...)
		assert.Equal(t, "0 * * * *", s.getV2("c").Status.Schedule)
		assert.Equal(t, before.Status, s.get("c").Status)
	}
}

// requireNobodyOwnsTheShownSchedule requires that the managed fields do not name status.schedule,
// and the status only where it was written.
func (s *space) requireNobodyOwnsTheShownSchedule(name string) {
	s.t.Helper()
	for _, entry := range s.get(name).ManagedFields {
		fields := map[string]any{}
		require.NoError(s.t, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields))
		status, ownsStatus := fields["f:status"].(map[string]any)
		require.NotContains(s.t, status, "f:schedule", "%s in %s", entry.Manager, entry.APIVersion)
		require.Equal(s.t, entry.Subresource == "status", ownsStatus, "%s in %s", entry.Manager, entry.APIVersion)
	}
}

func TestServerSideApplyInV2OwnsNothingOfTheStatusThatShowsTheSchedule(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	require.NoError(t, s.apply("one", "v2", yearly["v2"]+"\nsuspend: true\n"+jobTemplate))
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	s.requireNobodyOwnsTheShownSchedule("c")

	before := s.get("c")
	require.NoError(t, s.apply("one", "v2", yearly["v2"]+"\nsuspend: true\n"+jobTemplate))
	assert.Equal(t, before.ResourceVersion, s.get("c").ResourceVersion, "the same again changes nothing")

	// An edit in v1 changes what v2 shows, and is not a conflict with whoever applies in v2.
	s.edit("c", func(c *v1.CronJob) { c.Spec.FailedJobsHistoryLimit = new(int32(7)) })
	require.NoError(t, s.apply("two", "v1", twiceYearly["v1"], client.ForceOwnership))
	require.NoError(t, s.apply("one", "v2", "suspend: true\n"+jobTemplate))
	require.NoError(t, s.apply("two", "v1", yearly["v1"]))
	assert.Equal(t, "0 0 1 1 *", s.getV2("c").Status.Schedule)
	s.requireNobodyOwnsTheShownSchedule("c")

	// Nor is it owned by whoever owns what was there before the first apply.
	require.NoError(t, s.Client.Patch(t.Context(), s.get("c"), client.RawPatch(types.JSONPatchType,
		[]byte(`[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`))))
	require.Empty(t, s.get("c").ManagedFields)
	require.NoError(t, s.apply("one", "v2", "suspend: true"))
	require.NotEmpty(t, s.get("c").ManagedFields)
	s.requireNobodyOwnsTheShownSchedule("c")
}

func TestServerSideApplyTakesAManifestInV2WithTheStatusThatWasRead(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	manifest := s.object("v2", "c", yearly["v2"], "suspend: true", jobTemplate)
	require.NoError(t, unstructured.SetNestedField(manifest.Object, "0 3 * * *", "status", "schedule"))
	text, err := yaml.Marshal(manifest)
	require.NoError(t, err)
	for range 2 {
		s.kubectlWithInput(t, string(text), "apply", "--server-side", "-f", "-")
		assert.Equal(t, "0 0 1 1 *", s.getV2("c").Status.Schedule)
		s.requireNobodyOwnsTheShownSchedule("c")
	}
}

func TestKubectlWatchShowsTheScheduleAndItsEdit(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.kubectlCreate(s.object("v2", "c", `schedule: {minute: "0", hour: "3"}`, "suspend: true", jobTemplate))
	shown := &lockedBuffer{}
	watch := s.Kubectl(t.Context(), "get", "-n", s.ns, "tcj", "--watch")
	watch.Stdout, watch.Stderr = shown, shown
	require.NoError(t, watch.Start())
	defer func() {
		require.NoError(t, watch.Process.Kill())
		_ = watch.Wait() // it was killed
	}()
	s.eventually(func() bool { return strings.Contains(shown.String(), " 0 3 * * * ") }, "not shown: %s", shown)
	s.edit("c", func(c *v1.CronJob) { c.Spec.Schedule = "@every 90m" })
	s.eventually(func() bool { return strings.Contains(shown.String(), " @every 90m ") }, "the edit is not shown: %s", shown)
	assert.NotContains(t, shown.String(), "{")
}
