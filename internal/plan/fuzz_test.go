// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/bounds"
	"tutorial.kubebuilder.io/project/test/builders"
)

// FuzzDecide decides about any CronJob, with any status and any Jobs, at any time that the API can
// express. Times are seconds since 1970; those of a CronJob are seconds before now.
func FuzzDecide(f *testing.F) {
	now := time.Date(2026, time.March, 29, 1, 30, 0, 0, time.UTC).Unix()
	for _, text := range []string{"* * * * *", "*/5 * * * *", "30 2 * * *", "@every 90m", "@every 1s", "0 0 29 2 *", "0 0 L,15W * 5#5", "garbage", ""} {
		for _, flags := range []uint32{0, 1, 2, 3, 0b_1111_0000_0001, 0b_1111_0000_0010, ^uint32(0)} {
			f.Add(text, "Europe/Paris", text, []byte{0, 0x40, 1, 0x42, 2, 0x44, 3, 0x08, 250, 0x41, 4, 0x90, 9, 0xd1}, now, int64(7200), int64(60), int64(3600), int64(300), int64(200), flags, ^flags)
		}
	}
	f.Add("@every 2562047h", "", "@every 1h", []byte{}, int64(1<<62), int64(1<<40), int64(-1), int64(1<<39), int64(-1<<40), int64(-5), uint32(0xffff), uint32(0xf0f0))
	f.Fuzz(func(t *testing.T, text, zone, observed string, jobs []byte, now, created, edited, last, next, deadline int64, flags, policies uint32) {
		if len(jobs) > 100 || !utf8.ValidString(text+zone+observed) {
			return // more Jobs are not another case, and JSON is UTF-8
		}
		s := situation{now: apiTime(now), flags: flags}
		c := s.cronJob(text, zone, s.ago(created), deadline)
		(&situation{now: s.now, flags: policies}).addPolicies(c)
		s.addStatus(c, observed, s.ago(last), s.ago(next))
		s.bound(c, s.ago(last), s.ago(deadline))
		all := s.jobs(c, jobs)
		bounds.Hold(t, len(text)+len(zone)+1000*(len(jobs)+len(all)), func() {
			assertPlanIsSound(t, editedInput(c, s.now, s.ago(edited), all...), c)
		})
	})
}

// situation makes the input of a decision from flags.
type situation struct {
	now   time.Time
	flags uint32
}

// take returns the next bits of the flags.
func (s *situation) take(bits int) int {
	taken := s.flags & (1<<bits - 1)
	s.flags >>= bits
	return int(taken)
}

func (s *situation) has() bool { return s.take(1) == 1 }

// ago returns the time that many seconds before now; after now if they are negative.
func (s *situation) ago(seconds int64) time.Time {
	return apiTime(s.now.Unix() - seconds%(1<<40))
}

func (s *situation) cronJob(text, zone string, created time.Time, deadline int64) *v1.CronJob {
	policies := []v1.ConcurrencyPolicy{v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent, "Maybe"}
	b := builders.MakeCronJob("c").Created(created).Schedule(text).Policy(policies[s.take(2)]).Suspend(s.take(3) == 1)
	if s.has() {
		b = b.TimeZone(zone)
	}
	if s.has() {
		b = b.Deadline(deadline)
	}
	if s.has() {
		b = b.History(int32(s.take(2))-1, int32(s.take(2))-1)
	}
	if s.has() {
		b = b.Also("7 * * * *", "*/20 3 * * *")
	}
	c := b.Obj()
	if s.take(3) == 1 {
		c.Spec.SuspendUntil = new(metav1.NewTime(s.ago(deadline)))
	}
	c.Generation = 1 + int64(s.take(2))
	if s.take(3) == 1 {
		c.DeletionTimestamp = new(metav1.NewTime(s.now))
	}
	return c
}

// bound sets fields that leave out some ticks.
func (s *situation) bound(c *v1.CronJob, first, last time.Time) {
	if s.has() {
		c.Spec.Exclude = []v1.ExcludedDays{"2026-03-29/2026-04-02", "--02-29", v1.ExcludedDays(s.now.Format(time.DateOnly))}
	}
	if s.has() {
		c.Spec.NotBefore = new(metav1.NewTime(first))
	}
	if s.has() {
		c.Spec.NotAfter = new(metav1.NewTime(last))
	}
}

