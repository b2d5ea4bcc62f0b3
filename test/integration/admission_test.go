// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

const (
	ianaHint       = `use a name of the IANA database such as Europe/Paris`
	minuteHint     = `must be a minute from 0 to 59, a range (0-30), *, any of these with a step (*/15), or a comma-separated list of these`
	sundayHint     = `Sunday is 0 or sun, not 7; a range to 7 is two, such as 5-6,0 for 5-7`
	everyHint      = `must be a duration such as 45s, 90m or 1h30m; a day is 24h`
	nothingSet     = `at least one of minute, hour, dayOfMonth, month, dayOfWeek or every must be set`
	everyBeside    = `every can't be combined with minute, hour, dayOfMonth, month or dayOfWeek`
	neverFires     = `never fires: no day has this day of month, month, hour and minute`
	dayHint        = `must be a date of the calendar such as 2026-12-25, a range such as 2026-12-24/2027-01-02, or a day of each year such as --12-25`
	windowReversed = `spec: Invalid value: notAfter must not be before notBefore`
	noPrefix       = `not a schedule: TZ= and CRON_TZ= are not supported, use timeZone`
)

// refusals are specs, each with one mistake, and what the API server says about it.
var refusals = map[string]struct {
	version, mistake, want string
}{
	"v1: not a schedule": {
		"v1", `schedule: garbage`,
		`spec.schedule: Invalid value: "garbage": not a schedule: found 1 field, want 5: minute, hour, day of month, month, day of week, ` +
			`such as 0 9 * * 1-5; or a macro such as @daily, or @every 90m`,
	},
	"v1: a minute that does not exist": {
		"v1", `schedule: 60 * * * *`,
		`spec.schedule: Invalid value: "60 * * * *": not a schedule: minute "60": ` + minuteHint,
	},
	"v1: an empty schedule": {
		"v1", `schedule: ""`,
		`spec.schedule: Invalid value: "": spec.schedule in body should be at least 1 chars long`,
	},
	"v1: a time zone in the schedule": {
		"v1", `schedule: TZ=UTC 0 0 * * *`,
		`spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": ` + noPrefix,
	},
	"v1: a time zone in the schedule that makes the parser panic": {
		"v1", `schedule: TZ=UTC`,
		`spec.schedule: Invalid value: "TZ=UTC": ` + noPrefix,
	},
	"v1: no duration": {
		"v1", `schedule: "@every 5x"`,
		`spec.schedule: Invalid value: "@every 5x": not a schedule: interval "5x": ` + everyHint,
	},
	"v1: 30 February": {
		"v1", `schedule: 0 0 30 2 *`,
		`spec.schedule: Invalid value: "0 0 30 2 *": ` + neverFires,
	},
	"v1: an unknown time zone": {
		"v1", `timeZone: Mars/Phobos`,
		`spec.timeZone: Invalid value: "Mars/Phobos": unknown time zone "Mars/Phobos": ` + ianaHint,
	},
	"v1: the machine's time zone": {
		"v1", `timeZone: Local`,
		`spec.timeZone: Invalid value: "Local": unknown time zone "Local": it depends on the machine, ` + ianaHint,
	},
	"v1: an empty time zone": {
		"v1", `timeZone: ""`,
		`spec.timeZone: Invalid value: "": spec.timeZone in body should be at least 1 chars long`,
	},
	"v1: a negative limit of successful Jobs": {
		"v1", `successfulJobsHistoryLimit: -1`,
		`spec.successfulJobsHistoryLimit: Invalid value: -1: spec.successfulJobsHistoryLimit in body should be greater than or equal to 0`,
	},
	"v1: a negative limit of failed Jobs": {
		"v1", `failedJobsHistoryLimit: -1`,
		`spec.failedJobsHistoryLimit: Invalid value: -1: spec.failedJobsHistoryLimit in body should be greater than or equal to 0`,
	},
	"v1: a negative deadline": {
		"v1", `startingDeadlineSeconds: -1`,
		`spec.startingDeadlineSeconds: Invalid value: -1: spec.startingDeadlineSeconds in body should be greater than or equal to 0`,
	},
	"v1: an unknown policy": {
		"v1", `concurrencyPolicy: Sometimes`,
		`spec.concurrencyPolicy: Unsupported value: "Sometimes": supported values: "Allow", "Forbid", "Replace"`,
	},
	"v1: a day that does not exist": {
		"v1", `exclude: ["2026-02-30"]`, `spec.exclude[0]: Invalid value: "2026-02-30": ` + dayHint,
	},
	"v1: no day": {
		"v1", `exclude: [--12-25, tomorrow]`, `spec.exclude[1]: Invalid value: "tomorrow": ` + dayHint,
	},
	"v1: a day twice": {
		"v1", `exclude: [--12-25, --12-25]`, `spec.exclude[1]: Duplicate value: "--12-25"`,
	},
	"v1: a range of days the wrong way round": {
		"v1", `exclude: [2027-01-02/2026-12-24]`,
		`spec.exclude[0]: Invalid value: "2027-01-02/2026-12-24": the range ends before it begins: write 2026-12-24/2027-01-02`,
	},
	"v1: all of its days": {
		"v1", `exclude: [--01-01]`, `spec.exclude: Invalid value: never fires: each tick is on a day of exclude`,
	},
	"v1: a window the wrong way round": {
		"v1", `{notBefore: "2026-02-01T00:00:00Z", notAfter: "2026-01-31T00:00:00Z"}`, windowReversed,
	},
	"v1: a window without a tick": {
		"v1", `{notBefore: "2026-02-01T00:00:00Z", notAfter: "2026-03-01T00:00:00Z"}`,
		`spec.notBefore: Invalid value: "2026-02-01T00:00:00Z": never fires: no tick lies between notBefore and notAfter on a day that is not excluded`,
	},
	"v2: no day": {
		"v2", `exclude: [--12-25, tomorrow]`, `spec.exclude[1]: Invalid value: "tomorrow": ` + dayHint,
	},
	"v2: all of its days": {
		"v2", `exclude: [--01-01]`, `spec.exclude: Invalid value: never fires: each tick is on a day of exclude`,
	},
	"v2: a window the wrong way round": {
		"v2", `{notBefore: "2026-02-01T00:00:00Z", notAfter: "2026-01-31T00:00:00Z"}`, windowReversed,
	},
	"v2: a last day of the week": {
		"v2", `schedule: {dayOfWeek: "L"}`,
		`spec.schedule.dayOfWeek: Invalid value: "L": L alone is not a day of the week: 5L is the last Friday of the month, 6 is each Saturday, ` +
			`and the last day of the month is L as day of month`,
	},
	"v2: a day that no month has": {
		"v2", `schedule: {minute: "0", hour: "0", dayOfMonth: L-29, month: feb}`, `spec.schedule: Invalid value: "0 0 L-29 feb *": ` + neverFires,
	},
	"v2: a minute that does not exist": {
		"v2", `schedule: {minute: "60"}`,
		`spec.schedule.minute: Invalid value: "60": ` + minuteHint,
	},
	"v2: a minute that is no number": {
		"v2", `schedule: {minute: noon, hour: "12"}`,
		`spec.schedule.minute: Invalid value: "noon": ` + minuteHint,
	},
	"v2: a minute without quotes": {
		"v2", `schedule: {minute: 0}`,
		`spec.schedule.minute: Invalid value: "integer": spec.schedule.minute in body must be of type string: "integer"`,
	},
	"v2: a weekday that does not exist": {
		"v2", `schedule: {dayOfWeek: "7"}`,
		`spec.schedule.dayOfWeek: Invalid value: "7": ` + sundayHint,
	},
	"v2: a range backwards": {
		"v2", `schedule: {minute: "30-10"}`,
		`spec.schedule.minute: Invalid value: "30-10": the range 30-10 ends before it begins: write 30-59,0-10`,
	},
	"v2: no duration": {
		"v2", `schedule: {every: 5x}`,
		`spec.schedule.every: Invalid value: "5x": ` + everyHint,
	},
	"v2: nothing set": {
		"v2", `schedule: {}`,
		`spec.schedule: Invalid value: ` + nothingSet,
	},
	"v2: every beside a field": {
		"v2", `schedule: {every: 5m, minute: "0"}`,
		`spec.schedule: Invalid value: ` + everyBeside,
	},
	"v2: several at once": {
		"v2", `{schedule: {minute: "60", dayOfWeek: "7"}, timeZone: Mars/Phobos}`,
		`[spec.schedule.minute: Invalid value: "60": ` + minuteHint + `, spec.schedule.dayOfWeek: Invalid value: "7": ` + sundayHint +
			`, spec.timeZone: Invalid value: "Mars/Phobos": unknown time zone "Mars/Phobos": ` + ianaHint + `]`,
	},
	"v1: an ephemeral container": {
		"v1", `jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: busybox}], restartPolicy: Never, ephemeralContainers: [{name: e}]}}}}`,
		`spec.jobTemplate.spec.template.spec.ephemeralContainers: Invalid value: must be left out: only a running Pod can have ephemeral containers`,
	},
	"v2: 30 February": {
		"v2", `schedule: {minute: "0", hour: "0", dayOfMonth: "30", month: feb}`,
		`spec.schedule: Invalid value: "0 0 30 feb *": ` + neverFires,
	},
	"v2: the schedule of v1": {
		"v2", `schedule: 0 0 * * *`,
		`spec.schedule: Invalid value: "string": spec.schedule in body must be of type object: "string"`,
	},
	"v2: an unknown time zone": {
		"v2", `timeZone: Mars/Phobos`,
		`spec.timeZone: Invalid value: "Mars/Phobos": unknown time zone "Mars/Phobos": ` + ianaHint,
	},
	"v2: a negative limit of successful Jobs": {
		"v2", `successfulJobsHistoryLimit: -1`,
		`spec.successfulJobsHistoryLimit: Invalid value: -1: spec.successfulJobsHistoryLimit in body should be greater than or equal to 0`,
	},
	"v2: a negative limit of failed Jobs": {
		"v2", `failedJobsHistoryLimit: -1`,
		`spec.failedJobsHistoryLimit: Invalid value: -1: spec.failedJobsHistoryLimit in body should be greater than or equal to 0`,
	},
	"v2: an unknown policy": {
		"v2", `concurrencyPolicy: Sometimes`,
		`spec.concurrencyPolicy: Unsupported value: "Sometimes": supported values: "Allow", "Forbid", "Replace"`,
	},
}

