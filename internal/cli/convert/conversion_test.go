// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
)

// manifestWith is a v1 manifest with this line as its schedule.
func manifestWith(schedule string) string {
	return "apiVersion: " + apiV1 + "\nkind: CronJob\nmetadata:\n  name: c\nspec:\n  " +
		schedule + "\n  jobTemplate: {}\n"
}

func TestThereAndBackGivesTheSameBytesWhereTheTextAllows(t *testing.T) {
	for _, schedule := range []string{
		`schedule: "*/5 * * * *"`,
		`schedule: "*/5 9-17 * * 1-5"  # blanks and comment`,
		`schedule: "@every 90m"`,
	} {
		t.Run(schedule, func(t *testing.T) {
			text := manifestWith(schedule)
			there := convertText(t, []byte(text), options{to: apiV2})
			require.Equal(t, 1, there.converted)
			assert.Empty(t, there.findings)
			assert.Equal(t, text, string(convertText(t, there.text, options{to: apiV1}).text))
		})
	}
}

func TestWhereTheWayBackGivesAnotherScheduleItIsNoted(t *testing.T) {
	for schedule, want := range map[string]string{
		`schedule: "@hourly"`:      `6: note: converted back to v1, the schedule would be "0 * * * *"` + "\n",
		`schedule: "0  9 * * *"`:   `6: note: converted back to v1, the schedule would be "0 9 * * *"` + "\n",
		`schedule: 0 9 * * *`:      "",
		`schedule:    "0 9 * * *"`: "",
	} {
		t.Run(schedule, func(t *testing.T) {
			there := convertText(t, []byte(manifestWith(schedule)), options{to: apiV2})
			require.Equal(t, 1, there.converted)
			assert.Equal(t, want, messagesOf(there))
		})
	}
}

// TestTheFieldsAreThoseOfTheTypedConversion decodes what Convert wrote and compares it with what
// ConvertFrom says.
func TestTheFieldsAreThoseOfTheTypedConversion(t *testing.T) {
	for _, schedule := range []string{"*/5 9-17 * * 1-5", "@yearly", "@every 1h30m", "* * * * *", "0 0 1 jan ?", "*-x\"y * * * *"} {
		t.Run(schedule, func(t *testing.T) {
			text := manifestWith(fmt.Sprintf("schedule: %q", schedule))
			converted := convertText(t, []byte(text), options{to: apiV2})
			require.Equal(t, 1, converted.converted, messagesOf(converted))
			got, want, hub := &v2.CronJob{}, &v2.CronJob{}, &v1.CronJob{}
			require.NoError(t, yaml.UnmarshalStrict(converted.text, got))
			require.NoError(t, yaml.UnmarshalStrict([]byte(text), hub))
			require.NoError(t, want.ConvertFrom(hub))
			assert.Equal(t, want.Spec.Schedule, got.Spec.Schedule)
		})
	}
}

