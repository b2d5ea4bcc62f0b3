// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package spoke_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
)

// An alarm clock rings at times of day. v1, the hub, has texts such as "9:05" and "noon"; v2 has
// hours and minutes; v3 has one list of times, which joins both members of the others.
type alarm[S any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              S `json:"spec,omitzero"`
}

func (a *alarm[S]) DeepCopyObject() runtime.Object {
	raw, err := json.Marshal(a)
	copied := &alarm[S]{}
	if err != nil || json.Unmarshal(raw, copied) != nil {
		return nil
	}
	return copied
}

type (
	specV1 struct {
		Ring      string   `json:"ring,omitempty"`
		MoreRings []string `json:"moreRings,omitempty"`
		Tone      string   `json:"tone,omitempty"`
	}
	specV2 struct {
		Ring      clock   `json:"ring,omitzero"`
		MoreRings []clock `json:"moreRings,omitempty"`
		Tone      string  `json:"tone,omitempty"`
	}
	specV3 struct {
		At   *day   `json:"at,omitempty"`
		Tone string `json:"tone,omitempty"`
	}
	clock struct {
		Hour   *string `json:"hour,omitempty"`
		Minute *string `json:"minute,omitempty"`
	}
	day struct {
		Times []string `json:"times,omitempty"`
	}
)

func splitClock(text string) clock {
	if text == "noon" {
		return clock{Hour: new("12")}
	}
	hour, minute, ok := strings.Cut(text, ":")
	if !ok {
		return clock{}
	}
	return clock{Hour: &hour, Minute: &minute}
}

func joinClock(c clock) string {
	if c.Hour == nil || strings.Contains(*c.Hour, ":") {
		return ""
	}
	if c.Minute == nil {
		return *c.Hour + ":00"
	}
	return *c.Hour + ":" + *c.Minute
}

func splitDay(texts []string) []day {
	var d day
	for _, text := range texts {
		var hour, minute int
		if text == "noon" {
			text = "12:00"
		}
		if _, err := fmt.Sscanf(text, "%d:%d", &hour, &minute); err != nil {
			return []day{{}}
		}
		d.Times = append(d.Times, fmt.Sprintf("%02d:%02d", hour, minute))
	}
	return []day{d}
}

func joinDay(days []day) []string {
	if len(days[0].Times) == 0 {
		return []string{""}
	}
	var texts []string
	for _, time := range days[0].Times {
		texts = append(texts, strings.TrimPrefix(time, "0"))
	}
	return texts
}

var (
	rings         = spoke.Members{Value: "ring", List: "moreRings"}
	alarmVersions = spoke.Table{
		Hub: spoke.Hub{
			APIVersion: "toy.example.com/v1", Kind: "Alarm", Object: &alarm[specV1]{}, Members: rings,
			Annotations: spoke.Members{Value: "toy.example.com/ring-", List: "toy.example.com/more-rings-"},
		},
		Spokes: []spoke.Spoke{
			spoke.NewSpoke(spoke.Spoke{APIVersion: "toy.example.com/v2", Object: &alarm[specV2]{}, Members: rings, Shown: "rings"},
				spoke.Each(splitClock, joinClock)),
			spoke.NewSpoke(spoke.Spoke{APIVersion: "toy.example.com/v3", Object: &alarm[specV3]{}, Members: spoke.Members{Value: "at"}},
				spoke.Codec[day]{Split: splitDay, Join: joinDay}),
		},
	}
)

// object is an alarm of a version with a spec, and annotations.
func object(version, annotations, spec string) string {
	return `{"apiVersion":"toy.example.com/` + version + `","kind":"Alarm","metadata":{"name":"a","annotations":{` + annotations + `}},"spec":{` + spec + `}}`
}

