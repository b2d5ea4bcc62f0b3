// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

// These tests are about lasting refusals: a policy, a quota, a webhook, a missing right. The clock
// advances to each requeue that Reconcile asks for, as with a work queue, so a lost requeue is a
// missed tick.

// denied is the API server's answer because of a policy or a missing right.
var denied = apierrors.NewForbidden(batchv1.Resource("jobs"), "c", errors.New("denied by a policy"))

// passedOn is the answer of a webhook that returns the error of a request of its own.
func passedOn(code int, reason metav1.StatusReason) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
		Message: "admission webhook \"w\" denied the request: owners \"x\" not found",
	}}
}

// live reconciles the CronJob at each requeue for some time. If succeeds is true, each Job succeeds
// before the next reconcile.
func (s *stage) live(d time.Duration, succeeds bool) {
	s.Helper()
	end := s.clock.Now().Add(d)
	for range 2000 {
		result := s.reconcile()
		require.NotZero(s, result.RequeueAfter, "nothing but the deletion of the CronJob may leave it without a next look")
		if succeeds {
			s.finishJobs()
		} else {
			s.awaitCached()
		}
		if s.clock.Now().Add(result.RequeueAfter).After(end) {
			return
		}
		s.clock.SetTime(s.clock.Now().Add(result.RequeueAfter))
	}
	s.Fatal("it reconciles without end")
}

func TestS14WhatIsRefusedForLongCostsNoTick(t *testing.T) {
	const ticks = 12
	for name, refuse := range map[string]func(s *stage){
		"deletions": func(s *stage) {
			s.interfere(interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
				return denied
			}})
		},
		"statuses":           func(s *stage) { s.interfere(statusFails(denied)) },
		"statuses, by a 404": func(s *stage) { s.interfere(statusFails(passedOn(http.StatusNotFound, metav1.StatusReasonNotFound))) },
		"statuses, by a 409": func(s *stage) { s.interfere(statusFails(passedOn(http.StatusConflict, metav1.StatusReasonConflict))) },
		"reads": func(s *stage) {
			s.reconciler.APIReader = away{s.reconciler.APIReader}
			lose := true
			s.interfere(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					if err := c.Create(ctx, o, opts...); err != nil {
						return err
					}
					if lose = !lose; lose {
						return errTrouble // the Job was created nevertheless
					}
					return nil
				},
				SubResourcePatch: onStatusWrite(func(_ context.Context, write func() error) error {
					if err := write(); err != nil {
						return err
					}
					if lose {
						return errTrouble // the status was written nevertheless
					}
					return nil
				}),
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().History(100, 100))
			if name == "deletions" {
				s = newStage(t, every().History(1, 1))
			}
			refuse(s)
			first := s.stored().Status.NextScheduleTime.Time
			s.live(first.Add((ticks-1)*time.Minute+time.Second).Sub(s.clock.Now()), true)
			var want []string
			for i := range ticks {
				want = append(want, fmt.Sprintf("c-%d", first.Add(time.Duration(i)*time.Minute).Unix()))
			}
			assert.ElementsMatch(t, want, s.jobs(), "each tick has run")

			s.stopInterfering()
			s.reconciler.APIReader = mgr.GetAPIReader()
			s.events()
			s.live(time.Minute, true)
			s.reconcile()
			assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(first.Add(ticks*time.Minute)), "and then the status says so")
			for _, text := range s.events() {
				assert.NotContains(t, text, "MissSchedule")
			}
			if name == "deletions" {
				assert.Len(t, s.jobs(), 1, "S8: and the history is short again")
			}
		})
	}
}

