// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

func field(text string) *CronField { return new(CronField(text)) }

// hubWith is a v1 CronJob with this schedule.
func hubWith(schedule string) *v1.CronJob {
	return &v1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: v1.CronJobSpec{Schedule: schedule}}
}

// spokeWith is a v2 CronJob with this schedule.
func spokeWith(schedule CronSchedule) *CronJob {
	return &CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: CronJobSpec{Schedule: schedule}}
}

func toSpoke(t testing.TB, hub *v1.CronJob) *CronJob {
	t.Helper()
	spoke := &CronJob{}
	require.NoError(t, spoke.ConvertFrom(hub), "C1: conversion is total")
	return spoke
}

func toHub(t testing.TB, spoke *CronJob) *v1.CronJob {
	t.Helper()
	hub := &v1.CronJob{}
	require.NoError(t, spoke.ConvertTo(hub), "C1: conversion is total")
	return hub
}

func assertHubRoundTrips(t testing.TB, hub *v1.CronJob) {
	t.Helper()
	before := hub.DeepCopy()
	again := toHub(t, toSpoke(t, hub))
	if !apiequality.Semantic.DeepEqual(before, again) {
		assert.Equal(t, before, again, "C2: v1 to v2 to v1 is the identity")
	}
	assert.Equal(t, before, hub, "C9: conversion leaves its source as it is")
}

func assertSpokeRoundTrips(t testing.TB, spoke *CronJob) {
	t.Helper()
	before := spoke.DeepCopy()
	again := toSpoke(t, toHub(t, spoke))
	again.Status.Schedule = before.Status.Schedule // the conversion sets it from the spec
	if !apiequality.Semantic.DeepEqual(before, again) {
		assert.Equal(t, before, again, "C3: v2 to v1 to v2 is the identity")
	}
	assert.Equal(t, before, spoke, "C9: conversion leaves its source as it is")
}

// awkwardTexts are schedules that are hard to convert.
var awkwardTexts = []string{
	"", " ", "\t", "* * * * *", "*  * * * *", " * * * * * ", "*\t*\t*\t*\t*", "? ? ? ? ?",
	"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@HOURLY", " @hourly", "@hourly ", "@",
	"@every 90m", "@every 1h30m", "@every  90m", "@every ", "@every", "@every 90m ", "@every garbage", "@every 5m x y z", "@every -5m",
	"*/5 9-17 * * 1-5", "0 0 30 2 *", "0,30 * * * MON-FRI", ", , , , ,", "99 * * * *", "a b c d e",
	"TZ=UTC 0 0 * * *", "TZ=UTC", "CRON_TZ=Europe/Paris 0 9 * * *", "TZ=UTC 0 0 *",
	"0 0 * *", "0 0 * * * *", "not a schedule", "{}", `{"minute":"0"}`, "null",
	"0 0 L * *", "0 0 L-3,15W,lw * 5#3,friL", "0 0 L-99 * 7#9", "0\u00a00 * * *", "\u2028", "0 0 * * FRİ", "ﬁ * * * *", "<&> * * * *", strings.Repeat("x", 10_000),
	strings.Repeat("1,", 5_000) + "1 * * * *",
}

// awkwardSchedules are the same for v2.
var awkwardSchedules = []CronSchedule{
	{},
	{Minute: field("")},
	{Minute: field("*")},
	{Hour: field("*")},
	{Minute: field("*"), Hour: field("*"), DayOfMonth: field("*"), Month: field("*"), DayOfWeek: field("*")},
	{Minute: field("0"), Hour: field("*")},
	{Hour: field("9")},
	{Minute: field("0 5")},
	{Minute: field(""), Hour: field("0 5")},
	{Minute: field(" 0")},
	{Minute: field("0"), Hour: field(""), DayOfMonth: field("1")},
	{Minute: field("@every"), Hour: field("5m")},
	{Minute: field("@hourly")},
	{Minute: field("TZ=UTC"), Hour: field("0"), DayOfMonth: field("0"), Month: field("1")},
	{Every: "90m"},
	{Every: "1h30m"},
	{Every: " "},
	{Every: "5m", Minute: field("0")},
	{Every: "5m", Minute: field("*")},
	{Minute: field("\u00a0")},
	{DayOfWeek: field(strings.Repeat("1,", 500) + "1")},
	{DayOfMonth: field("L-3,15W"), DayOfWeek: field("5#3")},
}

