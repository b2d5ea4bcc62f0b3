// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// runsOf returns the runs of a status as text, newest first.
func runsOf(status v1.CronJobStatus) []string {
	var told []string
	for _, run := range status.RecentRuns {
		text := fmt.Sprintf("%s %s", run.ScheduledTime.UTC().Format("15:04"), run.Result)
		if run.Reason != "" {
			text += " " + run.Reason
		}
		if run.Count > 0 {
			text += fmt.Sprintf(" %d", run.Count)
		}
		switch run.Trigger {
		case v1.TriggerManual:
			text += " by hand"
		case v1.TriggerBackfill:
			text += " by a backfill"
		case v1.TriggerSchedule:
		}
		told = append(told, text)
	}
	return told
}

// lastRun returns the condition LastRunSucceeded as text; "" if there is none.
func lastRun(status v1.CronJobStatus) string {
	condition := meta.FindStatusCondition(status.Conditions, v1.ConditionLastRunSucceeded)
	if condition == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", condition.Status, condition.Reason, condition.Message))
}

// Jobs fail, then no manager runs, then Jobs succeed again.
func TestAStatusTellsWhatBecameOfTheNewestRuns(t *testing.T) {
	w := &world{
		t: t, c: builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).History(1, 1).Obj(), now: at("09:55:00"),
		takes: func(tick time.Time) (time.Duration, bool) { return 2 * time.Minute, tick.Before(at("10:30:00")) },
		ends:  map[string]time.Time{},
	}
	w.reconcile()
	assert.Empty(t, w.c.Status.RecentRuns)
	assert.Empty(t, lastRun(w.c.Status))

	w.play(at("10:01:00"))
	assert.Equal(t, []string{"10:00 Running"}, runsOf(w.c.Status))
	assert.Equal(t, "Unknown FirstRun No run has ended yet.", lastRun(w.c.Status))

	w.play(at("10:25:00"))
	assert.Equal(t, []string{"10:20 Failed", "10:10 Failed", "10:00 Failed"}, runsOf(w.c.Status))
	assert.Equal(t, "False Failed", lastRun(w.c.Status))
	assert.EqualValues(t, 3, w.c.Status.ConsecutiveFailures)
	assert.True(t, w.c.Status.LastFailureTime.Time.Equal(at("10:22:00")))
	require.Len(t, w.jobs, 1, "the history limit has deleted the Jobs of the others")

	w.down = true
	w.play(at("11:06:00"), scene{at("11:05:00"), "the manager comes back", func(w *world) { w.down = false }})
	assert.Equal(t, []string{"11:00 Running", "10:30 Missed Superseded 3", "10:20 Failed", "10:10 Failed", "10:00 Failed"}, runsOf(w.c.Status))
	assert.EqualValues(t, 3, w.c.Status.ConsecutiveFailures, "a tick that was missed has not failed")

	w.play(at("12:35:00"))
	assert.Equal(t, []string{
		"12:30 Succeeded", "12:20 Succeeded", "12:10 Succeeded", "12:00 Succeeded", "11:50 Succeeded", "11:40 Succeeded",
		"11:30 Succeeded", "11:20 Succeeded", "11:10 Succeeded", "11:00 Succeeded",
	}, runsOf(w.c.Status))
	assert.Equal(t, "True Complete", lastRun(w.c.Status))
	assert.Zero(t, w.c.Status.ConsecutiveFailures)
	assert.True(t, w.c.Status.LastFailureTime.Time.Equal(at("10:22:00")))
}

// ran starts some Jobs at their ticks, and gives them their result a minute later.
func ran(t *testing.T, c *v1.CronJob, jobs ...*batchv1.Job) *v1.CronJob {
	t.Helper()
	for _, job := range jobs {
		tick, _ := TickOf(job)
		in := NewInput(c, tick.Add(time.Second))
		started := builders.MakeJob(c, tick).Obj()
		c.Status = Conclude(in, Decide(in), Outcome{Job: started}).Status
		in = NewInput(c, tick.Add(time.Minute), job)
		c.Status = Conclude(in, Decide(in), Outcome{}).Status
	}
	return c
}