func TestS14EditsWhileTheStatusIsRefusedCostNoTickAfterThem(t *testing.T) {
	for name, edits := range map[string][]string{
		"two, of which nobody saw the first": {`{"spec":{"suspend":true}}`, `{"spec":{"suspend":false}}`},
		"one that the webhook has not seen":  {`{"spec":{"timeZone":null}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Schedule("* * * * *").TimeZone("Etc/UTC").History(100, 100))
			s.interfere(statusFails(denied))
			for _, edit := range edits {
				require.NoError(t, mgr.GetClient().Patch(t.Context(), s.stored(), client.RawPatch(types.MergePatchType, []byte(edit))))
			}
			s.awaitCached()
			s.clock.SetTime(s.clock.Now().Add(2 * time.Minute)) // whether an earlier tick counts is unknown
			first := s.clock.Now().Truncate(time.Minute).Add(time.Minute)
			s.live(first.Add(3*time.Minute+time.Second).Sub(s.clock.Now()), true)
			var want []string
			for i := range 4 {
				want = append(want, fmt.Sprintf("c-%d", first.Add(time.Duration(i)*time.Minute).Unix()))
			}
			assert.ElementsMatch(t, want, s.jobs())
			s.stopInterfering()
			s.reconcile()
			assert.Equal(t, s.stored().Generation, s.stored().Status.ObservedGeneration)
			s.awaitCached()
			s.reconcile()
			assert.Zero(t, s.reconciler.memory.acquire(s.key).generation, "the status remembers it")
		})
	}
}

// editTemplate edits the template, and has it seen.
func (s *stage) editTemplate(image string) {
	s.Helper()
	c := s.stored()
	c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Image = image
	require.NoError(s, mgr.GetClient().Update(s.Context(), c))
	s.awaitCached()
	s.reconcile()
}

func TestS14EditsOfTheTemplateWhileTheStatusIsRefusedCostNoTickThatWaits(t *testing.T) {
	s := newStage(t, every().Policy(v1.ForbidConcurrent))
	s.interfere(statusFails(denied))
	s.editTemplate("one")
	first := s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.clock.SetTime(first.Add(time.Minute + 10*time.Second))
	s.reconcile()
	s.editTemplate("two")
	require.Len(t, s.jobs(), 1, "the second tick waits for the Job of the first")
	s.finishJobs()
	s.reconcile()
	assert.Contains(t, s.jobs(), fmt.Sprintf("c-%d", first.Add(time.Minute).Unix()))
	s.awaitCached()
	s.stopInterfering()
	s.reconcile()
	assert.Empty(t, s.stored().Status.Missed, "both have run")
}

func TestS14AJobThatSomebodyDeletesWhileTheStatusIsRefusedHoldsNoTickBack(t *testing.T) {
	for name, hasEnded := range map[string]bool{"while it runs": false, "when it has ended": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Policy(v1.ForbidConcurrent))
			s.interfere(statusFails(denied))
			first := s.toNextTick()
			s.reconcile()
			s.awaitCached()
			if hasEnded {
				s.finishJobs()
				s.reconcile()
			}
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.jobs()[0]}}
			require.NoError(t, mgr.GetClient().Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
			s.awaitCached()
			s.events()
			s.clock.SetTime(first.Add(time.Minute))
			s.reconcile()
			assert.Equal(t, []string{fmt.Sprintf("c-%d", first.Add(time.Minute).Unix())}, s.jobs())
			s.stopInterfering()
			s.reconcile()
			assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(first.Add(time.Minute)))
			assert.Empty(t, s.stored().Status.Missed, "both have run")
			assert.NotContains(t, strings.Join(s.events(), "\n"), "JobAlreadyActive")
		})
	}
}

func TestS14ATickDoesNotWaitForTheDeletionOfOldJobs(t *testing.T) {
	s := newStage(t, every().History(0, 0))
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.finishJobs() // without a reconcile before the next tick
	var requests []string
	s.interfere(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			requests = append(requests, "create")
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			requests = append(requests, "delete")
			return c.Delete(ctx, o, opts...)
		},
	})
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.reconcile()
	assert.Equal(t, []string{"create", "delete"}, requests)
}

func TestS14UnderReplaceARefusedStatusCostsNoTick(t *testing.T) {
	s := newStage(t, every().Policy(v1.ReplaceConcurrent))
	s.interfere(statusFails(denied))
	first := s.stored().Status.NextScheduleTime.Time
	s.live(first.Add(4*time.Minute+time.Second).Sub(s.clock.Now()), false)
	assert.Equal(t, []string{fmt.Sprintf("c-%d", first.Add(4*time.Minute).Unix())}, s.jobs(), "S6: one runs, that of the newest tick")
	assert.Len(t, s.events(), 9, "five Jobs were created, and four replaced")

	s.stopInterfering()
	s.live(time.Minute, false)
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(first.Add(5*time.Minute)))
	assert.NotContains(t, strings.Join(s.events(), "\n"), "MissSchedule")
}

// Otherwise a process that reads only the status would report the tick as missed.
func TestS2AStatusTellsOfARunBeforeItsJobIsReplaced(t *testing.T) {
	for name, first := range map[string]error{
		"at once": nil, "though somebody's edit came first": passedOn(http.StatusConflict, metav1.StatusReasonConflict),
		"though the API server fails again": passedOn(http.StatusInternalServerError, metav1.StatusReasonInternalError),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Policy(v1.ReplaceConcurrent))
			s.interfere(statusFails(errTrouble))
			tick := s.toNextTick()
			s.reconcile()
			s.awaitCached()

			replaced, failure := 0, first
			s.interfere(interceptor.Funcs{
				SubResourcePatch: onStatusWrite(func(_ context.Context, write func() error) error {
					if err := failure; err != nil {
						failure = nil
						return err
					}
					return write()
				}),
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
					replaced++
					require.NotNil(t, s.stored().Status.LastScheduleTime)
					assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick))
					return c.Delete(ctx, o, opts...)
				},
			})
			s.clock.SetTime(tick.Add(time.Minute))
			s.live(time.Second, false)
			assert.Equal(t, 1, replaced)
			assert.Equal(t, []string{fmt.Sprintf("c-%d", tick.Add(time.Minute).Unix())}, s.jobs())
			assert.NotContains(t, strings.Join(s.events(), "\n"), "MissSchedule")
		})
	}
}

// The previous leader had started the Job, and stopped before it wrote the status.
func TestS5ARunThatWasSeenIsNotForgottenWhenItsJobIsDeletedBeforeTheStatusIsWritten(t *testing.T) {
	s := newStage(t, every())
	s.interfere(statusFails(errTrouble))
	tick := s.toNextTick()
	s.reconcile()
	s.finishJobs()
	s.reconciler.memory = memory{} // as of another leader
	s.reconcile()
	require.NoError(t, mgr.GetClient().DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(s.key.Namespace),
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.awaitCached()

	s.stopInterfering()
	s.live(time.Second, false)
	require.NotNil(t, s.stored().Status.LastScheduleTime)
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick))
	assert.Empty(t, s.stored().Status.Missed)
	assert.Empty(t, s.jobs(), "S4")
}

func TestS14ASuspensionThatEndsWhileTheStatusIsRefusedCostsNoTickAfterIt(t *testing.T) {
	s := newStage(t, every().History(100, 100))
	first := s.stored().Status.NextScheduleTime.Time
	c := s.stored()
	c.Spec.SuspendUntil = new(metav1.NewTime(first.Add(5 * time.Minute)))
	require.NoError(t, mgr.GetClient().Update(t.Context(), c))
	s.awaitCached()
	s.interfere(statusFails(denied))
	s.live(first.Add(7*time.Minute+time.Second).Sub(s.clock.Now()), true)
	want := []string{}
	for minute := range 3 {
		want = append(want, fmt.Sprintf("c-%d", first.Add(time.Duration(5+minute)*time.Minute).Unix()))
	}
	assert.ElementsMatch(t, want, s.jobs())

	s.stopInterfering()
	s.live(time.Minute, true)
	assert.NotContains(t, strings.Join(s.events(), "\n"), "MissSchedule")
}

// Deletions have been refused for so long that their backoff is a minute.
func TestS14WhatIsRefusedForLongDelaysNoOtherRetry(t *testing.T) {
	s := newStage(t, every().History(0, 0).Policy(v1.ForbidConcurrent))
	refuse := interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
		return denied
	}}
	s.interfere(refuse)
	s.live(12*time.Minute, true)
	require.Greater(t, s.reconciler.memory.entries[s.key].progress.failures[requestDelete], 8)

	refuse.Create = func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return errTrouble
	}
	s.interfere(refuse)
	live := s.reconciler.APIReader
	s.reconciler.APIReader = away{live}
	tick := s.toNextTick()
	for s.clock.Since(tick) < 2*time.Second {
		s.clock.SetTime(s.clock.Now().Add(s.reconcile().RequeueAfter))
	}
	refuse.Create = nil
	s.interfere(refuse)
	s.reconciler.APIReader = live
	for range 3 {
		s.clock.SetTime(s.clock.Now().Add(s.reconcile().RequeueAfter))
	}
	assert.Contains(t, s.jobs(), fmt.Sprintf("c-%d", tick.Unix()))
	assert.Less(t, s.clock.Since(tick), 10*time.Second)
}

// The status write was a conflict because somebody had edited a label: the generation stays.
func TestS10WhatTheAPIServerCallsInvalidIsSaidThoughTheFirstStatusConflicts(t *testing.T) {
	s := newStage(t, every())
	invalid := apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), "c", nil)
	refuse := createFails(invalid)
	refuse.SubResourcePatch = statusFails(passedOn(http.StatusConflict, metav1.StatusReasonConflict)).SubResourcePatch
	s.interfere(refuse)
	s.toNextTick()
	s.reconcile()
	s.interfere(createFails(invalid))
	s.live(time.Second, false)
	ready := meta.FindStatusCondition(s.stored().Status.Conditions, v1.ConditionReady)
	assert.Equal(t, v1.ReasonJobCreationFailed, ready.Reason)
}

func TestS14JobsThatAreDeletedSlowlyDoNotKeepTheNextTickWaiting(t *testing.T) {
	var jobs []*batchv1.Job
	for i := range 500 {
		jobs = append(jobs, builders.MakeJob(every().Obj(), time.Unix(int64(i), 0)).Obj())
	}
	for name, deleteThem := range map[string]func(context.Context, *CronJobReconciler, *lookup){
		"beyond the history limits": func(ctx context.Context, r *CronJobReconciler, look *lookup) {
			r.prune(ctx, look, plan.Plan{Prune: jobs})
		},
		"to be replaced": func(ctx context.Context, r *CronJobReconciler, look *lookup) {
			assert.Less(t, len(r.apply(ctx, look, plan.Plan{Replace: jobs, Start: &plan.Start{}}).Deleted), len(jobs))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
					Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
						time.Sleep(2 * time.Second)
						return nil
					},
				})
				r := &CronJobReconciler{Client: slow}
				look, begin := r.lookup(&observed{}, &progress{}), time.Now()
				deleteThem(t.Context(), r, look)
				assert.LessOrEqual(t, time.Since(begin), deletionTime+2*time.Second)
				assert.True(t, look.isLeftToDelete, "the others are deleted by the next reconcile")
			})
		})
	}
}

func TestS14OldJobsAreDeletedAFewAtATimeWhereThatTakesLong(t *testing.T) {
	var jobs []*batchv1.Job
	for i := range 8 {
		jobs = append(jobs, builders.MakeJob(every().Obj(), time.Unix(int64(i), 0)).Obj())
	}
	for name, tc := range map[string]struct {
		takes     time.Duration
		err       error
		wantTried int
		wantLeft  bool
	}{
		"a slow server":                        {100 * time.Millisecond, nil, 3, true},
		"each deletion takes longer":           {time.Second, nil, 1, true},
		"a fast server":                        {time.Millisecond, nil, len(jobs), false},
		"a slow server that refuses them":      {200 * time.Millisecond, errTrouble, 2, false},
		"a fast server that refuses them":      {time.Millisecond, errTrouble, maxFailedDeletions, false},
		"a server that refuses them very late": {3 * time.Second, errTrouble, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tried := 0
				server := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
					Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
						tried++
						time.Sleep(tc.takes)
						return tc.err
					},
				})
				r := &CronJobReconciler{Client: server, Recorder: &fakeRecorder{recorded: map[string]bool{}}}
				look := r.lookup(&observed{stored: every().Obj()}, &progress{})
				r.prune(t.Context(), look, plan.Plan{Prune: jobs})
				assert.Equal(t, tc.wantTried, tried)
				assert.Equal(t, tc.wantLeft, look.isLeftToDelete, "otherwise the next reconcile waits for the backoff")
			})
		})
	}
}

func TestS14ADeletionThatIsRefusedAndCanNotBeLookedUpDoesNotKeepTheNextTickWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notFound := apierrors.NewNotFound(batchv1.Resource("jobs"), "j")
		refusing := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
			Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
				time.Sleep(2 * time.Second)
				return notFound
			},
			Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
				<-ctx.Done()
				return ctx.Err()
			},
		})
		r := &CronJobReconciler{Client: refusing, APIReader: refusing, Recorder: &fakeRecorder{recorded: map[string]bool{}}}
		look, begin := r.lookup(&observed{stored: every().Obj()}, &progress{}), time.Now()
		r.prune(t.Context(), look, plan.Plan{Prune: []*batchv1.Job{
			builders.MakeJob(every().Obj(), time.Unix(0, 0)).Obj(), builders.MakeJob(every().Obj(), time.Unix(1, 0)).Obj(),
		}})
		assert.LessOrEqual(t, time.Since(begin), deletionTime)
		assert.True(t, look.isLeftToDelete)
		assert.Equal(t, []string{requestRead, requestDelete}, look.failed)
	})
}

// The API server carries out two creations, but answers neither them nor any read. When it answers
// again, the cache is still stale.
func TestS4TwoCreationsThatAreNotAnsweredAreBothRuns(t *testing.T) {
	s := newStage(t, every().Schedule("@every 10s"))
	tick := s.toNextTick()
	unanswered := interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			require.NoError(t, client.IgnoreAlreadyExists(c.Create(ctx, o, opts...)))
			return errTrouble
		},
		List: noJobs, Get: noJob,
	}
	s.interfere(unanswered)
	s.reconciler.APIReader = away{mgr.GetAPIReader()}
	s.reconcile()
	s.clock.SetTime(tick.Add(11 * time.Second))
	s.reconcile()

	s.reconciler.APIReader = mgr.GetAPIReader()
	s.interfere(interceptor.Funcs{List: noJobs, Get: noJob})
	s.reconcile()
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick.Add(10*time.Second)))
	assert.Empty(t, s.stored().Status.Missed)
	assert.Len(t, s.stored().Status.Active, 2)
}

func TestS11NoJobStartsWhenTheClockIsSetBackAfterTheDecision(t *testing.T) {
	s := newStage(t, every())
	tick := s.toNextTick()
	s.interfere(interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		s.clock.SetTime(tick.Add(-10 * time.Second))
		return c.List(ctx, list, opts...)
	}})
	_, err := s.reconcileOnce()
	require.NoError(t, err)
	assert.Empty(t, s.jobs())
	s.stopInterfering()
	s.reconcile()
	assert.Empty(t, s.jobs())
	s.clock.SetTime(tick)
	s.reconcile()
	assert.Len(t, s.jobs(), 1)
}

// reads counts the Jobs that are read live, by name.
type reads struct {
	client.Reader

	of map[string]int
}

func (r reads) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if _, ok := object.(*batchv1.Job); ok {
		r.of[key.Name]++
	}
	return r.Reader.Get(ctx, key, object, opts...)
}

func TestS14ANewLeaderLooksUpEachJobOnceThoughNoStatusCanBeWritten(t *testing.T) {
	s := newStage(t, every().Schedule("@every 10s"))
	s.clock.SetTime(s.toNextTick().Add(45 * time.Second)) // ticks at 0, 10, 20, 30 and 40
	looked := reads{mgr.GetAPIReader(), map[string]int{}}
	s.reconciler.memory, s.reconciler.leadingSince, s.reconciler.APIReader = memory{}, s.clock.Now(), looked
	s.interfere(statusFails(denied))
	s.live(time.Minute, true)
	assert.Len(t, s.jobs(), 7, "the newest of them, and those of the minute")
	assert.Len(t, looked.of, 4, "those that the leader before may have run")
	for name, count := range looked.of {
		assert.Equal(t, 1, count, name)
	}
}

func TestS14AReadThatIsRefusedIsTriedOncePerReconcile(t *testing.T) {
	s := newStage(t, every().Schedule("@every 10s"))
	s.clock.SetTime(s.toNextTick().Add(45 * time.Second))
	looked := reads{away{mgr.GetAPIReader()}, map[string]int{}}
	s.reconciler.memory, s.reconciler.leadingSince, s.reconciler.APIReader = memory{}, s.clock.Now(), looked
	s.reconcile()
	assert.Len(t, s.jobs(), 1, "the newest tick does not wait")
	assert.Len(t, looked.of, 1, "of the four ticks that the leader before may have run")
}

func TestS14ACreationThatIsRefusedForLongCostsOnlyItsOwnTicks(t *testing.T) {
	for name, refusal := range map[string]error{
		"by a policy":                    denied,
		"by a webhook that answers 404":  passedOn(http.StatusNotFound, metav1.StatusReasonNotFound),
		"by a webhook that answers 409":  passedOn(http.StatusConflict, metav1.StatusReasonConflict),
		"as the template is not valid":   apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), "c", nil),
		"by a 404 that names no details": &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every())
			s.interfere(interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
				return refusal
			}})
			first := s.toNextTick()
			s.live(3*time.Minute, false)
			assert.Empty(t, s.jobs())
			ready := meta.FindStatusCondition(s.stored().Status.Conditions, v1.ConditionReady)
			assert.Equal(t, v1.ReasonJobCreationFailed, ready.Reason)
			found := strings.Join(s.events(), "\n")
			assert.Contains(t, found, "Warning FailedCreate")
			assert.Contains(t, found, "Warning MissSchedule Missed scheduled time "+first.UTC().Format(time.RFC3339)+": no Job could be created")

			s.stopInterfering()
			s.live(time.Minute, false)
			next := s.stored().Status.NextScheduleTime.Time
			assert.True(t, next.After(s.clock.Now()))
			assert.Contains(t, s.jobs(), fmt.Sprintf("c-%d", next.Add(-time.Minute).Unix()), "the next tick runs")
		})
	}
}

// overQuota is the API server's answer because of a quota. It has what is used, which changes.
func overQuota(used int) error {
	return apierrors.NewForbidden(batchv1.Resource("jobs"), "c", fmt.Errorf("exceeded quota: q, used: count/jobs.batch=%d", used))
}

// varying returns the answers of a refusal whose text is another each time.
func varying(refusal func(try int) error) (next func() error, tries *int) {
	tries = new(int)
	return func() error {
		*tries++
		return refusal(*tries)
	}, tries
}

// refusing is an API server that refuses creations, deletions or status writes; writes counts the
// statuses that are written.
func refusing(creates, deletes, statuses func() error, writes *int) interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if creates != nil {
				return creates()
			}
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if deletes != nil {
				return deletes()
			}
			return c.Delete(ctx, o, opts...)
		},
		SubResourcePatch: onStatusWrite(func(_ context.Context, write func() error) error {
			if statuses != nil {
				return statuses()
			}
			*writes++
			return write()
		}),
	}
}

func TestW4ARefusalThatLastsIsToldOncePerTickHoweverItsTextVaries(t *testing.T) {
	job := batchv1.SchemeGroupVersion.WithKind("Job").GroupKind()
	failing := func(try int) error { return apierrors.NewInternalError(fmt.Errorf("a webhook took %d ms", try)) }
	invalid := func(try int) error {
		return apierrors.NewInvalid(job, "c", field.ErrorList{field.Invalid(field.NewPath("spec"), try, "it is refused")})
	}
	busy := func(try int) error { return apierrors.NewTooManyRequests("there are too many", try) }
	for name, tc := range map[string]struct {
		creates, deletes, statuses func(try int) error
		wantTries                  int // at least, in half an hour
		wantEvents, wantWrites     int // at most
	}{
		"creations, by a quota":            {creates: overQuota, wantTries: 30, wantEvents: 1, wantWrites: 1},
		"creations, by a webhook":          {creates: failing, wantTries: 30, wantEvents: 1, wantWrites: 1},
		"creations, as there are too many": {creates: busy, wantTries: 30, wantEvents: 1, wantWrites: 1},
		"creations, as they are invalid":   {creates: invalid, wantTries: 1, wantEvents: 1, wantWrites: 1},
		"deletions":                        {deletes: overQuota, wantTries: 30, wantEvents: 1, wantWrites: 1},
		"deletions, by a webhook":          {deletes: failing, wantTries: 30, wantEvents: 1, wantWrites: 1},
		"statuses":                         {statuses: overQuota, wantTries: 30, wantEvents: 1},
		"statuses, by a webhook":           {statuses: failing, wantTries: 30, wantEvents: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Schedule("@every 1h").Policy(v1.ReplaceConcurrent))
			tick := s.toNextTick()
			if tc.deletes != nil { // the Job to be replaced
				s.reconcile()
				s.awaitCached()
				tick = s.toNextTick()
			}
			writes := 0
			var refusals [3]func() error
			var tries *int
			for i, refusal := range []func(int) error{tc.creates, tc.deletes, tc.statuses} {
				if refusal != nil {
					refusals[i], tries = varying(refusal)
				}
			}
			s.interfere(refusing(refusals[0], refusals[1], refusals[2], &writes))
			s.events()
			s.logged = nil
			s.live(tick.Add(30*time.Minute).Sub(s.clock.Now()), false)
			assert.GreaterOrEqual(t, *tries, tc.wantTries)
			assert.LessOrEqual(t, len(s.events()), tc.wantEvents)
			assert.LessOrEqual(t, writes, tc.wantWrites)
			assert.LessOrEqual(t, len(slices.DeleteFunc(s.logged, func(line string) bool { return strings.Contains(line, "Started a Job") })), 1)
		})
	}
}

func TestW4EachReasonOfARefusalIsToldAndEachTickAnew(t *testing.T) {
	s := newStage(t, every())
	next, _ := varying(func(try int) error {
		if try%4 == 0 {
			return apierrors.NewInternalError(fmt.Errorf("a webhook did not answer within %d ms", try))
		}
		return overQuota(try)
	})
	writes := 0
	s.interfere(refusing(next, nil, nil, &writes))
	tick := s.toNextTick()
	s.live(tick.Add(50*time.Second).Sub(s.clock.Now()), false)
	assert.Len(t, s.events(), 2)
	assert.Equal(t, 2, writes)
	assert.Len(t, s.logged, 2)

	s.clock.SetTime(tick.Add(time.Minute))
	s.live(5*time.Second, false)
	assert.Len(t, s.events(), 3, "the tick before is missed")
	assert.Equal(t, 4, writes)
}

// hung is an API server that answers no read.
type hung struct{ client.Reader }

func (hung) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hung) List(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestS14WhatIsUnsettledIsNotWaitedForOneByOne(t *testing.T) {
	c, runs := every().Obj(), &progress{statusErr: errTrouble}
	for second := range int64(4) {
		runs.addRun(builders.MakeJob(c, time.Unix(second, 0)).Obj())
	}
	for name, unsettled := range map[string]*progress{
		"runs":                       runs,
		"the CronJob, and creations": {isStale: true, jobs: []heldJob{{name: "c-1"}, {name: "c-2"}, {name: "c-3"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &CronJobReconciler{Client: fake.NewClientBuilder().Build(), APIReader: hung{}, Clock: clock.RealClock{}}
				begin := time.Now()
				decide(t.Context(), r.lookup(&observed{stored: c, now: begin}, unsettled))
				assert.Equal(t, requestTimeout, time.Since(begin))
				for _, held := range unsettled.jobs {
					assert.True(t, held.isGone, "the cache would have it by now")
				}
			})
		})
	}
}

// slow is an API server that takes its time for a read.
type slow struct {
	client.Reader

	clock *clocktesting.FakePassiveClock
}

func (r slow) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	r.clock.SetTime(r.clock.Now().Add(requestTimeout - time.Second))
	return r.Reader.Get(ctx, key, o, opts...)
}

func TestS14OneSlowReadCostsNoPlan(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.interfere(interceptor.Funcs{List: noJobs, Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
		opts ...client.GetOption,
	) error {
		if _, ok := o.(*batchv1.Job); ok {
			return apierrors.NewNotFound(batchv1.Resource("jobs"), key.Name)
		}
		return c.Get(ctx, key, o, opts...)
	}})
	s.reconciler.APIReader = slow{mgr.GetAPIReader(), s.clock}
	s.toNextTick()
	s.reconcile()
	assert.Len(t, s.jobs(), 2, "a Job that the cache lacks was looked up first")
}

func TestS14ANewLeaderListsTheJobsOfManyTicksThatMayHaveRun(t *testing.T) {
	s := newStage(t, every().Schedule("@every 1s").CatchUp(100))
	s.clock.SetTime(s.toNextTick().Add(250 * time.Second))
	counted := &countedReads{Reader: mgr.GetAPIReader()}
	s.reconciler.memory, s.reconciler.leadingSince, s.reconciler.APIReader = memory{}, s.clock.Now(), counted
	s.reconcile()
	assert.Len(t, s.jobs(), 1)
	assert.LessOrEqual(t, counted.count, 2, "the CronJob, and a list")
}

// countedReads counts reads.
type countedReads struct {
	client.Reader

	count int
}

func (r *countedReads) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	r.count++
	return r.Reader.Get(ctx, key, o, opts...)
}

func (r *countedReads) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	r.count++
	return r.Reader.List(ctx, list, opts...)
}

func TestS10EachTickBeginsItsRetriesAnew(t *testing.T) {
	s := newStage(t, every().Schedule("*/10 * * * *").Deadline(30))
	var tries []time.Duration // after the tick
	tick := time.Time{}
	s.interfere(interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		tries = append(tries, s.clock.Since(tick))
		return denied
	}})
	for range 3 {
		tick = s.toNextTick()
		tries = nil
		s.live(time.Minute, false)
		require.Len(t, tries, 7)
		assert.Less(t, tries[1], time.Second)
		s.awaitCached()
	}
}

func TestS10WhatTheAPIServerCallsInvalidIsTriedOnceATick(t *testing.T) {
	s := newStage(t, every())
	tries := 0
	s.interfere(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
		tries++
		return apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), o.GetName(), nil)
	}})
	s.toNextTick()
	s.live(30*time.Minute-time.Second, false)
	assert.Equal(t, 30, tries)
	failed := 0
	for _, text := range s.events() {
		if strings.Contains(text, plan.EventFailedCreate) {
			failed++
		}
	}
	assert.Equal(t, 1, failed, "one event per generation and message")

	t.Run("and again after an edit", func(t *testing.T) {
		c := s.stored()
		c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Image = "another"
		require.NoError(t, mgr.GetClient().Update(t.Context(), c))
		s.awaitCached()
		s.reconcile()
		assert.Equal(t, 31, tries)
		assert.Len(t, s.events(), 1)
	})
}

func TestS6ADeletionThatAWebhookRefusesIsNotDone(t *testing.T) {
	for name, answer := range map[string]error{
		"by a 404": passedOn(http.StatusNotFound, metav1.StatusReasonNotFound),
		"by a 409": passedOn(http.StatusConflict, metav1.StatusReasonConflict),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Policy(v1.ReplaceConcurrent))
			s.toNextTick()
			s.reconcile()
			s.awaitCached()
			s.interfere(interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
				return answer
			}})
			s.live(5*time.Minute, false)
			assert.Len(t, s.jobs(), 1, "nothing starts beside the Job that could not be deleted")
			assert.Contains(t, strings.Join(s.events(), "\n"), "Warning FailedDelete")
			s.stopInterfering()
			s.live(time.Minute, false)
			assert.Len(t, s.jobs(), 1)
			assert.Len(t, s.stored().Status.Active, 1)
		})
	}
}

func TestS14AnAnswerThatNeverComesIsNotWaitedForLong(t *testing.T) {
	s := newStage(t, every())
	hang := func(ctx context.Context) error {
		deadline, ok := ctx.Deadline()
		require.True(t, ok, "it would wait for ever")
		assert.LessOrEqual(t, time.Until(deadline), createTimeout)
		return context.DeadlineExceeded
	}
	s.interfere(interceptor.Funcs{
		Create: func(ctx context.Context, _ client.WithWatch, _ client.Object, _ ...client.CreateOption) error {
			return hang(ctx)
		},
		SubResourcePatch: onStatusWrite(func(ctx context.Context, _ func() error) error { return hang(ctx) }),
	})
	s.toNextTick()
	assert.Equal(t, firstRetry, s.reconcile().RequeueAfter)
}

func TestS2AStatusThatArrivesLateIsReported(t *testing.T) {
	s := newStage(t, every().Deadline(10))
	tick := s.toNextTick()
	s.clock.SetTime(tick.Add(11 * time.Second)) // past its deadline
	var late func()
	s.interfere(interceptor.Funcs{SubResourcePatch: func(_ context.Context, c client.Client, sub string, o client.Object, p client.Patch,
		opts ...client.SubResourcePatchOption,
	) error {
		o = o.DeepCopyObject().(client.Object)
		late = func() { require.NoError(t, c.SubResource(sub).Patch(context.Background(), o, p, opts...)) }
		return context.DeadlineExceeded // the request is still in flight
	}})
	s.reconcile()
	s.interfere(interceptor.Funcs{SubResourcePatch: onStatusWrite(func(_ context.Context, write func() error) error {
		if late != nil {
			late() // before the second
			late = nil
		}
		return write()
	})})
	s.clock.SetTime(s.clock.Now().Add(time.Second))
	s.reconcile()
	s.reconcile()
	found := s.events()
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "Warning MissSchedule Missed scheduled time "+tick.UTC().Format(time.RFC3339))
	assert.Len(t, s.stored().Status.Missed, 1)
}

func TestS2WhatANewLeaderItselfFindsMissedIsReportedAsNew(t *testing.T) {
	for name, answer := range map[string]func(error) error{
		"its status write is answered": func(err error) error { return err },
		"the answer is lost":           func(err error) error { return errors.Join(err, context.DeadlineExceeded) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Deadline(10))
			tick := s.toNextTick()
			s.reconciler.leadingSince = tick.Add(11*time.Second + 200*time.Millisecond)
			s.clock.SetTime(s.reconciler.leadingSince.Add(100 * time.Millisecond))
			s.interfere(interceptor.Funcs{SubResourcePatch: onStatusWrite(func(_ context.Context, write func() error) error {
				return answer(write())
			})})
			s.reconcile()
			s.clock.SetTime(s.clock.Now().Add(time.Second))
			s.reconcile()
			found := s.events()
			require.Len(t, found, 1)
			assert.Contains(t, found[0], "Warning MissSchedule Missed scheduled time "+tick.UTC().Format(time.RFC3339))
			assert.NotContains(t, found[0], "(may exist)")
		})
	}
}

func TestS2ANewLeaderReportsTheLastMomentsOfThoseBeforeAsNew(t *testing.T) {
	s := newStage(t, every().Deadline(10))
	tick := s.toNextTick()
	s.clock.SetTime(tick.Add(11 * time.Second))
	s.reconcile()
	s.awaitCached()
	require.Len(t, s.stored().Status.Missed, 1)
	found := s.events()
	require.Len(t, found, 1)
	assert.NotContains(t, found[0], "(may exist)")
	for name, tc := range map[string]struct {
		after    time.Duration
		want     int
		mayExist bool
	}{
		"after one that was killed":  {20 * time.Second, 1, false},
		"after five that were short": {8 * time.Minute, 1, true},
		"an hour later":              {time.Hour, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s.recorder.recorded = map[string]bool{} // the new leader's recorder remembers nothing
			s.events()
			s.reconciler = &CronJobReconciler{
				Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: s.recorder, Clock: s.clock,
				leadingSince: s.clock.Now().Add(tc.after),
			}
			s.reconciler.reportMissed(s.stored())
			s.reconciler.reportMissed(s.stored())
			found := s.events()
			assert.Len(t, found, tc.want)
			for _, event := range found {
				assert.Equal(t, tc.mayExist, strings.Contains(event, "(may exist)"))
			}
		})
	}
}

func TestS2WhatTheLastStatusOfADeletedCronJobSaysIsReported(t *testing.T) {
	s := newStage(t, every().Deadline(10))
	tick := s.toNextTick()
	s.clock.SetTime(tick.Add(11 * time.Second))
	s.interfere(statusAnswerIsLost(t))
	s.reconcile()
	assert.Empty(t, s.events())
	last := s.stored()
	s.reconciler.sawCronJob(last, nil)
	assert.Len(t, s.events(), 1)
}

func TestS7AnEditThatTheWebhookDidNotSeeIsNoSurprise(t *testing.T) {
	s := newStage(t, builders.MakeCronJob("c").Schedule("*/5 * * * *").TimeZone("Asia/Kolkata"))
	s.clock.SetTime(s.clock.Now().Add(4 * time.Hour)) // without a reconcile
	require.NoError(t, mgr.GetClient().Patch(t.Context(), s.stored(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"timeZone":null}}`))))
	s.awaitCached()
	s.reconcile()
	assert.Empty(t, s.jobs(), "a tick from before the edit was seen")
	status := s.stored().Status
	assert.True(t, status.NextScheduleTime.After(s.clock.Now()))
	assert.EqualValues(t, 2, status.ObservedGeneration)
}

