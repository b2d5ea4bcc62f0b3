// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
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
	p := Decide(NewInput(c, at("10:16:30"))) // 10:00 to 10:10 were superseded, 10:15 is too late
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
	again := Decide(NewInput(c, at("10:17:00")))
	assert.Empty(t, again.Missed)
	assert.Equal(t, p.Status.Missed, again.Status.Missed, "they stay")
	for range 4 { // each time two more
		now := c.Status.NextScheduleTime.Add(6 * time.Minute)
		c.Status = Decide(NewInput(c, now)).Status
		assert.LessOrEqual(t, len(c.Status.Missed), MaxMissedRows)
	}
	assert.True(t, c.Status.Missed[0].First.After(c.Status.Missed[1].First.Time), "the newest rows are kept")
}

func TestS7AnEditThatTheWebhookDidNotSeeCountsAsMadeNow(t *testing.T) {
	c := settle(t, cron().TimeZone("Europe/Paris").Obj(), at("09:59:00"))
	edit := func(c *v1.CronJob) { c.Spec.TimeZone, c.Spec.Schedule = nil, "3 * * * *" }
	p := Decide(NewInput(stamped(c, at("10:00:00"), edit), at("10:04:00")))
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:03:00"), p.Start.Tick.UTC())

	unseen := map[string]*v1.CronJob{
		"there is no stamp":                        edited(c, edit),
		"the stamp is that of an earlier edit":     edited(stamped(c, at("10:00:00"), edit), func(c *v1.CronJob) { c.Spec.TimeZone = new("UTC") }),
		"the stamp is that of another schedule":    stamped(c, at("10:00:00"), edit),
		"somebody else wrote something in its key": stamped(c, at("10:00:00"), edit),
	}
	unseen["the stamp is that of another schedule"].Spec.TimeZone = new("UTC")
	unseen["somebody else wrote something in its key"].Annotations[v1.EditedAnnotation] = "now"
	for name, c := range unseen {
		t.Run(name, func(t *testing.T) {
			p := Decide(NewInput(c, at("10:04:00")))
			assert.Nil(t, p.Start, "what was due before anybody saw the edit is a surprise")
			assert.Equal(t, at("11:03:00"), p.Status.NextScheduleTime.UTC())
			assert.Equal(t, c.Generation, p.Status.ObservedGeneration)
		})
	}
}

func TestS2TicksOfAnIntervalAreMissedAsTheyWereCountedThen(t *testing.T) {
	c := cron().Schedule("@every 9s").Created(at("10:00:00")).Obj()
	c.Status = Decide(NewInput(c, at("10:00:01"))).Status
	// The run of 10:00:09 is not in the status yet when the interval is edited at 10:00:12: from
	// then on the ticks are 10:00:19, :29 and :39, of which only the last runs.
	c.Spec.Schedule, c.Generation = "@every 10s", 2
	jobs := []*batchv1.Job{
		builders.MakeJob(c, at("10:00:09")).Succeeded(at("10:00:10")).Obj(),
		builders.MakeJob(c, at("10:00:39")).Succeeded(at("10:00:40")).Obj(),
	}
	p := Decide(editedInput(c, at("10:00:45"), at("10:00:12"), jobs...))
	assert.Equal(t, []Missed{{MissedSuperseded, at("10:00:19"), at("10:00:29"), 2}}, p.Missed)
	assert.Equal(t, at("10:00:49"), p.Status.NextScheduleTime.UTC())
}

func TestS7NothingRunsFromBeforeTwoEditsThatTheWebhookDidNotSee(t *testing.T) {
	c := settle(t, cron().Schedule("* * * * *").Obj(), at("09:58:40"))
	c.Generation += 2 // perhaps suspended and resumed
	in := NewInput(c, at("10:02:40"))
	p := Decide(in)
	assert.Nil(t, p.Start)
	assert.Equal(t, at("10:03:00"), p.Status.NextScheduleTime.UTC())
	assert.Equal(t, []Missed{{MissedEdited, at("09:59:00"), at("10:02:00"), 4}}, p.Missed, "whether they count is unknown")

	in.Now = at("10:03:00") // the status could not be written
	p = Decide(in)
	require.NotNil(t, p.Start, "S14: what comes after it was first seen runs")
	assert.Equal(t, at("10:03:00"), p.Start.Tick)
}

