// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

func TestS4ATickStartsTheJobThatBearsItsName(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	c := s.cronJob("c").Schedule("@every 1s").Obj()
	c.Spec.JobTemplate.Labels = map[string]string{"on": "the-job"}
	c.Spec.JobTemplate.Annotations = map[string]string{"example.com/on": "the Job"}
	c.Spec.JobTemplate.Spec.Template.Labels = map[string]string{"on": "the-pod"}
	c.Spec.JobTemplate.Spec.Template.Annotations = map[string]string{"example.com/on": "the Pod"}
	c.Spec.JobTemplate.Spec.BackoffLimit = new(int32(2))
	s.create(c)
	jobs := s.awaitJobs("c", 3)

	c = s.get("c")
	controlledByIt := metav1.OwnerReference{
		APIVersion: "batch.tutorial.kubebuilder.io/v1", Kind: "CronJob", Name: "c", UID: c.UID,
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
	last := c.CreationTimestamp.Time
	for _, job := range jobs {
		tick := tickOf(t, &job)
		assert.Equal(t, fmt.Sprintf("c-%d", tick.Unix()), job.Name)
		assert.Equal(t, []metav1.OwnerReference{controlledByIt}, job.OwnerReferences)
		assert.Equal(t, new(int32(2)), job.Spec.BackoffLimit)

		scheduledAt := tick.UTC().Format(time.RFC3339)
		assert.Equal(t, "the-job", job.Labels["on"])
		assert.Equal(t, map[string]string{"example.com/on": "the Job", v1.ScheduledAtAnnotation: scheduledAt}, job.Annotations)
		assert.Equal(t, "the-pod", job.Spec.Template.Labels["on"])
		assert.Equal(t, map[string]string{"example.com/on": "the Pod", v1.ScheduledAtAnnotation: scheduledAt}, job.Spec.Template.Annotations)
		assert.True(t, tick.After(last), "%v is not after %v", tick, last)
		last = tick
	}
}

func TestS11NoJobIsThereBeforeItsTick(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	early := make(chan string, 1000)
	s.onJobs(func(job *batchv1.Job, heard time.Time) {
		tick, err := time.Parse(time.RFC3339, job.Annotations[v1.ScheduledAtAnnotation])
		if err != nil || heard.Before(tick) || job.CreationTimestamp.Time.Before(tick) {
			early <- fmt.Sprintf("%s: created at %v, heard of at %v (%v)", job.Name, job.CreationTimestamp, heard, err)
		}
	})
	for i := range 5 {
		s.create(s.cronJob(fmt.Sprintf("c%d", i)).Schedule(fmt.Sprintf("@every %ds", i%2+1)).Obj())
	}
	s.awaitJobs("c0", 5)
	s.requireNoJobWasAskedForEarly()
	select {
	case which := <-early:
		assert.Fail(t, "a Job came too early", which)
	default:
	}
}

// requireNoJobWasAskedForEarly checks by the audit log each Job of the namespace that the manager
// asked for.
func (s *space) requireNoJobWasAskedForEarly() {
	s.t.Helper()
	for _, r := range s.audit.in(s.t, s.ns) {
		if r.Verb+" "+r.Resource != createJob {
			continue
		}
		tick, err := strconv.ParseInt(r.Name[strings.LastIndex(r.Name, "-")+1:], 10, 64)
		require.NoError(s.t, err, r.Name)
		assert.False(s.t, r.Received.Before(time.Unix(tick, 0)), "asked for before its tick: %s", r)
	}
}

func TestS6ForbidHoldsATickUntilTheJobEnds(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 6s").Policy(v1.ForbidConcurrent).Obj())
	running := s.startByHand("c", "by-hand")

	event := s.awaitEvent("c", plan.EventJobAlreadyActive)
	assert.Contains(t, event.Note, "by-hand is running and the concurrency policy is Forbid")
	held := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonWaiting)
	assert.Len(t, s.jobs("c"), 1, "the tick is held back")
	waiting := held.Status.NextScheduleTime.Time

	s.end(running, batchv1.JobComplete)
	s.eventually(func() bool { return len(s.jobs("c")) == 2 }, "the tick does not run when the Job has ended")
	assert.Equal(t, fmt.Sprintf("c-%d", waiting.Unix()), s.jobs("c")[1].Name, "the tick that waited")
	assert.Empty(t, s.events("c", plan.EventMissSchedule))
	s.awaitEvent("c", plan.EventJobAlreadyActive)
}