func TestWhatIsWrittenWhileTheCacheIsReadIsKept(t *testing.T) {
	c := builders.MakeCronJob("c").Obj()
	key := client.ObjectKeyFromObject(c)
	version := func(version string) *v1.CronJob {
		c := c.DeepCopy()
		c.ResourceVersion = version
		return c
	}
	m := &memory{}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { // a watch that is behind
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				m.newest(key, version("2"))
			}
		}
	}()
	for range 2000 {
		m.setWritten(key, version("1"))
		m.setWritten(key, version("3"))
		require.Equal(t, "3", m.newest(key, version("2")).ResourceVersion, "what is newer than the cache was dropped")
	}
	close(stop)
	<-done
}

func TestMemoryEndsWithItsCronJob(t *testing.T) {
	r := &CronJobReconciler{}
	c := builders.MakeCronJob("c").Obj()
	for i := range 100_000 {
		key := types.NamespacedName{Namespace: "n", Name: fmt.Sprintf("c%d", i)}
		known := r.memory.acquire(key).of(c.UID)
		known.addRun(builders.MakeJob(c, time.Unix(0, 0)).Obj())
		r.memory.keepDeleted(key, known.jobs[0].job)
		known.failures, known.isStale = map[string]int{requestStatus: 1}, true
		r.memory.setWritten(key, c)
		r.memory.unreported(key, c.UID, []v1.MissedTicks{{Reason: "Deadline"}})
		r.memory.release(key, false)
		require.Len(t, r.memory.entries, 1)
		r.memory.forget(key)
	}
	assert.Empty(t, r.memory.entries)
}

