// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	kjson "sigs.k8s.io/json"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/bounds"
)

// decode decodes an object as the API server and its clients do, and reports whether that succeeds.
func decode(object []byte, into any) bool {
	return kjson.UnmarshalCaseSensitivePreserveInts(object, into) == nil
}

// storedGarbage are specs of v1 that no schema accepts.
var storedGarbage = []string{
	``, `"schedule":null`, `"schedule":5`, `"schedule":[]`, `"schedule":{}`, `"schedule":{"minute":"0"}`, `"Schedule":"@hourly"`,
	`"schedule":"@hourly","schedule":"@daily"`, `"schedule":"\ud800"`, `"schedule":"* * * * *","suspend":"yes"`, `"timeZone":7`,
	`"schedule":"@hourly","additionalSchedules":["@daily"]`, `"schedule":"@hourly","additionalSchedules":[{"minute":"0"}]`,
	`"jobTemplate":[]`, `"jobTemplate":{"spec":null}`, `"successfulJobsHistoryLimit":1e99`, `"startingDeadlineSeconds":-9223372036854775808`,
}

// FuzzStoredObjects converts any object that claims to be a CronJob of v1: there and back is the
// identity. If Go can decode its schedule, both ways to convert have the same result.
func FuzzStoredObjects(f *testing.F) {
	for _, spec := range storedGarbage {
		f.Add([]byte(`"name":"c"`), []byte(spec), []byte(`{}`))
		f.Add([]byte(`"annotations":{"`+ScheduleV2Annotation+`":"{\"minute\":0}"}`), []byte(spec), []byte(`{"active":null}`))
	}
	f.Add([]byte(`"annotations":{"`+ScheduleV2Annotation+`":"{\"hour\":\"*\"}"}`), []byte(`"schedule":"* * * * *"`), []byte(`{"lastScheduleTime":"x"}`))
	for _, status := range []string{`{}`, `null`, `[]`, `{"schedule":"@daily"}`, `{"schedule":null,"observedGeneration":1}`} {
		f.Add([]byte(storedUID), []byte(`"schedule":"@hourly"`), []byte(status))
	}
	f.Add([]byte(`"annotations":[],"finalizers":{}`), []byte(`"schedule":"@daily"`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, metadata, spec, status []byte) {
		object := strings.TrimSuffix(hubJSON(string(metadata), string(spec)), "}") + `,"status":` + string(status) + "}"
		bounds.Hold(t, 8*len(object), func() { assertStoredObjectConverts(t, object) })
	})
}

func assertStoredObjectConverts(t *testing.T, object string) {
	t.Helper()
	raw, err := versions.ConvertJSON([]byte(object), spokeVersion)
	if err != nil {
		return // not a CronJob: its members may have closed the braces around them
	}
	requireNoObjectTurnsIntoASchedule(t, object, raw)
	again := convertJSON(t, string(raw), hubVersion)
	require.Equal(t, decoded(t, convertJSON(t, again, hubVersion)), decoded(t, convertJSON(t, convertJSON(t, again, spokeVersion), hubVersion)),
		"C2: there and back is the identity")

	hub, spoke := &v1.CronJob{}, &CronJob{}
	if !decode([]byte(object), hub) || hub.Spec.Schedule == "" || !decode(raw, spoke) {
		return
	}
	typed := toSpoke(t, hub)
	typed.TypeMeta = spoke.TypeMeta
	if hasEmptyStatus(t, object) { // the Go types can't distinguish it from none
		typed.Status.Schedule = ""
	}
	if !apiequality.Semantic.DeepEqual(typed, spoke) {
		assert.Equal(t, typed, spoke, "ConvertFrom and ConvertJSON say the same")
	}
}

// hasEmptyStatus reports whether an object has a status with nothing in it, written out.
func hasEmptyStatus(t *testing.T, object string) bool {
	t.Helper()
	status := membersOf(t, []byte(object))["status"]
	return status != nil && len(membersOf(t, status)) == 0
}

// requireNoObjectTurnsIntoASchedule checks C4: a schedule that is not a text in v1 is not an object
// in v2.
func requireNoObjectTurnsIntoASchedule(t *testing.T, object string, converted []byte) {
	t.Helper()
	schedule := func(object []byte) any {
		var value any
		_ = json.Unmarshal(membersOf(t, membersOf(t, object)["spec"])["schedule"], &value) // fails if there is none, or a number is too large
		return value
	}
	if _, isObject := schedule([]byte(object)).(map[string]any); isObject {
		require.Nil(t, schedule(converted), "C4: nothing invalid turns valid")
	}
}

// TestCostlyObjectsConvertInTime converts objects at the limits of what a request may have.
func TestCostlyObjectsConvertInTime(t *testing.T) {
	members := func(count int) string {
		var text strings.Builder
		for i := range count {
			fmt.Fprintf(&text, `"%x":0,`, i)
		}
		return text.String()
	}
	nested := strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000)
	for name, object := range map[string]string{
		"a spec of many members":           hubJSON(``, members(300_000)+`"schedule":"@hourly"`),
		"metadata of many members":         hubJSON(members(300_000)+`"name":"c"`, `"schedule":"@hourly"`),
		"an object of many members":        `{` + members(300_000) + hubJSON(`"name":"c"`, `"schedule":"@hourly"`)[1:],
		"many annotations":                 hubJSON(`"annotations":{`+strings.ReplaceAll(members(200_000), "0,", `"0",`)+`"a":"b"}`, `"schedule":"@hourly"`),
		"a kept schedule of many members":  hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":`+encode("{"+members(100_000)+`"a":1}`)+`}`, ``),
		"a schedule of many members":       spokeJSON(``, `"schedule":{`+members(300_000)+`"minute":"0"}`),
		"a schedule that is nested deeply": spokeJSON(``, `"schedule":`+nested),
		"a spec that is nested deeply":     hubJSON(``, `"schedule":"@hourly","a":`+nested),
		"a name of many escapes":           hubJSON(``, `"`+strings.Repeat(`\u0061`, 500_000)+`":1,"schedule":"@hourly"`),
		"a long schedule":                  hubJSON(``, `"schedule":"`+strings.Repeat("1,", 1_500_000)+` * * * *"`),
		"a long v2 schedule":               spokeJSON(``, `"schedule":{"minute":"`+strings.Repeat("1,", 1_500_000)+`"}`),
	} {
		t.Run(name, func(t *testing.T) {
			from, to := hubVersion, spokeVersion
			if strings.Contains(object[:200], spokeVersion) {
				from, to = to, from
			}
			bounds.Hold(t, len(object), func() {
				there, err := versions.ConvertJSON([]byte(object), to)
				require.NoError(t, err)
				_, err = versions.ConvertJSON(there, from)
				require.NoError(t, err)
			})
		})
	}
}
