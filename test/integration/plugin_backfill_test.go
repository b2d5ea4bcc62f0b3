// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

// sevenYears is a range with seven ticks of nextYear.
var sevenYears = []string{"--from=2019-06-01", "--to=2026-06-01"}

// newYear is the tick of a year.
func newYear(year int) time.Time { return time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC) }

// nameOf is the name of a tick's Job of the CronJob c.
func nameOf(tick time.Time) string { return fmt.Sprintf("c-%d", tick.Unix()) }

// backfill runs backfill for sevenYears.
func (s *space) backfill(args ...string) *pluginRun {
	s.t.Helper()
	return s.startBackfill(s.t.Context(), args...).wait()
}

// startBackfill starts backfill for sevenYears.
func (s *space) startBackfill(ctx context.Context, args ...string) *pluginRun {
	return s.startPlugin(ctx, append(append([]string{"backfill", "c"}, sevenYears...), args...)...)
}

// startBackfillIn starts backfill for sevenYears in surroundings that a function has changed.
func (s *space) startBackfillIn(ctx context.Context, change func(*env.Env)) *pluginRun {
	p := &pluginRun{t: s.t, done: make(chan struct{})}
	e := env.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &p.out, ErrOut: &p.errOut})
	change(e)
	command := cli.NewCommand(e, version)
	command.SetArgs(append([]string{"backfill", "c", "--kubeconfig=" + s.Kubeconfig, "--namespace=" + s.ns}, sevenYears...))
	go func() {
		defer close(p.done)
		p.err = command.ExecuteContext(ctx)
	}()
	return p
}

// isAboutJobs reports whether a request is one about all Jobs of a namespace, or creates one.
func isAboutJobs(r *http.Request, method string) bool {
	return r.Method == method && strings.HasSuffix(r.URL.Path, "/jobs")
}

// history is what a watch has told of the Jobs of a namespace.
type history struct {
	mu      sync.Mutex
	created []string
	running map[string]bool
	most    int // that ran at once
}

// watchHistory watches the Jobs of the namespace, and ends each as end says: at once, or never if it
// says "".
func (s *space) watchHistory(end func(*batchv1.Job) batchv1.JobConditionType) *history {
	s.t.Helper()
	h := &history{running: map[string]bool{}}
	watcher, err := s.Client.Watch(s.t.Context(), &batchv1.JobList{}, client.InNamespace(s.ns))
	require.NoError(s.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			job, ok := event.Object.(*batchv1.Job)
			if !ok {
				continue
			}
			h.see(event.Type, job)
			if result := end(job); event.Type == watch.Added && result != "" {
				if err := s.tryEnd(s.t.Context(), job, result); client.IgnoreNotFound(err) != nil && s.t.Context().Err() == nil {
					s.t.Errorf("ending Job %s: %v", job.Name, err)
				}
			}
		}
	}()
	s.t.Cleanup(func() {
		watcher.Stop()
		<-done
	})
	return h
}

// see notes what becomes of a Job, in the order in which it was stored.
func (h *history) see(event watch.EventType, job *batchv1.Job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if event == watch.Added {
		h.created = append(h.created, job.Name)
	}
	if plan.ResultOf(job) != "" || event == watch.Deleted {
		delete(h.running, job.Name)
	} else {
		h.running[job.Name] = true
	}
	h.most = max(h.most, len(h.running))
}

// names returns the Jobs that were created, in order.
func (h *history) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.created...)
}

// mostAtOnce returns how many Jobs ran at once.
func (h *history) mostAtOnce() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.most
}

// as ends all Jobs with one result.
func as(result batchv1.JobConditionType) func(*batchv1.Job) batchv1.JobConditionType {
	return func(*batchv1.Job) batchv1.JobConditionType { return result }
}

// newYears returns the names of the Jobs of some years, in order.
func newYears(from, to int) []string {
	var names []string
	for year := from; year <= to; year++ {
		names = append(names, nameOf(newYear(year)))
	}
	return names
}

