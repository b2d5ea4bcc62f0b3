// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const text = `apiVersion: batch.tutorial.kubebuilder.io/v1
kind: CronJob
metadata:
  name: c
spec:
  schedule: "0 9 * * *"  # in the morning
  jobTemplate: {}
`

// set sets the only object of a text, and applies that.
func set(t *testing.T, text, object string) (string, error) {
	t.Helper()
	d := Split([]byte(text))[0]
	var changed []byte
	err := d.Visit(isOurs, func(o *Object) error { return o.Set([]byte(object)) })
	if err == nil {
		changed, err = d.Apply()
	}
	return string(changed), err
}

func TestWhatChangesIsReplacedAndNothingElse(t *testing.T) {
	object := func(metadata, spec string) string {
		return `{"apiVersion":"batch.tutorial.kubebuilder.io/v2","kind":"CronJob","metadata":` + metadata + `,"spec":` + spec + `}`
	}
	got, err := set(t, text, object(`{"name":"c"}`, `{"when":{"z":"1","a":[{"b":2}]},"jobTemplate":{}}`))
	require.NoError(t, err)
	assert.Equal(t, strings.NewReplacer("/v1", "/v2", `  schedule: "0 9 * * *"  # in the morning
`, `  when:  # in the morning
    z: "1"
    a: [{"b": 2}]
`).Replace(text), strings.ReplaceAll(got, "{b: 2}", `{"b": 2}`), "a member that is gone, and another")

	flow := `{apiVersion: batch.tutorial.kubebuilder.io/v1, kind: CronJob, metadata: {annotations: {a: "1", b: "2", c: "3"}}, spec: {x: "}", u: [",", z], t: 5}}`
	for annotations, want := range map[string]string{
		`{"a":"1"}`: `{a: "1"}`, `{"b":"2"}`: `{b: "2"}`, `{"c":"3"}`: `{c: "3"}`, `{"a":"1","c":"3"}`: `{a: "1", c: "3"}`,
	} {
		got, err = set(t, flow, object(`{"annotations":`+annotations+`}`, `{"x":"}","t":{}}`))
		require.NoError(t, err)
		assert.Equal(t, `{apiVersion: batch.tutorial.kubebuilder.io/v2, kind: CronJob, metadata: {annotations: `+want+`}, spec: {x: "}", t: {}}}`, got)
	}
}

func TestWhatCanNotBeChangedIsAnError(t *testing.T) {
	const spec = `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":1,"jobTemplate":{}}}`
	for replaced, want := range map[string]string{
		"schedule: |schedule: &s ":                                   "", // nobody uses it
		"name: c|name: {{.Values.x}}":                                "it is a template",
		"jobTemplate: {}|jobTemplate: {}\n  x: 1\nanchor: &a {b: c}": "", // is dropped
	} {
		before, after, _ := strings.Cut(replaced, "|")
		_, err := set(t, strings.Replace(text, before, after, 1), spec)
		if want == "" {
			require.NoError(t, err, replaced)
			continue
		}
		finding := Finding{}
		require.ErrorAs(t, err, &finding)
		assert.Contains(t, finding.Message, want)
	}
	_, err := set(t, strings.Replace(text, "kind: CronJob", "kind: CronJob\nx: 1", 1), `{"y":2}`)
	require.Error(t, err)
	added := strings.Replace(spec, `"schedule":1`, `"schedule":"0 9 * * *","more":1`, 1)
	_, err = set(t, text, added)
	assert.ErrorContains(t, err, "more would have to be added")
}

func TestNoTextIsReturnedThatDoesNotSayWhatWasSet(t *testing.T) {
	for name, replaced := range map[string]string{"another value": `"8"`, "no YAML": "}", "a key twice": "\"9\"\n  jobTemplate: {}"} {
		d := Split([]byte(text))[0]
		require.NoError(t, d.Visit(isOurs, func(*Object) error { return nil }))
		at := strings.Index(text, `"0 9`)
		d.replace(at, at+len(`"0 9 * * *"`), replaced)
		_, err := d.Apply()
		assert.ErrorContains(t, err, "it can't be changed safely", name)
	}
}

func TestTheDocumentsAreTheWholeFile(t *testing.T) {
	for _, text := range []string{"", "a: 1", "---\na: 1\n---\nb: 2\n...\n# c\n---", "\ufeffa: 1\r\n--- # x\r\nb: 2"} {
		var whole []byte
		for _, d := range Split([]byte(text)) {
			whole = append(whole, d.Text...)
		}
		assert.Equal(t, strings.TrimPrefix(text, string(ByteOrderMark)), string(whole))
	}
}

func TestObjectsAreFoundWithTheirLines(t *testing.T) {
	file := "a: 1\n---\n" + text + "---\napiVersion: batch/v1\nkind: CronJob\n---\napiVersion: other/v1\nkind: CronJob\n---\nkind: Wrong\napiVersion: batch.tutorial.kubebuilder.io/v1\n"
	objects, findings := Objects([]byte(file), false)
	require.Len(t, objects, 2)
	assert.True(t, objects[0].IsOurs())
	assert.True(t, objects[1].IsBuiltIn())
	line, column := objects[0].Position("spec.schedule.minute")
	assert.Equal(t, []int{8, 3}, []int{line, column}, "of the deepest field that is there")
	require.Len(t, findings, 1)
	assert.Equal(t, "17: left alone: kind Wrong is not known in batch.tutorial.kubebuilder.io/v1: want CronJob", findings[0].String())
}
