// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package spoke_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// cronJobs are samples of v1 and v2, with wrong values among them.
func cronJobs() []string {
	object := func(version, metadata, spec string) string {
		return `{"apiVersion":"` + version + `","kind":"CronJob","metadata":{` + metadata + `},"spec":{` + spec +
			`"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"main"}]}}}}}}`
	}
	hub, spoke := batch.Versions.Hub.APIVersion, v2.GroupVersion.String()
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

// partialObjects are partial CronJobs of server-side apply, and objects with garbage in their
// metadata, each as an object of every version.
func partialObjects() map[string]string {
	nested := func(depth int) string { return strings.Repeat(`{\"a\":`, depth) + "1" + strings.Repeat("}", depth) }
	kept := func(value string) string {
		return `"metadata":{"annotations":{"` + v2.ScheduleV2Annotation + `":"` + value + `"}},"spec":{}`
	}
	const hourly = `,"spec":{"schedule":"@hourly"}`
	objects := map[string]string{}
	for name, members := range map[string]string{
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
		"such a key beside stale fields":     `"metadata":{"annotations":{"no key!":"b","` + v2.ScheduleV2Annotation + `":"{\"hour\":\"*\"}"}}` + hourly,
		"such a key beside a stale text":     `"metadata":{"annotations":{"no key!":"b","` + v2.ScheduleV1Annotation + `":"@daily"}},"spec":{"schedule":{"minute":"5"}}`,
		"annotations that leave no room":     `"metadata":{"annotations":{"a":"` + strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB-1) + `"}}` + hourly,
		"annotations beyond their limit":     `"metadata":{"annotations":{"` + v2.ScheduleV1Annotation + `":"x","a":"` + strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB) + `"}}` + hourly,
		"a kept schedule as deep as can be":  kept(nested(9_995)),
		"a kept schedule that is too deep":   kept(nested(9_996)),
		"a kept schedule far too deep":       kept(nested(9_999)),
		"a kept number that is too large":    kept(`{\"minute\":1e999}`),
		"a kept schedule of brackets":        kept(`],[`),
		"no metadata, additional texts":      `"spec":{"additionalSchedules":["@hourly"]}`,
		"no metadata, additional fields":     `"spec":{"additionalSchedules":[{"minute":"0","hour":"*"}]}`,
		"stale additional fields":            `"metadata":{"annotations":{"` + v2.AdditionalSchedulesV2Annotation + `":"[{\"hour\":\"*\"}]"}},"spec":{}`,
		"additional garbage":                 `"metadata":{},"spec":{"additionalSchedules":[null,{"minute":5},"x"]}`,
		"a schedule that is an object in v1": `"metadata":{},"spec":{"schedule":{"hour":"?"}}`,
	} {
		for _, version := range batch.Versions.APIVersions() {
			objects[name+" of "+version] = `{"apiVersion":"` + version + `","kind":"CronJob",` + members + `}`
		}
	}
	return objects
}

func TestTheHubHasTheFieldsThatAllVersionsHave(t *testing.T) {
	hub, common := reflect.TypeFor[v1.CronJobSpec](), reflect.TypeFor[v1.CommonSpec]()
	assert.Equal(t, common.NumField()+len([]string{"Schedule", "AdditionalSchedules"}), hub.NumField())
	for field := range common.Fields() {
		same, found := hub.FieldByName(field.Name)
		assert.True(t, found && same.Type == field.Type && same.Tag == field.Tag, field.Name)
	}
}

// samples are CronJobs of all versions. Those of v1 and v2 are above; each other version has its
// own in its package, one a line.
func samples(t testing.TB) []string {
	t.Helper()
	all := cronJobs()
	for _, version := range batch.Versions.APIVersions() {
		text, err := os.ReadFile(filepath.Join("..", path.Base(version), "testdata", "samples.jsonl"))
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
		}
		all = append(all, strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })...)
		require.True(t, slices.ContainsFunc(all, func(sample string) bool { return versionOf([]byte(sample)) == version }), "no samples of %s", version)
	}
	return all
}

func TestC10TheLawsHoldForAllVersions(t *testing.T) { laws(t, batch.Versions, samples(t)...) }

func FuzzC10TheLawsHoldForAllVersions(f *testing.F) {
	fuzzLaws(f, batch.Versions, append(samples(f), slices.Collect(maps.Values(partialObjects()))...)...)
}

func TestC1TheAPIServerAcceptsEachPartialObject(t *testing.T) {
	for name, object := range partialObjects() {
		t.Run(name, func(t *testing.T) { hold(t, batch.Versions, []byte(object), false) })
	}
}