func TestIsTerminatingIsAboutTheNamespaceAlone(t *testing.T) {
	cause := &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
	}}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"it is being deleted":       {cause, true},
		"it is gone":                {apierrors.NewNotFound(corev1.Resource("namespaces"), "n"), true},
		"another namespace is gone": {apierrors.NewNotFound(corev1.Resource("namespaces"), "m"), false},
		"something else is gone":    {apierrors.NewNotFound(corev1.Resource("configmaps"), "n"), false},
		"a webhook says so":         {passedOn(http.StatusNotFound, metav1.StatusReasonNotFound), false},
		"it is forbidden":           {denied, false},
	} {
		assert.Equal(t, tc.want, isTerminating(tc.err, "n"), name)
	}
}

func TestNothingIsPendingOnceAStartThatFailedHasWorked(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	s.interfere(interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return denied
	}})
	s.reconcile()
	require.Equal(t, 1, s.reconciler.memory.entries[s.key].progress.attempt.failures)
	s.stopInterfering()
	s.awaitCached()
	s.reconcile()
	s.awaitCached()
	s.reconcile()
	require.Len(t, s.jobs(), 1)
	assert.Empty(t, s.reconciler.memory.entries)
}

func TestAStatusIsNotDeferredWhenTheNextTickIsNear(t *testing.T) {
	for name, tc := range map[string]struct {
		schedule string
		want     bool
	}{
		"a minute ahead":     {"@every 1m", true},
		"30 seconds ahead":   {"@every 31s", true},
		"20 seconds ahead":   {"@every 20s", false},
		"a few seconds only": {"@every 3s", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Schedule(tc.schedule))
			s.toNextTick()
			result, err := s.reconcileOnce()
			require.NoError(t, err)
			assert.Equal(t, tc.want, isDeferred(result))
		})
	}
}

