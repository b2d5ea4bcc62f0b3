// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestA3Defaults(t *testing.T) {
	c := builders.MakeCronJob("c").Obj()
	c.Default()
	assert.Equal(t, v1.AllowConcurrent, c.Spec.ConcurrencyPolicy)
	assert.Equal(t, new(false), c.Spec.Suspend)
	assert.Equal(t, new(int32(3)), c.Spec.SuccessfulJobsHistoryLimit)
	assert.Equal(t, new(int32(1)), c.Spec.FailedJobsHistoryLimit)

	t.Run("no limit that would be refused once catchUpPolicy is removed", func(t *testing.T) {
		c := builders.MakeCronJob("c").Obj()
		c.Spec.CatchUpPolicy = v1.CatchUpAll
		c.Default()
		assert.Nil(t, c.Spec.CatchUpLimit)
	})
	t.Run("leave what is set", func(t *testing.T) {
		c := builders.MakeCronJob("c").Policy(v1.ForbidConcurrent).Suspend(true).History(0, 0).Obj()
		before := c.DeepCopy()
		c.Default()
		assert.Equal(t, before, c)
	})
}

func TestC6AnEditDropsTheAnnotationOfTheOldSchedule(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("0 9 * * *").Obj()
	c.Annotations = map[string]string{v2.ScheduleV2Annotation: `{"minute":"0","hour":"*"}`, "mine": "stays"}
	batch.DropStaleSchedules(c)
	assert.Equal(t, map[string]string{"mine": "stays"}, c.Annotations)
}

