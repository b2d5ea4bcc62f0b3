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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// karmada is what Karmada reads of config/karmada: scripts, by what they interpret.
type karmada struct {
	t       *testing.T
	scripts map[string]struct {
		LuaScript string `json:"luaScript"`
	}
}

func newKarmada(t *testing.T) *karmada {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "config", "karmada", "interpreter.yaml"))
	require.NoError(t, err)
	interpreter := map[string]json.RawMessage{}
	require.NoError(t, yaml.UnmarshalStrict(text, &interpreter))
	spec := struct {
		Target         metav1.TypeMeta `json:"target"`
		Customizations json.RawMessage `json:"customizations"`
	}{}
	require.NoError(t, json.Unmarshal(interpreter["spec"], &spec))
	require.Equal(t, metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: "CronJob"}, spec.Target)
	k := &karmada{t: t}
	require.NoError(t, json.Unmarshal(spec.Customizations, &k.scripts))
	return k
}

// call calls the function of a script, with the interpreter of Karmada and the libraries that the
// scripts need.
func (k *karmada) call(script, function string, into any, args ...any) {
	k.t.Helper()
	vm := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer vm.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.MathLibName: lua.OpenMath,
	} {
		require.NoError(k.t, vm.CallByParam(lua.P{Fn: vm.NewFunction(open), Protect: true}, lua.LString(name)))
	}
	require.NoError(k.t, vm.DoString(k.scripts[script].LuaScript))
	var values []lua.LValue
	for _, arg := range args {
		text, err := json.Marshal(arg)
		require.NoError(k.t, err)
		value, err := luajson.Decode(vm, text)
		require.NoError(k.t, err)
		values = append(values, value)
	}
	require.NoError(k.t, vm.CallByParam(lua.P{Fn: vm.GetGlobal(function), NRet: 1, Protect: true}, values...))
	text, err := luajson.Encode(vm.Get(-1))
	require.NoError(k.t, err)
	require.NoError(k.t, json.Unmarshal(text, into))
}

// memberStatus is the status of a CronJob in a cluster, as Karmada keeps it.
type memberStatus struct {
	ClusterName string         `json:"clusterName"`
	Status      map[string]any `json:"status"`
}

// inMember returns what Karmada makes of a CronJob in a cluster.
func (k *karmada) inMember(cluster string, object *unstructured.Unstructured) (member memberStatus, isHealthy bool) {
	k.t.Helper()
	k.call("healthInterpretation", "InterpretHealth", &isHealthy, object)
	member.ClusterName = cluster
	k.call("statusReflection", "ReflectStatus", &member.Status, object)
	return member, isHealthy
}

// The clusters are CronJobs beside each other, of which each has another status.
func TestKarmadaMakesOneStatusOfThoseOfAllClusters(t *testing.T) {
	t.Parallel()
	k, s := newKarmada(t), newSpace(t)
	objects := map[string]*unstructured.Unstructured{}
	for name, reason := range map[string]string{"west": v1.ReasonScheduled, "east": v1.ReasonScheduled} {
		c := s.cronJob(name).Schedule(nextYear).Obj()
		c.Annotations = map[string]string{"resourcetemplate.karmada.io/generation": "1"}
		s.create(c)
		s.awaitReady(name, metav1.ConditionTrue, reason)
	}
	s.runNow("west")
	s.eventually(func() bool { return len(s.activeNames("west")) == 1 }, "it is not counted as active")
	for _, name := range []string{"west", "east"} {
		objects[name] = s.inArgoCD("v1", name)
	}
	west, isHealthy := k.inMember("west", objects["west"])
	assert.True(t, isHealthy)
	assert.NotContains(t, west.Status, "recentRuns")
	east, isHealthy := k.inMember("east", objects["east"])
	assert.True(t, isHealthy)

	aggregated := k.aggregated(s, objects["east"], west, east)
	assert.EqualValues(t, 1, *aggregated.ActiveCount)
	assert.EqualValues(t, 1, aggregated.ObservedGeneration)
	assert.Equal(t, s.get("west").Status.NextScheduleTime, aggregated.NextScheduleTime)
	assert.True(t, meta.IsStatusConditionTrue(aggregated.Conditions, v1.ConditionReady))

	broken := objects["east"].DeepCopy() // as the manager there reports it
	require.NoError(t, unstructured.SetNestedSlice(broken.Object, []any{map[string]any{
		"type": v1.ConditionReady, "status": "False", "reason": v1.ReasonJobCreationFailed, "message": "exceeded quota",
		"lastTransitionTime": "2026-01-01T00:00:00Z",
	}}, "status", "conditions"))
	require.NoError(t, unstructured.SetNestedField(broken.Object, "2026-01-01T00:00:00Z", "status", "lastSuccessfulTime"))
	east, isHealthy = k.inMember("east", broken)
	assert.False(t, isHealthy)
	aggregated = k.aggregated(s, objects["east"], west, east)
	ready := meta.FindStatusCondition(aggregated.Conditions, v1.ConditionReady)
	assert.Equal(t, v1.ReasonJobCreationFailed, ready.Reason)
	assert.Equal(t, "east: exceeded quota", ready.Message)
	assert.Equal(t, "2026-01-01T00:00:00Z", aggregated.LastSuccessfulTime.UTC().Format("2006-01-02T15:04:05Z"))

	unseen := objects["east"].DeepCopy()
	unseen.SetGeneration(2)
	east, isHealthy = k.inMember("east", unseen)
	assert.False(t, isHealthy, "the manager there has not looked at the newest spec")
	assert.EqualValues(t, -1, k.aggregated(s, objects["east"], west, east).ObservedGeneration)
	assert.EqualValues(t, 0, *k.aggregated(s, objects["east"]).ActiveCount, "in no cluster yet")
}

// aggregated returns the status that Karmada writes, if the API server takes it.
func (k *karmada) aggregated(s *space, object *unstructured.Unstructured, members ...memberStatus) v1.CronJobStatus {
	k.t.Helper()
	made := &unstructured.Unstructured{}
	k.call("statusAggregation", "AggregateStatus", &made.Object, object, members)
	status, _, err := unstructured.NestedMap(made.Object, "status")
	require.NoError(k.t, err)
	stored := &v1.CronJob{}
	patch, err := json.Marshal(map[string]any{"status": status})
	require.NoError(k.t, err)
	stored.Namespace, stored.Name = object.GetNamespace(), object.GetName()
	merge := client.RawPatch("application/merge-patch+json", patch)
	require.NoError(k.t, s.Client.Status().Patch(k.t.Context(), stored, merge, client.DryRunAll))
	return stored.Status
}