func TestC8ReadsNaturally(t *testing.T) {
	for text, want := range map[string]CronSchedule{
		"*/5 9-17 * * 1-5": {Minute: field("*/5"), Hour: field("9-17"), DayOfWeek: field("1-5")},
		"@hourly":          {Minute: field("0")},
		"@daily":           {Minute: field("0"), Hour: field("0")},
		"@weekly":          {Minute: field("0"), Hour: field("0"), DayOfWeek: field("0")},
		"@yearly":          {Minute: field("0"), Hour: field("0"), DayOfMonth: field("1"), Month: field("1")},
		"@every 90m":       {Every: "90m"},
		"@every 1h30m":     {Every: "1h30m"},
		"* * * * *":        {Minute: field("*")},
		"0  9 * * *":       {Minute: field("0"), Hour: field("9")},
		"30 2 * * ?":       {Minute: field("30"), Hour: field("2"), DayOfWeek: field("?")},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, toSpoke(t, hubWith(text)).Spec.Schedule)
		})
	}
}

func TestC9ConversionIsPure(t *testing.T) {
	for _, text := range awkwardTexts {
		hub := hubWith(text)
		first := toSpoke(t, hub)
		assert.Equal(t, first, toSpoke(t, hub), "the same again")
		first.Labels = map[string]string{"changed": "later"}
		first.Spec.JobTemplate.Labels = map[string]string{"changed": "later"}
		assert.Equal(t, hubWith(text), hub, "nothing is shared")
	}
}

func TestC7AnnotationsAppearOnlyWhereTheFieldsCanNotCarryTheText(t *testing.T) {
	for _, text := range []string{"* * * * *", "*/5 9-17 * * 1-5", "@every 90m", "0 0 1 1 *", "99 * * * *"} {
		assert.Empty(t, toSpoke(t, hubWith(text)).Annotations, text)
	}
	assert.Equal(t, map[string]string{ScheduleV1Annotation: "@hourly"}, toSpoke(t, hubWith("@hourly")).Annotations)

	assert.Empty(t, toHub(t, spokeWith(CronSchedule{Minute: field("0")})).Annotations)
	assert.Equal(t, map[string]string{ScheduleV2Annotation: `{"minute":"0","hour":"*"}`},
		toHub(t, spokeWith(CronSchedule{Minute: field("0"), Hour: field("*")})).Annotations)
}

func TestC2C3RoundTripsOfAwkwardSchedules(t *testing.T) {
	for _, text := range awkwardTexts {
		t.Run("v1 "+text[:min(len(text), 40)], func(t *testing.T) { assertHubRoundTrips(t, hubWith(text)) })
	}
	for _, schedule := range awkwardSchedules {
		t.Run("v2 "+encodeSchedule(schedule)[:min(len(encodeSchedule(schedule)), 60)], func(t *testing.T) {
			assertSpokeRoundTrips(t, spokeWith(schedule))
		})
	}
}

func TestC1ObjectsWithoutASpecConvert(t *testing.T) {
	assertHubRoundTrips(t, &v1.CronJob{})
	assertSpokeRoundTrips(t, &CronJob{})
	assert.Equal(t, &CronJob{}, toSpoke(t, &v1.CronJob{}), "C4: an absent schedule stays absent")
	assert.Equal(t, &v1.CronJob{}, toHub(t, &CronJob{}), "C4: an absent schedule stays absent")
}

func TestConversionToAnotherKindIsAnError(t *testing.T) {
	assert.ErrorContains(t, (&CronJob{}).ConvertTo(nil), "want *v1.CronJob")
	assert.ErrorContains(t, (&CronJob{}).ConvertFrom(nil), "want *v1.CronJob")
}

