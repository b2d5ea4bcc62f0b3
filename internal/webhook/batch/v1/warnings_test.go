// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/validate"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestSchedulesThatFireMoreThanOnceAMinuteAreWarnedOf(t *testing.T) {
	for schedule, want := range map[string]string{
		"@every 2s":    "spec.schedule: a Job every 2s; for work that comes so often, a Deployment that waits in between costs the cluster far less",
		"@every 500ms": "spec.schedule: a Job every 1s; for work that comes so often, a Deployment that waits in between costs the cluster far less",
		"@every 59s":   "spec.schedule: a Job every 59s; for work that comes so often, a Deployment that waits in between costs the cluster far less",
		"@every 60s":   "", "* * * * *": "", "@hourly": "",
	} {
		t.Run(schedule, func(t *testing.T) {
			found := validate.Warnings(&builders.MakeCronJob("c").Schedule(schedule).Obj().Spec, validate.Form{})
			if want == "" {
				assert.Empty(t, found)
				return
			}
			assert.Equal(t, admission.Warnings{want}, texts(found))
		})
	}
}

func TestADeadlineThatReplaceCutsShortIsWarnedOf(t *testing.T) {
	const cut = "spec.jobTemplate.spec.activeDeadlineSeconds: %s from a tick to the next, at which concurrencyPolicy Replace deletes a Job that still runs"
	for name, tc := range map[string]struct {
		schedule string
		policy   v1.ConcurrencyPolicy
		deadline *int64
		want     string
	}{
		"longer than an interval":          {"@every 5m", v1.ReplaceConcurrent, new(int64(301)), "301 is longer than the 5m0s"},
		"as long as an interval":           {"@every 5m", v1.ReplaceConcurrent, new(int64(300)), ""},
		"longer than the hour":             {"@hourly", v1.ReplaceConcurrent, new(int64(7200)), "7200 is longer than the 1h0m0s"},
		"between two ticks, but not all":   {"0 9-17 * * *", v1.ReplaceConcurrent, new(int64(7200)), "7200 is longer than the 1h0m0s"},
		"between two ticks far apart":      {"0 0 1,2 12 *", v1.ReplaceConcurrent, new(int64(100000)), "100000 is longer than the 24h0m0s"},
		"between the last ticks of a day":  {"0 0-12,13,23 * * *", v1.ReplaceConcurrent, new(int64(3600)), ""},
		"shorter than any":                 {"*/5 * * * *", v1.ReplaceConcurrent, new(int64(60)), ""},
		"as long as a minute":              {"* * * * *", v1.ReplaceConcurrent, new(int64(60)), ""},
		"longer, but nothing is replaced":  {"@every 5m", v1.AllowConcurrent, new(int64(600)), ""},
		"longer, but everything waits":     {"@every 5m", v1.ForbidConcurrent, new(int64(600)), ""},
		"none":                             {"@every 5m", v1.ReplaceConcurrent, nil, ""},
		"of a schedule that is none":       {"sometimes", v1.ReplaceConcurrent, new(int64(600)), ""},
		"in a zone whose clock shifts":     {"0 0 * * *", v1.ReplaceConcurrent, new(int64(24 * 3600)), ""},
		"longer than a year of leap years": {"0 0 29 2 *", v1.ReplaceConcurrent, new(int64(9 * 366 * 24 * 3600)), "284601600 is longer than the 35064h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			c := builders.MakeCronJob("c").Schedule(tc.schedule).TimeZone("Europe/Paris").Policy(tc.policy).Obj()
			c.Spec.JobTemplate.Spec.ActiveDeadlineSeconds = tc.deadline
			found := validate.Warnings(&c.Spec, validate.Form{})
			if tc.want == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Equal(t, fmt.Sprintf(cut, tc.want), found[0].String())
		})
	}
}