// startByHand makes a Job that a CronJob controls, but not for a tick, as `kubectl create job
// --from` does.
func (s *space) startByHand(owner, name string) *batchv1.Job {
	s.t.Helper()
	c := s.get(owner)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.ns, Name: name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, v1.GroupVersion.WithKind("CronJob"))},
		},
		Spec: c.Spec.JobTemplate.Spec,
	}
	s.create(job)
	return job
}

func TestS6OfTheTicksThatForbidHoldsBackTheNewestRuns(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	clock := s.startClock()
	s.create(s.cronJob("c").Schedule("@every 1s").Policy(v1.ForbidConcurrent).Obj())
	first := s.awaitJobs("c", 1)[0]
	s.awaitRuns(clock, 3)
	require.Len(t, s.jobs("c"), 1, "while it runs nothing else does")

	before := time.Now().Truncate(time.Second)
	s.end(&first, batchv1.JobComplete)
	second := s.awaitJobs("c", 2)[1]
	assert.False(t, tickOf(t, &second).Before(before), "%s is not the newest tick at %v", second.Name, before)
	assert.NotEmpty(t, s.events("c", plan.EventMissSchedule), "the older ones are reported")
	s.awaitRuns(clock, 2)
	assert.Len(t, s.jobs("c"), 2)
}

func TestS6ReplaceDeletesTheJobThatRunsAndStartsTheNext(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 1s").Policy(v1.ReplaceConcurrent).Obj())
	s.eventually(func() bool {
		jobs := s.jobs("c")
		require.LessOrEqual(t, len(jobs), 1, "two run at once")
		return len(s.events("c", plan.EventSuccessfulDelete)) >= 3
	}, "no Job is replaced")
	s.eventually(func() bool { return len(s.get("c").Status.Active) == 1 }, "the status does not have the one that runs")
	assert.Empty(t, s.events("c", plan.EventFailedDelete))
	assert.Empty(t, s.events("c", plan.EventSawCompletedJob), "none has completed")
	assert.LessOrEqual(t, len(s.events("c", plan.EventSuccessfulDelete)), s.audit.count(t, s.ns)[deleteJob])
}

func TestS8HistoryLimitsKeepTheNewest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		result             batchv1.JobConditionType
		successful, failed int32
		want               int
	}{
		"two successes": {result: batchv1.JobComplete, successful: 2, failed: 0, want: 2},
		"no success":    {result: batchv1.JobComplete, successful: 0, failed: 5, want: 0},
		"one failure":   {result: batchv1.JobFailed, successful: 0, failed: 1, want: 1},
		"no failure":    {result: batchv1.JobFailed, successful: 5, failed: 0, want: 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.endJobs(test.result)
			s.create(s.cronJob("c").Schedule("@every 1s").History(test.successful, test.failed).Obj())
			s.eventually(func() bool { return s.audit.count(t, s.ns)[createJob] >= test.want+2 }, "it does not run")
			s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
			s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
			s.audit.settle(t, s.ns)

			jobs := s.jobs("c")
			require.Len(t, jobs, test.want)
			for _, job := range jobs {
				age := s.get("c").Status.LastScheduleTime.Sub(tickOf(t, &job))
				assert.Less(t, age, time.Duration(test.want)*time.Second, "%s is not among the newest", job.Name)
			}
		})
	}
}