func TestPluginBackfillRunsTheTicksOfThePastAndLeavesTheScheduleAlone(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		s.create(s.cronJob("c").Schedule(nextYear).TimeZone("Europe/Paris").History(0, 0).Obj())
		before := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
		h := s.watchHistory(as(batchv1.JobComplete))
		out := s.backfill("--parallel=1").succeeds()
		paris := newYear(2020).Add(-time.Hour)
		assert.True(s.t, strings.HasPrefix(out, strings.TrimPrefix(`
7 ticks from 2020-01-01T00:00:00+01:00 to 2026-01-01T00:00:00+01:00: 7 unknown
The unknown ones are older than what the CronJob remembers, and may have run: --only missed leaves them out.
7 to run
job.batch/`+nameOf(paris)+` created for 2020-01-01T00:00:00+01:00
job.batch/`+nameOf(paris)+` completed
`, "\n")), out)
		assert.True(s.t, strings.HasSuffix(out, "7 succeeded, 0 failed\n"), out)
		assert.Equal(s.t, 1, h.mostAtOnce())
		assert.Equal(s.t, nameOf(paris), h.names()[0], "S4: the name is the tick's, and the oldest comes first")

		s.eventually(func() bool { return len(s.jobs("c")) == 3 }, "three of its Jobs are kept")
		job := s.jobs("c")[2]
		assert.True(s.t, metav1.IsControlledBy(&job, before), "S13")
		assert.Equal(s.t, "2025-12-31T23:00:00Z", job.Annotations[v1.ScheduledAtAnnotation], "S12")
		assert.Equal(s.t, "Backfill", job.Spec.Template.Annotations[v1.TriggerAnnotation])
		s.eventually(func() bool {
			runs := s.get("c").Status.RecentRuns
			return len(runs) == 7 && runs[0].Result == v1.RunSucceeded
		}, "the status does not tell of them")
		after := s.get("c").Status
		assert.Equal(s.t, v1.TriggerBackfill, after.RecentRuns[0].Trigger)
		assert.True(s.t, after.RecentRuns[6].ScheduledTime.Time.Equal(paris))
		assert.Nil(s.t, after.LastScheduleTime, "S5")
		assert.Equal(s.t, before.Status.NextScheduleTime, after.NextScheduleTime)
		assert.Empty(s.t, after.Missed)

		assert.Contains(s.t, s.backfill().succeeds(), ": 7 succeeded\n0 to run\n")
		assert.Len(s.t, h.names(), 7, "the second call starts nothing")
	})
}

func TestPluginBackfillStartsNothingTwiceByTwoCallsAtOnceNorAfterItsJobsWereDeleted(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("0 0 1 * *").Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	h := s.watchHistory(as(batchv1.JobComplete))
	calls := []*pluginRun{s.startBackfill(t.Context()), s.startBackfill(t.Context(), "--parallel=3")}
	for _, call := range calls {
		call.wait().succeeds()
	}
	created := h.names()
	assert.Len(t, created, 85, "a tick for each month")
	s.eventually(func() bool { return len(s.jobs("c")) == 3 }, "three of the Jobs are kept")
	assert.Contains(t, s.backfill().succeeds(), "75 backfilled\n0 to run\n", "the status remembers ten")
	assert.ElementsMatch(t, created, h.names())
	seen := map[string]bool{}
	for _, name := range created {
		assert.False(t, seen[name], "%s was created twice", name)
		seen[name] = true
	}
}

func TestPluginBackfillThatIsInterruptedLeavesWhatRunsAndSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Suspend(true).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	h := s.watchHistory(func(job *batchv1.Job) batchv1.JobConditionType {
		if job.Name == nameOf(newYear(2023)) || job.Name == nameOf(newYear(2024)) {
			return ""
		}
		return batchv1.JobComplete
	})
	ctx, interrupt := context.WithCancel(t.Context())
	call := s.startBackfill(ctx)
	s.awaitJobs("c", 2)
	s.eventually(func() bool { return strings.Contains(call.out.String(), nameOf(newYear(2024))+" created") }, "it stops early")
	interrupt()
	said := call.wait().fails(130)
	assert.Contains(t, said, "interrupted: job.batch/"+nameOf(newYear(2023))+", job.batch/"+nameOf(newYear(2024))+" runs on; to go on: ")
	_, again, _ := strings.Cut(said, "to go on: ")
	assert.Regexp(t, `^kubectl cronjob backfill c (--\S+ )*--from=2019-06-01 (--\S+ )*--to=2026-06-01$`, again)

	second := s.startPlugin(t.Context(), strings.Fields(strings.TrimPrefix(again, "kubectl cronjob "))...)
	second.wait()
	assert.Contains(t, second.succeeds(), "2 running, 2 unknown\n")
	assert.Equal(t, newYears(2020, 2026), h.names())
}

