// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"tutorial.kubebuilder.io/project/apis/batch/spoke/conversiontest"
)

// partialObjects are partial CronJobs of server-side apply, and objects with garbage in their
// metadata. They have no apiVersion.
func partialObjects() map[string]string {
	nested := func(depth int) string { return strings.Repeat(`{\"a\":`, depth) + "1" + strings.Repeat("}", depth) }
	kept := func(value string) string {
		return `"metadata":{"annotations":{"` + ScheduleV2Annotation + `":"` + value + `"}},"spec":{}`
	}
	const hourly = `,"spec":{"schedule":"@hourly"}`
	return map[string]string{
		"no metadata":                        `"spec":{"suspend":true}`,
		"no metadata, a kept text":           `"spec":{"schedule":"@hourly"}`,
		"no metadata, kept fields":           `"spec":{"schedule":{"minute":"0","hour":"*"}}`,
		"no metadata, an invalid schedule":   `"spec":{"schedule":{"minute":5}}`,
		"no metadata, no spec":               `"status":{"active":[]}`,
		"no spec":                            `"metadata":{"name":"c","namespace":"n","uid":"u","labels":{"a":"b"}}`,
		"a spec of null":                     `"metadata":{"name":"c"},"spec":null`,
		"a schedule of null":                 `"metadata":{"name":"c"},"spec":{"schedule":null}`,
		"metadata of nothing":                `"metadata":{}` + hourly,
		"labels of null":                     `"metadata":{"labels":null}` + hourly,
		"annotations of null":                `"metadata":{"annotations":null}` + hourly,
		"annotations that are null":          `"metadata":{"annotations":{"a":null}}` + hourly,
		"annotations that are numbers":       `"metadata":{"annotations":{"a":5}}` + hourly,
		"annotations that are a list":        `"metadata":{"annotations":["a"]}` + hourly,
		"labels that are numbers":            `"metadata":{"labels":{"a":5}}` + hourly,
		"labels that are a text":             `"metadata":{"labels":"a"}` + hourly,
		"a key that is no annotation's":      `"metadata":{"annotations":{"no key!":"b"}}` + hourly,
		"such a key beside stale fields":     `"metadata":{"annotations":{"no key!":"b","` + ScheduleV2Annotation + `":"{\"hour\":\"*\"}"}}` + hourly,
		"such a key beside a stale text":     `"metadata":{"annotations":{"no key!":"b","` + ScheduleV1Annotation + `":"@daily"}},"spec":{"schedule":{"minute":"5"}}`,
		"annotations that leave no room":     `"metadata":{"annotations":{"a":"` + strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB-1) + `"}}` + hourly,
		"annotations beyond their limit":     `"metadata":{"annotations":{"` + ScheduleV1Annotation + `":"x","a":"` + strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB) + `"}}` + hourly,
		"a kept schedule as deep as can be":  kept(nested(9_995)),
		"a kept schedule that is too deep":   kept(nested(9_996)),
		"a kept schedule far too deep":       kept(nested(9_999)),
		"a kept number that is too large":    kept(`{\"minute\":1e999}`),
		"a kept schedule of brackets":        kept(`],[`),
		"no metadata, additional texts":      `"spec":{"additionalSchedules":["@hourly"]}`,
		"no metadata, additional fields":     `"spec":{"additionalSchedules":[{"minute":"0","hour":"*"}]}`,
		"stale additional fields":            `"metadata":{"annotations":{"` + AdditionalSchedulesV2Annotation + `":"[{\"hour\":\"*\"}]"}},"spec":{}`,
		"additional garbage":                 `"metadata":{},"spec":{"additionalSchedules":[null,{"minute":5},"x"]}`,
		"a schedule that is an object in v1": `"metadata":{},"spec":{"schedule":{"hour":"?"}}`,
	}
}

func TestC1TheAPIServerAcceptsEachPartialObject(t *testing.T) {
	for name, members := range partialObjects() {
		for from, to := range map[string]string{hubVersion: spokeVersion, spokeVersion: hubVersion} {
			t.Run(name+" to "+to, func(t *testing.T) {
				object := `{"apiVersion":"` + from + `","kind":"CronJob",` + members + `}`
				conversiontest.RequireAccepted(t, []byte(object), []byte(convertJSON(t, object, to)))
			})
		}
	}
}

func TestC4NoV1ScheduleThatIsAnObjectIsOneInV2(t *testing.T) {
	for _, schedule := range []string{`{"hour":"?"}`, `{"every":"1h"}`, `{"minute":"0","x":1}`, `{"minute":"0","hour":null}`, `{}`} {
		got := convertJSON(t, hubJSON(`"name":"c"`, `"schedule":`+schedule), spokeVersion)
		assert.JSONEq(t, spokeJSON(`"name":"c","annotations":{"`+ScheduleV1Annotation+`":`+encode(schedule)+`}`, ``), got, "none, which v2 refuses")
		again := convertJSON(t, got, hubVersion)
		assert.JSONEq(t, hubJSON(`"name":"c"`, `"schedule":`+schedule), again, "C2: which comes back as that object")
	}
}

func TestC4NoKeptScheduleTurnsValidWhenTheAPIServerDropsItsUnknownFields(t *testing.T) {
	for _, kept := range []string{`{"minute":"0","x":1}`, `{"minute":"0","hour":null}`, `{"Minute":"5","hour":"9"}`} {
		got := convertJSON(t, hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":`+encode(kept)+`}`, ``), spokeVersion)
		assert.JSONEq(t, spokeJSON(``, ``), got, kept)
	}
}