func TestADeferredStatusIsDueAfterTheTicksOfOthersAndNotLongAfterItsOwnNext(t *testing.T) {
	for schedule, wait := range map[string]time.Duration{"@every 40s": 40 * time.Second, "@every 5m": 5 * time.Minute, "@every 24h": maxDeferral} {
		t.Run(schedule, func(t *testing.T) {
			s := newStage(t, every().Schedule(schedule))
			s.toNextTick()
			result, err := s.reconcileOnce()
			require.NoError(t, err)
			require.True(t, isDeferred(result))
			due := time.Duration(tickPriority-*result.Priority) * time.Second
			assert.Greater(t, due, wait-time.Second)
			assert.LessOrEqual(t, due, wait+time.Second)
		})
	}
}

func TestS14ARetryLetsTicksGoFirstUnlessOneWaitsForIt(t *testing.T) {
	for name, tc := range map[string]struct {
		refuse   interceptor.Funcs
		schedule string
		want     time.Duration // how much later than its retry it is due
	}{
		"of a status":                              {statusFails(errTrouble), "@every 1m", retryYield},
		"of a status, shortly before a tick":       {statusFails(errTrouble), "@every 4s", 3 * time.Second},
		"of a creation":                            {createFails(errTrouble), "@every 1m", 0},
		"of a creation, shortly before a new tick": {createFails(errTrouble), "@every 4s", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Schedule(tc.schedule))
			s.interfere(tc.refuse)
			s.toNextTick()
			s.reconcile()
			s.awaitCached()
			result := s.reconcile()
			assert.Equal(t, 2*firstRetry, result.RequeueAfter)
			assert.Equal(t, tc.want, time.Duration(tickPriority-*result.Priority)*time.Second)
		})
	}
}