func TestPluginBackfillTellsOfFailuresAndRepeatsThemUnderAnotherName(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	bad := nameOf(newYear(2022))
	h := s.watchHistory(func(job *batchv1.Job) batchv1.JobConditionType {
		if job.Name == bad {
			return batchv1.JobFailed
		}
		return batchv1.JobComplete
	})
	said := s.backfill().fails(1)
	assert.Contains(t, said, "job.batch/"+bad+" failed: Test\n")
	assert.Contains(t, said, "6 succeeded, 1 failed\n")
	assert.Contains(t, said, "1 of 7 runs failed: the same command with --only=failed runs those again")
	s.eventually(func() bool {
		runs := s.get("c").Status.RecentRuns
		return len(runs) == 7 && runs[4].Result == v1.RunFailed
	}, "the status does not tell of it")

	assert.Contains(t, s.backfill("--dry-run=server").succeeds(), "1 to run\njob.batch/"+bad+"-2 created for 2022-01-01T00:00:00Z (server dry run)\n")
	s.backfill("--only=failed").succeeds()
	assert.Equal(t, append(newYears(2020, 2026), bad+"-2"), h.names())
	assert.Contains(t, s.backfill().succeeds(), ": 7 succeeded\n0 to run\n")
}

func TestPluginBackfillRemembersWhatBecameOfEachTickWhenMostJobsAreDeleted(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	failing := newYears(2001, 2012)
	h := s.watchHistory(func(job *batchv1.Job) batchv1.JobConditionType {
		if slices.Contains(failing, job.Name) {
			return batchv1.JobFailed
		}
		return batchv1.JobComplete
	})
	backfill := func(from, to string, args ...string) *pluginRun {
		now := time.Now().Unix()
		s.eventually(func() bool { return time.Now().Unix() > now }, "time stands still") // which Job is the newer is told by the second
		return s.plugin(append([]string{"backfill", "c", "--from=" + from + "-01-01", "--to=" + to + "-01-01"}, args...)...)
	}
	assert.Contains(t, backfill("2001", "2016", "--parallel=1").fails(1), "12 of 16 runs failed: the same command with --only=failed")
	backfill("1980", "1983").succeeds()
	s.eventually(func() bool { return len(s.jobs("c")) == 13 }, "three that succeeded and ten that failed are kept")
	assert.Contains(t, backfill("2001", "2016", "--only=failed").succeeds(), ": 4 succeeded, 12 failed\n12 to run\n")
	backfill("1984", "1987").succeeds()
	created := h.names()
	assert.Len(t, created, 36)
	assert.Contains(t, backfill("2001", "2016").succeeds(), "\n0 to run\n")
	assert.Contains(t, backfill("1980", "1983").succeeds(), ": 4 backfilled\n0 to run\n")
	assert.Equal(t, created, h.names())
}

func TestPluginBackfillFollowsTheConcurrencyPolicy(t *testing.T) {
	t.Parallel()
	t.Run("Forbid runs one at a time, and waits for what runs", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule(nextYear).Policy(v1.ForbidConcurrent).Obj())
		manual := s.runNow("c")
		h := s.watchHistory(func(job *batchv1.Job) batchv1.JobConditionType {
			if job.Name == manual.Name {
				return ""
			}
			return batchv1.JobComplete
		})
		call := s.startBackfill(t.Context(), "--parallel=5")
		s.eventually(func() bool {
			return strings.Contains(call.out.String(), "waiting for job.batch/"+manual.Name+" to end, as concurrencyPolicy is Forbid\n")
		}, "it does not say for what it waits")
		assert.Len(t, s.jobs("c"), 1)
		s.end(manual, batchv1.JobComplete)
		call.wait().succeeds()
		assert.Equal(t, 1, h.mostAtOnce())
	})
	t.Run("Forbid never runs one beside the schedule's", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule("@every 2s").Policy(v1.ForbidConcurrent).Obj())
		h := s.watchHistory(as(batchv1.JobComplete))
		s.awaitJobs("c", 1)
		begin := time.Now().Add(-time.Hour).Truncate(time.Second)
		s.plugin("backfill", "c", "--from="+begin.Format(time.RFC3339), "--to="+begin.Add(119*time.Second).Format(time.RFC3339)).succeeds()
		s.edit("c", suspend)
		s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
		assert.Equal(t, 1, h.mostAtOnce(), "%v", h.names())
		assert.Greater(t, len(h.names()), 61, "the schedule goes on meanwhile")
	})
	t.Run("no more run than maxConcurrency allows", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule(nextYear).MaxConcurrency(2).Obj())
		manual := s.runNow("c")
		h := s.watchHistory(func(job *batchv1.Job) batchv1.JobConditionType {
			if job.Name == manual.Name {
				return ""
			}
			return batchv1.JobComplete
		})
		s.backfill("--parallel=5").succeeds()
		assert.Equal(t, 2, h.mostAtOnce(), "with the Job that was there")
	})
	t.Run("Replace is refused", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule(nextYear).Policy(v1.ReplaceConcurrent).Obj())
		assert.Contains(t, s.backfill().fails(1), "is Replace: its next tick would delete a Job of the past that runs, so nothing is started")
		assert.Contains(t, s.plugin("run", "c", "--tick=2020-01-01").fails(1), "is Replace")
		assert.Empty(t, s.jobs("c"))
	})
}