// TestEveryWayToWriteAScheduleIsConverted puts schedules in every position of a spec, with every
// indentation and line end.
func TestEveryWayToWriteAScheduleIsConverted(t *testing.T) {
	ways := map[string][]string{
		apiV1: {
			`schedule: "0 9 * * 1-5"`, `schedule: '0 9 * * 1-5' # c`, `schedule: 0 9 * * 1-5`, "schedule:\n_  # c\n_  '0 9 * * 1-5' # d",
			"schedule: 0 9\n_    * * 1-5 # c", `"schedule": "0 9 * * 1-5"`,
			"schedule: \"0 9\n_  * * 1-5\"",
		},
		apiV2: {
			"schedule:\n_  minute: \"0\"\n_  hour: \"9\"", "schedule: # c\n_      # d\n_      hour: '9' # e\n\n_      # f\n_      minute: '0' # g\n_      # h",
			`schedule: {minute: "0", hour: "9"} # c`, "schedule: {minute: '0', # c\n_  hour: '9'}", "schedule:\n_  minute:\n_    # c\n_    \"0\" # d\n_  hour: \"9\"",
			"schedule:\n_  {minute: '0', hour: '9'} # c", "schedule:\n_  every:   90m", "\"schedule\":\n_  \"month\" : jan-mar",
		},
	}
	for version, ways := range ways {
		for i, way := range ways {
			for _, indent := range []string{" ", "  ", "    "} {
				for _, form := range []string{"%sspec:\n_jobTemplate: {}\n_%s", "%sspec:\n_%s\n_# after\n_jobTemplate: {}\n# end\n", "# before\n%sspec: # here\n\n_%s\n_jobTemplate: {}"} {
					for _, newline := range []string{"\n", "\r\n"} {
						text := fmt.Sprintf(form, "apiVersion: "+version+"\nkind: CronJob\n", way)
						text = strings.NewReplacer("\n_", newline+indent, "\n", newline).Replace(text)
						result := assertLaws(t, []byte(text), options{to: other(version)})
						require.Equal(t, 1, result.converted, "%d: %s%s", i, messagesOf(result), text)
						require.Equal(t, strings.Count(text, "#"), strings.Count(string(result.text), "#"), "no comment is lost: %s", result.text)
						require.Equal(t, strings.Count(string(result.text), "\n"), strings.Count(string(result.text), newline), "line ends stay")
						assertLaws(t, result.text, options{to: version})
					}
				}
			}
		}
	}
}

func TestTheCheckSeesWhatTheAPIServerWouldRefuseInTheVersionThatIsAskedFor(t *testing.T) {
	for spec, want := range map[string]string{
		`{schedule: {minute: 0}, jobTemplate: {}}`:                    `spec.schedule.minute: want a string: put "0" in quotes`,
		`{schedule: {minute: "61"}, jobTemplate: {}}`:                 `spec.schedule.minute: Invalid value: "61": must be a minute from 0 to 59`,
		`{schedule: {minute: "61"}}`:                                  "", // lint checks as much as can be checked of a patch
		`{schedule: {minute: "0 5"}, jobTemplate: {}}`:                `spec.schedule.minute: Invalid value: "0 5": must be a minute`,
		`{schedule: {dayOfWeek: L}, jobTemplate: {}}`:                 `spec.schedule.dayOfWeek: Invalid value: "L": L alone is not a day of the week: `,
		`{schedule: {hour: 17-9}, jobTemplate: {}}`:                   `spec.schedule.hour: Invalid value: "17-9": the range 17-9 ends before it begins`,
		`{schedule: {every: 5x}, jobTemplate: {}}`:                    `spec.schedule.every: Invalid value: "5x": must be a duration such as 45s`,
		`{schedule: {minute: ""}, jobTemplate: {}}`:                   `spec.schedule.minute: Invalid value: "": `,
		`{schedule: {minutes: "0"}, jobTemplate: {}}`:                 "spec.schedule: Invalid value: at least one of minute",
		`{schedule: {every: -5m}, jobTemplate: {}}`:                   `spec.schedule.every: Invalid value: "-5m": must be an interval above 0`,
		`{schedule: {every: 5m, hour: "9"}, jobTemplate: {}}`:         "spec.schedule: Invalid value: every can't be combined",
		`{schedule: {dayOfMonth: "30", month: "2"}, jobTemplate: {}}`: `spec.schedule: Invalid value: "* * 30 2 *": never fires`,
		`{schedule: {}, jobTemplate: {}}`:                             "spec.schedule: Invalid value: at least one of minute",
		`{schedule: "0 9 * * *", jobTemplate: {}}`:                    `spec.schedule: Invalid value: "string": spec.schedule in body must be of type object`,
		`{schedule: {minute: "0"}, timeZone: Mars, jobTemplate: {}}`:  `spec.timeZone: Invalid value: "Mars": unknown time zone "Mars"`,
		`{schedule: {minute: "0"}, jobTemplate: {}}`:                  "",
		`{schedule: {dayOfMonth: "30", month: "2"}}`:                  "", // a patch, of what may have a day of the week
		`{schedule: {minute: null, every: 5m}}`:                       "",
		`{schedule: {}}`:                                              "",
		`{suspend: true}`:                                             "",
		`{schedule: {minute: "{{ .minute }}"}, jobTemplate: {}}`:      "",
		`{schedule: {hour: "${HOUR}"}, jobTemplate: {}}`:              "",
	} {
		for _, form := range []string{
			"apiVersion: %[2]s\nkind: CronJob\nspec: %[1]s\n",
			"kind: List\napiVersion: v1\nitems:\n- {apiVersion: %[2]s, kind: CronJob, spec: %[1]s}\n",
		} {
			text := fmt.Sprintf(form, spec, apiV2)
			got := messagesOf(convertText(t, []byte(text), options{to: apiV2, check: true}))
			if want == "" {
				assert.Empty(t, got, text)
			} else {
				assert.Contains(t, got, ": left alone: the API server would refuse it: "+want, text)
			}
			assert.Empty(t, messagesOf(convertText(t, []byte(text), options{to: apiV2})), "only a check looks at what has nothing to convert")
		}
	}
	written := "apiVersion: " + apiV1 + "\nkind: CronJob\nspec: {schedule: %s, jobTemplate: {}}\n"
	for schedule, want := range map[string]string{
		`"61 * * * *"`: `spec.schedule: Invalid value: "61 * * * *": not a schedule`, `{minute: "0"}`: `spec.schedule: Invalid value: "object"`, `"@daily"`: "", `""`: "spec.schedule: ",
	} {
		got := messagesOf(convertText(t, fmt.Appendf(nil, written, schedule), options{to: apiV1, check: true}))
		assert.Contains(t, got, want)
		assert.Equal(t, want == "", got == "", schedule)
	}
}