func TestA5AMistakeIsRefusedWithAClearMessage(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for version := range yearly {
		require.NoError(t, s.Client.Create(t.Context(), s.object(version, "stored-in-"+version, yearly[version], jobTemplate)))
	}
	for name, test := range refusals {
		t.Run(name, func(t *testing.T) {
			err := s.Client.Create(t.Context(), s.object(test.version, "c", yearly[test.version], jobTemplate, test.mistake))
			assertRefusal(t, test.want, err, "created")

			mistake := map[string]any{}
			require.NoError(t, yaml.Unmarshal([]byte(test.mistake), &mistake))
			if schedule, ok := mistake["schedule"].(map[string]any); ok {
				mistake["schedule"] = withoutOtherFields(schedule)
			}
			patch, err := json.Marshal(map[string]any{"spec": mistake})
			require.NoError(t, err)
			stored := s.object(test.version, "stored-in-"+test.version)
			err = s.Client.Patch(t.Context(), stored, client.RawPatch(types.MergePatchType, patch))
			assertRefusal(t, test.want, err, "updated")
		})
	}
	for version := range yearly {
		assert.Equal(t, "0 0 1 1 *", s.get("stored-in-"+version).Spec.Schedule)
	}
}

// withoutOtherFields has a merge patch of a v2 schedule remove what it does not set.
func withoutOtherFields(schedule map[string]any) map[string]any {
	whole := map[string]any{"minute": nil, "hour": nil, "dayOfMonth": nil, "month": nil}
	maps.Copy(whole, schedule)
	return whole
}

