// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// yearly is the same schedule in both versions, as its fields would be written.
var yearly = map[string]string{
	"v1": `schedule: 0 0 1 1 *`,
	"v2": `schedule: {minute: "0", hour: "0", dayOfMonth: "1", month: "1"}`,
}

// twiceYearly is another.
var twiceYearly = map[string]string{
	"v1": `schedule: 0 0 1 1,7 *`,
	"v2": `schedule: {minute: "0", hour: "0", dayOfMonth: "1", month: "1,7"}`,
}

// jobTemplate is the shortest there is.
const jobTemplate = `jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}}`

// object makes a CronJob in a version from the lines of its spec.
func (s *space) object(version, name string, spec ...string) *unstructured.Unstructured {
	s.t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch.tutorial.kubebuilder.io/" + version,
		"kind":       "CronJob",
		"metadata":   map[string]any{"namespace": s.ns, "name": name},
	}}
	parsed := map[string]any{}
	for _, line := range spec {
		part := map[string]any{}
		require.NoError(s.t, yaml.Unmarshal([]byte(line), &part), line)
		maps.Copy(parsed, part)
	}
	u.Object["spec"] = parsed
	return u
}

// apply applies a part of a CronJob on the server, as one of its managers.
func (s *space) apply(manager, version, spec string, options ...client.ApplyOption) error {
	s.t.Helper()
	options = append(options, client.FieldOwner(manager))
	return s.Client.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(s.object(version, "c", spec)), options...)
}

// ownersOf returns who owns a field, as "manager in version".
func (s *space) ownersOf(path ...string) []string {
	s.t.Helper()
	var owners []string
	for i := range path {
		path[i] = "f:" + path[i]
	}
	for _, entry := range s.get("c").ManagedFields {
		fields := map[string]any{}
		require.NoError(s.t, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields))
		if _, owns, _ := unstructured.NestedFieldNoCopy(fields, path...); owns {
			owners = append(owners, entry.Manager+" in "+strings.TrimPrefix(entry.APIVersion, v1.GroupVersion.Group+"/"))
		}
	}
	return owners
}

func TestServerSideApplySharesAScheduleThatBothVersionsSayAlike(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"v1", "v2"} {
		t.Run("first in "+first, func(t *testing.T) {
			s := newSpace(t)
			second := map[string]string{"v1": "v2", "v2": "v1"}[first]
			require.NoError(t, s.apply("one", first, yearly[first]+"\n"+jobTemplate))
			s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
			before := s.get("c")

			require.NoError(t, s.apply("two", second, yearly[second]))
			require.NoError(t, s.apply("one", first, yearly[first]+"\n"+jobTemplate), "and in turn")
			assert.ElementsMatch(t, []string{"one in " + first, "two in " + second}, s.ownersOf("spec", "schedule"))
			after := s.get("c")
			assert.Equal(t, before.Spec, after.Spec)
			assert.Equal(t, before.Generation, after.Generation)
			assert.Equal(t, before.Status, after.Status, "the status is the manager's")
		})
	}
}

func TestServerSideApplyOfAChangedScheduleInTheOtherVersionConflictsUntilForced(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"v1", "v2"} {
		t.Run("first in "+first, func(t *testing.T) {
			s := newSpace(t)
			second := map[string]string{"v1": "v2", "v2": "v1"}[first]
			require.NoError(t, s.apply("one", first, yearly[first]+"\n"+jobTemplate))
			s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)

			err := s.apply("two", second, twiceYearly[second])
			require.True(t, apierrors.IsConflict(err), "got %v", err)
			assert.ErrorContains(t, err, `conflict with "one"`)
			assert.ErrorContains(t, err, ".spec.schedule")
			assert.Equal(t, "0 0 1 1 *", s.get("c").Spec.Schedule)

			require.NoError(t, s.apply("two", second, twiceYearly[second], client.ForceOwnership))
			assert.Equal(t, "0 0 1 1,7 *", s.get("c").Spec.Schedule)
			assert.Equal(t, []string{"two in " + second}, s.ownersOf("spec", "schedule"))
			edited := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
			assert.EqualValues(t, 2, edited.Generation)
		})
	}
}

func TestServerSideApplyOfAMacroTheFieldsOfWhichAreAppliedInV2KeepsTheMacro(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	require.NoError(t, s.apply("one", "v1", "schedule: '@yearly'\n"+jobTemplate))
	require.NoError(t, s.apply("two", "v2", yearly["v2"]))
	require.NoError(t, s.apply("one", "v1", "schedule: '@yearly'\n"+jobTemplate))
	c := s.get("c")
	assert.Equal(t, "@yearly", c.Spec.Schedule)
	assert.EqualValues(t, 1, c.Generation)

	require.NoError(t, s.apply("two", "v2", twiceYearly["v2"], client.ForceOwnership))
	assert.Equal(t, "0 0 1 1,7 *", s.get("c").Spec.Schedule, "the macro does not come back")
	assert.Empty(t, annotationsOf(s.get("c")))
}