func TestS14ATickWhoseNameIsTakenHoldsUpNoneThatCatchUpWhileTheStatusIsRefused(t *testing.T) {
	s := newStage(t, every().CatchUp(3).History(100, 100))
	first := s.stored().Status.NextScheduleTime.Time
	name := func(minute int) string {
		return fmt.Sprintf("c-%d", first.Add(time.Duration(minute)*time.Minute).Unix())
	}
	strangers := plan.NewJob(s.stored(), first)
	strangers.OwnerReferences = nil
	require.NoError(t, mgr.GetClient().Create(t.Context(), strangers))
	s.interfere(statusFails(denied))
	s.clock.SetTime(first.Add(2 * time.Minute))
	s.live(time.Minute+time.Second, true)
	assert.ElementsMatch(t, []string{name(0), name(1), name(2), name(3)}, s.jobs(), "the next tick is on time")
	assert.Contains(t, strings.Join(s.events(), "\n"), "a Job of that name exists that this CronJob does not control")

	s.stopInterfering()
	s.live(time.Minute, true)
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(first.Add(4*time.Minute)))
	assert.Equal(t, 1, strings.Count(strings.Join(s.events(), "\n"), "MissSchedule"))
}

func TestS10TheOldestThatCatchesUpIsTriedAgainAtEachTickThoughItWasInvalid(t *testing.T) {
	s := newStage(t, every().CatchUp(3))
	first := s.toNextTick()
	tries := 0
	s.interfere(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
		tries++
		return apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), o.GetName(), nil)
	}})
	for tick := range 3 {
		for second := range 3 {
			s.clock.SetTime(first.Add(time.Duration(tick)*time.Minute + time.Duration(second)*time.Second))
			s.reconcile()
			assert.Equal(t, tick+1, tries)
		}
	}
	s.stopInterfering()
	s.live(30*time.Second, true)
	assert.Empty(t, s.jobs(), "until the next tick")
	s.live(time.Minute, true)
	assert.Len(t, s.jobs(), 3)
}