// notChecked is what the API server adds to an error of the schema.
const notChecked = `<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; ` +
	`correct the existing errors to complete validation`

// assertRefusal checks that a request was refused for one reason, and what is said about it.
func assertRefusal(t *testing.T, want string, err error, what string) {
	t.Helper()
	if !assert.True(t, apierrors.IsInvalid(err), "%s: got %v, want %s", what, err, want) {
		return
	}
	_, message, _ := strings.Cut(inNewWords(t, err.Error()), " is invalid: ")
	if trimmed, ok := strings.CutSuffix(message, ", "+notChecked+"]"); ok {
		message = strings.TrimPrefix(trimmed, "[")
	}
	assert.Equal(t, want, message, what)
}

// saidByType matches how, before 1.35, a rule of the schema speaks of an object or a list.
var saidByType = regexp.MustCompile(
	`Invalid value: "(?:object|array)": (at least one|notAfter must|maxConcurrency goes|catchUpLimit goes|must be left out)`)

// inNewWords returns the text of a refusal as it is since 1.35. Before, the API server has the type
// of a value in what a rule of the schema says, where it has the value since, or nothing if that is
// an object or a list.
func inNewWords(t *testing.T, text string) string {
	t.Helper()
	if !shared.isOlderThan(t, "1.35") {
		return text
	}
	text = saidByType.ReplaceAllString(text, "Invalid value: $1")
	return strings.ReplaceAll(text, `"string": `+dayHint, `"tomorrow": `+dayHint)
}