func TestAScheduleThatDoesSomethingElseThanItSeemsToIsNoted(t *testing.T) {
	const (
		only   = "the step of */90 leads beyond 59, so that only minute 0 matches\n"
		either = `note: spec.schedule: day of month "13" beside day of week "5": a day that matches either of them matches`
	)
	for name, tc := range map[string]struct {
		from, to string
		schedule string
		want     string
	}{
		"from v1 to v2": {apiV1, apiV2, `"*/90 9 13 * 5"`, `5: note: spec.schedule: minute "*/90": ` + only + "5: " + either},
		"from v2 to v1": {apiV2, apiV1, `{minute: "*/90", hour: "9", dayOfMonth: "13", dayOfWeek: "5"}`, "5: note: spec.schedule.minute: " + only + "5: " + either},
		"v1 as it is":   {apiV1, apiV1, `"*/90 9 13 * 5"`, `5: note: spec.schedule: minute "*/90": ` + only + "5: " + either},
		"v2 as it is":   {apiV2, apiV2, `{minute: "*/90", hour: "9", dayOfMonth: "13", dayOfWeek: "5"}`, "5: note: spec.schedule.minute: " + only + "5: " + either},
	} {
		t.Run(name, func(t *testing.T) {
			text := "apiVersion: " + tc.from + "\nkind: CronJob\nspec:\n  jobTemplate: {}\n  schedule: " + tc.schedule + "\n"
			result := convertText(t, []byte(text), options{to: tc.to, check: true})
			assert.False(t, result.leftAlone())
			assert.Contains(t, messagesOf(result), tc.want)
		})
	}
}

