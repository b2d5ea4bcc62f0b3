// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/test/builders"
)

// hour returns an hour of the day of the tests.
func hour(of int) time.Time { return time.Date(2027, 1, 15, of, 0, 0, 0, time.UTC) }

func TestTheRunIsTheNewestThatIsAskedFor(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("@hourly").Suspend(true).Obj()
	c.Status.RecentRuns = []v1.Run{{
		ScheduledTime: metav1.NewTime(hour(2)), JobName: "gone", Trigger: v1.TriggerSchedule, Result: v1.RunFailed, Reason: "DeadlineExceeded",
	}}
	c.Status.Missed = []v1.MissedTicks{{Reason: "Deadline", First: metav1.NewTime(hour(4)), Last: metav1.NewTime(hour(4)), Count: 1}}
	jobs := []*batchv1.Job{
		builders.MakeJob(c, hour(1)).Failed(hour(1)).Obj(),
		builders.MakeJob(c, hour(3)).Succeeded(hour(3)).Obj(),
	}
	h := history.New(c, jobs, hour(5), 0)
	for name, tc := range map[string]struct {
		command command
		want    string
	}{
		"the last":          {command{}, jobs[1].Name},
		"the last failed":   {command{failed: true}, "gone"},
		"of a tick":         {command{tick: hour(1)}, jobs[0].Name},
		"of a tick, abroad": {command{tick: hour(1).In(time.FixedZone("", 3600))}, jobs[0].Name},
		"of a missed tick":  {command{tick: hour(4)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			entry, err := tc.command.choose(h)
			assert.NoError(t, err)
			assert.Equal(t, tc.want, entry.Job)
		})
	}
	_, err := (&command{tick: hour(0)}).choose(h)
	assert.ErrorContains(t, err, "no run of the tick 2027-01-15T00:00:00Z is known; kubectl cronjob history c shows which are")
	for want, c := range map[string]command{"no run is known": {}, "no run that failed is known": {failed: true}} {
		_, err := c.choose(history.History{})
		assert.EqualError(t, err, want)
	}
}

func TestOfARunThatIsGoneIsSaidWhatIsKnown(t *testing.T) {
	c := builders.MakeCronJob("c").Suspend(true).Obj()
	end := metav1.NewTime(hour(3))
	c.Status.RecentRuns = []v1.Run{{
		ScheduledTime: metav1.NewTime(hour(2)), StartTime: new(metav1.NewTime(hour(2))), CompletionTime: &end,
		JobName: "c-1", Trigger: v1.TriggerSchedule, Result: v1.RunFailed, Reason: "DeadlineExceeded",
	}}
	cmd := &command{Env: env.New(genericiooptions.NewTestIOStreamsDiscard())}
	assert.EqualError(t, cmd.print(t.Context(), history.New(c, nil, hour(5), 0), nil), "job.batch/c-1 is gone, and its log with it: "+
		"Failed (DeadlineExceeded), tick 2027-01-15T02:00:00Z, started 2027-01-15T02:00:00Z, ended 2027-01-15T03:00:00Z")

	c.Status.Missed = []v1.MissedTicks{{Reason: "Deadline", First: metav1.NewTime(hour(4)), Last: metav1.NewTime(hour(4)), Count: 1}}
	cmd.tick = hour(4)
	assert.ErrorContains(t, cmd.print(t.Context(), history.New(c, nil, hour(5), 0), nil),
		"CronJob c: no Job was started, and so there is no log: Missed (Missed scheduled time 2027-01-15T04:00:00Z: ")
}

func TestFlagsAreCompletedWithWhatTheCronJobHas(t *testing.T) {
	c := builders.MakeCronJob("c").Obj()
	c.Status.RecentRuns = []v1.Run{
		{ScheduledTime: metav1.NewTime(hour(3)), JobName: "by-hand", Trigger: v1.TriggerManual, Result: v1.RunSucceeded},
		{ScheduledTime: metav1.NewTime(hour(2)), JobName: "c-2", Trigger: v1.TriggerSchedule, Result: v1.RunFailed},
		{ScheduledTime: metav1.NewTime(hour(1)), Trigger: v1.TriggerSchedule, Result: v1.RunMissed},
	}
	assert.Equal(t, []string{"2027-01-15T02:00:00Z\tFailed"}, ticksOf(c))
	assert.Equal(t, []string{"main"}, containersOf(c))
}