func TestA5Rejections(t *testing.T) {
	noon := time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		c    *v1.CronJob
		want string
	}{
		"nothing": {builders.MakeCronJob("c").Schedule("").Obj(),
			`spec.schedule: Required value: must not be empty: write five fields such as 0 9 * * 1-5, a macro such as @daily, or @every 90m`},
		"a word": {builders.MakeCronJob("c").Schedule("sometimes").Obj(),
			`spec.schedule: Invalid value: "sometimes": not a schedule: found 1 field, want 5: minute, hour, day of month, month, day of week, ` +
				`such as 0 9 * * 1-5; or a macro such as @daily, or @every 90m`},
		"a range the wrong way round": {builders.MakeCronJob("c").Schedule("30-10 * * * *").Obj(),
			`spec.schedule: Invalid value: "30-10 * * * *": not a schedule: minute "30-10": the range 30-10 ends before it begins: write 30-59,0-10`},
		"TZ=": {builders.MakeCronJob("c").Schedule("TZ=UTC 0 9 * * *").Obj(),
			`spec.schedule: Invalid value: "TZ=UTC 0 9 * * *": not a schedule: TZ= and CRON_TZ= are not supported, use timeZone`},
		"30 February": {builders.MakeCronJob("c").Schedule("0 0 30 2 *").Obj(),
			`spec.schedule: Invalid value: "0 0 30 2 *": never fires: no day has this day of month, month, hour and minute`},
		"an additional schedule": {builders.MakeCronJob("c").Also("@daily", "61 * * * *", "").Obj(),
			`[spec.additionalSchedules[1]: Invalid value: "61 * * * *": not a schedule: minute "61": must be a minute from 0 to 59, a range (0-30), *, ` +
				`any of these with a step (*/15), or a comma-separated list of these, ` +
				`spec.additionalSchedules[2]: Required value: must not be empty: write five fields such as 0 9 * * 1-5, a macro such as @daily, or @every 90m]`},
		"an additional 30 February": {builders.MakeCronJob("c").Also("0 0 30 2 *").Obj(),
			`spec.additionalSchedules[0]: Invalid value: "0 0 30 2 *": never fires: no day has this day of month, month, hour and minute`},
		"an additional interval": {builders.MakeCronJob("c").Also("@daily", "@every 5m").Obj(),
			`spec.additionalSchedules[1]: Invalid value: "@every 5m": ` + schedule.ErrCombined.Error()},
		"beside an interval": {builders.MakeCronJob("c").Schedule("@every 5m").Also("@daily").Obj(),
			`spec.schedule: Invalid value: "@every 5m": ` + schedule.ErrCombined.Error()},
		"too many": {builders.MakeCronJob("c").Also(slices.Repeat([]string{"@daily"}, 17)...).Obj(),
			`spec.additionalSchedules: Too many: 17: must have at most 16 items`},
		"no time zone": {builders.MakeCronJob("c").TimeZone("Europe/Pariss").Obj(),
			`spec.timeZone: Invalid value: "Europe/Pariss": unknown time zone "Europe/Pariss": use a name of the IANA database such as Europe/Paris`},
		"an empty time zone": {builders.MakeCronJob("c").TimeZone("").Obj(),
			`spec.timeZone: Invalid value: "": must be a name of the IANA database such as Europe/Paris; leave it out for UTC`},
		"negative limits": {builders.MakeCronJob("c").History(-1, -2).Deadline(-3).Obj(),
			"[spec.successfulJobsHistoryLimit: Invalid value: -1: must be 0 or more, " +
				"spec.failedJobsHistoryLimit: Invalid value: -2: must be 0 or more, " +
				"spec.startingDeadlineSeconds: Invalid value: -3: must be 0 or more]"},
		"no date": {builders.MakeCronJob("c").Exclude("--12-25", "2026-02-30").Obj(),
			`spec.exclude[1]: Invalid value: "2026-02-30": must be a date of the calendar such as 2026-12-25, ` +
				`a range such as 2026-12-24/2027-01-02, or a day of each year such as --12-25`},
		"too many dates": {builders.MakeCronJob("c").Exclude(make([]v1.ExcludedDays, 367)...).Obj(),
			`spec.exclude: Too many: 367: must have at most 366 items`},
		"all of its days": {builders.MakeCronJob("c").Schedule("0 9 25 12 *").Exclude("--12-25").Obj(),
			`spec.exclude: Invalid value: never fires: each tick is on a day of exclude`},
		"a window the wrong way round": {builders.MakeCronJob("c").NotBefore(noon).NotAfter(noon.Add(-time.Second)).Obj(),
			`spec.notAfter: Invalid value: "2026-01-01T11:59:59Z": must not be before notBefore`},
		"a window without a tick": {builders.MakeCronJob("c").NotBefore(noon.Add(time.Second)).NotAfter(noon.Add(2 * time.Second)).Obj(),
			`spec.notBefore: Invalid value: "2026-01-01T12:00:01Z": never fires: no tick lies between notBefore and notAfter on a day that is not excluded`},
		"no room for a Job": {builders.MakeCronJob("c").MaxConcurrency(0).Obj(), "spec.maxConcurrency: Invalid value: 0: must be 1 or more"},
		"a delay beyond the next tick": {builders.MakeCronJob("c").Schedule("*/5 * * * *").Jitter(300).Obj(),
			"spec.jitterSeconds: Invalid value: 300: must be less than 300, the shortest time in seconds from a tick to the next, days on which clocks shift included"},
		"a delay beyond the next tick in one night of the year": {builders.MakeCronJob("c").Schedule("30 2,3 * * *").TimeZone("Europe/Paris").Jitter(1800).Obj(),
			"spec.jitterSeconds: Invalid value: 1800: must be less than 1800, the shortest time in seconds from a tick to the next, days on which clocks shift included"},
		"a delay beyond the next tick of another schedule": {builders.MakeCronJob("c").Schedule("0 9 * * *").Also("10 9 1 * *").Jitter(600).Obj(),
			"spec.jitterSeconds: Invalid value: 600: must be less than 600, the shortest time in seconds from a tick to the next, days on which clocks shift included"},
		"a delay by less than nothing": {builders.MakeCronJob("c").Jitter(-1).Obj(), "spec.jitterSeconds: Invalid value: -1: must be 0 or more"},
		"a limit beside Latest": {with(builders.MakeCronJob("c").CatchUp(5), func(c *v1.CronJob) { c.Spec.CatchUpPolicy = v1.CatchUpLatest }),
			"spec.catchUpLimit: Forbidden: catchUpLimit goes with catchUpPolicy All: Latest runs 1"},
		"a limit that is too high": {builders.MakeCronJob("c").CatchUp(101).Obj(), "spec.catchUpLimit: Invalid value: 101: must be from 1 to 100"},
		"another catchUpPolicy": {with(builders.MakeCronJob("c"), func(c *v1.CronJob) { c.Spec.CatchUpPolicy = "Some" }),
			`spec.catchUpPolicy: Unsupported value: "Some": supported values: "Latest", "All"`},
		"no failure": {builders.MakeCronJob("c").StopAfterFailures(0).Obj(), "spec.stopAfterFailures: Invalid value: 0: must be 1 or more"},
		"a limit beside Replace": {builders.MakeCronJob("c").Policy(v1.ReplaceConcurrent).MaxConcurrency(1).Obj(),
			"spec.maxConcurrency: Forbidden: maxConcurrency goes with concurrencyPolicy Allow: Forbid runs 1 at a time, and Replace the newest alone"},
		"another limit beside Forbid": {builders.MakeCronJob("c").Policy(v1.ForbidConcurrent).MaxConcurrency(2).Obj(),
			"spec.maxConcurrency: Forbidden: maxConcurrency goes with concurrencyPolicy Allow: Forbid runs 1 at a time, and Replace the newest alone"},
		"another policy": {builders.MakeCronJob("c").Policy("Maybe").Obj(),
			`spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"`},
	} {
		t.Run(name, func(t *testing.T) {
			want := `CronJob.batch.tutorial.kubebuilder.io "c" is invalid: ` + tc.want
			_, err := validator{}.ValidateCreate(t.Context(), tc.c)
			assert.EqualError(t, err, want)
			_, err = validator{}.ValidateUpdate(t.Context(), builders.MakeCronJob("c").Obj(), tc.c)
			assert.EqualError(t, err, want, "on update")
			labelled := tc.c.DeepCopy()
			labelled.Labels = map[string]string{"a": "b"}
			labelled.Default() // as the mutating webhook does
			_, err = validator{}.ValidateUpdate(t.Context(), tc.c, labelled)
			assert.NoError(t, err, "what is stored may stay")
			deleting := tc.c.DeepCopy()
			deleting.DeletionTimestamp = &metav1.Time{}
			_, err = validator{}.ValidateUpdate(t.Context(), builders.MakeCronJob("c").Obj(), deleting)
			assert.NoError(t, err, "and go")
		})
	}
}