// hastyClock runs sixty times as fast as time.
type hastyClock struct {
	clock.RealClock
	begin time.Time
}

func (c hastyClock) Now() time.Time                         { return c.begin.Add(60 * time.Since(c.begin)) }
func (c hastyClock) Since(t time.Time) time.Duration        { return c.Now().Sub(t) }
func (c hastyClock) After(d time.Duration) <-chan time.Time { return c.RealClock.After(d / 60) }

func TestS14PluginBackfillGoesOnAfterARefusalAndEndsIfItStays(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	setQuota := s.quotaOfJobs()
	setQuota(0)
	h := s.watchHistory(as(batchv1.JobComplete))
	call := s.startBackfill(t.Context())
	s.eventually(func() bool { return strings.Contains(call.out.String(), "waiting to try again: creating the Job: ") }, "it says nothing")

	hasty := s.startBackfillIn(t.Context(), func(e *env.Env) { e.Clock = hastyClock{begin: time.Now()} })
	said := hasty.wait().fails(1)
	assert.Contains(t, said, "nothing more was started: refused for 5m0s: creating the Job: ")
	assert.Contains(t, said, "exceeded quota")
	assert.Contains(t, said, "7 of 7 ticks are left: to go on: kubectl cronjob backfill c ")
	assert.Empty(t, h.names())

	setQuota(100)
	call.wait().succeeds()
	assert.Equal(t, newYears(2020, 2026), h.names())
}

func TestS14PluginBackfillDoesNotGiveUpForRefusalsFromBeforeOrWhileAJobRan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy  v1.ConcurrencyPolicy
		allowed int32 // how many creations are before the others are refused
		running func(s *space) *batchv1.Job
	}{
		"one of its own runs":  {v1.AllowConcurrent, 1, func(s *space) *batchv1.Job { return &s.awaitJobs("c", 1)[0] }},
		"it waits for another": {v1.ForbidConcurrent, 0, func(s *space) *batchv1.Job { return s.runNow("c") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.create(s.cronJob("c").Schedule(nextYear).Policy(tc.policy).Obj())
			s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
			var tries atomic.Int32
			var isOver atomic.Bool
			s.watchHistory(func(*batchv1.Job) batchv1.JobConditionType {
				if isOver.Load() {
					return batchv1.JobComplete
				}
				return ""
			})
			hasty := hastyClock{begin: time.Now()}
			call := s.startBackfillIn(t.Context(), func(e *env.Env) {
				e.Clock = hasty
				sendBy(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
					if isAboutJobs(r, http.MethodPost) && tries.Add(1) > tc.allowed && !isOver.Load() {
						return nil, errors.New("refused")
					}
					return next.RoundTrip(r)
				})(e)
			})
			s.eventually(func() bool { return strings.Contains(call.out.String(), "waiting to try again: creating the Job: ") }, "nothing is refused")
			job := tc.running(s)
			waits := "waiting for job.batch/" + job.Name + " to end, as concurrencyPolicy is Forbid\n"
			since := hasty.Now()
			s.eventually(func() bool {
				return hasty.Since(since) > 6*time.Minute && (tc.policy == v1.AllowConcurrent || strings.Contains(call.out.String(), waits))
			}, "it does not wait")
			s.end(job, batchv1.JobComplete)
			before := tries.Load()
			s.eventually(func() bool { return tries.Load() > before }, "it has given up: %s", call.out.String())
			isOver.Store(true)
			assert.Contains(t, call.wait().succeeds(), "7 succeeded, 0 failed\n")
		})
	}
}