// addPolicies sets the fields that are off by default.
func (s *situation) addPolicies(c *v1.CronJob) {
	if s.has() {
		c.Spec.MaxConcurrency = new(int32(s.take(3)) - 1)
	}
	if s.has() {
		c.Spec.StopAfterFailures, c.Status.FailuresTowardsStop = new(int32(s.take(2))-1), int32(s.take(2))
	}
	if s.has() {
		c.Spec.JitterSeconds = new(int32(s.take(4))*100 - 100)
	}
	if s.has() {
		c.Spec.CatchUpPolicy = v1.CatchUpAll
	}
	if s.has() {
		c.Spec.CatchUpLimit = new(int32(s.take(3))*20 - 20)
	}
	if s.has() {
		c.Annotations = map[string]string{v1.ResumedAtAnnotation: s.ago(int64(s.take(2))*60 - 60).Format(time.RFC3339)}
	}
}

func (s *situation) addStatus(c *v1.CronJob, observed string, last, next time.Time) {
	c.Status.ObservedGeneration = int64(s.take(2))
	c.Status.ObservedSchedule = c.Spec.Schedule
	if s.has() {
		c.Status.ObservedSchedule = observed
	}
	if s.has() {
		c.Status.LastScheduleTime = new(metav1.NewTime(last))
	}
	if s.has() {
		c.Status.NextScheduleTime = new(metav1.NewTime(next))
		if c.Spec.JitterSeconds != nil {
			c.Status.NextStartTime = new(metav1.NewTime(next.Add(3 * time.Second))) // as another version computes it
		}
	}
	if s.has() {
		reasons := []string{
			v1.ReasonScheduled, v1.ReasonSuspended, v1.ReasonCompleted, v1.ReasonJobCreationFailed,
			v1.ReasonStoppedAfterFailures, v1.ReasonWaiting, v1.ReasonInvalidSchedule, "",
		}
		c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: reasons[s.take(3)]}}
	}
}

// jobs makes a Job from every two bytes: how long ago its tick was, and its result. From the first
// few bytes it may make more Jobs than a status lists.
func (s *situation) jobs(c *v1.CronJob, described []byte) []*batchv1.Job {
	in := NewInput(c, s.now)
	byName := map[string]*batchv1.Job{}
	for pair := range slices.Chunk(described, 2) {
		if len(pair) < 2 {
			break
		}
		tick, what := s.now.Add(time.Duration(int8(pair[0]))*-30*time.Second), pair[1]
		count := 1
		if what&128 != 0 && len(byName) < 2*maxListed {
			count = maxListed + 20
		}
		for range count {
			if what&0x40 != 0 && in.ScheduleErr == nil {
				tick, _ = in.Schedule.Last(tick.AddDate(-1, 0, 0), tick)
			}
			if job := s.job(c, tick, what); job != nil {
				byName[job.Name] = job
			}
			tick = tick.Add(-time.Second)
		}
	}
	return slices.Collect(maps.Values(byName))
}

// job makes one of them; nil if it is gone.
func (s *situation) job(c *v1.CronJob, tick time.Time, what byte) *batchv1.Job {
	b := builders.MakeJob(c, tick)
	switch what & 3 {
	case 1:
		b = b.Succeeded(s.now)
	case 2:
		b = b.Failed(s.now)
	}
	switch what & 12 {
	case 4:
		b = b.Deleting(s.now)
	case 8:
		b = b.Manual()
	case 12:
		b = b.Backfilled(s.now)
	}
	job := b.Obj()
	if what&16 != 0 {
		c.Status.ActiveCount = new(int32(ActiveCount(c.Status) + 1))
		if len(c.Status.Active) < maxListed {
			c.Status.Active = append(c.Status.Active, corev1.ObjectReference{Name: job.Name, Namespace: job.Namespace, UID: job.UID})
		}
	}
	if what&32 != 0 {
		return nil
	}
	return job
}

// apiTime is an instant that the API can express, and early enough that it can also express the
// next tick.
func apiTime(seconds int64) time.Time {
	return time.Unix(max(seconds, 0)%time.Date(9600, time.January, 1, 0, 0, 0, 0, time.UTC).Unix(), 0).UTC()
}