func TestA4AMistakeInAnAdditionalScheduleOfV2IsNamedByItsField(t *testing.T) {
	for _, tc := range []struct {
		c    *builders.CronJob
		want string
	}{
		{builders.MakeCronJob("c").Also("@daily", "0 9 * * 5-1"), `spec.additionalSchedules[1].dayOfWeek: Invalid value: "5-1": the range 5-1 ends`},
		{builders.MakeCronJob("c").Also("@every 5m"), `spec.additionalSchedules[0].every: Invalid value: "5m": an interval can't be combined`},
		{builders.MakeCronJob("c").Schedule("@every 5m").Also("@daily"), `spec.schedule.every: Invalid value: "5m": an interval can't be combined`},
	} {
		_, err := validator{}.ValidateCreate(inVersion(t, "v2"), tc.c.Obj())
		assert.ErrorContains(t, err, tc.want)
	}
}

func TestA5AStoredMistakeHidesNoNewOne(t *testing.T) {
	const (
		zoneMistake     = `spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone`
		scheduleMistake = `spec.schedule: Invalid value: "99 * * * *": not a schedule`
		neverFires      = `spec.schedule: Invalid value: "0 0 30 2 *": never fires`
		noInterval      = `spec.schedule: Invalid value: "@every 0s": must be an interval above 0`
		missing         = `spec.schedule: Required value`
	)
	with := func(schedule, zone string) *v1.CronJob {
		return builders.MakeCronJob("c").Schedule(schedule).TimeZone(zone).Obj()
	}
	for name, tc := range map[string]struct {
		before, after *v1.CronJob
		want, wantNot string
	}{
		"a time zone, a schedule":               {with("@daily", "Mars/Olympus"), with("99 * * * *", "Mars/Olympus"), scheduleMistake, "timeZone"},
		"a time zone, one that never fires":     {with("@daily", "Mars/Olympus"), with("0 0 30 2 *", "Mars/Olympus"), neverFires, "timeZone"},
		"a time zone, an interval":              {with("@daily", "Mars/Olympus"), with("@every 0s", "Mars/Olympus"), noInterval, "timeZone"},
		"a time zone, no schedule":              {with("@daily", "Mars/Olympus"), with("", "Mars/Olympus"), missing, "timeZone"},
		"an empty time zone, a schedule":        {with("@daily", ""), with("99 * * * *", ""), scheduleMistake, "timeZone"},
		"a schedule, a time zone":               {with("99 * * * *", "UTC"), with("99 * * * *", "Mars/Olympus"), zoneMistake, "spec.schedule"},
		"no schedule, a time zone":              {with("", "UTC"), with("", "Mars/Olympus"), zoneMistake, "spec.schedule"},
		"a time zone, both":                     {with("@daily", "Mars/Olympia"), with("99 * * * *", "Mars/Olympus"), zoneMistake, "Olympia"},
		"a time zone, both, of which the other": {with("@daily", "Mars/Olympia"), with("99 * * * *", "Mars/Olympus"), scheduleMistake, "Olympia"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := validator{}.ValidateUpdate(t.Context(), tc.before, tc.after)
			require.ErrorContains(t, err, tc.want)
			assert.NotContains(t, err.Error(), tc.wantNot)
		})
	}
	_, err := validator{}.ValidateCreate(t.Context(), with("99 * * * *", "Mars/Olympus"))
	assert.ErrorContains(t, err, scheduleMistake)
	assert.ErrorContains(t, err, zoneMistake)
}