func TestTicksThatCatchUpAndReplaceEachOtherAreWarnedOf(t *testing.T) {
	c := builders.MakeCronJob("c").CatchUp(3).Policy(v1.ReplaceConcurrent).Obj()
	assert.Equal(t, admission.Warnings{"spec.catchUpPolicy: with concurrencyPolicy Replace, each of the ticks that run after an outage deletes the Job of the one before"},
		texts(validate.Warnings(&c.Spec, validate.Form{})))
	assert.Empty(t, validate.Warnings(&builders.MakeCronJob("c").CatchUp(3).Policy(v1.ForbidConcurrent).Obj().Spec, validate.Form{}))
	assert.Empty(t, validate.Warnings(&builders.MakeCronJob("c").Policy(v1.ReplaceConcurrent).Obj().Spec, validate.Form{}))
}

// inVersion is the context of a request that was sent in a version.
func inVersion(t *testing.T, version string) context.Context {
	t.Helper()
	req := admission.Request{}
	req.RequestKind = &metav1.GroupVersionKind{Group: v1.GroupVersion.Group, Version: version, Kind: "CronJob"}
	return admission.NewContextWithRequest(t.Context(), req)
}

func TestSchedulesThatDoSomethingElseThanTheySeemToAreWarnedOfAtTheFieldOfTheVersionTheyAreIn(t *testing.T) {
	const either = `spec.schedule: day of month "13" beside day of week "5": a day that matches either of them matches; ` +
		"if it has to match both, leave one out and let the Job check it"
	for version, step := range map[string]string{
		"v1": `spec.schedule: minute "*/90": the step of */90 leads beyond 59, so that only minute 0 matches`,
		"v2": `spec.schedule.minute: the step of */90 leads beyond 59, so that only minute 0 matches`,
	} {
		ctx := inVersion(t, version)
		c := builders.MakeCronJob("c").Schedule("*/90 9 13 * 5").Obj()
		found, err := validator{}.ValidateCreate(ctx, c)
		require.NoError(t, err)
		assert.Equal(t, admission.Warnings{step, either}, found)
		found, err = validator{}.ValidateUpdate(ctx, builders.MakeCronJob("c").Obj(), c)
		require.NoError(t, err)
		assert.Equal(t, admission.Warnings{step, either}, found)
		also := strings.ReplaceAll(step, "schedule", "additionalSchedules[0]")
		found, err = validator{}.ValidateCreate(ctx, builders.MakeCronJob("c").Also("*/90 9 * * *").Obj())
		require.NoError(t, err)
		assert.Equal(t, admission.Warnings{also}, found)
		labelled := c.DeepCopy()
		labelled.Labels = map[string]string{"a": "b"}
		found, err = validator{}.ValidateUpdate(ctx, c, labelled)
		require.NoError(t, err)
		assert.Empty(t, found, "an edit of the metadata")
	}
}

func TestACronJobThatIsRefusedIsNotWarnedOf(t *testing.T) {
	for _, text := range []string{"@every 0s", "@every -5m"} {
		c := builders.MakeCronJob("c").Schedule(text).Obj()
		found, err := validator{}.ValidateCreate(inVersion(t, "v1"), c)
		require.Error(t, err, text)
		assert.Empty(t, found, text)
		found, err = validator{}.ValidateUpdate(inVersion(t, "v1"), builders.MakeCronJob("c").Obj(), c)
		require.Error(t, err, text)
		assert.Empty(t, found, text)
	}
}