func TestS8HistoryLimitsHoldWhileSuspended(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 1s").Suspend(true).History(1, 1).Obj())
	for i := range 5 {
		result := []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed}[i%2]
		s.end(s.startByHand("c", fmt.Sprintf("by-hand-%d", i)), result)
	}
	s.eventually(func() bool { return len(s.jobs("c")) == 3 }, "the history is not cleaned")
	s.audit.settle(t, s.ns)
	assert.Len(t, s.jobs("c"), 3, "of Jobs that were started by hand, three stay")
	assert.Zero(t, s.audit.count(t, s.ns)[createJob])
}

func TestS5LastScheduleTimeNeverGoesBack(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.watchLastScheduleTime("c")
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").History(0, 0).Obj())
	s.eventually(func() bool { return s.audit.count(t, s.ns)[createJob] >= 3 }, "it does not run")
	// Somebody tidies up.
	require.NoError(t, s.Client.DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(s.ns),
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.eventually(func() bool { return s.audit.count(t, s.ns)[createJob] >= 6 }, "it does not go on")
	s.assertEachTickRanOnce()
}

// watchLastScheduleTime fails the test if a CronJob's lastScheduleTime ever goes back, until the
// test is over.
func (s *space) watchLastScheduleTime(name string) {
	s.t.Helper()
	watcher, err := s.Client.Watch(s.t.Context(), &v1.CronJobList{}, client.InNamespace(s.ns))
	require.NoError(s.t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var last time.Time
		for event := range watcher.ResultChan() {
			c, ok := event.Object.(*v1.CronJob)
			if !ok || c.Name != name || event.Type == "DELETED" {
				continue
			}
			now := time.Time{}
			if c.Status.LastScheduleTime != nil {
				now = c.Status.LastScheduleTime.Time
			}
			if now.Before(last) {
				s.t.Errorf("lastScheduleTime went back from %v to %v", last, now)
			}
			last = now
		}
	}()
	s.t.Cleanup(func() {
		watcher.Stop()
		<-ended
	})
}

// assertEachTickRanOnce checks that no Job was created twice, whatever became of the first.
func (s *space) assertEachTickRanOnce() {
	s.t.Helper()
	created := map[string]int{}
	for _, r := range s.audit.in(s.t, s.ns) {
		if r.Verb+" "+r.Resource == createJob && r.Code == 201 {
			created[r.Name]++
		}
	}
	require.NotEmpty(s.t, created)
	for name, times := range created {
		assert.Equal(s.t, 1, times, "%s was created %d times", name, times)
	}
}

func TestS7TicksThatPassWhileSuspendedNeverRun(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	clock := s.startClock()
	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	s.awaitJobs("c", 1)
	s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
	suspended := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	assert.Nil(t, suspended.Status.NextScheduleTime)
	stopped := time.Now()
	before := len(s.jobs("c"))
	s.awaitRuns(clock, 3)
	require.Len(t, s.jobs("c"), before, "it runs while suspended")

	resumed := time.Now().Truncate(time.Second)
	s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend = new(false) })
	jobs := s.awaitJobs("c", before+2)
	for _, job := range jobs[before:] {
		assert.True(t, tickOf(t, &job).After(resumed), "%s is for a tick from before %v", job.Name, resumed)
	}
	for _, missed := range s.missedTicks("c") {
		passed := missed.After(stopped) && !missed.After(resumed)
		assert.False(t, passed, "%v is reported as missed: it passed while suspended, as was asked for", missed)
	}
}