func TestA5ANameMayHave52CharactersAndNoMore(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for version := range yearly {
		longest := strings.Repeat("n", 50) + version
		require.NoError(t, s.Client.Create(t.Context(), s.object(version, longest, yearly[version], jobTemplate)))
		err := s.Client.Create(t.Context(), s.object(version, "n"+longest, yearly[version], jobTemplate))
		assertRefusal(t, `metadata.name: Too long: may not be more than 52 bytes`, err, version)
	}
}

func TestA5ALongNameIsNoReasonToRefuseAnUpdate(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff})
	name := strings.Repeat("n", 53)
	s.create(s.cronJob(name).Schedule(nextYear).Obj())
	s.switchWebhooksOn()
	s.edit(name, func(c *v1.CronJob) { c.Spec.Schedule = "0 0 2 1 *" })
	c := s.getV2(name)
	before := c.DeepCopy()
	c.Spec.Schedule.DayOfMonth = field("3")
	require.NoError(t, s.Client.Patch(t.Context(), c, client.MergeFrom(before)))
	assert.Equal(t, "0 0 3 1 *", s.get(name).Spec.Schedule)
}

func TestC3FieldsThatNoWebhookHasCheckedStayAsTheyAreAndAreInvalid(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff})
	for name, schedule := range map[string]v2.CronSchedule{
		"wrong":   {Minute: field("99"), DayOfWeek: field("L")},
		"several": {Minute: field("0 5"), Hour: field("x")},
		"both":    {Minute: field("0"), Every: "5m"},
		"no-time": {Every: "often"},
	} {
		c := &v2.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.ns}}
		c.Spec.Schedule, c.Spec.JobTemplate = schedule, s.cronJob(name).Obj().Spec.JobTemplate
		require.NoError(t, s.Client.Create(t.Context(), c), name)
		s.awaitReady(name, metav1.ConditionFalse, v1.ReasonInvalidSchedule)
		assert.Equal(t, schedule, s.getV2(name).Spec.Schedule, name)
	}
}

func TestKubectlWarnsOfFieldsThatAScheduleDoesNotHave(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	u := s.object("v2", "c", `schedule: {minute: "0", second: "0"}`, jobTemplate)
	manifest, err := yaml.Marshal(u.Object)
	require.NoError(t, err)
	command := s.Kubectl(t.Context(), "create", "-f", "-")
	command.Stdin = strings.NewReader(string(manifest))
	out, err := command.CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), `unknown field "spec.schedule.second"`)
}

func TestAShortDeadlineIsAcceptedWithAWarning(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for version := range yearly {
		manifest, err := yaml.Marshal(s.object(version, version, yearly[version], jobTemplate, `startingDeadlineSeconds: 9`).Object)
		require.NoError(t, err)
		out := s.kubectlWithInput(t, string(manifest), "create", "-f", "-")
		assert.Contains(t, out, "Warning: spec.startingDeadlineSeconds: below 10", version)
	}
}