func TestS14AStopAfterFailuresAndItsEndHoldWhileTheStatusIsRefused(t *testing.T) {
	s := newStage(t, every().History(0, 0).StopAfterFailures(2))
	first := s.stored().Status.NextScheduleTime.Time
	name := func(minute int) string {
		return fmt.Sprintf("c-%d", first.Add(time.Duration(minute)*time.Minute).Unix())
	}
	s.interfere(statusFails(denied))
	for minute := range 4 {
		s.clock.SetTime(first.Add(time.Duration(minute) * time.Minute))
		s.reconcile()
		s.failJobs()
	}
	s.reconcile()
	assert.ElementsMatch(t, []string{name(0), name(1)}, s.jobs())
	assert.Equal(t, 1, strings.Count(strings.Join(s.events(), "\n"), plan.EventStoppedAfterFailures))

	c := s.stored()
	c.Annotations = map[string]string{v1.ResumedAtAnnotation: s.clock.Now().UTC().Format(time.RFC3339)}
	require.NoError(t, mgr.GetClient().Update(t.Context(), c))
	s.awaitCached()
	s.live(2*time.Minute+time.Second, true)
	assert.ElementsMatch(t, []string{name(0), name(1), name(4), name(5)}, s.jobs())

	s.stopInterfering()
	s.live(time.Minute, true)
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(first.Add(6*time.Minute)))
	assert.NotContains(t, strings.Join(s.events(), "\n"), "MissSchedule")
}