func TestC1ServerSideApplyTakesPartialObjectsInEitherVersion(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	require.NoError(t, s.apply("template", "v1", yearly["v1"]+"\n"+jobTemplate))
	parts := []struct{ owner, version, spec string }{
		{"pauses", "v2", "suspend: true"},
		{"schedules", "v2", yearly["v2"]},
		{"limits", "v1", "failedJobsHistoryLimit: 5"},
		{"zones", "v2", "timeZone: Europe/Paris"},
		{"pauses", "v2", "suspend: true"},
	}
	for _, part := range parts {
		require.NoError(t, s.apply(part.owner, part.version, part.spec), "%s in %s", part.spec, part.version)
	}
	c := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	assert.Equal(t, new(true), c.Spec.Suspend)
	assert.Equal(t, "0 0 1 1 *", c.Spec.Schedule)
	assert.Equal(t, new(int32(5)), c.Spec.FailedJobsHistoryLimit)
	assert.Equal(t, new("Europe/Paris"), c.Spec.TimeZone)
	assert.Equal(t, []string{"zones in v2"}, s.ownersOf("spec", "timeZone"))
	assert.ElementsMatch(t, []string{"template in v1", "schedules in v2"}, s.ownersOf("spec", "schedule"))

	// What only one owned goes when that one lets go of it; what another owns too stays.
	require.NoError(t, s.apply("zones", "v2", "suspend: true"))
	require.NoError(t, s.apply("schedules", "v2", "suspend: true"))
	c = s.get("c")
	assert.Nil(t, c.Spec.TimeZone)
	assert.Equal(t, "0 0 1 1 *", c.Spec.Schedule)
}

func TestC1ServerSideApplyOfAPartWithNothingToJoinIsRefusedAndBreaksNothing(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for _, version := range []string{"v1", "v2"} {
		err := s.apply("alone", version, "suspend: true")
		require.True(t, apierrors.IsInvalid(err), "%s: %v", version, err)
		assert.ErrorContains(t, err, "spec.schedule: Required value", version)
	}
}

// managedParts are fields that managers apply and let go of, each with values to choose from. None
// has a default.
var managedParts = []struct {
	path   []string
	values []any
}{
	{[]string{"metadata", "labels", "team"}, []any{"red", "blue"}},
	{[]string{"metadata", "labels", "app"}, []any{"one"}},
	{[]string{"metadata", "annotations", "example.com/note"}, []any{"x", "y"}},
	{[]string{"spec", "startingDeadlineSeconds"}, []any{int64(77), int64(78)}},
	{[]string{"spec", "timeZone"}, []any{"Europe/Paris", "Asia/Tokyo"}},
	{[]string{"spec", "jobTemplate", "metadata", "labels", "tier"}, []any{"low"}},
}

// managedSchedules are schedules of both versions, some of which the other version keeps in an
// annotation.
var managedSchedules = map[string][]any{
	"v1": {"0 0 1 1 *", "@yearly", "@every 8760h"},
	"v2": {
		map[string]any{"minute": "0", "hour": "0", "dayOfMonth": "1", "month": "1"},
		map[string]any{"minute": "0", "hour": "0", "dayOfMonth": "1", "month": "1", "dayOfWeek": "*"},
		map[string]any{"every": "8760h"},
	},
}

func TestC1ServerSideApplyTakesManagersThatChangeVersionWhileTheirFieldsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	random := rand.New(rand.NewPCG(1, 2))
	owned := map[string]map[string]any{} // the values that each manager applied and that no other took from it
	for step := range 150 {
		manager, version := []string{"base", "a", "b", "c"}[random.IntN(4)], []string{"v1", "v2"}[random.IntN(2)]
		if step == 0 {
			manager = "base" // it alone applies what a CronJob needs
		}
		config := s.object(version, "c")
		schedules := managedSchedules[version]
		switch {
		case manager == "base":
			config = s.object(version, "c", jobTemplate)
			require.NoError(t, unstructured.SetNestedField(config.Object, schedules[random.IntN(len(schedules))], "spec", "schedule"))
		case random.IntN(3) == 0: // shares the schedule
			live := s.object(version, "c")
			require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(live), live))
			config.Object["spec"] = map[string]any{"schedule": live.Object["spec"].(map[string]any)["schedule"]}
		default:
			unstructured.RemoveNestedField(config.Object, "spec")
		}
		owned[manager] = map[string]any{}
		for _, part := range managedParts {
			if random.IntN(2) == 0 {
				continue
			}
			value, path := part.values[random.IntN(len(part.values))], strings.Join(part.path, " ")
			require.NoError(t, unstructured.SetNestedField(config.Object, value, part.path...))
			for _, fields := range owned {
				if fields[path] != value {
					delete(fields, path)
				}
			}
			owned[manager][path] = value
		}
		require.NoError(t, s.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(config),
			client.FieldOwner(manager), client.ForceOwnership), "step %d: %s in %s applies %v", step, manager, version, config.Object)
		s.requireOwnedAlone(owned)
		s.requireNobodyOwnsTheShownSchedule("c")
	}
}

// requireOwnedAlone requires in both versions that those of the managed parts are there that
// somebody owns, and no others.
func (s *space) requireOwnedAlone(owned map[string]map[string]any) {
	s.t.Helper()
	for _, version := range []string{"v1", "v2"} {
		object := s.object(version, "c")
		require.NoError(s.t, s.Client.Get(s.t.Context(), client.ObjectKeyFromObject(object), object))
		for _, part := range managedParts {
			var want any
			for _, fields := range owned {
				if value, ok := fields[strings.Join(part.path, " ")]; ok {
					want = value
				}
			}
			got, _, err := unstructured.NestedFieldNoCopy(object.Object, part.path...)
			require.NoError(s.t, err)
			require.Equal(s.t, want, got, "%v in %s, of %v", part.path, version, owned)
		}
	}
}