func TestA4AllMistakesOfAnObjectAreToldAtOnceAlsoThoseThatNoTextCanSay(t *testing.T) {
	const object = `{"apiVersion":"batch.tutorial.kubebuilder.io/v2","kind":"CronJob","spec":{"schedule":{"minute":"0 5","dayOfWeek":"L"},` +
		`"additionalSchedules":[{"minute":"1"},{"hour":"24","every":"5x"},{"every":"5m"}],"timeZone":"Mars/Phobos"}}`
	raw, err := batch.Versions.ConvertJSON([]byte(object), v1.GroupVersion.String())
	require.NoError(t, err)
	c := &v1.CronJob{}
	require.NoError(t, json.Unmarshal(raw, c))
	_, err = validator{}.ValidateCreate(inVersion(t, "v2"), c)
	invalid := &apierrors.StatusError{}
	require.ErrorAs(t, err, &invalid)
	var fields []string
	for _, cause := range invalid.ErrStatus.Details.Causes {
		fields = append(fields, cause.Field)
	}
	assert.Equal(t, []string{
		"spec.schedule.minute", "spec.schedule.dayOfWeek", "spec.timeZone",
		"spec.additionalSchedules[1]", "spec.additionalSchedules[1].every", "spec.additionalSchedules[1].hour", "spec.additionalSchedules[2].every",
	}, fields)
	assert.ErrorContains(t, err, "spec.additionalSchedules[1]: Invalid value: every can't be combined with minute, hour, dayOfMonth, month or dayOfWeek")
	assert.ErrorContains(t, err, `spec.additionalSchedules[2].every: Invalid value: "5m": `+schedule.ErrCombined.Error())
	alone := c.DeepCopy()
	alone.Spec.AdditionalSchedules = nil
	_, err = validator{}.ValidateCreate(inVersion(t, "v2"), alone)
	require.ErrorContains(t, err, `spec.schedule.minute: Invalid value: "0 5": must be a minute`)
	suspended := c.DeepCopy()
	suspended.Spec.Suspend = new(true)
	_, err = validator{}.ValidateUpdate(inVersion(t, "v2"), c, suspended)
	assert.NoError(t, err, "what is stored may stay")
}

func TestA4AMistakeIsToldAtTheFieldOfTheVersionItIsIn(t *testing.T) {
	for text, want := range map[string]struct{ v1, v2 string }{
		"0 17-9 * * *": {
			`spec.schedule: Invalid value: "0 17-9 * * *": not a schedule: hour "17-9": the range 17-9 ends before it begins: write 17-23,0-9`,
			`spec.schedule.hour: Invalid value: "17-9": the range 17-9 ends before it begins: write 17-23,0-9`,
		},
		"0 0 * * L": {
			`spec.schedule: Invalid value: "0 0 * * L": not a schedule: day of week "L": L alone is not a day of the week: `,
			`spec.schedule.dayOfWeek: Invalid value: "L": L alone is not a day of the week: `,
		},
		"@every -5m": {
			`spec.schedule: Invalid value: "@every -5m": must be an interval above 0, such as @every 90m`,
			`spec.schedule.every: Invalid value: "-5m": must be an interval above 0, such as 90m`,
		},
		"@every 9999999h": {
			`spec.schedule: Invalid value: "@every 9999999h": not a schedule: interval "9999999h": must be shorter: `,
			`spec.schedule.every: Invalid value: "9999999h": must be shorter: `,
		},
		"0 0 30 2 *": {
			`spec.schedule: Invalid value: "0 0 30 2 *": never fires`, `spec.schedule: Invalid value: "0 0 30 2 *": never fires`,
		},
	} {
		c := builders.MakeCronJob("c").Schedule(text).Obj()
		for version, want := range map[string]string{"v1": want.v1, "v2": want.v2} {
			_, err := validator{}.ValidateCreate(inVersion(t, version), c)
			assert.ErrorContains(t, err, " is invalid: "+want)
			_, err = validator{}.ValidateUpdate(inVersion(t, version), builders.MakeCronJob("c").Obj(), c)
			assert.ErrorContains(t, err, " is invalid: "+want)
		}
	}
}

func TestWarningsAreForTheSpecThatChanged(t *testing.T) {
	before := builders.MakeCronJob("c").Schedule("@every 2s").Deadline(1).Obj()
	labelled := before.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	found, err := validator{}.ValidateUpdate(t.Context(), before, labelled)
	require.NoError(t, err)
	assert.Empty(t, found)
	suspended := before.DeepCopy()
	suspended.Spec.Suspend = new(true)
	found, err = validator{}.ValidateUpdate(t.Context(), before, suspended)
	require.NoError(t, err)
	assert.Len(t, found, 2)
}

