// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	luajson "layeh.com/gopher-json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	suspendcli "tutorial.kubebuilder.io/project/internal/cli/suspend"
)

// argoCD is what Argo CD reads of config/argocd.
type argoCD struct {
	t       *testing.T
	health  string
	actions struct {
		Discovery   string `json:"discovery.lua"`
		Definitions []struct {
			Name   string `json:"name"`
			Action string `json:"action.lua"`
		} `json:"definitions"`
	}
}

func newArgoCD(t *testing.T) *argoCD {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "config", "argocd", "argocd-cm.yaml"))
	require.NoError(t, err)
	config := &corev1.ConfigMap{}
	require.NoError(t, yaml.UnmarshalStrict(text, config))
	require.Equal(t, "argocd-cm", config.Name)
	const kind = "batch.tutorial.kubebuilder.io_CronJob"
	a := &argoCD{t: t, health: config.Data["resource.customizations.health."+kind]}
	require.NoError(t, yaml.UnmarshalStrict([]byte(config.Data["resource.customizations.actions."+kind]), &a.actions))
	return a
}

// run runs a script about an object with the interpreter and the libraries that Argo CD has for
// scripts of argocd-cm: no string library, and of os the date and the time alone.
func (a *argoCD) run(script string, object *unstructured.Unstructured, into any) error {
	a.t.Helper()
	vm := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer vm.Close()
	for _, open := range []lua.LGFunction{lua.OpenPackage, lua.OpenBase, lua.OpenTable} {
		vm.Push(vm.NewFunction(open))
		vm.Call(0, 0)
	}
	vm.PreloadModule(lua.OsLibName, func(vm *lua.LState) int {
		lua.OpenOs(vm)
		all, safe := vm.CheckTable(-1), vm.NewTable()
		for _, name := range []string{"date", "time"} {
			safe.RawSetString(name, all.RawGetString(name))
		}
		vm.SetGlobal(lua.OsLibName, lua.LNil)
		vm.Push(safe)
		return 1
	})
	text, err := object.MarshalJSON()
	require.NoError(a.t, err)
	value, err := luajson.Decode(vm, text)
	require.NoError(a.t, err)
	vm.SetGlobal("obj", value)
	if err := vm.DoString(script); err != nil {
		return err
	}
	text, err = luajson.Encode(vm.Get(-1))
	require.NoError(a.t, err)
	require.NoError(a.t, json.Unmarshal(text, into))
	return nil
}

// healthOf returns what Argo CD shows of an object.
func (a *argoCD) healthOf(object *unstructured.Unstructured) (status, message string) {
	a.t.Helper()
	health := struct{ Status, Message string }{}
	require.NoError(a.t, a.run(a.health, object, &health))
	return health.Status, health.Message
}

// disabled returns which actions there are, and whether Argo CD offers them.
func (a *argoCD) disabled(object *unstructured.Unstructured) map[string]bool {
	a.t.Helper()
	found := map[string]struct {
		Disabled    bool
		DisplayName string
	}{}
	require.NoError(a.t, a.run(a.actions.Discovery, object, &found))
	disabled := map[string]bool{}
	for name, action := range found {
		disabled[name] = action.Disabled
		assert.NotEmpty(a.t, action.DisplayName, name)
	}
	return disabled
}

// act runs the script of an action.
func (a *argoCD) act(name string, object *unstructured.Unstructured, into any) error {
	a.t.Helper()
	for _, definition := range a.actions.Definitions {
		if definition.Name == name {
			return a.run(definition.Action, object, into)
		}
	}
	require.Failf(a.t, "no such action", name)
	return nil
}

// patch changes an object as an action does that returns it.
func (a *argoCD) patch(s *space, name string, object *unstructured.Unstructured) {
	a.t.Helper()
	changed := map[string]any{}
	require.NoError(a.t, a.act(name, object, &changed))
	before, err := json.Marshal(object.Object)
	require.NoError(a.t, err)
	after, err := json.Marshal(restoreEmpty(changed, object.Object))
	require.NoError(a.t, err)
	patch, err := jsonpatch.CreateMergePatch(before, after)
	require.NoError(a.t, err)
	require.NoError(a.t, s.Client.Patch(a.t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, patch)))
}

// restoreEmpty gives back what was an empty object before Lua made a list of it, as Argo CD does
// with objects that are changed.
func restoreEmpty(value, before any) any {
	switch before := before.(type) {
	case map[string]any:
		if list, ok := value.([]any); ok && len(list) == 0 {
			return before
		}
		object, _ := value.(map[string]any)
		for key := range object {
			object[key] = restoreEmpty(object[key], before[key])
		}
	case []any:
		list, _ := value.([]any)
		for i := range min(len(list), len(before)) {
			list[i] = restoreEmpty(list[i], before[i])
		}
	}
	return value
}

// newJob returns the Job that the action run creates.
func (a *argoCD) newJob(object *unstructured.Unstructured) (*batchv1.Job, error) {
	a.t.Helper()
	var impacted []struct {
		Operation string          `json:"operation"`
		Resource  json.RawMessage `json:"resource"`
	}
	if err := a.act("run", object, &impacted); err != nil {
		return nil, err
	}
	require.Len(a.t, impacted, 1)
	assert.Equal(a.t, "create", impacted[0].Operation)
	job := &batchv1.Job{}
	return job, yaml.UnmarshalStrict(impacted[0].Resource, job)
}

// inArgoCD reads a CronJob in a version.
func (s *space) inArgoCD(version, name string) *unstructured.Unstructured {
	s.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("batch.tutorial.kubebuilder.io/" + version)
	object.SetKind("CronJob")
	require.NoError(s.t, s.Client.Get(s.t.Context(), s.key(name), object))
	return object
}