func TestPluginBackfillKnowsHowEachOfManyJobsThatEndAtOnceHasEnded(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	call := s.startPlugin(t.Context(), "backfill", "c", "--from=1996-06-01", "--to=2026-06-01", "--parallel=30")
	var ending sync.WaitGroup
	for _, job := range s.awaitJobs("c", 30) {
		ending.Go(func() { assert.NoError(t, s.tryEnd(t.Context(), &job, batchv1.JobComplete)) })
	}
	ending.Wait()
	// Most Jobs are deleted at once, and the status lists the newest runs alone.
	assert.Contains(t, call.wait().succeeds(), "\n30 succeeded, 0 failed\n")
}

func TestS14PluginBackfillWaitsForAJobWhoseCreationGotNoAnswer(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	unanswered := nameOf(newYear(2020))
	h := s.watchHistory(func(job *batchv1.Job) batchv1.JobConditionType {
		if job.Name == unanswered {
			return batchv1.JobFailed
		}
		return batchv1.JobComplete
	})
	var once sync.Once
	call := s.startBackfillIn(t.Context(), sendBy(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err == nil && isAboutJobs(r, http.MethodPost) {
			once.Do(func() { err = errors.Join(errors.New("no answer"), response.Body.Close()) })
		}
		if err != nil {
			return nil, err
		}
		return response, nil
	}))
	said := call.wait().fails(1)
	assert.Contains(t, said, "no answer\njob.batch/"+unanswered+" is there already\n")
	assert.Contains(t, said, "6 succeeded, 1 failed\n", "and none is another command's")
	assert.Equal(t, newYears(2020, 2026), h.names())
}

func TestPluginBackfillKnowsTheResultOfARunWhoseJobIsDeletedWhileItReads(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.plugin("run", "c", "--tick="+newYear(2022).Format(time.RFC3339)).succeeds()
	job := s.awaitJobs("c", 1)[0]
	statusSays := func(result v1.RunResult) func() bool {
		return func() bool { runs := s.get("c").Status.RecentRuns; return len(runs) == 1 && runs[0].Result == result }
	}
	s.eventually(statusSays(v1.RunRunning), "the status does not list the run")
	var once sync.Once
	call := s.startBackfillIn(t.Context(), sendBy(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		if isAboutJobs(r, http.MethodGet) {
			once.Do(func() {
				s.end(&job, batchv1.JobComplete)
				s.eventually(statusSays(v1.RunSucceeded), "the status does not tell of the end")
				assert.NoError(t, s.Client.Delete(t.Context(), &job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
				// It ends each Job that it sees, so it starts when this one is gone.
				s.watchHistory(as(batchv1.JobComplete))
			})
		}
		return next.RoundTrip(r)
	}))
	assert.Contains(t, call.wait().succeeds(), ": 1 succeeded, 6 ")
}

func TestPluginBackfillThatIsInterruptedBeforeItStartsAnythingSaysSo(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	ctx, interrupt := context.WithCancel(t.Context())
	var lists atomic.Int32
	call := s.startBackfillIn(ctx, sendBy(func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		if isAboutJobs(r, http.MethodGet) && lists.Add(1) > 1 { // the first is for what is known
			interrupt()
			return nil, errors.New("no answer")
		}
		return next.RoundTrip(r)
	}))
	assert.Contains(t, call.wait().fails(130), "7 to run\ninterrupted, and nothing was started")
	assert.Empty(t, s.jobs("c"))
}

