// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestS2TheStatusThatMovesPastTicksSaysThatTheyAreMissed(t *testing.T) {
	c := settle(t, cron().Deadline(60).Obj(), at("09:59:00"))
	p := Decide(inputOf(c, at("10:16:30"))) // 10:00 to 10:10 were superseded, 10:15 is too late
	assert.Equal(t, at("10:20:00"), p.Status.NextScheduleTime.UTC())
	require.Len(t, p.Missed, 2)
	require.Len(t, p.Status.Missed, 2)
	assert.Equal(t, v1.MissedTicks{
		Reason: "Deadline", First: metav1.NewTime(at("10:15:00")), Last: metav1.NewTime(at("10:15:00")), Count: 1,
		Time: metav1.NewTime(at("10:16:30")),
	}, p.Status.Missed[0], "the newest first")
	for i, row := range p.Status.Missed {
		assert.Equal(t, p.Missed[1-i], MissedRow(row))
	}

	c.Status = p.Status
	again := Decide(inputOf(c, at("10:17:00")))
	assert.Empty(t, again.Missed)
	assert.Equal(t, p.Status.Missed, again.Status.Missed, "they stay")
	for range 4 { // each time two more
		now := c.Status.NextScheduleTime.Add(6 * time.Minute)
		c.Status = Decide(inputOf(c, now)).Status
		assert.LessOrEqual(t, len(c.Status.Missed), MaxMissedRows)
	}
	assert.True(t, c.Status.Missed[0].First.After(c.Status.Missed[1].First.Time), "the newest rows are kept")
}

func TestS7AnEditThatTheManagedFieldsDoNotStampCountsAsMadeNow(t *testing.T) {
	created := at("09:58:30")
	in := func(c *v1.CronJob, now time.Time, editedAt time.Time) Input { return NewInput(c, now, editedAt) }
	for name, tc := range map[string]struct {
		editedAt time.Time
		wantTick time.Time // that is started; zero for none
	}{
		"the edit is stamped":     {editedAt: at("10:00:00"), wantTick: at("10:03:00")},
		"it only removes a field": {editedAt: created},
	} {
		t.Run(name, func(t *testing.T) {
			c := cron().Created(created).TimeZone("Europe/Paris").Obj()
			c.Status = Decide(in(c, at("09:59:00"), created)).Status
			require.Equal(t, created, c.Status.ObservedEditTime.UTC())
			c.Spec.TimeZone, c.Spec.Schedule, c.Generation = nil, "3 * * * *", 2
			p := Decide(in(c, at("10:04:00"), tc.editedAt))
			if tc.wantTick.IsZero() {
				assert.Nil(t, p.Start, "what was due before anybody saw the edit is a surprise")
				assert.Equal(t, at("11:03:00"), p.Status.NextScheduleTime.UTC())
			} else {
				require.NotNil(t, p.Start)
				assert.Equal(t, tc.wantTick, p.Start.Tick.UTC())
			}
			assert.Equal(t, tc.editedAt, p.Status.ObservedEditTime.UTC())
			assert.EqualValues(t, 2, p.Status.ObservedGeneration)
		})
	}
}

func TestW3TheTimeOfAnEditIsWrittenWithTheGenerationAlone(t *testing.T) {
	c := cron().Obj()
	c.Status = Decide(NewInput(c, at("09:59:00"), at("09:58:30"))).Status
	later := Decide(NewInput(c, at("09:59:30"), at("09:59:10"))) // such as an object of before this field, or a label
	assert.Equal(t, c.Status, later.Status)
}

func TestS2TicksOfAnIntervalAreMissedAsTheyWereCountedThen(t *testing.T) {
	c := cron().Schedule("@every 9s").Created(at("10:00:00")).Obj()
	c.Status = Decide(NewInput(c, at("10:00:01"), at("10:00:00"))).Status
	// The run of 10:00:09 is not in the status yet when the interval is edited at 10:00:12: from
	// then on the ticks are 10:00:19, :29 and :39, of which only the last runs.
	c.Spec.Schedule, c.Generation = "@every 10s", 2
	jobs := []*batchv1.Job{
		builders.MakeJob(c, at("10:00:09")).Succeeded(at("10:00:10")).Obj(),
		builders.MakeJob(c, at("10:00:39")).Succeeded(at("10:00:40")).Obj(),
	}
	p := Decide(NewInput(c, at("10:00:45"), at("10:00:12"), jobs...))
	assert.Equal(t, []Missed{{MissedSuperseded, at("10:00:19"), at("10:00:29"), 2}}, p.Missed)
	assert.Equal(t, at("10:00:49"), p.Status.NextScheduleTime.UTC())
}