func TestAScheduleWithoutTheQuotesThatYAMLWantsIsToldToHaveThem(t *testing.T) {
	const (
		alias = `it can't be read: yaml: did not find expected alphabetic or numeric character: ` +
			`in YAML, * begins an alias: put the value in quotes, such as "*/5 * * * *", or "*/5" in a field of v2`
		at = `it can't be read: yaml: found character that cannot start any token: put a schedule that starts with @ in quotes, such as "@daily", and indent with blanks, not tabs`
	)
	for schedule, want := range map[string]string{
		"*/5 * * * *": alias, "* * * * *": alias, "{minute: */5}": alias, "{minute: *}": alias, "\n    minute: */15": alias, "@daily": at, "{every: @x}": at,
	} {
		for _, from := range []string{apiV1, apiV2} {
			text := "apiVersion: " + from + "\nkind: CronJob\nspec:\n  schedule: " + schedule + "\n"
			for _, to := range []string{apiV1, apiV2} {
				got := messagesOf(convertText(t, []byte(text), options{to: to, check: true}))
				assert.Contains(t, got, ": left alone: "+want, "%s of %s, checked for %s", schedule, from, to)
			}
		}
	}
}

func TestAFileInUTF16IsNotSkippedInSilence(t *testing.T) {
	wide := []byte("\xff\xfe")
	for _, char := range []byte(manifestWith(`schedule: "0 * * * *"`)) {
		wide = append(wide, char, 0)
	}
	result := convertText(t, wide, options{to: apiV2})
	assert.Equal(t, "1: left alone: the file is UTF-16: save it as UTF-8\n", messagesOf(result))
	assert.Equal(t, wide, result.text)
	assert.Empty(t, convertText(t, []byte("\xff\xfea\x00"), options{to: apiV2}).findings)
}

// hasCarrier reports whether a text may have an annotation that is left out, with its comment.
func hasCarrier(text []byte) bool {
	return bytes.Contains(text, []byte("schedule")) && bytes.Contains(text, []byte("-v"))
}

func TestAdditionalSchedulesAreConvertedWhereTheyAre(t *testing.T) {
	for name, tc := range map[string]struct{ v1, v2 string }{
		"a list": {
			"  # at weekends\n  # noon\n  additionalSchedules:\n    - \"0 12 * * 6\"\n    - \"5 * * * *\"\n",
			"  # at weekends\n  # noon\n  additionalSchedules:\n    - {minute: \"0\", hour: \"12\", dayOfWeek: \"6\"}\n    - {minute: \"5\"}\n",
		},
		"none":    {"  additionalSchedules: []\n", "  additionalSchedules: []\n"},
		"no list": {"  additionalSchedules: null\n", "  additionalSchedules: null\n"},
	} {
		t.Run(name, func(t *testing.T) {
			inV1 := manifestWith("schedule: \"0 9 * * *\"") + tc.v1
			inV2 := strings.Replace(manifestWith("schedule:\n    minute: \"0\"\n    hour: \"9\""), "/v1", "/v2", 1) + tc.v2
			there := assertLaws(t, []byte(inV1), options{to: apiV2})
			assert.Empty(t, messagesOf(there))
			assert.Equal(t, inV2, string(there.text))
			back := assertLaws(t, []byte(inV2), options{to: apiV1})
			assert.Empty(t, messagesOf(back))
			assert.Equal(t, inV1, string(back.text))
		})
	}
}

func TestCommentsAmongAdditionalSchedulesGoAboveThem(t *testing.T) {
	for _, additional := range []string{
		"additionalSchedules:\n  - minute: \"30\"  # half past\n    hour: \"12\"  # noon\n  # Saturday\n  -\n    dayOfWeek: \"6\"\n  - {hour: \"*\"}\n",
		"additionalSchedules:\n    # half past\n    - {minute: \"30\", hour: \"12\"}  # noon\n\n    # Saturday\n    - {dayOfWeek: \"6\"}\n    - {hour: \"*\"}\n",
	} {
		text := strings.Replace(manifestWith("schedule: {minute: \"0\"}"), "/v1", "/v2", 1) + "  " + additional
		r := assertLaws(t, []byte(text), options{to: apiV1})
		assert.Equal(t, manifestWith("schedule: \"0 * * * *\"")+"  # half past\n  # noon\n  # Saturday\n"+
			"  additionalSchedules:\n    - \"30 12 * * *\"\n    - \"* * * * 6\"\n    - \"* * * * *\"\n", string(r.text))
		assert.Equal(t, `8: note: converted back to v2, the additionalSchedules would be [{"minute":"30","hour":"12"},{"dayOfWeek":"6"},{"minute":"*"}]`+"\n",
			messagesOf(r))
	}
}