// alarms are samples of all versions, with wrong values among them.
func alarms() []string {
	all := []string{`{"apiVersion":"toy.example.com/v1","kind":"Alarm"}`, `{"apiVersion":"toy.example.com/v3","kind":"Alarm","metadata":7,"spec":{"at":{}}}`}
	for version, specs := range map[string][]string{
		"v1": {
			``, `"tone":"bell"`, `"ring":"9:05"`, `"ring":"09:05","moreRings":["noon"]`, `"ring":"9:05","moreRings":["noon","17:30"]`, `"ring":"never"`,
			`"ring":"9:05","moreRings":["never","noon"]`, `"moreRings":["9:05"]`, `"ring":"5"`, `"ring":"{\"hour\":5}"`, `"ring":"null"`,
			`"ring":{}`, `"ring":{"hour":"9"}`, `"ring":5`, `"ring":null`, `"ring":[]`, `"moreRings":5`, `"moreRings":[{"hour":"9"}]`, `"moreRings":[]`,
			`"moreRings":"[\"9:05\"]"`, `"moreRings":"\"[{}]\""`, `"ring":"<&>:\u2028"`,
		},
		"v2": {
			`"ring":{"hour":"9"}`, `"ring":{"hour":"9","minute":"00"},"moreRings":[{"hour":"12"},{"hour":"12","minute":"00"}]`, `"ring":{}`, `"ring":{"hour":9}`,
			`"ring":{"hour":"a:b"}`, `"ring":"9:05"`, `"ring":"{}"`, `"ring":"\"{}\""`, `"moreRings":["9:05"]`, `"moreRings":[{"hour":9}]`, `"moreRings":[{},{"minute":"1"}]`,
			`"ring":{"hour":null}`, `"moreRings":"[{\"hour\":\"9\"}]"`,
		},
		"v3": {
			`"at":{"times":["09:05"]}`, `"at":{"times":["9:5","12:00"]}`, `"at":{"times":["never"]}`, `"at":{}`, `"at":5`, `"at":{"times":[5]}`, `"at":"noon"`,
			`"at":{"times":["09:05","12:00","17:30"]},"tone":"bell"`, `"at":null`,
		},
	} {
		for _, spec := range specs {
			all = append(all, object(version, ``, spec))
		}
	}
	return append(all,
		object("v1", `"toy.example.com/ring-v2":"{\"hour\":9}","toy.example.com/ring-v3":""`, ``),
		object("v1", `"toy.example.com/more-rings-v2":"[{\"hour\":9}]","toy.example.com/ring-v3":"{\"times\":[\"9:5\"]}"`, `"ring":"9:05"`),
		object("v2", `"toy.example.com/ring-v1":"noon","toy.example.com/ring-v3":"{}"`, `"ring":{"hour":"12"}`),
	)
}

func TestTheLawsHoldForAKindThatIsNoCronJob(t *testing.T) {
	laws(t, alarmVersions, alarms()...)
}

// specV4 has texts such as "9h" and "9h05".
type specV4 struct {
	At    string   `json:"at,omitempty"`
	AndAt []string `json:"andAt,omitempty"`
}

func TestTheLawsHoldForAVersionOfTextsWhoseMembersHaveOtherNames(t *testing.T) {
	short := func(text string) string {
		if hour, minute, ok := strings.Cut(text, ":"); ok {
			return hour + "h" + strings.TrimPrefix(minute, "00")
		}
		return ""
	}
	long := func(text string) string {
		if hour, minute, ok := strings.Cut(text, "h"); ok {
			return hour + ":" + cmp.Or(minute, "00")
		}
		return ""
	}
	table := spoke.Table{Hub: alarmVersions.Hub, Spokes: []spoke.Spoke{spoke.NewSpoke(spoke.Spoke{
		APIVersion: "toy.example.com/v4", Object: &alarm[specV4]{}, Members: spoke.Members{Value: "at", List: "andAt"},
	}, spoke.Each(short, long))}}
	samples := alarms()
	for _, spec := range []string{
		`"at":"9h05","andAt":["9h","09h00"]`, `"at":"","andAt":["",""]`, `"at":"{}"`, `"at":{"hour":"9"},"andAt":[{},5,null]`, `"andAt":5`, `"at":null`,
		`"at":"9h","moreRings":["9:05"]`, `"andAt":["9h"],"ring":"9:05","moreRings":[{"hour":"9"}]`,
	} {
		samples = append(samples, object("v4", ``, spec))
	}
	laws(t, table, samples...)
}

func FuzzTheLawsHoldForAKindThatIsNoCronJob(f *testing.F) {
	fuzzLaws(f, alarmVersions, alarms()...)
}

func assertConverts(t *testing.T, object, version, want string) {
	t.Helper()
	converted, err := alarmVersions.ConvertJSON([]byte(object), "toy.example.com/"+version)
	require.NoError(t, err)
	without := strings.NewReplacer(`,"annotations":{}`, "", `"annotations":{},`, "")
	assert.JSONEq(t, without.Replace(want), without.Replace(string(converted)))
}

func TestAListOfTimesBecomesAValueAndFurtherOnes(t *testing.T) {
	times := object("v3", ``, `"at":{"times":["09:05","17:30"]}`)
	assertConverts(t, times, "v1", object("v1", ``, `"ring":"9:05","moreRings":["17:30"]`))
	assertConverts(t, times, "v2", object("v2", ``, `"ring":{"hour":"9","minute":"05"},"moreRings":[{"hour":"17","minute":"30"}]`))
	assertConverts(t, object("v1", ``, `"ring":"noon","moreRings":["17:30"]`), "v3",
		object("v3", `"toy.example.com/ring-v1":"noon"`, `"at":{"times":["12:00","17:30"]}`))
}

