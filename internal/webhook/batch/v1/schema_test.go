// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// schemaPatterns reads from the generated CRD what v2's schema has each field of a schedule match.
func schemaPatterns(t testing.TB) map[string]*regexp.Regexp {
	t.Helper()
	raw, err := os.ReadFile("../../../../config/crd/bases/batch.tutorial.kubebuilder.io_cronjobs.yaml")
	require.NoError(t, err)
	crd := apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal(raw, &crd))
	patterns := map[string]*regexp.Regexp{}
	for _, version := range crd.Spec.Versions {
		if version.Name != "v2" {
			continue
		}
		for name, property := range version.Schema.OpenAPIV3Schema.Properties["spec"].Properties["schedule"].Properties {
			require.NotEmpty(t, property.XValidations, name)
			for _, validation := range property.XValidations { // all pass, or one fails, by the same pattern
				rule, ok := strings.CutPrefix(validation.Rule, "self.matches('")
				require.True(t, ok)
				pattern, _, _ := strings.Cut(rule, "')")
				if patterns[name] == nil {
					patterns[name] = regexp.MustCompile(pattern)
				}
				require.Equal(t, pattern, patterns[name].String(), name)
				require.NotEmpty(t, validation.Message)
			}
		}
	}
	require.Len(t, patterns, 6)
	return patterns
}

// fieldsOf returns the fields of a v1 schedule in v2.
func fieldsOf(t testing.TB, text string) map[string]string {
	t.Helper()
	c := &v2.CronJob{}
	require.NoError(t, c.ConvertFrom(&v1.CronJob{Spec: v1.CronJobSpec{Schedule: text}}))
	fields := map[string]string{}
	for name, field := range map[string]*v2.CronField{
		"minute": c.Spec.Schedule.Minute, "hour": c.Spec.Schedule.Hour, "dayOfMonth": c.Spec.Schedule.DayOfMonth,
		"month": c.Spec.Schedule.Month, "dayOfWeek": c.Spec.Schedule.DayOfWeek,
	} {
		if field != nil {
			fields[name] = string(*field)
		}
	}
	if c.Spec.Schedule.Every != "" {
		fields["every"] = c.Spec.Schedule.Every
	}
	return fields
}

// assertSameInBothVersions checks that a schedule which v1 accepts passes v2's schema, and that a
// field which the schema accepts is refused by the parser only for what a pattern can't tell.
func assertSameInBothVersions(t testing.TB, patterns map[string]*regexp.Regexp, text string) {
	t.Helper()
	fields := fieldsOf(t, text)
	if _, err := schedule.Parse(text, ""); err == nil {
		assert.NotEmpty(t, fields, "%q", text)
		for name, field := range fields {
			assert.Regexp(t, patterns[name], field, "C4: %q is valid in v1, but not its %s in v2", text, name)
		}
	}
	places := []string{"minute", "hour", "dayOfMonth", "month", "dayOfWeek"}
	for name, field := range fields {
		if mistake := schedule.CheckField(name, field); mistake != nil && !patterns[name].MatchString(field) {
			assert.NotContains(t, mistake.Reason, "ends before", "C4: %q is refused for the same reason in v1 and v2", field)
		}
		// The pattern folds case by Unicode, so that ſ matches s; the validator does not.
		if len(field) > 1024 || strings.Contains(field, "ſ") || !patterns[name].MatchString(field) {
			continue
		}
		// The cron library does not know the days that the validator takes beside its own.
		field = strings.Join(slices.DeleteFunc(strings.Split(field, ","), func(item string) bool {
			return item != "" && schedule.CheckField(name, item) == nil
		}), ",")
		if field == "" {
			continue
		}
		expression := "@every " + field
		if name != "every" {
			parts := []string{"*", "*", "*", "*", "*"}
			for i, place := range places {
				if place == name {
					parts[i] = field
				}
			}
			expression = strings.Join(parts, " ")
		}
		if _, err := cron.ParseStandard(expression); err != nil {
			assert.Regexp(t, "beyond end of range|value out of range|invalid duration", err.Error(), "%s: %q passes the schema", name, field)
		}
	}
}

// oddFields are fields that the parser accepts or narrowly refuses.
var oddFields = []string{
	"*", "?", "0", "59", "60", "007", "+5", "-5", "*/5", "*/+5", "*/05", "*/0", "*/100", "?/3", "0/15", "5-10", "5-10/2", "10-5",
	"*-foo", "*-foo/2", "1,2,3", ",1,", "1,,2", ",", ",,", "1-", "-1", "1/", "/1", "1/2/3", "1-2-3", "", "jan", "DEC", "Mar-Oct/2",
	"L", "l-3", "L-30", "L-31", "L-0", "L-03", "LW", "lw", "L-3W", "15W", "031w", "0W", "32W", "W", "1,L,15W", "L/2", "1-L", "*-L", ",L,",
	"5#3", "FRI#1", "5#5", "5#6", "5#0", "5#", "#3", "7#1", "5L", "satl", "7L", "1-5#2", "1-5L", "5#3/2", "1,5#3,0L", "fRİ#2", "ſunL",
	"sun", "MON-FRI", "7", "fRİ", "ſun", "0-6", "31", "32", "23", "24", "12", "13", "1٣", "99999999999999999999", "1/99999999999999999999",
}

func TestC4BothVersionsAcceptTheSameFields(t *testing.T) {
	patterns := schemaPatterns(t)
	for _, field := range oddFields {
		for place := range 5 {
			parts := []string{"1", "1", "1", "1", "1"}
			parts[place] = field
			assertSameInBothVersions(t, patterns, strings.Join(parts, " "))
		}
	}
	for _, every := range []string{"5m", "1h30m", "-5m", "+5m", "0", "-0", "1.5h", ".5h", "1.h", "1µs", "1μs", "5", "m", "5M", "1h 30m", "", "9999999999999h"} {
		assertSameInBothVersions(t, patterns, "@every "+every)
	}
}

func FuzzC4BothVersionsAcceptTheSame(f *testing.F) {
	for _, field := range oddFields {
		f.Add(field + " * * " + field + " " + field)
		f.Add("0 " + field + " " + field + " * *")
		f.Add("@every " + field)
	}
	patterns := schemaPatterns(f)
	f.Fuzz(func(t *testing.T, text string) { assertSameInBothVersions(t, patterns, text) })
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
