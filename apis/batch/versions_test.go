// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"tutorial.kubebuilder.io/project/apis/batch/spoke/conversiontest"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// samples are CronJobs of both versions, with wrong values among them.
func samples() []string {
	object := func(version, metadata, spec string) string {
		return `{"apiVersion":"` + version + `","kind":"CronJob","metadata":{` + metadata + `},"spec":{` + spec +
			`"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"main"}]}}}}}}`
	}
	hub, spoke := v1.GroupVersion.String(), v2.GroupVersion.String()
	all := []string{`{"apiVersion":"` + hub + `","kind":"CronJob"}`, `{"apiVersion":"` + spoke + `","kind":"CronJob","metadata":{"labels":5},"spec":null}`}
	for _, text := range []string{
		"", "* * * * *", "*/5 9-17 * * 1-5", "@hourly", "@every 90m", "@every ", "0  9 * * *", " \t", "garbage", "null", "{}", `{"minute":0}`, `{"minute":"0"}`,
		"TZ=UTC 0 0 * * *", "<&>\u2028 * * * *", strings.Repeat(" ", 2_000) + "0 * * * *",
	} {
		raw, _ := json.Marshal(text) // a string
		all = append(all, object(hub, `"name":"c","uid":"u"`, `"schedule":`+string(raw)+`,"additionalSchedules":["@daily",`+string(raw)+`],`))
	}
	for _, schedule := range []string{
		`{"minute":"0"}`, `{"minute":"0","hour":"*"}`, `{"hour":"*"}`, `{"every":"90m"}`, `{"every":"","minute":"0"}`, `{"minute":""}`, `{"minute":"0 5"}`,
		`{}`, `{"minute":0}`, `{"minute":null}`, `{"second":"0"}`, `"@hourly"`, `"{}"`, `5`, `[]`, `null`,
	} {
		all = append(all, object(spoke, `"name":"c"`, `"schedule":`+schedule+`,"additionalSchedules":[{"minute":"5"},`+schedule+`],`),
			object(hub, `"name":"c"`, `"schedule":`+schedule+`,`))
	}
	return append(all,
		object(hub, `"annotations":{"`+v2.ScheduleV2Annotation+`":"{\"minute\":0}"}`, ``),
		object(hub, `"annotations":{"`+v2.AdditionalSchedulesV2Annotation+`":"[{\"hour\":\"*\"}]"}`, `"schedule":"@daily","additionalSchedules":["* * * * *"],`),
		object(spoke, `"annotations":{"`+v2.ScheduleV1Annotation+`":"`+strings.Repeat(" ", 2_000)+`"}`, `"schedule":{"minute":"0"},`),
	)
}

func TestTheHubHasTheFieldsThatAllVersionsHave(t *testing.T) {
	hub, common := reflect.TypeFor[v1.CronJobSpec](), reflect.TypeFor[v1.CommonSpec]()
	assert.Equal(t, common.NumField()+len([]string{"Schedule", "AdditionalSchedules"}), hub.NumField())
	for field := range common.Fields() {
		same, found := hub.FieldByName(field.Name)
		assert.True(t, found && same.Type == field.Type && same.Tag == field.Tag, field.Name)
	}
}

func TestC10TheLawsHoldForAllVersions(t *testing.T) { conversiontest.Laws(t, Versions, samples()...) }

func FuzzC10TheLawsHoldForAllVersions(f *testing.F) {
	conversiontest.Fuzz(f, Versions, samples()...)
}
