// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

func TestS19TheFirstTickOfAllSchedulesIsNextAndAnEditOfOneIsNoticed(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	now := time.Now().UTC()
	first := now.AddDate(1, 0, 0)
	for _, month := range []time.Month{time.January, time.February, time.March} {
		for year := range 2 {
			if tick := time.Date(now.Year()+year, month, 1, 0, 0, 0, 0, time.UTC); tick.After(now) && tick.Before(first) {
				first = tick
			}
		}
	}
	s.create(s.cronJob("c").Schedule("0 0 1 2 *").Also("@yearly", "0 0 1 3 *").Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	status := s.get("c").Status
	assert.WithinDuration(t, first, status.NextScheduleTime.Time, 0)
	assert.Equal(t, "0 0 1 2 * | @yearly | 0 0 1 3 *", status.ObservedSchedule)

	s.edit("c", func(c *v1.CronJob) { c.Spec.AdditionalSchedules[0] = "0 0 1 4 *" })
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	assert.Equal(t, "0 0 1 2 * | 0 0 1 4 * | 0 0 1 3 *", s.getV2("c").Status.ObservedSchedule)
	assert.Equal(t, "0 0 1 2 *", s.getV2("c").Status.Schedule, "the column shows the first")
}

func TestC2C6AdditionalSchedulesOfV1KeepTheirSpellingWhileOneIsEditedInV2(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@hourly").Also("@daily", "5  * * * *", "0 12 * * 6").Suspend(true).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	inV2 := s.getV2("c")
	assert.Equal(t, []v2.CronSchedule{
		{Minute: field("0"), Hour: field("0")}, {Minute: field("5")}, {Minute: field("0"), Hour: field("12"), DayOfWeek: field("6")},
	}, inV2.Spec.AdditionalSchedules)
	edit := func(change func(*v2.CronJob)) {
		t.Helper()
		c := s.getV2("c")
		before := c.DeepCopy()
		change(c)
		require.NoError(t, s.Client.Patch(t.Context(), c, client.MergeFrom(before)))
	}
	for _, step := range []struct {
		change func(*v2.CronJob)
		want   []string
	}{
		{func(c *v2.CronJob) { c.Labels = map[string]string{"a": "b"} }, []string{"@daily", "5  * * * *", "0 12 * * 6"}},
		{func(c *v2.CronJob) { c.Spec.AdditionalSchedules[1].Minute = field("7") }, []string{"@daily", "7 * * * *", "0 12 * * 6"}},
		{func(c *v2.CronJob) { c.Spec.AdditionalSchedules[1].Minute = field("5") }, []string{"@daily", "5 * * * *", "0 12 * * 6"}},
		{func(c *v2.CronJob) {
			a := c.Spec.AdditionalSchedules
			c.Spec.AdditionalSchedules = []v2.CronSchedule{a[2], a[0]}
		}, []string{"0 12 * * 6", "@daily"}},
	} {
		edit(step.change)
		inV1 := s.get("c")
		assert.Equal(t, "@hourly", inV1.Spec.Schedule)
		assert.Equal(t, step.want, inV1.Spec.AdditionalSchedules)
		assert.Empty(t, annotationsOf(inV1))
	}
	edit(func(c *v2.CronJob) { c.Spec.AdditionalSchedules = nil })
	assert.Empty(t, s.get("c").Spec.AdditionalSchedules)
	assert.Equal(t, map[string]string{v2.ScheduleV1Annotation: "@hourly"}, annotationsOf(s.getV2("c")))
}

func TestC3C6AdditionalSchedulesOfV2KeepTheirShapeWhileOneIsEditedInV1(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	starred := v2.CronSchedule{Minute: field("0"), Hour: field("*")}
	written := s.cronJobV2("c", starred)
	written.Spec.AdditionalSchedules = []v2.CronSchedule{{Minute: field("5")}, starred}
	s.create(written)
	assert.Equal(t, []string{"5 * * * *", "0 * * * *"}, s.get("c").Spec.AdditionalSchedules)
	s.edit("c", func(c *v1.CronJob) { c.Spec.AdditionalSchedules[0] = "@daily" })
	inV2 := s.getV2("c")
	assert.Equal(t, starred, inV2.Spec.Schedule)
	assert.Equal(t, []v2.CronSchedule{{Minute: field("0"), Hour: field("0")}, starred}, inV2.Spec.AdditionalSchedules)
	s.edit("c", func(c *v1.CronJob) { c.Spec.AdditionalSchedules = []string{"7 * * * *", "0 * * * *", "@daily"} })
	assert.Equal(t, []v2.CronSchedule{{Minute: field("7")}, starred, {Minute: field("0"), Hour: field("0")}}, s.getV2("c").Spec.AdditionalSchedules)
	s.edit("c", func(c *v1.CronJob) { c.Spec.AdditionalSchedules = nil })
	assert.NotContains(t, s.get("c").Annotations, v2.AdditionalSchedulesV2Annotation, "what is stale is dropped")
}

func TestA5WrongAdditionalSchedulesAreRefusedAtTheirFieldInBothVersions(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	const combined = "an interval can't be combined with other schedules: write cron fields"
	many := func(schedule string) string { return "[" + strings.Repeat(schedule+",", 17) + "]" }
	for _, tc := range []struct{ version, schedule, additional, want string }{
		{"v1", `"@daily"`, `["@hourly", "61 * * * *"]`, `spec.additionalSchedules[1]: Invalid value: "61 * * * *": not a schedule: minute "61": must be`},
		{"v1", `"@daily"`, `["0 0 30 2 *"]`, `spec.additionalSchedules[0]: Invalid value: "0 0 30 2 *": never fires`},
		{"v1", `"@daily"`, `["@every 5m"]`, `spec.additionalSchedules[0]: Invalid value: "@every 5m": ` + combined},
		{"v1", `"@every 5m"`, `["@daily"]`, `spec.schedule: Invalid value: "@every 5m": ` + combined},
		{"v1", `"@daily"`, `[""]`, `spec.additionalSchedules[0]: Invalid value: ""`},
		{"v1", `"@daily"`, `[5]`, `spec.additionalSchedules[0]: Invalid value: "integer"`},
		{"v1", `"@daily"`, many(`"@daily"`), "spec.additionalSchedules: Too many: 17: must have at most 16 items"},
		{"v2", `{minute: "0"}`, `[{minute: "5"}, {minute: "61"}]`, `spec.additionalSchedules[1].minute: Invalid value: "61": must be a minute from 0 to 59`},
		{"v2", `{minute: "0"}`, `[{hour: "5-1"}]`, `spec.additionalSchedules[0].hour: Invalid value: "5-1": the range 5-1 ends before it begins`},
		{"v2", `{minute: "0"}`, `[{dayOfMonth: "30", month: "2"}]`, `spec.additionalSchedules[0]: Invalid value: "* * 30 2 *": never fires`},
		{"v2", `{minute: "0"}`, `[{every: 5m}]`, `spec.additionalSchedules[0].every: Invalid value: "5m": ` + combined},
		{"v2", `{every: 5m}`, `[{minute: "0"}]`, `spec.schedule.every: Invalid value: "5m": ` + combined},
		{"v2", `{minute: "0"}`, `[{}]`, `spec.additionalSchedules[0]: Invalid value: at least one of minute, hour`},
		{"v2", `{minute: "0"}`, `[{minute: "0"}, {minute: 5}]`, `spec.additionalSchedules[1].minute: Invalid value: "integer"`},
		{"v2", `{minute: "0"}`, `["@daily"]`, `spec.additionalSchedules[0]: Invalid value: "string"`},
		{"v2", `{minute: "0"}`, many(`{minute: "0"}`), "spec.additionalSchedules: Too many: 17: must have at most 16 items"},
	} {
		object := s.object(tc.version, "c", "schedule: "+tc.schedule, "additionalSchedules: "+tc.additional, jobTemplate)
		err := s.Client.Create(t.Context(), object)
		require.Error(t, err, "%s: %s beside %s", tc.version, tc.additional, tc.schedule)
		assert.Contains(t, inNewWords(t, err.Error()), tc.want)
	}
}

func TestC1ServerSideApplySharesAdditionalSchedulesBetweenTheVersions(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	lists := map[string]string{"v1": `additionalSchedules: ["@monthly", 0 0 2 1 *]`, "v2": `additionalSchedules: [{minute: "0", hour: "0", dayOfMonth: "1"}, ` +
		`{minute: "0", hour: "0", dayOfMonth: "2", month: "1"}]`}
	require.NoError(t, s.apply("one", "v1", yearly["v1"]+"\n"+lists["v1"]+"\n"+jobTemplate))
	require.NoError(t, s.apply("two", "v2", lists["v2"]))
	require.NoError(t, s.apply("pauses", "v2", "suspend: true"))
	require.NoError(t, s.apply("one", "v1", yearly["v1"]+"\n"+lists["v1"]+"\n"+jobTemplate))
	assert.ElementsMatch(t, []string{"one in v1", "two in v2"}, s.ownersOf("spec", "additionalSchedules"))
	assert.Equal(t, []string{"@monthly", "0 0 2 1 *"}, s.get("c").Spec.AdditionalSchedules)

	err := s.apply("two", "v2", `additionalSchedules: [{minute: "0"}]`)
	require.ErrorContains(t, err, `conflict with "one"`)
	require.NoError(t, s.apply("two", "v2", `additionalSchedules: [{minute: "0", hour: "*"}]`, client.ForceOwnership))
	assert.Equal(t, []string{"0 * * * *"}, s.get("c").Spec.AdditionalSchedules)
	assert.Equal(t, []v2.CronSchedule{{Minute: field("0"), Hour: field("*")}}, s.getV2("c").Spec.AdditionalSchedules)

	require.NoError(t, s.apply("two", "v2", "suspend: true"), "it lets go of the list")
	assert.Empty(t, s.get("c").Spec.AdditionalSchedules)
	assert.NotContains(t, fmt.Sprint(s.get("c").Annotations), "additional-schedules")
}