func TestAStatusTellsWhatBecameOfARun(t *testing.T) {
	five := func(policy v1.ConcurrencyPolicy) *v1.CronJob {
		return settle(t, cron().Policy(policy).Obj(), at("09:59:00"))
	}
	failed := builders.MakeJob(five(v1.AllowConcurrent), at("10:00:00")).Failed(at("10:00:30")).Obj()
	failed.Status.Conditions[len(failed.Status.Conditions)-1].Reason = "BackoffLimitExceeded"
	failed.Status.Conditions[len(failed.Status.Conditions)-1].Message = "Job has reached the specified backoff limit"

	t.Run("the reason is the Job's", func(t *testing.T) {
		c := ran(t, five(v1.AllowConcurrent), failed)
		assert.Equal(t, []string{"10:00 Failed BackoffLimitExceeded"}, runsOf(c.Status))
		assert.Equal(t, "False BackoffLimitExceeded Job has reached the specified backoff limit", lastRun(c.Status))
		run := c.Status.RecentRuns[0]
		assert.True(t, run.CompletionTime.Time.Equal(at("10:00:30")))
		assert.Equal(t, failed.Name, run.JobName)
	})
	t.Run("it outlives its Job", func(t *testing.T) {
		c := ran(t, five(v1.AllowConcurrent), failed)
		in := NewInput(c, at("10:05:01"))
		c.Status = Conclude(in, Decide(in), Outcome{Job: builders.MakeJob(c, at("10:05:00")).Obj()}).Status
		assert.Equal(t, []string{"10:05 Running", "10:00 Failed BackoffLimitExceeded"}, runsOf(c.Status))
	})
	t.Run("somebody deletes a Job that runs", func(t *testing.T) {
		c := ran(t, five(v1.AllowConcurrent), builders.MakeJob(five(v1.AllowConcurrent), at("10:00:00")).Obj())
		in := NewInput(c, at("10:02:00"))
		in.Unanswered = true
		c.Status = Conclude(in, Decide(in), Outcome{}).Status
		assert.Equal(t, []string{"10:00 Deleted"}, runsOf(c.Status))
		assert.Equal(t, "Unknown FirstRun No run has ended yet.", lastRun(c.Status))
	})
	t.Run("a Job makes room for the next", func(t *testing.T) {
		c := five(v1.ReplaceConcurrent)
		old := builders.MakeJob(c, at("10:00:00")).Obj()
		c = ran(t, c, old)
		in := NewInput(c, at("10:05:01"), old)
		p := Decide(in)
		c.Status = Conclude(in, p, Outcome{Deleted: p.Replace, Job: builders.MakeJob(c, at("10:05:00")).Obj()}).Status
		assert.Equal(t, []string{"10:05 Running", "10:00 Deleted Replaced"}, runsOf(c.Status))
	})
	t.Run("a Job is started by hand", func(t *testing.T) {
		c := five(v1.AllowConcurrent)
		manual := builders.MakeJob(c, at("10:02:00")).Manual().Obj()
		manual.CreationTimestamp = metav1.NewTime(at("10:02:00"))
		in := NewInput(c, at("10:02:01"), manual)
		c.Status = Conclude(in, Decide(in), Outcome{}).Status
		assert.Equal(t, []string{"10:02 Running by hand"}, runsOf(c.Status))
		assert.Nil(t, c.Status.LastScheduleTime)
	})
	t.Run("what waits under Forbid and is missed is one gap", func(t *testing.T) {
		c := five(v1.ForbidConcurrent)
		slow := builders.MakeJob(c, at("10:00:00")).Obj()
		c = ran(t, c, slow)
		for _, now := range []string{"10:05:01", "10:10:01", "10:15:01"} {
			in := NewInput(c, at(now), slow)
			c.Status = Conclude(in, Decide(in), Outcome{}).Status
		}
		assert.Equal(t, []string{"10:05 Missed Forbidden 2", "10:00 Running"}, runsOf(c.Status))
		assert.Len(t, c.Status.Missed, 2)
	})
}

// The runs alone cause no write: neither after an upgrade nor when Jobs are deleted.
func TestW1RecentRunsAddNoWrite(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	job := builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:00:30")).Obj()
	c = ran(t, c, job)
	c.Status.RecentRuns, c.Status.Conditions = nil, c.Status.Conditions[:1]
	for name, jobs := range map[string][]*batchv1.Job{"as an older manager has left it": {job}, "and its Job is gone": nil} {
		t.Run(name, func(t *testing.T) {
			in := NewInput(c, at("10:02:00"), jobs...)
			assert.Equal(t, c.Status, Conclude(in, Decide(in), Outcome{}).Status)
		})
	}
}

func TestAManualRunThatEndsWhileNobodyLooksIsTold(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	scheduled := builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:00:30")).Obj()
	c = ran(t, c, scheduled)
	manual := builders.MakeJob(c, at("10:01:00")).Failed(at("10:01:30")).Obj()
	manual.Name, manual.Annotations, manual.CreationTimestamp = "by-hand", nil, metav1.NewTime(at("10:01:00"))
	look := func(now string, jobs ...*batchv1.Job) Result {
		in := NewInput(c, at(now), jobs...)
		result := Conclude(in, Decide(in), Outcome{})
		c.Status = result.Status
		return result
	}
	assert.Len(t, look("10:02:00", scheduled, manual).Ended, 1)
	assert.Equal(t, []string{"10:01 Failed by hand", "10:00 Succeeded"}, runsOf(c.Status))
	assert.EqualValues(t, 1, c.Status.ConsecutiveFailures)
	assert.Empty(t, look("10:02:10", scheduled, manual).Ended, "once")
	assert.EqualValues(t, 1, c.Status.ConsecutiveFailures)

	// Another of the same name is another run.
	again := manual.DeepCopy()
	again.UID, again.CreationTimestamp = "again", metav1.NewTime(at("10:03:00"))
	look("10:04:00", scheduled, again)
	assert.Equal(t, []string{"10:03 Failed by hand", "10:01 Failed by hand", "10:00 Succeeded"}, runsOf(c.Status))

	c.Status.RecentRuns = nil // as an older manager has left it
	assert.Empty(t, look("10:04:10", scheduled, again).Ended)
}