func TestA5AStoredMistakeThatMovesInItsListIsNoNewOne(t *testing.T) {
	also := func(additional ...string) *v1.CronJob { return builders.MakeCronJob("c").Also(additional...).Obj() }
	const bad, worse = "61 * * * *", "62 * * * *"
	for name, tc := range map[string]struct {
		before, after *v1.CronJob
		want          string // in v1, before the value; none if it is allowed
	}{
		"behind a new element":      {also(bad), also("@daily", bad), ""},
		"before a removed element":  {also("@daily", bad), also(bad), ""},
		"two that change places":    {also(bad, worse), also(worse, bad), ""},
		"behind another mistake":    {also(bad), also(worse, bad), `spec.additionalSchedules[0]: Invalid value: "62 * * * *"`},
		"before its repetition":     {also(bad), also(bad, bad), `spec.additionalSchedules[1]: Invalid value: "61 * * * *"`},
		"out of the list":           {also(bad), builders.MakeCronJob("c").Schedule(bad).Obj(), `spec.schedule: Invalid value: "61 * * * *"`},
		"a day, before another one": {builders.MakeCronJob("c").Exclude("--02-30").Obj(), builders.MakeCronJob("c").Exclude("--12-25", "--02-30").Obj(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range []string{"v1", "v2"} {
				_, err := validator{}.ValidateUpdate(inVersion(t, version), tc.before, tc.after)
				if tc.want == "" {
					assert.NoError(t, err, version)
					continue
				}
				want := tc.want
				if version == "v2" {
					want = strings.Replace(strings.Replace(want, ":", ".minute:", 1), " * * * *", "", 1)
				}
				assert.ErrorContains(t, err, want)
				assert.Equal(t, 1, strings.Count(err.Error(), "Invalid value"))
			}
		})
	}
}

func TestA5NamesLeaveRoomForTheTick(t *testing.T) {
	create := func(length int) error {
		_, err := validator{}.ValidateCreate(t.Context(), builders.MakeCronJob(strings.Repeat("n", length)).Obj())
		return err
	}
	require.NoError(t, create(52))
	require.ErrorContains(t, create(53), "metadata.name: Too long: may not be more than 52 bytes")
	long := builders.MakeCronJob(strings.Repeat("n", 53))
	_, err := validator{}.ValidateUpdate(t.Context(), long.Obj(), long.Schedule("@daily").Obj())
	assert.NoError(t, err, "only on create")
}

// with returns a CronJob of a builder with a change.
func with(b *builders.CronJob, change func(*v1.CronJob)) *v1.CronJob {
	c := b.Obj()
	change(c)
	return c
}

func TestGoodPoliciesPass(t *testing.T) {
	for name, b := range map[string]*builders.CronJob{
		"a limit":                       builders.MakeCronJob("c").MaxConcurrency(2),
		"a limit with Allow":            builders.MakeCronJob("c").MaxConcurrency(2).Policy(v1.AllowConcurrent),
		"a delay up to the next tick":   builders.MakeCronJob("c").Schedule("*/5 * * * *").Jitter(299),
		"catching up":                   builders.MakeCronJob("c").CatchUp(100),
		"no delay":                      builders.MakeCronJob("c").Jitter(0),
		"a stop after a failure":        builders.MakeCronJob("c").StopAfterFailures(1),
		"the limit that Forbid has too": builders.MakeCronJob("c").MaxConcurrency(1).Policy(v1.ForbidConcurrent),
	} {
		found, err := validator{}.ValidateCreate(t.Context(), b.Obj())
		require.NoError(t, err, name)
		assert.Empty(t, found, name)
	}
}

func TestGoodCronJobsPass(t *testing.T) {
	for _, schedule := range []string{"* * * * *", "@every 90m", "@hourly", "0 0 29 2 *", "*/5  9-17 * * MON-FRI"} {
		found, err := validator{}.ValidateCreate(t.Context(), builders.MakeCronJob("c").Schedule(schedule).TimeZone("Asia/Kathmandu").Deadline(10).Obj())
		require.NoError(t, err)
		assert.Empty(t, found)
	}
	_, err := validator{}.ValidateCreate(t.Context(), builders.MakeCronJob("c").Also(slices.Repeat([]string{"@daily"}, 16)...).Obj())
	require.NoError(t, err)
	_, err = validator{}.ValidateDelete(t.Context(), builders.MakeCronJob("c").Schedule("garbage").Obj())
	assert.NoError(t, err)
}

func TestShortDeadlinesAreWarnedOf(t *testing.T) {
	found, err := validator{}.ValidateCreate(t.Context(), builders.MakeCronJob("c").Deadline(9).Obj())
	require.NoError(t, err)
	assert.Equal(t, admission.Warnings{"spec.startingDeadlineSeconds: below 10, a tick may be missed in any busy moment of the control plane"}, found)
}
