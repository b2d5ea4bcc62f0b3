// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/validate"
	"tutorial.kubebuilder.io/project/test/builders"
)

// assertSameInAllForms checks that a schedule is valid as a text if and only if it is valid in each
// version that can express it, written there by a user, and that it means the same there.
func assertSameInAllForms(t testing.TB, text string) {
	t.Helper()
	c := builders.MakeCronJob("c").Schedule(text).Obj()
	inText := validate.Spec(&c.Spec, validate.Form{})
	for _, version := range batch.Versions.APIVersions() {
		written := writtenIn(t, version, text)
		if written.Spec.Schedule == "" && len(inText) == 0 {
			continue // the version can't express it, and keeps the text
		}
		inFields := validate.Spec(&written.Spec, validate.FormIn(version, written))
		assert.Equal(t, len(inText) == 0, len(inFields) == 0, "C4: %q is %v in v1, and %v in %s", text, inText, inFields, version)
		if len(inText) == 0 {
			want, _ := schedule.Parse(text, "")
			got, _ := schedule.Parse(written.Spec.Schedule, "") // both are valid
			assert.Equal(t, want, got, "C5: %q is %q in %s", text, written.Spec.Schedule, version)
		}
	}
}

// writtenIn returns what the hub has of a CronJob that a user writes in a version: with this
// schedule, and without the annotation that keeps its text.
func writtenIn(t testing.TB, apiVersion, text string) *v1.CronJob {
	t.Helper()
	hub, written := batch.Versions.Hub, unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"schedule": text}}}
	written.SetAPIVersion(hub.APIVersion)
	written.SetKind(hub.Kind)
	c := &v1.CronJob{}
	for _, to := range []string{apiVersion, hub.APIVersion} {
		raw, err := written.MarshalJSON()
		require.NoError(t, err)
		raw, err = batch.Versions.ConvertJSON(raw, to)
		require.NoError(t, err)
		require.NoError(t, written.UnmarshalJSON(raw))
		written.SetAnnotations(nil)
	}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(written.Object, c))
	return c
}

// oddFields are fields that the parser accepts or narrowly refuses.
var oddFields = []string{
	"*", "?", "0", "59", "60", "007", "+5", "-5", "*/5", "*/+5", "*/05", "*/0", "*/100", "?/3", "0/15", "5-10", "5-10/2", "10-5",
	"*-foo", "*-foo/2", "1,2,3", ",1,", "1,,2", ",", ",,", "1-", "-1", "1/", "/1", "1/2/3", "1-2-3", "", "jan", "DEC", "Mar-Oct/2",
	"L", "l-3", "L-30", "L-31", "L-0", "L-03", "LW", "lw", "L-3W", "15W", "031w", "0W", "32W", "W", "1,L,15W", "L/2", "1-L", "*-L", ",L,",
	"5#3", "FRI#1", "5#5", "5#6", "5#0", "5#", "#3", "7#1", "5L", "satl", "7L", "1-5#2", "1-5L", "5#3/2", "1,5#3,0L", "fRİ#2", "ſunL",
	"sun", "MON-FRI", "7", "fRİ", "ſun", "0-6", "31", "32", "23", "24", "12", "13", "1٣", "99999999999999999999", "1/99999999999999999999",
}

func TestC4AllVersionsAcceptTheSameSchedules(t *testing.T) {
	for _, field := range oddFields {
		for place := range 5 {
			parts := []string{"1", "1", "1", "1", "1"}
			parts[place] = field
			assertSameInAllForms(t, strings.Join(parts, " "))
		}
	}
	for _, every := range []string{"5m", "1h30m", "-5m", "+5m", "0", "-0", "1.5h", ".5h", "1.h", "1µs", "1μs", "5", "m", "5M", "1h 30m", "", "9999999999999h"} {
		assertSameInAllForms(t, "@every "+every)
	}
}

func FuzzC4AllVersionsAcceptTheSame(f *testing.F) {
	for _, field := range oddFields {
		f.Add(field + " * * " + field + " " + field)
		f.Add("0 " + field + " " + field + " * *")
		f.Add("@every " + field)
	}
	f.Fuzz(func(t *testing.T, text string) { assertSameInAllForms(t, text) })
}

// TestC4TheSchemaTakesTheDaysThatTheWebhookTakes compares the pattern of both versions with the
// parser, which also knows how long months are.
func TestC4TheSchemaTakesTheDaysThatTheWebhookTakes(t *testing.T) {
	raw, err := os.ReadFile("../../../../config/crd/bases/batch.tutorial.kubebuilder.io_cronjobs.yaml")
	require.NoError(t, err)
	crd := apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal(raw, &crd))
	var patterns []string
	for _, version := range crd.Spec.Versions {
		exclude := version.Schema.OpenAPIV3Schema.Properties["spec"].Properties["exclude"]
		assert.EqualValues(t, schedule.MaxExcluded, *exclude.MaxItems)
		validation := exclude.Items.Schema.XValidations[0]
		assert.EqualError(t, schedule.CheckDays("tomorrow"), validation.Message)
		patterns = append(patterns, strings.TrimSuffix(strings.TrimPrefix(validation.Rule, "self.matches('"), "')"))
	}
	require.Equal(t, patterns[0], patterns[1])
	pattern := regexp.MustCompile(patterns[0])
	for _, days := range []string{
		"2026-12-25", "2026-02-28", "--02-29", "2026-12-24/2027-01-02", "0000-01-01", "9999-12-31", "2027-01-02/2026-12-24", "2026-02-30", "--02-30",
		"", "tomorrow", "2026-13-01", "2026-1-1", "--12-25/--12-26", "2026-12-24/28", "2026-12-25T00:00:00Z", " 2026-12-25", "2026-00-01", "--00-01", "--01-00",
	} {
		fits := schedule.CheckDays(days) == nil
		isForTheWebhook := days == "2027-01-02/2026-12-24" || days == "2026-02-30" || days == "--02-30"
		assert.Equal(t, fits || isForTheWebhook, pattern.MatchString(days), days)
	}
}
