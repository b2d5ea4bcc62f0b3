// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// TestConclude says what follows from each outcome of one plan: it starts the tick of 10:05, under
// Replace, while the Job of 10:00 runs.
func TestConclude(t *testing.T) {
	c := settle(t, cron().Policy(v1.ReplaceConcurrent).Obj(), at("09:59:00"))
	old, job := builders.MakeJob(c, at("10:00:00")).Obj(), builders.MakeJob(c, at("10:05:00")).Obj()
	first := NewInput(c, at("10:00:00"))
	c.Status = Conclude(first, Decide(first), Outcome{Job: old}).Status
	in := NewInput(c, at("10:05:01"), old)
	p := Decide(in)
	require.NotNil(t, p.Start)
	require.Equal(t, []*batchv1.Job{old}, p.Replace)
	quota, invalid := errors.New("quota"), apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), job.Name, nil)

	for name, tc := range map[string]struct {
		done         Outcome
		wantReason   string
		wantRan      bool
		wantActive   []string
		wantReplaced int
		wantEvents   []string
		wantWake     time.Time
	}{
		"it started": {
			done: Outcome{Deleted: p.Replace, Job: job}, wantReason: v1.ReasonScheduled, wantRan: true,
			wantActive: []string{job.Name}, wantReplaced: 1, wantWake: at("10:10:00"),
			wantEvents: []string{"SuccessfulDelete Deleted job " + old.Name, "SuccessfulCreate Created job " + job.Name},
		},
		"it had started, and the other was gone": {
			done: Outcome{Gone: p.Replace, Job: job, Existed: true}, wantReason: v1.ReasonScheduled, wantRan: true,
			wantActive: []string{job.Name}, wantReplaced: 1, wantWake: at("10:10:00"),
			wantEvents: []string{"SuccessfulCreate Created job " + job.Name},
		},
		"the other could not be deleted": {
			wantReason: v1.ReasonWaiting, wantActive: []string{old.Name}, wantWake: at("10:10:00"),
		},
		"it was refused": {
			done:       Outcome{Deleted: p.Replace, Refused: quota, RetryAt: at("10:05:02")},
			wantReason: v1.ReasonJobCreationFailed, wantReplaced: 1, wantWake: at("10:05:02"),
			wantEvents: []string{"SuccessfulDelete Deleted job " + old.Name, "FailedCreate Error creating job " + job.Name + ": quota"},
		},
		"it is invalid, which only an edit changes": {
			done:       Outcome{Gone: p.Replace, Refused: invalid},
			wantReason: v1.ReasonJobCreationFailed, wantReplaced: 1, wantWake: at("10:10:00"),
			wantEvents: []string{"FailedCreate Error creating job " + job.Name + ": " + invalid.Error()},
		},
		"its name is taken": {
			done: Outcome{Gone: p.Replace, NameTaken: true}, wantReason: v1.ReasonScheduled, wantReplaced: 1, wantWake: at("10:10:00"),
			wantEvents: []string{
				"FailedCreate Error creating job " + job.Name + ": a Job of that name exists that this CronJob does not control",
			},
		},
		"nothing is known of it": {
			done: Outcome{Gone: p.Replace}, wantReason: v1.ReasonScheduled, wantReplaced: 1, wantWake: at("10:10:00"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := Conclude(in, p, tc.done)
			assert.Equal(t, tc.wantReason, ready(t, result.Status).Reason)
			assert.Equal(t, tc.wantRan, result.Status.LastScheduleTime.Time.Equal(at("10:05:00")))
			assert.Equal(t, tc.wantActive, activeNames(&v1.CronJob{Status: result.Status}))
			assert.Equal(t, tc.wantReplaced, result.ReplacedCount)
			assert.Equal(t, tc.wantWake, result.WakeAt)
			assert.Equal(t, tc.wantEvents, texts(result.Events))
			assert.Equal(t, tc.done.Refused, result.Refused)
			assert.Equal(t, tc.done.NameTaken, len(result.Missed) == 1)
			assert.False(t, result.CanDefer, "it tells of a deletion, too")
		})
	}
}

// texts returns the reasons and notes of events.
func texts(events []Event) []string {
	var found []string
	for _, event := range events {
		found = append(found, event.Reason+" "+event.Note)
	}
	return found
}

func TestOnlyAStatusThatTellsOfAStartAndOfNothingElseCanBeDeferred(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	job := builders.MakeJob(c, at("10:00:00")).Obj()
	in := NewInput(c, at("10:00:00"))
	assert.True(t, Conclude(in, Decide(in), Outcome{Job: job}).CanDefer)
	assert.False(t, Conclude(in, Decide(in), Outcome{Job: job, Existed: true}).CanDefer, "it was started before")
	assert.False(t, Conclude(in, Decide(in), Outcome{Refused: errors.New("quota")}).CanDefer)
	in.Now = at("10:05:00")
	assert.False(t, Conclude(in, Decide(in), Outcome{Job: builders.MakeJob(c, in.Now).Obj()}).CanDefer, "a tick was missed")
	in.Jobs = append(in.Jobs, job)
	assert.False(t, Conclude(in, Decide(in), Outcome{Job: builders.MakeJob(c, in.Now).Obj()}).CanDefer, "another status was")
	in = NewInput(c, at("10:00:01"), job)
	assert.False(t, Conclude(in, Decide(in), Outcome{}).CanDefer, "it was")
}