func TestS7NothingRunsFromBeforeTwoEditsWereSeen(t *testing.T) {
	c := settle(t, cron().Schedule("* * * * *").Obj(), at("09:58:40"))
	// Suspended at 09:59:10 and resumed at 10:02:30. The managed fields have only the first time.
	c.Generation += 2
	in := inputOf(c, at("10:02:40"))
	in.EditedAt = at("09:59:10")
	p := Decide(in)
	assert.Nil(t, p.Start)
	assert.Equal(t, at("10:03:00"), p.Status.NextScheduleTime.UTC())
	assert.Equal(t, []Missed{
		{MissedEdited, at("09:59:00"), at("09:59:00"), 1}, // it waited
		{MissedEdited, at("10:00:00"), at("10:02:00"), 3}, // whether they count is unknown
	}, p.Missed)

	in.Now, in.SeenAt = at("10:03:00"), at("10:02:40") // the status could not be written
	p = Decide(in)
	require.NotNil(t, p.Start, "S14: what comes after it was first seen runs")
	assert.Equal(t, at("10:03:00"), p.Start.Tick)
}

// An update in v2 that drops the annotation with the text of v1 changes that text, but not the
// generation: in v2 the spec is the same. The ticks from 10:05 to 10:15 passed while the CronJob
// was stopped.
func TestS7AnotherSpellingIsNoEditIfTheAPIServerCountsNone(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	c.Status.LastScheduleTime, c.Status.NextScheduleTime = &metav1.Time{Time: at("10:00:00")}, &metav1.Time{Time: at("10:20:00")}
	c.Spec.Schedule = "0/5 * * * *"
	p := Decide(inputOf(c, at("10:16:00")))
	assert.Nil(t, p.Start)
	assert.Empty(t, p.Missed)
	p = Decide(inputOf(c, at("10:20:00")))
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:20:00"), p.Start.Tick)
	assert.Empty(t, p.Missed)
	assert.Equal(t, observedSchedule(c), p.Status.ObservedSchedule)
}

func TestS7AnEditIsNotTakenForTheEditOfALabelBeforeIt(t *testing.T) {
	// The tick of 10:00 could not be created. A label is edited at 09:59:30, the status written at
	// 10:00:02, and the time zone removed at 10:01, which the API server does not stamp.
	c := settle(t, cron().TimeZone("Europe/Paris").Obj(), at("09:59:00"))
	in := inputOf(c, at("10:00:02"))
	in.EditedAt = at("09:59:30")
	c.Status = Conclude(in, Decide(in), Outcome{Refused: errors.New("quota")}).Status
	require.Equal(t, at("10:00:00"), c.Status.NextScheduleTime.UTC(), "it waits")

	in = inputOf(edited(c, func(c *v1.CronJob) { c.Spec.TimeZone = nil }), at("10:01:30"))
	in.EditedAt = at("09:59:30")
	p := Decide(in)
	assert.Nil(t, p.Start)
	assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}}, p.Missed)
	assert.Equal(t, at("10:05:00"), p.Status.NextScheduleTime.UTC())
}

// A resume that removes spec.suspendUntil is not stamped, and the edit of a label before it is.
func TestS7AResumeIsNotTakenForTheEditOfALabelBeforeIt(t *testing.T) {
	until := metav1.NewTime(at("15:00:00"))
	c := edited(settle(t, cron().Obj(), at("09:59:00")), func(c *v1.CronJob) { c.Spec.SuspendUntil = &until })
	look := func(now, editedAt string) Plan {
		in := NewInput(c, at(now), at(editedAt))
		p := Decide(in)
		c.Status = Conclude(in, p, Outcome{}).Status
		return p
	}
	look("09:59:30", "09:59:20")
	look("10:01:00", "10:01:00") // a label
	before := c.Status
	look("10:01:10", "10:01:00")
	assert.Equal(t, before, c.Status, "W2")

	c = edited(c, func(c *v1.CronJob) { c.Spec.SuspendUntil = nil })
	assert.Nil(t, look("10:06:00", "10:01:00").Start, "the tick of 10:05 passed while it was suspended")
	assert.Equal(t, at("10:10:00"), c.Status.NextScheduleTime.UTC())
	assert.Empty(t, c.Status.Missed)
}