func TestAReasonThatTheAPIServerWouldRefuseIsNotTakenFromAJob(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	job := builders.MakeJob(c, at("10:00:00")).Failed(at("10:00:30")).Obj()
	job.Status.Conditions[0].Reason, job.Status.Conditions[0].Message = "exit code 3", "the container failed"
	c = ran(t, c, job)
	assert.Equal(t, "False Failed the container failed", lastRun(c.Status))
	assert.Equal(t, []string{"10:00 Failed"}, runsOf(c.Status))
}

// Once the Job is deleted, only the status says how it ended.
func TestS8AJobIsPrunedOnceTheStatusSaysHowItEnded(t *testing.T) {
	c := settle(t, cron().History(0, 0).Obj(), at("09:59:00"))
	running := builders.MakeJob(c, at("10:00:00")).Obj()
	c = ran(t, c, running)
	ended := builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:00:30")).Obj()
	in := NewInput(c, at("10:00:31"), ended)
	p := Decide(in)
	assert.Empty(t, p.Prune)
	assert.True(t, p.Again)
	c.Status = Conclude(in, p, Outcome{}).Status
	assert.Equal(t, []string{"10:00 Succeeded"}, runsOf(c.Status))
	assert.Len(t, Decide(NewInput(c, at("10:00:32"), ended)).Prune, 1)
}

// A Job and the one that was deleted for it were created in the same second, by hand.
func TestS6AJobThatHasTheNameAndSecondOfAnEarlierOneRuns(t *testing.T) {
	c := settle(t, cron().Policy(v1.ReplaceConcurrent).Obj(), at("09:59:00"))
	first := builders.MakeJob(c, at("10:04:59")).Manual().Named("by-hand").Obj()
	c = recorded(c, at("10:04:59.5"), first)
	in := NewInput(c, at("10:05:00"), first)
	c.Status = Conclude(in, Decide(in), Outcome{Deleted: []*batchv1.Job{first}, Job: builders.MakeJob(c, at("10:05:00")).Obj()}).Status
	second := first.DeepCopy()
	second.UID = "another"
	in = NewInput(c, at("10:10:00"), second)
	p := Decide(in)
	assert.Equal(t, []*batchv1.Job{second}, p.Replace)
	assert.Len(t, p.Status.Active, 1)
}

func TestAJobThatReplacesOneOfItsNameLeavesOneRunningRun(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	c = recorded(c, at("09:59:20"), builders.MakeJob(c, at("09:59:10")).Manual().Named("by-hand").Obj())
	again := builders.MakeJob(c, at("09:59:30")).Manual().Named("by-hand").Obj()
	again.UID = "another"
	assert.Equal(t, []string{"09:59 Running by hand", "09:59 Deleted by hand"}, runsOf(recorded(c, at("09:59:40"), again).Status))
}

// The cache shows it only after a read from the API server has found that it is gone, as with
// ttlSecondsAfterFinished: 0.
func TestS21AJobThatFailedBeforeItWasFoundDeletedHasFailed(t *testing.T) {
	c := settle(t, cron().StopAfterFailures(1).Obj(), at("09:59:00"))
	in := NewInput(c, at("10:00:01"))
	c.Status = Conclude(in, Decide(in), Outcome{Job: builders.MakeJob(c, at("10:00:00")).Obj()}).Status
	c = recorded(c, at("10:00:02"))
	require.Equal(t, []string{"10:00 Deleted"}, runsOf(c.Status))
	failed := builders.MakeJob(c, at("10:00:00")).Failed(at("10:00:01")).Obj()
	assert.True(t, IsEndMissing(c, failed))
	in = NewInput(c, at("10:00:03"))
	in.Gone = []*batchv1.Job{failed}
	result := Conclude(in, Decide(in), Outcome{})
	assert.Equal(t, []string{"10:00 Failed"}, runsOf(result.Status))
	assert.Len(t, result.Ended, 1)
	c.Status = result.Status
	assert.True(t, IsStopped(c))
	assert.False(t, IsEndMissing(c, failed), "told once")
}