func TestC11AnEditOfOneTimeLeavesTheSpellingOfTheOthers(t *testing.T) {
	kept := `"toy.example.com/ring-v1":"noon","toy.example.com/more-rings-v1":"[\"09:05\",\"noon\"]"`
	assertConverts(t, object("v3", kept, `"at":{"times":["12:00","09:05","12:00"]}`), "v1", object("v1", ``, `"ring":"noon","moreRings":["09:05","noon"]`))
	assertConverts(t, object("v3", kept, `"at":{"times":["12:00","17:30","12:00"]}`), "v1", object("v1", ``, `"ring":"noon","moreRings":["17:30","noon"]`))
	assertConverts(t, object("v3", kept, `"at":{"times":["12:01","09:05"]}`), "v1", object("v1", ``, `"ring":"12:01","moreRings":["09:05"]`))
}

func TestC11WhichOfTheElementsThatAVersionCanNotExpressWasDeletedIsNotGuessed(t *testing.T) {
	const nine, ten = `{"hour":"9","minute":"05"}`, `{"hour":"10","minute":"00"}`
	for _, test := range []struct{ kept, edited, want string }{
		{`"never","9:05","ever"`, `{},` + nine + `,{}`, `"never","9:05","ever"`},
		{`"never","9:05","ever"`, nine + `,{}`, `"9:05",""`},
		{`"never","9:05","ever"`, `{},` + nine, `"","9:05"`},
		{`"never","9:05","ever"`, nine + `,{},` + ten, `"9:05","","10:00"`},
		{`"never","9:05","ever"`, nine, `"9:05"`},
		{`"never","9:05","ever"`, `{},{}`, `"never","ever"`},
		{`"never","9:05","ever"`, ten + `,` + nine + `,{}`, `"10:00","9:05","ever"`},
		{`"never","9:05","never"`, nine + `,{}`, `"9:05","never"`},
	} {
		kept := `"toy.example.com/more-rings-v1":"[` + strings.ReplaceAll(test.kept, `"`, `\"`) + `]"`
		assertConverts(t, object("v2", kept, `"ring":`+ten+`,"moreRings":[`+test.edited+`]`), "v1",
			object("v1", ``, `"ring":"10:00","moreRings":[`+test.want+`]`))
	}
}

func TestC11AnEditInOneVersionEndsTheSpellingOfOthers(t *testing.T) {
	inV3 := object("v1", `"toy.example.com/ring-v3":"{\"times\":[\"9:5\"]}"`, `"ring":"9:5"`)
	both := object("v1", `"toy.example.com/ring-v2":"{\"hour\":\"9\"}","toy.example.com/ring-v3":"{\"times\":[\"9:00\"]}"`, `"ring":"9:00"`)
	for _, stored := range []string{inV3, both} {
		converted, err := alarmVersions.ConvertJSON([]byte(stored), "toy.example.com/v2")
		require.NoError(t, err)
		require.Contains(t, string(converted), "ring-v3", "it is kept")
		edited := strings.Replace(string(converted), `"hour":"9"`, `"hour":"10","minute":"30"`, 1)
		edited = strings.Replace(edited, `"minute":"30","minute":"5"`, `"minute":"30"`, 1)
		again, err := alarmVersions.ConvertJSON([]byte(edited), "toy.example.com/v1")
		require.NoError(t, err)
		assert.NotContains(t, string(again), "ring-v", "nothing is kept")
	}
	annotations := map[string]string{"toy.example.com/ring-v2": `{"hour":"9"}`, "toy.example.com/ring-v3": `{"times":["9:00"]}`, "mine": "x"}
	assert.Equal(t, annotations, alarmVersions.DropStale(annotations, "9:00"))
	assert.Equal(t, map[string]string{"mine": "x"}, alarmVersions.DropStale(annotations, "9:01"))
}

func TestC11ANullAmongTheKeptOnesOfAListIsNoValue(t *testing.T) {
	noon := func(text string) clock {
		if text == "noon" {
			return splitClock(text)
		}
		return clock{}
	}
	wider := alarmVersions
	wider.Spokes = append(wider.Spokes[:1:1], spoke.NewSpoke(spoke.Spoke{
		APIVersion: "toy.example.com/v4", Object: &alarm[specV3]{}, Members: spoke.Members{Value: "time", List: "times"},
	}, spoke.Each(noon, joinClock)))
	edited := object("v4", `"toy.example.com/more-rings-v1":"[\"9:05\",\"\"]","toy.example.com/more-rings-v2":"[{\"hour\":\"9\",\"minute\":\"05\"},null]"`,
		`"time":{},"times":[{}]`)
	inV2, err := wider.ConvertJSON([]byte(edited), "toy.example.com/v2")
	require.NoError(t, err)
	back, err := wider.ConvertJSON(inV2, "toy.example.com/v4")
	require.NoError(t, err)
	assert.Contains(t, string(back), `"time":{}`)
}
