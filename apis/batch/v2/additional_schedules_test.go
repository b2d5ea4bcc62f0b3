// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/bounds"
)

// hubAlso is a v1 CronJob with these additional schedules.
func hubAlso(texts ...string) *v1.CronJob {
	hub := hubWith("0 9 * * *")
	hub.Spec.AdditionalSchedules = texts
	return hub
}

// spokeAlso is a v2 CronJob with these additional schedules.
func spokeAlso(schedules ...CronSchedule) *CronJob {
	spoke := spokeWith(CronSchedule{Minute: field("0"), Hour: field("9")})
	spoke.Spec.AdditionalSchedules = schedules
	return spoke
}

func TestC7TheAdditionalSchedulesAreKeptOnlyWhereTheFieldsCanNotCarryTheText(t *testing.T) {
	for name, tc := range map[string]struct {
		texts     []string
		schedules []CronSchedule
		onSpoke   map[string]string
		onHub     map[string]string
	}{
		"none": {},
		"what the fields can carry": {
			texts: []string{"*/5 9-17 * * 1-5", "* * * * *"},
			schedules: []CronSchedule{
				{Minute: field("*/5"), Hour: field("9-17"), DayOfWeek: field("1-5")}, {Minute: field("*")},
			},
		},
		"what they can't": {
			texts:     []string{"0 12 * * 6", "@hourly", "garbage"},
			schedules: []CronSchedule{{Minute: field("0"), Hour: field("12"), DayOfWeek: field("6")}, {Minute: field("0")}, {}},
			onSpoke:   map[string]string{AdditionalSchedulesV1Annotation: `["0 12 * * 6","@hourly","garbage"]`},
		},
		"what the text can't": {
			texts:     []string{"0 12 * * *", "0 * * * *"},
			schedules: []CronSchedule{{Minute: field("0"), Hour: field("12")}, {Minute: field("0"), Hour: field("*")}},
			onHub:     map[string]string{AdditionalSchedulesV2Annotation: `[{"minute":"0","hour":"12"},{"minute":"0","hour":"*"}]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub, spoke := hubAlso(tc.texts...), spokeAlso(tc.schedules...)
			hub.Annotations, spoke.Annotations = tc.onHub, tc.onSpoke
			assert.Equal(t, spoke, toSpoke(t, hub))
			assert.Equal(t, hub, toHub(t, spoke))
		})
	}
}

func TestC2C3AwkwardAdditionalSchedulesRoundTrip(t *testing.T) {
	assertHubRoundTrips(t, hubAlso(awkwardTexts...))
	assertSpokeRoundTrips(t, spokeAlso(awkwardSchedules...))
	assertHubRoundTrips(t, hubAlso("@daily", "@midnight", "0 0 * * *", "", "@daily"))
	hub := hubAlso("@daily", "0 * * * *")
	hub.Spec.Schedule = "@hourly"
	assertHubRoundTrips(t, hub)
}

// TestC6AnEditOfAdditionalSchedulesWinsAndLeavesTheOthers makes random edits of one element, and
// checks that the others keep their spelling and that no older spelling of the edited one comes
// back.
func TestC6AnEditOfAdditionalSchedulesWinsAndLeavesTheOthers(t *testing.T) {
	texts := []string{"@hourly", "0 * * * *", "@daily", "0  0 * * *", "@midnight", "5 * * * *", "garbage", "@weekly"}
	shapes := []CronSchedule{
		{Minute: field("0")}, {Minute: field("0"), Hour: field("*")}, {Minute: field("0"), Month: field("*")},
		{Minute: field("5")}, {Hour: field("*")}, {Every: "5m", Minute: field("0")},
	}
	random := rand.New(rand.NewPCG(1, 2))
	some := func() int { return 1 + random.IntN(4) }
	for range 5_000 {
		var before []string
		for range some() {
			before = append(before, texts[random.IntN(len(texts))])
		}
		edited := random.IntN(len(before))
		spoke := toSpoke(t, hubAlso(before...))
		was := spoke.Spec.AdditionalSchedules[edited]
		if shape := shapes[random.IntN(len(shapes))]; !assert.ObjectsAreEqual(shape, was) {
			spoke.Spec.AdditionalSchedules[edited] = shape
			want := slices.Clone(before)
			want[edited] = textOf(t, shape)
			require.Equal(t, want, toHub(t, spoke).Spec.AdditionalSchedules, "%d of %q was edited", edited, before)
		}

		var inV2 []CronSchedule
		for range some() {
			inV2 = append(inV2, shapes[random.IntN(len(shapes))])
		}
		edited = random.IntN(len(inV2))
		hub := toHub(t, spokeAlso(inV2...))
		if text := texts[random.IntN(len(texts))]; text != hub.Spec.AdditionalSchedules[edited] {
			hub.Spec.AdditionalSchedules[edited] = text
			dropStale(hub)
			want := slices.Clone(inV2)
			want[edited] = fieldsOf(t, text)
			require.Equal(t, want, toSpoke(t, hub).Spec.AdditionalSchedules, "%d of %v was edited", edited, inV2)
		}
	}
}

func TestC6TheSpellingMovesWithItsSchedule(t *testing.T) {
	minute := func(text string) CronSchedule { return CronSchedule{Minute: field(text)} }
	midnight := CronSchedule{Minute: field("0"), Hour: field("0")}
	for name, tc := range map[string]struct {
		edit func([]CronSchedule) []CronSchedule
		want []string
	}{
		"nothing":      {func(s []CronSchedule) []CronSchedule { return s }, []string{"@hourly", "5  * * * *", "@daily"}},
		"inserted":     {func(s []CronSchedule) []CronSchedule { return slices.Insert(s, 1, minute("7")) }, []string{"@hourly", "7 * * * *", "5  * * * *", "@daily"}},
		"deleted":      {func(s []CronSchedule) []CronSchedule { return slices.Delete(s, 0, 1) }, []string{"5  * * * *", "@daily"}},
		"swapped":      {func(s []CronSchedule) []CronSchedule { return []CronSchedule{s[2], s[1], s[0]} }, []string{"@daily", "5  * * * *", "@hourly"}},
		"made another": {func(s []CronSchedule) []CronSchedule { return []CronSchedule{midnight, s[1], s[2]} }, []string{"0 0 * * *", "5  * * * *", "@daily"}},
		"all deleted":  {func([]CronSchedule) []CronSchedule { return nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			spoke := toSpoke(t, hubAlso("@hourly", "5  * * * *", "@daily"))
			spoke.Spec.AdditionalSchedules = tc.edit(spoke.Spec.AdditionalSchedules)
			assert.Equal(t, hubAlso(tc.want...), toHub(t, spoke))
		})
	}
	t.Run("but an edit and back, each of them stored, does not bring it back", func(t *testing.T) {
		spoke := toSpoke(t, hubAlso("@hourly"))
		spoke.Spec.AdditionalSchedules[0] = minute("30")
		spoke = toSpoke(t, toHub(t, spoke))
		spoke.Spec.AdditionalSchedules[0] = minute("0")
		assert.Equal(t, hubAlso("0 * * * *"), toHub(t, spoke))
	})
	t.Run("and a stored annotation follows an edit in v1", func(t *testing.T) {
		hub := toHub(t, spokeAlso(minute("5"), CronSchedule{Minute: field("0"), Hour: field("*")}))
		hub.Spec.AdditionalSchedules = hub.Spec.AdditionalSchedules[1:]
		dropStale(hub)
		assert.Equal(t, map[string]string{AdditionalSchedulesV2Annotation: `[{"minute":"0","hour":"*"}]`}, hub.Annotations)
		hub.Spec.AdditionalSchedules = nil
		dropStale(hub)
		assert.Equal(t, hubAlso(), hub)
	})
	t.Run("and a forged one says nothing", func(t *testing.T) {
		for _, forged := range []string{"", "null", "{}", `["@daily"]`, `[{"minute":"5"}]`, `[5]`, `[null]`, strings.Repeat("[", 20_000)} {
			hub := hubAlso("0 * * * *")
			hub.Annotations = map[string]string{AdditionalSchedulesV2Annotation: forged}
			assert.Equal(t, spokeAlso(minute("0")), toSpoke(t, hub), forged)
			spoke := spokeAlso(minute("0"))
			spoke.Annotations = map[string]string{AdditionalSchedulesV1Annotation: forged}
			assert.Equal(t, hubAlso("0 * * * *"), toHub(t, spoke), forged)
		}
	})
}

func TestC2TheAnnotationOfOneScheduleMeansWhatItMeantBeforeThereWereSeveral(t *testing.T) {
	hub := toHub(t, spokeWith(CronSchedule{Minute: field("0"), Hour: field("*")}))
	assert.Equal(t, map[string]string{ScheduleV2Annotation: `{"minute":"0","hour":"*"}`}, hub.Annotations)
	hub.Spec.AdditionalSchedules = []string{"@daily"}
	spoke := toSpoke(t, hub)
	assert.Equal(t, CronSchedule{Minute: field("0"), Hour: field("*")}, spoke.Spec.Schedule)
	assert.Equal(t, hub, toHub(t, spoke))
}

func TestC1C4AdditionalSchedulesThatAreNoneStayInvalidAndComeBack(t *testing.T) {
	for name, tc := range map[string]struct{ value, inSpoke, inHub string }{
		"null":                         {`null`, `null`, `null`},
		"an empty list":                {`[]`, `[]`, `[]`},
		"a number":                     {`5`, `5`, `5`},
		"a text":                       {`"[\"@daily\"]"`, `"[\"@daily\"]"`, `"[\"@daily\"]"`},
		"a list with null":             {`["@daily",null]`, `[{"minute":"0","hour":"0"},{}]`, `["",""]`},
		"an unquoted minute":           {`[{"minute":0}]`, `[{}]`, `[""]`},
		"an unquoted minute of one":    {`[{"minute":0},{"minute":"5"}]`, `[{},{}]`, `["","5 * * * *"]`},
		"an unknown field":             {`[{"second":"0"}]`, `[{}]`, `[""]`},
		"a list in a list, and a text": {`[["@daily"],"[]"]`, `[{},{}]`, `["",""]`},
	} {
		t.Run(name, func(t *testing.T) {
			for from, to := range map[string]string{hubVersion: spokeVersion, spokeVersion: hubVersion} {
				want, object := tc.inSpoke, hubJSON(``, `"additionalSchedules":`+tc.value)
				if from == spokeVersion {
					want, object = tc.inHub, spokeJSON(``, `"additionalSchedules":`+tc.value)
				}
				got := convertJSON(t, object, to)
				assert.JSONEq(t, want, string(membersOf(t, membersOf(t, []byte(got))["spec"])["additionalSchedules"]), "to %s", to)
				assert.JSONEq(t, object, convertJSON(t, got, from), "C2, C3: from %s", from)
			}
		})
	}
}

func TestC1AnnotationsOfSeveralSchedulesNeverOutgrowTheAPIServersLimit(t *testing.T) {
	hub := hubAlso("@hourly")
	hub.Annotations = map[string]string{"a": strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB-10)}
	spoke := toSpoke(t, hub)
	assert.Equal(t, hub.Annotations, spoke.Annotations)
	assert.Equal(t, []string{"0 * * * *"}, toHub(t, spoke).Spec.AdditionalSchedules, "C5: it still fires at the same instants")
}

func TestC1ManyAdditionalSchedulesConvertInTime(t *testing.T) {
	for name, object := range map[string]string{
		"many texts":  hubJSON(``, `"additionalSchedules":[`+strings.Repeat(`"@hourly",`, 50_000)+`"x"]`),
		"many shapes": spokeJSON(``, `"additionalSchedules":[`+strings.Repeat(`{"minute":"0","hour":"*"},`, 50_000)+`{}]`),
		"much kept": spokeJSON(`"annotations":{"`+AdditionalSchedulesV1Annotation+`":`+encode("["+strings.Repeat(`"@hourly",`, 20_000)+`null]`)+`}`,
			`"additionalSchedules":[`+strings.Repeat(`{"minute":"5"},`, 50_000)+`{"minute":"0"}]`),
		"a deep one": spokeJSON(``, `"additionalSchedules":[`+strings.Repeat(`{"a":`, 9_000)+"1"+strings.Repeat("}", 9_000)+`]`),
	} {
		t.Run(name, func(t *testing.T) {
			from, to := hubVersion, spokeVersion
			if strings.Contains(object[:200], spokeVersion) {
				from, to = to, from
			}
			bounds.Hold(t, len(object), func() { convertJSON(t, convertJSON(t, object, to), from) })
		})
	}
}

// FuzzAdditionalSchedules converts any list there and back, and any value that is not a list.
func FuzzAdditionalSchedules(f *testing.F) {
	for _, text := range awkwardTexts {
		f.Add(text, "@hourly", []byte(encode([]string{text})))
	}
	for _, schedule := range awkwardSchedules {
		f.Add("0 0 * * *", "@daily", []byte(encode([]CronSchedule{schedule, {}})))
	}
	f.Add("", "{}", []byte(`[null,5,{"minute":0},["x"]]`))
	f.Fuzz(func(t *testing.T, one, other string, raw []byte) {
		if !utf8.ValidString(one) || !utf8.ValidString(other) || !utf8.Valid(raw) {
			t.Skip("JSON, which objects come in, is UTF-8")
		}
		assertHubRoundTrips(t, hubAlso(one, other, one))
		assertSpokeRoundTrips(t, spokeAlso(fieldsOf(t, one), fieldsOf(t, other), fieldsOf(t, one)))
		if !json.Valid(raw) {
			return
		}
		object := spokeJSON(`"name":"c"`, `"additionalSchedules":`+string(raw))
		hub := convertJSON(t, object, hubVersion)
		again := convertJSON(t, hub, spokeVersion)
		require.Equal(t, decoded(t, hub), decoded(t, convertJSON(t, again, hubVersion)), "C2: there and back is the identity")
	})
}