func TestS7EditsThatTheWebhookSawHideNoTickHoweverManyNobodyElseSaw(t *testing.T) {
	stored := settle(t, cron().Schedule("* * * * *").Obj(), at("09:58:40"))
	template := func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"a": c.ResourceVersion} }
	suspend := func(c *v1.CronJob) { c.Spec.Suspend = new(true) }
	resume := func(c *v1.CronJob) { c.Spec.Suspend = new(false) }

	c := stamped(stamped(stored, at("10:00:30"), template), at("10:02:30"), template)
	p := Decide(NewInput(c, at("10:02:40")))
	require.NotNil(t, p.Start, "two edits of the template")
	assert.Equal(t, at("10:02:00"), p.Start.Tick)

	c = stamped(stamped(stamped(stored, at("09:59:10"), suspend), at("10:01:30"), resume), at("10:02:30"), template)
	p = Decide(NewInput(c, at("10:02:40")))
	require.NotNil(t, p.Start, "it was resumed at 10:01:30, and its template edited since")
	assert.Equal(t, at("10:02:00"), p.Start.Tick)
	assert.Equal(t, []Missed{{MissedEdited, at("09:59:00"), at("09:59:00"), 1}}, p.Missed, "the others passed while it was suspended")

	c = stamped(edited(edited(stored, suspend), resume), at("10:02:30"), template)
	p = Decide(NewInput(c, at("10:02:40")))
	assert.Nil(t, p.Start, "edits before the one that the webhook saw may have been a resume")
}

func TestS7TheRemovalOfASuspensionThatIsOverHidesNoTick(t *testing.T) {
	until := metav1.NewTime(at("10:00:00"))
	c := stamped(cron().Obj(), at("09:58:40"), func(c *v1.CronJob) { c.Spec.SuspendUntil = &until })
	c = settle(t, c, at("09:58:50"))
	remove := func(c *v1.CronJob) { c.Spec.SuspendUntil = nil }
	p := Decide(NewInput(stamped(c, at("10:01:00"), remove), at("10:01:10")))
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:00:00"), p.Start.Tick)
	p = Decide(NewInput(stamped(c, at("09:59:40"), remove), at("10:01:10")))
	require.NotNil(t, p.Start, "it was a resume")
	assert.Equal(t, at("10:00:00"), p.Start.Tick)
}

// No manager ran from 10:01 to 10:14, so that no status tells of the suspension.
func TestS7TicksOfASuspensionThatWasRemovedDoNotRunThoughNobodySawIt(t *testing.T) {
	until := metav1.NewTime(at("10:12:00"))
	suspend := func(c *v1.CronJob) { c.Spec.SuspendUntil = &until }
	remove := func(c *v1.CronJob) { c.Spec.SuspendUntil = nil }
	created := cron().Obj()
	suspend(created)
	for name, suspended := range map[string]*v1.CronJob{
		"it was created suspended": created, "it was suspended at 10:02": stamped(settle(t, cron().Obj(), at("09:59:00")), at("10:02:00"), suspend),
	} {
		t.Run(name, func(t *testing.T) {
			c := stamped(suspended, at("10:13:00"), remove)
			p := Decide(NewInput(c, at("10:14:00")))
			assert.Nil(t, p.Start, "the tick of 10:10 passed while it was suspended")
			assert.Equal(t, at("10:15:00"), p.Status.NextScheduleTime.UTC())

			p = Decide(NewInput(c, at("10:16:00")))
			require.NotNil(t, p.Start)
			assert.Equal(t, at("10:15:00"), p.Start.Tick)
		})
	}
}