func TestC6EditsWin(t *testing.T) {
	t.Run("an edit of v2 drops the v1 text", func(t *testing.T) {
		spoke := toSpoke(t, hubWith("@hourly"))
		spoke.Spec.Schedule = CronSchedule{Minute: field("30")}
		assert.Equal(t, hubWith("30 * * * *"), toHub(t, spoke))
	})
	t.Run("and changing it back by hand does not bring the text back", func(t *testing.T) {
		spoke := toSpoke(t, hubWith("@hourly"))
		spoke.Spec.Schedule = CronSchedule{Minute: field("30")}
		spoke = toSpoke(t, toHub(t, spoke))
		spoke.Spec.Schedule = CronSchedule{Minute: field("0")}
		assert.Equal(t, hubWith("0 * * * *"), toHub(t, spoke))
	})
	t.Run("an edit of v1 drops the v2 fields", func(t *testing.T) {
		hub := toHub(t, spokeWith(CronSchedule{Minute: field("0"), Hour: field("*")}))
		hub.Spec.Schedule = "0 9 * * *"
		assert.Equal(t, spokeWith(CronSchedule{Minute: field("0"), Hour: field("9")}), toSpoke(t, hub))
	})
	t.Run("and what is stale is dropped from a stored object", func(t *testing.T) {
		hub := toHub(t, spokeWith(CronSchedule{Minute: field("0"), Hour: field("*")}))
		kept := hub.DeepCopy()
		dropStale(hub)
		assert.Equal(t, kept, hub, "it stands for the schedule: it stays")
		hub.Spec.Schedule = "0 9 * * *"
		dropStale(hub)
		assert.Equal(t, hubWith("0 9 * * *"), hub)
	})
	t.Run("but what was written in v2 by mistake stays, to be refused", func(t *testing.T) {
		hub := hubWith("")
		hub.Annotations = map[string]string{ScheduleV2Annotation: `{"minute":0}`}
		kept := hub.DeepCopy()
		dropStale(hub)
		assert.Equal(t, kept, hub)
	})
	t.Run("a forged annotation says nothing", func(t *testing.T) {
		for _, forged := range []string{"", "null", "[]", "{}", `{"minute":"5"}`, `{"minute":"0","hour":"*"} {}`, `{"Minute":"0","hour":"*"}`} {
			hub := hubWith("0 * * * *")
			hub.Annotations = map[string]string{ScheduleV2Annotation: forged}
			assert.Equal(t, spokeWith(CronSchedule{Minute: field("0")}), toSpoke(t, hub), forged)
		}
		spoke := spokeWith(CronSchedule{Minute: field("0")})
		spoke.Annotations = map[string]string{ScheduleV1Annotation: "@daily"}
		assert.Equal(t, hubWith("0 * * * *"), toHub(t, spoke))
	})
}

func TestC4NothingInvalidTurnsValid(t *testing.T) {
	for _, schedule := range []CronSchedule{
		{}, {Minute: field("")}, {Minute: field(""), Hour: field("0 5")}, {Minute: field(" 0")}, {Every: "5m", Minute: field("0")},
	} {
		assert.Empty(t, toHub(t, spokeWith(schedule)).Spec.Schedule, "%s", encodeSchedule(schedule))
	}
	for _, text := range []string{"", " ", "garbage", "TZ=UTC 0 0 * * *", "@every", "@HOURLY"} {
		assert.Zero(t, toSpoke(t, hubWith(text)).Spec.Schedule, text)
	}
}

func TestC1AnnotationsNeverOutgrowTheAPIServersLimit(t *testing.T) {
	hub := hubWith("@hourly")
	hub.Annotations = map[string]string{"a": strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB-10)}
	spoke := toSpoke(t, hub)
	assert.Equal(t, hub.Annotations, spoke.Annotations)
	assert.Equal(t, "0 * * * *", toHub(t, spoke).Spec.Schedule, "C5: it still fires at the same instants")
}