// missedTicks returns the ticks that events about a CronJob name as missed.
func (s *space) missedTicks(name string) []time.Time {
	s.t.Helper()
	var ticks []time.Time
	for _, event := range s.events(name, plan.EventMissSchedule) {
		for _, text := range regexp.MustCompile(`\d{4}-\d\d-\d\dT\S+Z`).FindAllString(event.Note, -1) {
			tick, err := time.Parse(time.RFC3339, text)
			require.NoError(s.t, err)
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

func TestS7TicksFromBeforeAnEditOfTheScheduleNeverRun(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	clock := s.startClock()
	s.create(s.cronJob("c").Schedule("@every 1h").Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	s.awaitRuns(clock, 4)

	// By the new schedule it would have run every second since its creation.
	edited := time.Now().Truncate(time.Second)
	s.edit("c", func(c *v1.CronJob) { c.Spec.Schedule = "@every 1s" })
	for _, job := range s.awaitJobs("c", 2) {
		assert.True(t, tickOf(t, &job).After(edited), "%s is for a tick from before %v", job.Name, edited)
	}
	for _, missed := range s.missedTicks("c") {
		assert.True(t, missed.After(edited), "%v is reported as missed", missed)
	}
}

func TestS9ACronJobThatIsBeingDeletedStartsNothing(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	c := s.cronJob("c").Schedule("@every 1s").Obj()
	c.Finalizers = []string{keep}
	s.create(c)
	s.awaitJobs("c", 1)
	require.NoError(t, s.Client.Delete(t.Context(), c))
	s.audit.settle(t, s.ns)
	s.audit.requireSilence(t, s.ns, 3*time.Second)
	assert.NotNil(t, s.get("c").DeletionTimestamp)
}

func TestS13ACronJobCreatedAgainDoesNotCountTheJobsOfItsPredecessor(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	first := s.cronJob("c").Schedule("@every 1s").Policy(v1.ForbidConcurrent).Obj()
	s.create(first)
	running := s.awaitJobs("c", 1)[0]
	require.NoError(t, s.Client.Delete(t.Context(), first, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	noFinalizers := s.get("c")
	before := noFinalizers.DeepCopy()
	noFinalizers.Finalizers = nil // the garbage collector's part
	require.NoError(t, s.Client.Patch(t.Context(), noFinalizers, client.MergeFrom(before)))

	s.create(s.cronJob("c").Schedule("@every 1s").Policy(v1.ForbidConcurrent).History(0, 0).Obj())
	jobs := s.awaitJobs("c", 2)
	assert.Equal(t, running.Name, jobs[0].Name)
	assert.NotEqual(t, running.OwnerReferences[0].UID, jobs[1].OwnerReferences[0].UID)
	s.eventually(func() bool { return len(s.get("c").Status.Active) > 0 }, "the status does not have the one that runs")
	assert.Equal(t, jobs[1].UID, s.get("c").Status.Active[0].UID)

	s.end(&running, batchv1.JobComplete)
	s.end(&jobs[1], batchv1.JobComplete)
	s.eventually(func() bool {
		return s.jobs("c")[0].Name == running.Name && len(s.events("c", plan.EventSawCompletedJob)) == 1
	},
		"the predecessor's Job counts")
}

func TestS13AJobOfTheBuiltInCronJobOfTheSameNameDoesNotCount(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	builtIn := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "c"},
		Spec:       batchv1.CronJobSpec{Schedule: nextYear, JobTemplate: s.cronJob("c").Obj().Spec.JobTemplate},
	}
	s.create(builtIn)
	others := make([]*batchv1.Job, 2)
	for i, name := range []string{"runs", "has-ended"} {
		others[i] = &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: s.ns, Name: name,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(builtIn, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
			},
			Spec: builtIn.Spec.JobTemplate.Spec,
		}
		s.create(others[i])
	}
	s.end(others[1], batchv1.JobComplete)

	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").Policy(v1.ForbidConcurrent).History(0, 0).Obj())
	s.eventually(func() bool { return s.audit.count(t, s.ns)[deleteJob] >= 2 }, "it does not run, or not clean its history")
	for _, job := range others {
		after := &batchv1.Job{}
		require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(job), after), "the other's Job is history, too")
		assert.Nil(t, after.DeletionTimestamp)
	}
}