func TestArgoCDSuspendsAndResumes(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a, s := newArgoCD(t), newSpace(t)
			s.create(s.cronJobOfAllKinds("c"))
			before := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
			assert.Equal(t, map[string]bool{"run": false, "suspend": false, "resume": true}, a.disabled(s.inArgoCD(version, "c")))

			a.patch(s, "suspend", s.inArgoCD(version, "c"))
			s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
			assert.Equal(t, map[string]bool{"run": false, "suspend": true, "resume": false}, a.disabled(s.inArgoCD(version, "c")))
			a.patch(s, "resume", s.inArgoCD(version, "c"))
			assert.Equal(t, before.Spec, s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled).Spec)

			s.plugin("suspend", "c", "--until=6h", "--reason=storage is moved").succeeds()
			assert.Contains(t, s.get("c").Annotations, suspendcli.SuspendReasonAnnotation)
			assert.Equal(t, map[string]bool{"run": false, "suspend": false, "resume": false}, a.disabled(s.inArgoCD(version, "c")))
			a.patch(s, "resume", s.inArgoCD(version, "c"))
			resumed := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
			assert.Equal(t, before.Spec, resumed.Spec)
			assert.Equal(t, annotationsOf(before), annotationsOf(resumed))
		})
	}
}

// cronJobOfAllKinds is a CronJob whose template has what Lua could change: empty objects, large
// numbers, texts that look like numbers, lists of one.
func (s *space) cronJobOfAllKinds(name string) *v1.CronJob {
	c := s.cronJob(name).Schedule(nextYear).Obj()
	c.Spec.JobTemplate.Labels = map[string]string{"app": "a"}
	c.Spec.JobTemplate.Annotations = map[string]string{v1.ScheduledAtAnnotation: "2026-01-01T00:00:00Z"}
	c.Spec.JobTemplate.Spec.BackoffLimit = new(int32(0))
	pod := &c.Spec.JobTemplate.Spec.Template.Spec
	pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1000660000))}
	pod.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	pod.Containers[0].Args = []string{"0123", "true"}
	pod.Containers[0].SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{}}
	return c
}

func TestArgoCDRunsWhatThePluginRuns(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a, s := newArgoCD(t), newSpace(t)
			s.create(s.cronJobOfAllKinds("c"))
			job, err := a.newJob(s.inArgoCD(version, "c"))
			require.NoError(t, err)
			require.NoError(t, s.Client.Create(t.Context(), job))
			s.eventually(func() bool { return len(s.activeNames("c")) == 1 }, "it is not counted as active")
			assert.Equal(t, []string{job.Name}, s.activeNames("c"))
			assert.Nil(t, s.get("c").Status.LastScheduleTime, "it was no tick")

			assert.Regexp(t, `^c-manual-\w+$`, job.Name)
			want := s.runNow("c")
			assert.Contains(t, job.Spec.Template.Annotations, v1.ScheduledAtAnnotation)
			for _, made := range []*batchv1.Job{job, want} {
				made.Spec.Template.Annotations[v1.ScheduledAtAnnotation] = "the time"
				made.Spec.Template.Spec.Containers[0].SecurityContext = nil // empty or left out: it is the same
				made.Spec.Selector = nil                                    // by its name and UID, as are the labels
				for _, label := range []string{batchv1.ControllerUidLabel, batchv1.JobNameLabel, "controller-uid", "job-name"} {
					delete(made.Labels, label)
					delete(made.Spec.Template.Labels, label)
				}
			}
			assert.Equal(t, want.Spec, job.Spec)
			assert.Equal(t, want.Labels, job.Labels)
			assert.Equal(t, want.Annotations, job.Annotations)
			assert.Equal(t, want.OwnerReferences, job.OwnerReferences)
		})
	}
}

func TestArgoCDRunsNothingThatTheCronJobForbids(t *testing.T) {
	t.Parallel()
	a, s := newArgoCD(t), newSpace(t)
	refuses := func(name, why string) {
		t.Helper()
		object := s.inArgoCD("v2", name)
		assert.True(t, a.disabled(object)["run"], name)
		_, err := a.newJob(object)
		assert.ErrorContains(t, err, why)
	}
	for policy, why := range map[v1.ConcurrencyPolicy]string{
		v1.ForbidConcurrent: "concurrencyPolicy is Forbid, and a Job runs", v1.ReplaceConcurrent: "concurrencyPolicy is Replace, and a Job runs",
	} {
		name := toName(string(policy))
		s.create(s.cronJob(name).Schedule(nextYear).Policy(policy).Obj())
		s.runNow(name)
		s.eventually(func() bool { return len(s.activeNames(name)) == 1 }, "it is not counted as active")
		refuses(name, why)
	}
	deleted := s.cronJob("deleted").Schedule(nextYear).Obj()
	deleted.Finalizers = []string{"test.example/held"}
	s.create(deleted)
	s.delete("deleted")
	refuses("deleted", "the CronJob is being deleted")

	spread := s.cronJob("spread").Schedule(nextYear).Obj()
	spread.Spec.JobTemplate.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{},
	}}
	s.create(spread)
	_, err := a.newJob(s.inArgoCD("v1", "spread"))
	assert.ErrorContains(t, err, "Argo CD can't copy an empty labelSelector of the template: use kubectl cronjob run")
}

func TestArgoCDsConfigMapTakesTheConfiguration(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "argocd-cm"}, Data: map[string]string{"url": "https://a"}})
	s.kubectl(t, "-n", s.ns, "patch", "configmap", "argocd-cm", "--patch-file", "config/argocd/argocd-cm.yaml")
	patched := &corev1.ConfigMap{}
	require.NoError(t, s.Client.Get(t.Context(), s.key("argocd-cm"), patched))
	assert.Len(t, patched.Data, 3)
}