func TestC4AKeptTextThatV1RefusesAsTooLongIsNotRestored(t *testing.T) {
	spoke := spokeWith(CronSchedule{Minute: field("0")})
	spoke.Annotations = map[string]string{ScheduleV1Annotation: strings.Repeat(" ", 2_000) + "0 * * * *"}
	assert.Equal(t, hubWith("0 * * * *"), toHub(t, spoke))
	assertHubRoundTrips(t, hubWith(strings.Repeat(" ", 2_000)+"0 * * * *"))
}

// giveValidKeys gives the annotations of an object keys that the API server accepts.
func giveValidKeys(object any) {
	valid := map[string]string{}
	accessor := object.(metav1.Object)
	for _, value := range accessor.GetAnnotations() {
		valid[fmt.Sprintf("example.com/key-%d", len(valid))] = value
	}
	if len(valid) > 0 {
		accessor.SetAnnotations(valid)
	}
}

// randomObjects calls check with random objects, some of them with awkward schedules.
func randomObjects[T any](t *testing.T, count int, schedules func(*T, randfill.Continue), check func(*T)) {
	t.Helper()
	scheme := runtime.NewScheme()
	source := rand.NewSource(1)
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, source, serializer.NewCodecFactory(scheme)).NumElements(0, 2).NilChance(0.5)
	for range count {
		object := new(T)
		filler.Fill(object)
		giveValidKeys(object)
		schedules(object, randfill.Continue{Rand: rand.New(source)})
		check(object)
	}
}

// someOf returns up to three of some values, in any order.
func someOf[T any](values []T, c randfill.Continue) []T {
	var some []T
	for range c.Intn(4) {
		some = append(some, values[c.Intn(len(values))])
	}
	return some
}

func TestC2RandomHubsRoundTrip(t *testing.T) {
	t.Parallel()
	randomObjects(t, 10_000, func(hub *v1.CronJob, c randfill.Continue) {
		if c.Intn(2) == 0 {
			hub.Spec.Schedule = awkwardTexts[c.Intn(len(awkwardTexts))]
			hub.Spec.AdditionalSchedules = someOf(awkwardTexts, c)
		}
	}, func(hub *v1.CronJob) {
		hub.TypeMeta = metav1.TypeMeta{}
		assertHubRoundTrips(t, hub)
	})
}

func TestC3RandomSpokesRoundTrip(t *testing.T) {
	t.Parallel()
	randomObjects(t, 10_000, func(spoke *CronJob, c randfill.Continue) {
		if c.Intn(2) == 0 {
			spoke.Spec.Schedule = awkwardSchedules[c.Intn(len(awkwardSchedules))]
			spoke.Spec.AdditionalSchedules = someOf(awkwardSchedules, c)
		}
	}, func(spoke *CronJob) {
		spoke.TypeMeta = metav1.TypeMeta{}
		assertSpokeRoundTrips(t, spoke)
	})
}

func FuzzScheduleText(f *testing.F) {
	for _, text := range awkwardTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip("JSON, which objects come in, is UTF-8")
		}
		assertHubRoundTrips(t, hubWith(text))
		assertSpokeRoundTrips(t, spokeWith(fieldsOf(t, text)))
	})
}

func FuzzScheduleFields(f *testing.F) {
	for _, schedule := range awkwardSchedules {
		parts, set := [5]string{}, uint8(0)
		for i, part := range schedule.fields() {
			if *part != nil {
				parts[i], set = string(**part), set|1<<i
			}
		}
		f.Add(parts[0], parts[1], parts[2], parts[3], parts[4], schedule.Every, set)
	}
	f.Fuzz(func(t *testing.T, minute, hour, dayOfMonth, month, dayOfWeek, every string, set uint8) {
		schedule := CronSchedule{Every: every}
		for i, text := range []string{minute, hour, dayOfMonth, month, dayOfWeek} {
			if set&(1<<i) != 0 {
				*schedule.fields()[i] = field(text)
			}
			if !utf8.ValidString(text) {
				t.Skip("JSON, which objects come in, is UTF-8")
			}
		}
		if !utf8.ValidString(every) {
			t.Skip("JSON, which objects come in, is UTF-8")
		}
		assertSpokeRoundTrips(t, spokeWith(schedule))
	})
}