func TestARunIsReportedAsLongAsTheStatusDoesNotTellOfIt(t *testing.T) {
	c := settle(t, cron().Obj(), at("09:59:00"))
	job := builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:00:01")).Obj()
	in := NewInput(c, at("10:00:02"), job)
	result := Conclude(in, Decide(in), Outcome{})
	assert.Equal(t, []string{"SuccessfulCreate Created job " + job.Name}, texts(result.Events))
	in.LeadingSince = job.CreationTimestamp.Add(5 * time.Minute)
	assert.NotEmpty(t, Conclude(in, Decide(in), Outcome{}).Events, "this manager's clock may be ahead of the API server's")
	in.LeadingSince = job.CreationTimestamp.Add(time.Hour)
	assert.Empty(t, Conclude(in, Decide(in), Outcome{}).Events, "the manager that led before has reported it")
	c.Status = result.Status
	in = NewInput(c, at("10:00:02"), job)
	assert.Empty(t, Conclude(in, Decide(in), Outcome{}).Events)
}

func TestS2ARunWhoseJobIsGoneHasRunAllTheSame(t *testing.T) {
	c := settle(t, cron().Policy(v1.ForbidConcurrent).Obj(), at("09:59:00"))
	for name, tc := range map[string]struct {
		gone        *batchv1.Job
		wantDeleted int
	}{
		"deleted while it ran":     {builders.MakeJob(c, at("10:00:00")).Obj(), 1},
		"deleted after it had run": {builders.MakeJob(c, at("10:00:00")).Succeeded(at("10:00:05")).Obj(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			in := NewInput(c, at("10:01:00"))
			in.Gone = []*batchv1.Job{tc.gone}
			p := Decide(in)
			assert.Nil(t, p.Start)
			assert.Empty(t, p.Missed)
			assert.Equal(t, tc.wantDeleted, p.DeletedCount)
			assert.Equal(t, tc.wantDeleted == 0, len(p.Ended) == 1, "O1: its end is reported")
			assert.Empty(t, p.Status.Active)
			assert.Equal(t, at("10:00:00"), p.Status.LastScheduleTime.Time)
			assert.Equal(t, tc.wantDeleted == 0, p.Status.LastSuccessfulTime != nil)
			in.Now = at("10:05:00")
			assert.NotNil(t, Decide(in).Start, "S14: it holds nothing back")
		})
	}
}

func TestS3NothingIsStartedOrPrunedWhileAJobMayExistThatIsNotKnown(t *testing.T) {
	for policy, wantStart := range map[v1.ConcurrencyPolicy]bool{v1.AllowConcurrent: true, v1.ForbidConcurrent: false, v1.ReplaceConcurrent: false} {
		t.Run(string(policy), func(t *testing.T) {
			c := settle(t, cron().Policy(policy).History(0, 0).Obj(), at("09:59:00"))
			c.Status.LastScheduleTime = &metav1.Time{Time: at("09:55:00")}
			in := NewInput(c, at("10:00:00"), builders.MakeJob(c, at("09:55:00")).Succeeded(at("09:56:00")).Obj())
			in.Uncertain = true
			p := Decide(in)
			assert.Equal(t, wantStart, p.Start != nil)
			assert.Empty(t, p.Prune)
			assert.Equal(t, at("10:05:00"), Conclude(in, p, Outcome{}).WakeAt)
		})
	}
}

func TestO1EveryReasonToMissTicksReadsRightForOneAndForMany(t *testing.T) {
	tick := time.Unix(0, 0)
	for _, reason := range []MissedReason{
		MissedDeadline, MissedSuperseded, MissedForbidden, MissedCreationFailed, MissedEdited, MissedStopped, MissedNameTaken,
	} {
		assert.Contains(t, MissedReasons(), reason)
		assert.NotEmpty(t, missedBecause[reason], reason)
		assert.NotRegexp(t, `\b(they|their|them|it|its)\b`, missedBecause[reason])
	}
	assert.Equal(t, "Missed scheduled time 1970-01-01T00:00:00Z: something else has the name of the Job",
		Missed{Reason: MissedNameTaken, First: tick, Last: tick, Count: 1}.Event().Note)
	many := Missed{Reason: MissedSuperseded, First: tick, Last: tick.Add(time.Hour), Count: MaxMissedCount}.Event().Note
	assert.True(t, strings.HasPrefix(many, "Missed 100 or more scheduled times from 1970-01-01T00:00:00Z to 1970-01-01T01:00:00Z"), many)
}