func TestPluginBackfillEndsWhenTheCronJobIsNoLongerTheOne(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(s *space)
		want   string
	}{
		"deleted":             {func(s *space) { s.delete("c") }, "CronJob c was deleted; 5 of 7 ticks are left"},
		"deleted and created": {func(s *space) { s.delete("c"); s.create(s.cronJob("c").Schedule(nextYear).Obj()) }, "deleted and created again; 5 of"},
		"edited to Replace": {func(s *space) {
			s.edit("c", func(c *v1.CronJob) { c.Spec.ConcurrencyPolicy = v1.ReplaceConcurrent })
		}, "concurrencyPolicy of CronJob c is Replace"},
		"edited to other ticks": {func(s *space) {
			s.edit("c", func(c *v1.CronJob) { c.Spec.TimeZone = new("Europe/Paris") })
		}, "the schedule of CronJob c was edited; 5 of 7 ticks are left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.create(s.cronJob("c").Schedule(nextYear).Obj())
			call := s.startBackfill(t.Context())
			jobs := s.awaitJobs("c", 2)
			tc.change(s)
			for i := range jobs {
				s.end(&jobs[i], batchv1.JobComplete)
			}
			said := call.wait().fails(1)
			assert.Contains(t, said, tc.want)
			assert.Contains(t, said, "2 succeeded, 0 failed\n")
			assert.Len(t, s.jobs(""), 2)
		})
	}
}

func TestPluginBackfillLeavesAStrangersJobAlone(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	stranger := builders.MakeJob(s.get("c"), newYear(2020)).Obj()
	stranger.UID, stranger.OwnerReferences = "", nil
	stranger.Spec = s.get("c").Spec.JobTemplate.Spec
	s.create(stranger)
	assert.Contains(t, s.backfill().fails(1), "job.batch/"+stranger.Name+" is there already, and CronJob c does not control it")
	assert.Len(t, s.jobs(""), 1)
}

func TestS4ATickThatWasBackfilledBeforeItWasDueRunsNoMore(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.watchLastScheduleTime("c")
	s.create(s.cronJob("c").Schedule("@every 6s").Policy(v1.ForbidConcurrent).Obj())
	next := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled).Status.NextScheduleTime.Time
	c := s.get("c")
	job := plan.NewJob(c, next)
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, v1.TriggerAnnotation, string(v1.TriggerBackfill))
	s.create(job)
	s.eventually(func() bool {
		last := s.get("c").Status.LastScheduleTime
		return last != nil && last.Time.Equal(next)
	}, "the tick does not count as run")
	s.end(job, batchv1.JobComplete)
	s.eventually(func() bool { return len(s.jobs("c")) > 1 }, "the schedule stops")
	assert.Empty(t, s.events("c", plan.EventMissSchedule))
	for _, event := range s.events("c", plan.EventSuccessfulCreate) {
		assert.NotContains(t, event.Note, job.Name, "the schedule has not created it")
	}
}

func TestPluginRunRunsATickOfThePast(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	tick := nameOf(newYear(2020))
	first := s.runNow("c", "--tick=2020-01-01")
	assert.Equal(t, tick, first.Name)
	assert.Contains(t, s.plugin("run", "c", "--tick=2020-01-01").fails(1), "the tick of 2020-01-01 has run (running, "+tick+"): --again runs it again")
	assert.Contains(t, s.plugin("run", "c", "--tick=2020-01-02").fails(1),
		"is not a tick of \"0 0 1 1 *\" (UTC): the one before it is 2020-01-01T00:00:00Z, and the one after it 2021-01-01T00:00:00Z")
	second := s.runNow("c", "--tick=2020-01-01T00:00:00Z", "--again")
	assert.Equal(t, tick+"-2", second.Name)
	assert.Equal(t, first.Spec.Template.Annotations, second.Spec.Template.Annotations)
	assert.Contains(t, s.backfill("--dry-run").succeeds(), "1 running, 6 unknown\n")
	assert.Contains(t, s.plugin("history", "c", "-o", "json").succeeds(), `"backfilled": true`)
}

func TestPluginRunReplacesArgumentsAndVariables(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	container := s.runNow("c", "--env", "A=1", "--env", "B=x=y", "--", "--full", "-n").Spec.Template.Spec.Containers[0]
	assert.Equal(t, []string{"--full", "-n"}, container.Args)
	assert.Equal(t, []string{"true"}, container.Command, "the template's")
	require.Len(t, container.Env, 2)
	assert.Equal(t, "x=y", container.Env[1].Value)
	assert.Empty(t, s.get("c").Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args)
	assert.Equal(t, "main\n:4\n", s.plugin("__complete", "run", "c", "--container", "").succeeds())
}