func TestS7AStampIsWhatTheWebhookSawAlone(t *testing.T) {
	suspended := stamped(cron().Obj(), at("10:00:00"), func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
	was := suspended.Annotations[v1.EditedAnnotation]
	assert.JSONEq(t, `{"generation":1,"at":"2026-01-01T10:00:00Z","rescheduledAt":"2026-01-01T10:00:00Z","scheduling":"`+
		Scheduling(&suspended.Spec)+`"}`, was)
	forged := suspended.DeepCopy()
	forged.Annotations[v1.EditedAnnotation] = `{"generation":2}`
	assert.Equal(t, was, Stamp(suspended, forged, false, at("10:01:00")), "an update of metadata keeps it, whatever it asks for")
	delete(forged.Annotations, v1.EditedAnnotation)
	assert.Equal(t, was, Stamp(suspended, forged, false, at("10:01:00")), "also one that leaves it out")
	assert.Empty(t, Stamp(forged, suspended, false, at("10:01:00")), "and none comes back with a manifest")
}

// An update in v2 that drops the annotation with the text of v1 changes that text, but not the
// generation: in v2 the spec is the same. The ticks from 10:05 to 10:15 passed while the CronJob
// was stopped.
func TestS7AnotherSpellingIsNoEditIfTheAPIServerCountsNone(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	c.Status.LastScheduleTime, c.Status.NextScheduleTime = &metav1.Time{Time: at("10:00:00")}, &metav1.Time{Time: at("10:20:00")}
	c.Spec.Schedule = "0/5 * * * *"
	p := Decide(NewInput(c, at("10:16:00")))
	assert.Nil(t, p.Start)
	assert.Empty(t, p.Missed)
	p = Decide(NewInput(c, at("10:20:00")))
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:20:00"), p.Start.Tick)
	assert.Empty(t, p.Missed)
	assert.Equal(t, observedSchedule(c), p.Status.ObservedSchedule)
}

func TestS2ASuspensionThatTheWebhookDidNotSeeHidesNoTickOfItsEnd(t *testing.T) {
	until := metav1.NewTime(at("10:00:00"))
	c := edited(settle(t, cron().Obj(), at("09:58:40")), func(c *v1.CronJob) { c.Spec.SuspendUntil = &until })
	c.Status = Decide(NewInput(c, at("09:59:30"))).Status
	p := Decide(NewInput(c, at("10:04:30"))) // there was no leader
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:00:00"), p.Start.Tick.UTC())
}

// The status is refused from the edit on: it records neither the edit nor the run of 10:02.
func TestS14AnotherEditHidesNoTickSinceAnEditThatNoStatusTellsOf(t *testing.T) {
	c := edited(settle(t, cron().Policy(v1.ForbidConcurrent).Obj(), at("09:59:00")), func(c *v1.CronJob) { c.Spec.Schedule = "*/2 * * * *" })
	in := NewInput(c, at("10:05:30"), builders.MakeJob(c, at("10:02:00")).Succeeded(at("10:05:30")).Obj())
	in.ScheduleSeenAt = at("10:01:00") // and the template was edited at 10:05:30
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
	in := NewInput(c, at("10:16:00"), builders.MakeJob(c, at("10:05:00")).Obj(), builders.MakeJob(c, at("10:15:00")).Obj())
	in.SeenAt, in.ScheduleSeenAt = at("10:07:00"), at("10:07:00")
	p := Decide(in)
	assert.Equal(t, []Missed{{MissedEdited, at("10:00:00"), at("10:00:00"), 1}}, p.Missed, "the tick of 10:10 passed while it was suspended")
	assert.Equal(t, at("10:20:00"), p.Status.NextScheduleTime.UTC())
}

// No status could be written since the creation, and the webhook has not seen the edits.
func TestS7AResumeIsNoSurpriseThoughNoStatusWasEverWritten(t *testing.T) {
	for name, generation := range map[string]int64{"it was created suspended": 2, "it was suspended at 09:59": 3} {
		t.Run(name, func(t *testing.T) {
			c := cron().Obj()
			c.Generation = generation
			in := NewInput(c, at("10:06:00"))
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
	in := NewInput(c, at("10:31:00"), builders.MakeJob(c, at("10:30:00")).Obj())
	in.ForgottenUntil = at("10:20:00") // no status could be written, and the Jobs were deleted
	assert.Equal(t, []Missed{{MissedSuperseded, at("10:25:00"), at("10:25:00"), 1}}, Decide(in).Missed)
}

func TestS10ATickWithAFractionIsNone(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	job := builders.MakeJob(c, at("09:55:00")).Succeeded(at("09:56:00")).Obj()
	job.Annotations[v1.ScheduledAtAnnotation] = "2026-01-01T09:55:00.5Z" // no status could record it
	in := NewInput(c, at("09:59:10"), job)
	assert.Nil(t, Conclude(in, Decide(in), Outcome{}).Status.LastScheduleTime)
}

// Its labels were edited before its first status, which was refused.
func TestS2TicksBeforeTheFirstStatusAreRunOrReportedThoughALabelWasEdited(t *testing.T) {
	c := cron().Obj()
	c.Labels = map[string]string{"team": "a"}
	in := NewInput(c, at("10:06:00"))
	in.SeenAt, in.ScheduleSeenAt = at("09:58:40"), at("09:58:40")
	p := Decide(in)
	require.NotNil(t, p.Start)
	assert.Equal(t, at("10:05:00"), p.Start.Tick)
	assert.Equal(t, []Missed{{MissedSuperseded, at("10:00:00"), at("10:00:00"), 1}}, p.Missed)
}