// assertPlanIsSound checks what holds for every plan.
func assertPlanIsSound(t *testing.T, in Input, stored *v1.CronJob) {
	t.Helper()
	before := stored.DeepCopy()
	p := Decide(in)
	require.True(t, apiequality.Semantic.DeepEqual(before, stored), "a decision changes nothing")
	require.False(t, timeOf(p.Status.LastScheduleTime).Before(timeOf(before.Status.LastScheduleTime)), "S5: lastScheduleTime never goes back")
	require.True(t, p.WakeAt.IsZero() || !p.WakeAt.Before(in.Now), "woken at %s, it is %s", p.WakeAt, in.Now)
	for _, job := range slices.Concat(p.Prune, p.Replace) {
		require.Contains(t, in.Jobs, job)
	}
	assertStatusCanBeStored(t, p.Status)
	pruned := editedInput(stored, in.Now, in.EditedAt, slices.DeleteFunc(slices.Clone(in.Jobs), func(job *batchv1.Job) bool {
		return slices.Contains(p.Prune, job)
	})...)
	if start := Decide(pruned).Start; start != nil {
		require.False(t, slices.ContainsFunc(p.Prune, func(job *batchv1.Job) bool { return AgeFrom(job).Equal(start.Tick) }),
			"S4: a Job is deleted whose tick would run again if the status could not be written")
	}
	if p.Start == nil {
		return
	}
	require.False(t, slices.ContainsFunc(in.Jobs, func(job *batchv1.Job) bool {
		trigger, _ := TriggerOf(job)
		return job.Name == p.Start.Job.Name && trigger != v1.TriggerManual
	}), "S4: a tick is started that has its Job")
	require.False(t, StartOf(stored, p.Start.Tick).After(in.Now), "S11: never early")
	if limit := MaxConcurrency(in.CronJob); limit > 0 {
		require.Less(t, len(sortJobs(in).active), limit, "S20")
	}
	require.True(t, p.Start.GiveUpAt.IsZero() || p.Start.GiveUpAt.After(in.Now), "the tick's time ends at %s, it is %s", p.Start.GiveUpAt, in.Now)
	require.True(t, p.Start.Next.IsZero() || p.Start.Next.After(p.Start.Tick), "%s is the tick after %s", p.Start.Next, p.Start.Tick)
	p.Start.Job.UID = "new"
	for what, done := range map[string]Outcome{
		"started":   {Deleted: p.Replace, Job: p.Start.Job},
		"refused":   {Deleted: p.Replace, Refused: errors.New("no\xff" + before.Spec.Schedule)},
		"taken":     {Gone: p.Replace, NameTaken: true},
		"undeleted": {},
		"unknown":   {Deleted: p.Replace},
	} {
		decided := p.Status.DeepCopy()
		result := Conclude(in, p, done)
		require.Equal(t, decided, &p.Status, "a conclusion changes no plan")
		assertStatusCanBeStored(t, result.Status)
		again := *stored
		again.Status = result.Status
		next := Decide(editedInput(&again, in.Now, in.EditedAt, in.Jobs...))
		if what == "started" || what == "taken" {
			assert.True(t, next.Start == nil || next.Start.Tick.After(p.Start.Tick), "S4: a tick that was %s is started again", what)
		}
		assert.Empty(t, next.Missed, "S2: what was missed is told again after a tick was %s", what)
	}
}

// assertStatusCanBeStored checks that the API server accepts a status, and returns it unchanged.
func assertStatusCanBeStored(t *testing.T, status v1.CronJobStatus) {
	t.Helper()
	for _, condition := range status.Conditions {
		if condition.Type == v1.ConditionReady {
			require.LessOrEqual(t, len(condition.Message), maxMessageLength)
			require.True(t, utf8.ValidString(condition.Message))
		}
	}
	require.LessOrEqual(t, len(status.RecentRuns), MaxRecentRuns)
	require.True(t, slices.IsSortedFunc(status.RecentRuns, func(a, b v1.Run) int {
		return b.ScheduledTime.Compare(a.ScheduledTime.Time)
	}), "the newest run is first")
	raw, err := json.Marshal(status)
	require.NoError(t, err)
	require.Less(t, len(raw), maxStatusSize)
	require.LessOrEqual(t, len(status.Active), maxListed)
	require.GreaterOrEqual(t, ActiveCount(status), len(status.Active))
	again := v1.CronJobStatus{}
	require.NoError(t, json.Unmarshal(raw, &again), "%s", raw)
	if next := timeOf(status.NextScheduleTime); !next.IsZero() {
		require.Less(t, next.Year(), 10_000, "the API can't tell it")
	}
}