func TestAdditionalSchedulesThatAreWrongAreErrorsWhereTheyAre(t *testing.T) {
	for spec, want := range map[string]string{
		`"0 9 * * *", additionalSchedules: ["@daily", "61 * * * *"]`:                  `spec.additionalSchedules[1]: Invalid value: "61 * * * *": not a schedule: minute "61"`,
		`"0 9 * * *", additionalSchedules: ["@every 5m"]`:                             `spec.additionalSchedules[0]: Invalid value: "@every 5m": an interval can't be combined`,
		`"@every 5m", additionalSchedules: ["@daily"]`:                                `spec.schedule: Invalid value: "@every 5m": an interval can't be combined`,
		`"0 9 * * *", additionalSchedules: "@daily"`:                                  `spec.additionalSchedules: Invalid value: "string"`,
		`"0 9 * * *", additionalSchedules: [5]`:                                       `spec.additionalSchedules[0]: want a string: put "5" in quotes`,
		`"0 9 * * *", additionalSchedules: [` + strings.Repeat(`"@daily",`, 17) + "]": "spec.additionalSchedules: Too many: 17: must have at most 16 items",
	} {
		text := []byte("{apiVersion: " + apiV1 + ", kind: CronJob, spec: {jobTemplate: {}, schedule: " + spec + "}}")
		assert.Contains(t, messagesOf(assertLaws(t, text, options{to: apiV2})), ": left alone: "+want, spec)
		assert.True(t, convertText(t, text, options{to: apiV1, check: true}).leftAlone(), spec)
	}
	inV2 := func(additional string) []byte {
		return []byte(strings.Replace(manifestWith("schedule: {minute: \"0\"}\n  additionalSchedules: "+additional), "/v1", "/v2", 1))
	}
	for additional, want := range map[string]string{
		`[{minute: 0}]`:                    `spec.additionalSchedules[0].minute: want a string: put "0" in quotes`,
		`[{minute: "0"}, {hour: "61"}]`:    `spec.additionalSchedules[1].hour: Invalid value: "61": must be an hour`,
		`[{every: 5m}]`:                    `spec.additionalSchedules[0].every: Invalid value: "5m": an interval can't be combined`,
		`["@daily"]`:                       `spec.additionalSchedules[0]: Invalid value: "string"`,
		`[{}]`:                             "spec.additionalSchedules[0]: Invalid value: at least one of minute",
		"\n  - minute: \"0\"\n    x: \"\"": "spec.additionalSchedules[0].x: there is no such field",
	} {
		for _, o := range []options{{to: apiV1}, {to: apiV2, check: true}} {
			assert.Contains(t, messagesOf(convertText(t, inV2(additional), o)), want, additional)
		}
	}
	assert.Empty(t, messagesOf(convertText(t, inV2(`[{minute: "{{ .m }}"}, {hour: "${HOUR}"}]`), options{to: apiV2, check: true})))
}

// assertPlaces checks that each CronJob and its fields are found in the file.
func assertPlaces(t *testing.T, text []byte) {
	t.Helper()
	objects, _ := manifest.Objects(text, false)
	for i := range objects {
		o := &objects[i]
		require.Equal(t, o.APIVersion, o.Value["apiVersion"])
		line, column := o.Position("spec.jobTemplate.spec.template.spec.containers[0].name")
		require.GreaterOrEqual(t, line, 1)
		require.GreaterOrEqual(t, column, 1)
	}
}