func TestS2TheEditOfALabelHidesNoTickOfASuspensionsEnd(t *testing.T) {
	until := metav1.NewTime(at("10:00:00"))
	c := edited(settle(t, cron().Obj(), at("09:58:40")), func(c *v1.CronJob) { c.Spec.SuspendUntil = &until })
	c.Status = Decide(NewInput(c, at("09:59:30"), at("09:59:20"))).Status
	p := Decide(NewInput(c, at("10:04:30"), at("10:04:00"))) // there was no leader, and a label was edited
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:00:00"), p.Start.Tick.UTC())
}

// The status is refused from the edit on: it records neither the edit nor the run of 10:02.
func TestS14TheEditOfALabelHidesNoTickSinceAnEditThatNoStatusTellsOf(t *testing.T) {
	c := edited(settle(t, cron().Policy(v1.ForbidConcurrent).Obj(), at("09:59:00")), func(c *v1.CronJob) { c.Spec.Schedule = "*/2 * * * *" })
	in := NewInput(c, at("10:05:30"), at("10:05:00"), builders.MakeJob(c, at("10:02:00")).Succeeded(at("10:05:30")).Obj())
	in.SeenAt = at("10:01:00") // and a label was edited at 10:05
	p := Decide(in)
	require.NotNil(t, p.Start, "S6: the tick of 10:04 waited for the Job")
	assert.Equal(t, at("10:04:00"), p.Start.Tick)
	assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}}, p.Missed, "it had not run when the schedule was edited")
}

// The Job of 10:00 can't be created, and after that no status can be written. The CronJob is
// suspended at 10:07.
func TestS2ATickThatWaitedIsMissedThoughNoStatusTellsOfTheSuspensionThatEndedItsWait(t *testing.T) {
	until := metav1.NewTime(at("10:12:00"))
	c := edited(settle(t, cron().Obj(), at("09:59:00")), func(c *v1.CronJob) { c.Spec.SuspendUntil = &until })
	in := NewInput(c, at("10:16:00"), at("10:07:00"), builders.MakeJob(c, at("10:05:00")).Obj(), builders.MakeJob(c, at("10:15:00")).Obj())
	in.SeenAt = at("10:07:00")
	p := Decide(in)
	assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}}, p.Missed, "the tick of 10:10 passed while it was suspended")
	assert.Equal(t, at("10:20:00"), p.Status.NextScheduleTime.UTC())
}

// No status could be written since the creation. The API server does not stamp a resume that
// removes spec.suspend.
func TestS7AResumeThatOnlyRemovesAFieldIsNoSurpriseThoughNoStatusWasEverWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		generation int64
		editedAt   time.Time
	}{
		"it was created suspended":  {generation: 2, editedAt: at("09:58:30")},
		"it was suspended at 09:59": {generation: 3, editedAt: at("09:59:00")},
	} {
		t.Run(name, func(t *testing.T) {
			c := cron().Obj()
			c.Generation = tc.generation
			in := NewInput(c, at("10:06:00"), tc.editedAt)
			p := Decide(in)
			assert.Nil(t, p.Start, "the tick of 10:05 passed while it was suspended")
			assert.Equal(t, at("10:10:00"), p.Status.NextScheduleTime.UTC())

			in.Now = at("10:10:00") // nor can this status be written
			p = Decide(in)
			require.NotNil(t, p.Start, "S14: what comes after it was first seen runs")
			assert.Equal(t, at("10:10:00"), p.Start.Tick)
		})
	}
}

func TestS2ATickOfWhoseRunNothingIsLeftIsNotTakenForMissed(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	in := inputOf(c, at("10:31:00"), builders.MakeJob(c, at("10:30:00")).Obj())
	in.ForgottenUntil = at("10:20:00") // no status could be written, and the Jobs were deleted
	assert.Equal(t, []Missed{{MissedSuperseded, at("10:25:00"), at("10:25:00"), 1}}, Decide(in).Missed)
}

func TestS10ATickWithAFractionIsNone(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	job := builders.MakeJob(c, at("09:55:00")).Succeeded(at("09:56:00")).Obj()
	job.Annotations[v1.ScheduledAtAnnotation] = "2026-01-01T09:55:00.5Z" // no status could record it
	in := inputOf(c, at("09:59:10"), job)
	assert.Nil(t, Conclude(in, Decide(in), Outcome{}).Status.LastScheduleTime)
}
