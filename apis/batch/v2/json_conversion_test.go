// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/randfill"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

var hubVersion, spokeVersion = v1.GroupVersion.String(), GroupVersion.String()

func convertJSON(t testing.TB, object, to string) string {
	t.Helper()
	converted, err := versions.ConvertJSON([]byte(object), to)
	require.NoError(t, err, object)
	return string(converted)
}

// hubJSON is a v1 CronJob with these members in its metadata and its spec.
func hubJSON(metadata, spec string) string {
	return `{"apiVersion":"` + hubVersion + `","kind":"CronJob","metadata":{` + metadata + `},"spec":{` + spec + `}}`
}

func spokeJSON(metadata, spec string) string {
	return strings.Replace(hubJSON(metadata, spec), hubVersion, spokeVersion, 1)
}

func TestConvertJSONTouchesTheScheduleAlone(t *testing.T) {
	for name, tc := range map[string]struct{ hub, spoke string }{
		"a schedule that the fields can carry": {
			hubJSON(`"name":"c"`, `"schedule":"*/5 * * * *"`), spokeJSON(`"name":"c"`, `"schedule":{"minute":"*/5"}`),
		},
		"one that they can't": {
			hubJSON(`"name":"c"`, `"schedule":"@hourly"`),
			spokeJSON(`"name":"c","annotations":{"`+ScheduleV1Annotation+`":"@hourly"}`, `"schedule":{"minute":"0"}`),
		},
		"fields that the text can't": {
			hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":"{\"hour\":\"*\"}"}`, `"schedule":"* * * * *"`),
			spokeJSON(``, `"schedule":{"hour":"*"}`),
		},
		"quantities as they were written":     {hubJSON(``, `"schedule":"* * * * *","jobTemplate":{"cpu":"1000m"}`), spokeJSON(``, `"schedule":{"minute":"*"},"jobTemplate":{"cpu":"1000m"}`)},
		"numbers of any size":                 {hubJSON(``, `"x":12345678901234567890123.450`), spokeJSON(``, `"x":12345678901234567890123.450`)},
		"a partial object without a schedule": {hubJSON(`"name":"c"`, `"suspend":true`), spokeJSON(`"name":"c"`, `"suspend":true`)},
		"an unquoted minute": {
			hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":"{\"minute\":0}"}`, ``), spokeJSON(``, `"schedule":{"minute":0}`),
		},
		"an unknown field": {
			hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":"{\"second\":\"0\"}"}`, ``), spokeJSON(``, `"schedule":{"second":"0"}`),
		},
		"an empty schedule": {
			hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":"{}"}`, ``), spokeJSON(``, `"schedule":{}`),
		},
		"a text that is no schedule": {
			hubJSON(``, `"schedule":"garbage"`), spokeJSON(`"annotations":{"`+ScheduleV1Annotation+`":"garbage"}`, `"schedule":{}`),
		},
		"a text, as in v1": {
			hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":"@hourly"}`, ``), spokeJSON(``, `"schedule":"@hourly"`),
		},
		"a number, in v1":               {hubJSON(``, `"schedule":5`), spokeJSON(`"annotations":{"`+ScheduleV1Annotation+`":"5"}`, ``)},
		"a number, in v2":               {hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":"5"}`, ``), spokeJSON(``, `"schedule":5`)},
		"a text that is a number":       {hubJSON(``, `"schedule":"5"`), spokeJSON(`"annotations":{"`+ScheduleV1Annotation+`":"\"5\""}`, `"schedule":{}`)},
		"a schedule of null":            {hubJSON(``, `"schedule":null`), spokeJSON(``, `"schedule":null`)},
		"labels of null":                {hubJSON(`"labels":null`, `"schedule":"99 * * * *"`), spokeJSON(`"labels":null`, `"schedule":{"minute":"99"}`)},
		"metadata of another type":      {strings.Replace(hubJSON(``, `"schedule":"@hourly"`), "{}", "7", 1), strings.Replace(spokeJSON(``, `"schedule":"@hourly"`), "{}", "7", 1)},
		"other annotations and garbage": {hubJSON(`"annotations":{"a":"b"}`, `"schedule":"99 * * * *"`), spokeJSON(`"annotations":{"a":"b"}`, `"schedule":{"minute":"99"}`)},
		"no spec": {
			`{"apiVersion":"` + hubVersion + `","kind":"CronJob","metadata":{"name":"c"}}`, `{"apiVersion":"` + spokeVersion + `","kind":"CronJob","metadata":{"name":"c"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.JSONEq(t, tc.spoke, convertJSON(t, tc.hub, spokeVersion), "from v1 to v2")
			assert.JSONEq(t, tc.hub, convertJSON(t, tc.spoke, hubVersion), "from v2 to v1")
		})
	}
}

func TestConvertJSONOfTheSameVersionChangesNothing(t *testing.T) {
	object := hubJSON(`"name":"c"`, `"schedule":"@hourly" `)
	assert.Equal(t, object, convertJSON(t, object, hubVersion))
}

func TestConvertJSONFindsMembersWhoseNamesHaveEscapes(t *testing.T) {
	escaped := strings.NewReplacer("apiVersion", `\u0061piVersion`, `"schedule"`, `"sch\u0065dule"`)
	object := hubJSON(``, `"schedule":"@hourly"`)
	assert.Equal(t, convertJSON(t, object, spokeVersion), convertJSON(t, escaped.Replace(object), spokeVersion))
}

func TestConvertJSONNamesWhatItCanNotConvert(t *testing.T) {
	for name, tc := range map[string]struct{ object, to, want string }{
		"no JSON":         {`{"apiVersion":`, hubVersion, "reading the object"},
		"a list":          {`[]`, hubVersion, "reading the object"},
		"null":            {`null`, hubVersion, "reading the object"},
		"no kind":         {`{}`, hubVersion, `converting kind "": want CronJob`},
		"another kind":    {`{"apiVersion":"v1","kind":"Pod"}`, hubVersion, `converting kind "Pod": want CronJob`},
		"another group":   {`{"apiVersion":"apps/v1","kind":"CronJob"}`, hubVersion, `converting from "apps/v1" to "` + hubVersion},
		"another version": {hubJSON(``, ``), "batch.tutorial.kubebuilder.io/v3", "want " + hubVersion + " and " + spokeVersion},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := versions.ConvertJSON([]byte(tc.object), tc.to)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

// TestConvertJSONSaysTheSameAsTheGoConversion converts random objects in both directions by both
// means.
func TestConvertJSONSaysTheSameAsTheGoConversion(t *testing.T) {
	encode := func(object any) string {
		raw, err := json.Marshal(object)
		require.NoError(t, err)
		return string(raw)
	}
	randomObjects(t, 1_000, func(hub *v1.CronJob, c randfill.Continue) {
		hub.Spec.Schedule = awkwardTexts[c.Intn(len(awkwardTexts))]
		hub.Spec.AdditionalSchedules = someOf(awkwardTexts, c)
	}, func(hub *v1.CronJob) {
		hub.TypeMeta = metav1.TypeMeta{APIVersion: hubVersion, Kind: "CronJob"}
		spoke := toSpoke(t, hub)
		spoke.TypeMeta = metav1.TypeMeta{APIVersion: spokeVersion, Kind: "CronJob"}
		gotSpoke, gotHub := &CronJob{}, &v1.CronJob{}
		require.NoError(t, json.Unmarshal([]byte(convertJSON(t, encode(hub), spokeVersion)), gotSpoke))
		require.NoError(t, json.Unmarshal([]byte(convertJSON(t, encode(spoke), hubVersion)), gotHub))
		require.JSONEq(t, encode(spoke), encode(gotSpoke))
		require.JSONEq(t, encode(hub), encode(gotHub))
	})
}

func FuzzConvertJSON(f *testing.F) {
	for _, text := range awkwardTexts {
		f.Add([]byte(hubJSON(`"name":"c"`, `"schedule":`+encode(text))), spokeVersion)
	}
	for _, schedule := range awkwardSchedules {
		f.Add([]byte(spokeJSON(`"name":"c"`, `"schedule":`+encodeSchedule(schedule))), hubVersion)
	}
	f.Add([]byte(hubJSON(``, `"schedule":{}`)), spokeVersion)
	f.Add([]byte(spokeJSON(`"annotations":{"`+ScheduleV1Annotation+`":"`+strings.Repeat(" ", 2_000)+`0 * * * *"}`, `"schedule":{"minute":"0"}`)), hubVersion)
	f.Add([]byte(spokeJSON(`"annotations":null`, `"schedule":{"minute":0}`)), hubVersion)
	for _, list := range []string{`["@daily","0 * * * *"]`, `[{"minute":"0","hour":"*"},{}]`, `[{"minute":0},"x",null]`, `"[\"@daily\"]"`, `null`} {
		f.Add([]byte(hubJSON(`"name":"c"`, `"additionalSchedules":`+list)), spokeVersion)
		f.Add([]byte(spokeJSON(`"name":"c"`, `"additionalSchedules":`+list)), hubVersion)
	}
	f.Add([]byte(`{"apiVersion":"`+hubVersion+`","kind":"CronJob","Kind":5}`), spokeVersion)
	f.Fuzz(func(t *testing.T, object []byte, to string) {
		converted, err := versions.ConvertJSON(object, to)
		if err != nil {
			return
		}
		var meta metav1.TypeMeta
		require.NoError(t, kjson.Unmarshal(converted, &meta))
		require.Equal(t, to, meta.APIVersion)
		if bytes.Equal(object, converted) || !mayKeepSchedules(t, object) {
			return
		}
		// After one round trip there are no stale annotations, and nothing changes any more.
		from := hubVersion
		if to == hubVersion {
			from = spokeVersion
		}
		once := convertJSON(t, convertJSON(t, string(converted), from), to)
		twice := convertJSON(t, convertJSON(t, once, from), to)
		require.Equal(t, decoded(t, once), decoded(t, twice))
		require.Equal(t, decoded(t, string(converted)), decoded(t, once), "C2, C3: there and back is the identity")
	})
}

// mayKeepSchedules reports whether there is room for any schedule of an object in its annotations.
func mayKeepSchedules(t testing.TB, object []byte) bool {
	t.Helper()
	annotations := map[string]string{}
	maps.Copy(annotations, annotationsOf(t, object))
	for _, key := range []string{ScheduleV1Annotation, ScheduleV2Annotation, AdditionalSchedulesV1Annotation, AdditionalSchedulesV2Annotation} {
		delete(annotations, key)
	}
	annotations[ScheduleV1Annotation], annotations[AdditionalSchedulesV1Annotation] = string(object), string(object)
	return len(apivalidation.ValidateAnnotations(annotations, nil)) == 0
}

// decoded is a JSON object as values. Empty annotations or metadata are the same as none, and
// status.schedule is left out.
func decoded(t testing.TB, object string) map[string]any {
	t.Helper()
	values := map[string]any{}
	decoder := json.NewDecoder(strings.NewReader(object))
	decoder.UseNumber() // 1e700 does not fit into a float64
	require.NoError(t, decoder.Decode(&values))
	status, _ := values["status"].(map[string]any)
	if _, isShown := status["schedule"]; isShown && values["apiVersion"] == spokeVersion {
		delete(status, "schedule")
		if len(status) == 0 {
			delete(values, "status")
		}
	}
	metadata, ok := values["metadata"].(map[string]any)
	if !ok {
		if values["metadata"] == nil {
			delete(values, "metadata")
		}
		return values
	}
	if annotations, ok := metadata["annotations"].(map[string]any); metadata["annotations"] == nil || ok && len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	if len(metadata) == 0 {
		delete(values, "metadata")
	}
	return values
}

func BenchmarkConvertJSON(b *testing.B) {
	hub := []byte(hubJSON(`"name":"c","namespace":"default","uid":"5bfc3ad1","resourceVersion":"12","generation":1,"labels":{"a":"b"}`,
		`"schedule":"*/5 * * * *","concurrencyPolicy":"Allow","suspend":false,"successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1,`+
			`"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"busybox","command":["sh","-c","date"],`+
			`"resources":{"limits":{"cpu":"100m","memory":"64Mi"}}}],"restartPolicy":"OnFailure"}}}}`))
	spoke := []byte(convertJSON(b, string(hub), spokeVersion))
	for _, bench := range []struct {
		name   string
		object []byte
		to     string
	}{
		{"v1 to v2", hub, spokeVersion},
		{"v2 to v1", spoke, hubVersion},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := versions.ConvertJSON(bench.object, bench.to); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