func TestACronJobInANamespaceThatTheManagerDoesNotWatchIsWarnedOf(t *testing.T) {
	const unwatched = `metadata.namespace: "ns" is not among the namespaces in which this operator starts Jobs (--namespaces): ` +
		"nothing runs unless another manager watches this one"
	for name, tc := range map[string]struct {
		watched []string
		want    admission.Warnings
	}{
		"it watches all":    {nil, nil},
		"it watches it":     {[]string{"other", "ns"}, nil},
		"it watches others": {[]string{"other"}, admission.Warnings{unwatched}},
	} {
		t.Run(name, func(t *testing.T) {
			before := builders.MakeCronJob("c").Namespace("ns").Obj()
			v := validator{namespaces: tc.watched}
			found, err := v.ValidateCreate(t.Context(), before)
			require.NoError(t, err)
			assert.Equal(t, tc.want, found)
			resumed := before.DeepCopy()
			resumed.Spec.Suspend = new(false)
			found, err = v.ValidateUpdate(t.Context(), before, resumed)
			require.NoError(t, err)
			assert.Equal(t, tc.want, found, "an edit of the spec")
			labelled := before.DeepCopy()
			labelled.Labels = map[string]string{"a": "b"}
			found, err = v.ValidateUpdate(t.Context(), before, labelled)
			require.NoError(t, err)
			assert.Empty(t, found, "an edit of the metadata")
		})
	}
}

func TestA5AnIntervalOfNothingIsRefused(t *testing.T) {
	for _, schedule := range []string{"@every 0s", "@every 0", "@every -5m", "@every 0h0m"} {
		t.Run(schedule, func(t *testing.T) {
			c := builders.MakeCronJob("c").Schedule(schedule).Obj()
			want := `CronJob.batch.tutorial.kubebuilder.io "c" is invalid: spec.schedule: Invalid value: "` + schedule +
				`": must be an interval above 0, such as @every 90m`
			_, err := validator{}.ValidateCreate(t.Context(), c)
			assert.EqualError(t, err, want)
			_, err = validator{}.ValidateUpdate(t.Context(), builders.MakeCronJob("c").Obj(), c)
			assert.EqualError(t, err, want)
			stored := c.DeepCopy()
			stored.Spec.Suspend = new(true)
			_, err = validator{}.ValidateUpdate(t.Context(), c, stored)
			assert.NoError(t, err, "what is stored may stay")
		})
	}
	_, err := validator{}.ValidateCreate(t.Context(), builders.MakeCronJob("c").Schedule("@every 1ms").Obj())
	assert.NoError(t, err, "it is a second")
}

func TestANewCronJobWithoutATickToComeIsWarnedOf(t *testing.T) {
	const past, future = "2001-01-01T00:00:00Z", "9000-01-01T00:00:00Z"
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return parsed
	}
	for name, tc := range map[string]struct {
		c    *builders.CronJob
		want admission.Warnings
	}{
		"its window is over": {builders.MakeCronJob("c").NotAfter(at(past)),
			admission.Warnings{"spec.notAfter: no tick comes from now on until 2001-01-01T00:00:00Z, so that nothing starts"}},
		"all years are excluded":  {builders.MakeCronJob("c").Exclude("2001-01-01/9999-12-31"), admission.Warnings{"spec.exclude: has all days to come, so that nothing starts"}},
		"its window is not over":  {builders.MakeCronJob("c").NotAfter(at(future)), nil},
		"its window is yet to be": {builders.MakeCronJob("c").NotBefore(at(future)), nil},
		"some days are excluded":  {builders.MakeCronJob("c").Exclude("--12-25"), nil},
		"an interval":             {builders.MakeCronJob("c").Schedule("@every 90m").NotAfter(at(future)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := validator{}.ValidateCreate(t.Context(), tc.c.Obj())
			require.NoError(t, err)
			assert.Equal(t, tc.want, found)
			found, err = validator{}.ValidateUpdate(t.Context(), builders.MakeCronJob("c").Obj(), tc.c.Obj())
			require.NoError(t, err)
			assert.Empty(t, found, "it may have run before")
		})
	}
}