// FuzzConvert converts any text there and back.
func FuzzConvert(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.text, g.options.to == apiV2, g.options.fromBuiltIn)
	}
	f.Fuzz(func(t *testing.T, text []byte, toV2, builtIn bool) {
		o := options{fromBuiltIn: builtIn, to: apiV1}
		if toV2 {
			o.to = apiV2
		}
		assertPlaces(t, text)
		result := assertLaws(t, text, o)
		if result.leftAlone() {
			return
		}
		before, after := manifest.Split(text), manifest.Split(result.text)
		require.Len(t, after, len(before))
		for i, p := range before {
			if !bytes.Contains(p.Text, []byte(manifest.Kind)) && !bytes.Contains(p.Text, []byte(builtin.GVK.Kind)) {
				require.Equal(t, string(p.Text), string(after[i].Text), "documents that are not ours stay as they are")
			}
		}
		if !bytes.Contains(text, []byte(`\`)) && !hasCarrier(text) {
			require.Equal(t, bytes.Count(text, []byte("#")), bytes.Count(result.text, []byte("#")), "no comment is lost")
		}
		if !o.fromBuiltIn && result.converted > 0 {
			assertLaws(t, result.text, options{to: other(o.to)})
		}
	})
}

// FuzzSchedule writes any text where a schedule, and what is around it, would be, so that most of
// what it makes are CronJobs.
func FuzzSchedule(f *testing.F) {
	for _, g := range goldens(f) {
		_, rest, _ := bytes.Cut(g.text, []byte("schedule:"))
		schedule, after, _ := bytes.Cut(rest, []byte("  jobTemplate"))
		f.Add("", string(schedule), string(after), byte(len(rest)%4), g.options.to == apiV2)
	}
	f.Fuzz(func(t *testing.T, metadata, schedule, after string, form byte, toV2 bool) {
		version, o := apiV2, options{to: apiV1}
		if toV2 {
			version, o = apiV1, options{to: apiV2}
		}
		forms := []string{
			"apiVersion: %s\nkind: CronJob\n%sspec:\n  schedule:%s  jobTemplate: {}%s",
			"apiVersion: %s\nkind: CronJob\n%sspec:\n    schedule:%s%s",
			"# {\n{apiVersion: %s, kind: CronJob, %s spec: {schedule:%s, jobTemplate: {}%s}}",
			"{\n\t\"apiVersion\": \"%s\",\n\t\"kind\": \"CronJob\",%s\n\t\"spec\": {\n\t\t\"schedule\":%s%s\n\t}\n}\n",
		}
		text := fmt.Appendf(nil, forms[form%4], version, metadata, schedule, after)
		result := assertLaws(t, text, o)
		if !bytes.Contains(text, []byte(`\`)) && !hasCarrier(text) {
			require.Equal(t, bytes.Count(text, []byte("#")), bytes.Count(result.text, []byte("#")), "no comment is lost")
		}
		if result.converted > 0 {
			assertLaws(t, result.text, options{to: other(o.to)})
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	template := "  concurrencyPolicy: Forbid\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: OnFailure\n" +
		"          containers:\n          - name: main\n            image: busybox:1.36\n            command: [sh, -c, date]\n" +
		"            resources:\n              limits: {cpu: 100m, memory: 64Mi}\n"
	text := []byte("apiVersion: " + apiV1 + "\nkind: CronJob\nmetadata:\n  name: c\n  labels:\n    app: c\nspec:\n" +
		"  schedule: \"*/5 9-17 * * 1-5\"  # in office hours\n" + template)
	other := []byte(strings.Replace(string(text), apiV1, "apps/v1", 1))
	for name, text := range map[string][]byte{"ours": text, "others": other} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if convertText(b, text, options{to: apiV2}).leftAlone() {
					b.Fatal("left alone")
				}
			}
		})
	}
}