func TestS21AStopHoldsThoughNoStatusTellsOfItAndTheCacheShowsAgainThatTheJobRuns(t *testing.T) {
	s := newStage(t, every().StopAfterFailures(1))
	refused := statusFails(denied)
	s.interfere(refused)
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	stale := s.cachedJobs()
	s.failJobs()
	s.reconcile()
	require.Contains(t, strings.Join(s.events(), "\n"), plan.EventStoppedAfterFailures)
	refused.List = stale
	s.interfere(refused)
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	s.reconcile()
	assert.Len(t, s.jobs(), 1)
}

func TestS21AnEditStartsItAgainThoughTheStatusTellsOfNoneBeforeIt(t *testing.T) {
	s := newStage(t, every().StopAfterFailures(1))
	s.interfere(statusFails(denied))
	s.editTemplate("one")
	s.toNextTick()
	s.reconcile()
	s.failJobs()
	s.live(2*time.Minute, false)
	require.Len(t, s.jobs(), 1, "it has stopped")
	s.editTemplate("two")
	s.live(time.Minute, true)
	assert.Len(t, s.jobs(), 2)
}

func TestS21NeitherAnOlderStatusInTheCacheNorANewLeaderStartsWhatHasStopped(t *testing.T) {
	s := newStage(t, every().StopAfterFailures(1))
	s.toNextTick()
	s.reconcile()
	s.failJobs()
	before := s.stored()
	s.interfere(interceptor.Funcs{Get: onlyCronJob(before)})
	s.reconcile()
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	s.reconcile()
	assert.Len(t, s.jobs(), 1, "the cache has a status from before it stopped")

	s.stopInterfering()
	s.awaitCached()
	s.reconciler.memory, s.reconciler.leadingSince = memory{}, s.clock.Now()
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	assert.Zero(t, s.reconcile())
	assert.Len(t, s.jobs(), 1, "another leads")
	assert.True(t, plan.IsStopped(s.stored()))
}

// unseen changes Jobs on the API server: the cache goes on to show them as they were.
func (s *stage) unseen(change func()) {
	s.Helper()
	list, stale := s.cachedJobs(), map[string]*batchv1.Job{}
	jobs := &batchv1.JobList{}
	require.NoError(s, list(s.Context(), nil, jobs))
	for i := range jobs.Items {
		stale[jobs.Items[i].Name] = &jobs.Items[i]
	}
	change()
	s.interfere(interceptor.Funcs{List: list, Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
		opts ...client.GetOption,
	) error {
		if job, ok := o.(*batchv1.Job); ok && stale[key.Name] != nil {
			stale[key.Name].DeepCopyInto(job)
			return nil
		}
		return c.Get(ctx, key, o, opts...)
	}})
}

func TestS6AJobThatHasJustSucceededIsNotReplacedThoughTheCacheShowsThatItRuns(t *testing.T) {
	s := newStage(t, every().Policy(v1.ReplaceConcurrent))
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.unseen(s.finishJobs)
	tick := s.toNextTick()
	s.clock.SetTime(s.clock.Now().Add(s.reconcile().RequeueAfter))
	assert.Len(t, s.jobs(), 1, "it is not deleted")
	assert.Equal(t, v1.RunSucceeded, s.stored().Status.RecentRuns[0].Result)
	s.reconcile()
	assert.Contains(t, s.jobs(), fmt.Sprintf("c-%d", tick.Unix()))
	assert.Len(t, s.jobs(), 2)
}

func TestS6AJobThatHasChangedAndStillRunsIsReplacedThoughTheCacheIsStale(t *testing.T) {
	s := newStage(t, every().Policy(v1.ReplaceConcurrent))
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.unseen(func() {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.jobs()[0]}}
		labelled := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))
		require.NoError(t, mgr.GetClient().Patch(t.Context(), job, labelled))
	})
	tick := s.toNextTick()
	s.reconcile()
	assert.Equal(t, []string{fmt.Sprintf("c-%d", tick.Unix())}, s.jobs())
}

func TestS21AManualRunThatFailsAndIsDeletedCountsThoughNoStatusCanBeWritten(t *testing.T) {
	s := newStage(t, every().Schedule("@every 1h").StopAfterFailures(1))
	s.interfere(statusFails(denied))
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	job := builders.MakeJob(s.stored(), s.clock.Now()).Manual().Named("by-hand").Obj()
	job.UID, job.Spec.Template.Spec = "", s.stored().Spec.JobTemplate.Spec.Template.Spec
	require.NoError(t, mgr.GetClient().Create(t.Context(), job))
	s.awaitCached()
	s.reconcile()
	s.failJobs()
	s.awaitCached()
	s.reconcile()
	require.NoError(t, mgr.GetClient().Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.awaitCached()
	s.reconcile()
	s.stopInterfering()
	s.reconcile()
	assert.True(t, plan.IsStopped(s.stored()))
	require.Len(t, s.stored().Status.RecentRuns, 1)
	assert.Equal(t, v1.RunFailed, s.stored().Status.RecentRuns[0].Result)
}

// A plan that is made from a stale cache deletes no old Jobs: the cache's update has another made.
func TestS8AJobThatIsAsTheCacheHasItIsNoSignOfAStaleCache(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	s.reconcile()
	s.finishJobs()
	s.reconcile()
	list := &batchv1.JobList{}
	require.NoError(t, mgr.GetClient().List(t.Context(), list, client.InNamespace(s.key.Namespace)))
	seen := &observed{key: s.key, now: s.clock.Now(), stored: s.stored(), jobs: []*batchv1.Job{&list.Items[0]}}
	look := s.reconciler.lookup(seen, &progress{})
	look.answer(t.Context(), plan.Question{Jobs: s.jobs()})
	assert.False(t, look.input().Outdated)
	assert.Len(t, look.input().Jobs, 1)
}
