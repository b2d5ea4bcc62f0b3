// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

// created is on the day on which a synctest bubble begins.
var created = time.Date(2000, 1, 1, 10, 0, 0, 0, time.UTC)

// at is a time of that day.
func at(t *testing.T, clock string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateTime, created.Format(time.DateOnly)+" "+clock)
	require.NoError(t, err)
	return at
}

// scene is a cluster in which nobody but the test acts, at a time of day.
type scene struct {
	*Handover
	said *bytes.Buffer
}

func newScene(t *testing.T, now string, objects ...client.Object) *scene {
	t.Helper()
	time.Sleep(time.Until(at(t, now)))
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)))
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	return &scene{said: errOut, Handover: &Handover{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&batchv1.CronJob{}).Build(),
		DryRun: cronjobs.DryRunNone, Grace: 5 * time.Second, Env: env.New(streams),
	}}
}

// originalAt is a built-in CronJob that has run last at a time of day.
func originalAt(t *testing.T, schedule, lastRun string) *batchv1.CronJob {
	t.Helper()
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "u", CreationTimestamp: metav1.NewTime(created)}}
	c.Spec.Schedule, c.Spec.Suspend = schedule, new(false)
	if lastRun != "" {
		c.Status.LastScheduleTime = &metav1.Time{Time: at(t, lastRun)}
	}
	return c
}

// handOver hands over from the original to one of ours, which is created as start says.
func (s *scene) handOver(t *testing.T, original *batchv1.CronJob, fail error) (time.Time, *time.Time, error) {
	t.Helper()
	var startedAt *time.Time
	missed, err := s.HandOver(t.Context(), s.side(t, original), func(_ context.Context, _ time.Time, suspended bool) (*Participant, error) {
		assert.True(t, s.side(t, original).Suspended(), "ours is started, and the original runs")
		if fail != nil {
			return nil, fail
		}
		startedAt = new(time.Now().UTC())
		return Ours(builders.MakeCronJob("c").Created(time.Now().Truncate(time.Second)).Suspend(suspended).Obj()), nil
	})
	return missed, startedAt, err
}

// side reads the original.
func (s *scene) side(t *testing.T, original *batchv1.CronJob) *Participant {
	t.Helper()
	last := &batchv1.CronJob{}
	require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(original), last))
	return BuiltIn(last)
}

func TestAMomentIsChosenAtWhichNoTickIsLost(t *testing.T) {
	for name, test := range map[string]struct {
		schedule, now, lastRun string
		runsItsTicks           bool
		wantStarted            string
		wantMissed             string
	}{
		"between two ticks": {
			schedule: "*/10 * * * *", now: "10:43:00", lastRun: "10:40:00", runsItsTicks: true, wantStarted: "10:43:00",
		},
		"right before a tick, which is left to run": {
			schedule: "*/10 * * * *", now: "10:49:57", lastRun: "10:40:00", runsItsTicks: true, wantStarted: "10:50:00",
		},
		"right before a tick that does not run: the grace is over first": {
			schedule: "*/10 * * * *", now: "10:49:57", lastRun: "10:40:00", wantStarted: "10:50:10", wantMissed: "10:50:00",
		},
		"a tick that has not run yet": {
			schedule: "*/10 * * * *", now: "10:50:01", lastRun: "10:40:00", wantStarted: "10:50:06", wantMissed: "10:50:00",
		},
		"a schedule that is too dense: the grace is waited for": {
			schedule: "@every 2s", now: "10:50:01", lastRun: "10:50:00", runsItsTicks: false, wantStarted: "10:50:12", wantMissed: "10:50:12",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				original := originalAt(t, test.schedule, test.lastRun)
				s := newScene(t, test.now, original)
				if test.runsItsTicks {
					tick := time.Now().Truncate(10 * time.Minute).Add(10 * time.Minute)
					defer time.AfterFunc(time.Until(tick), func() {
						last := s.side(t, original).Object.(*batchv1.CronJob)
						if !*last.Spec.Suspend {
							last.Status.LastScheduleTime = &metav1.Time{Time: tick}
							assert.NoError(t, s.Client.Status().Update(t.Context(), last))
						}
					}).Stop()
				}
				missedAt, started, err := s.handOver(t, original, nil)
				require.NoError(t, err)
				require.NotNil(t, started)
				assert.Equal(t, test.wantStarted, started.Truncate(time.Second).Format(time.TimeOnly))
				missed := ""
				if !missedAt.IsZero() {
					missed = missedAt.UTC().Format(time.TimeOnly)
				}
				assert.Equal(t, test.wantMissed, missed)
				assert.True(t, s.side(t, original).SuspendedByUs())
			})
		})
	}
}

func TestADryRunPromisesNoMoreThanTheHandOverDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		original := originalAt(t, "@daily", "")
		original.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
		running := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "c-1", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(original, builtin.GVK)},
		}}
		s := newScene(t, "12:00:00", original, running)
		for _, dryRun := range []cronjobs.DryRun{cronjobs.DryRunClient, cronjobs.DryRunServer} {
			s.DryRun, s.Wait = dryRun, false
			_, err := s.HandOver(t.Context(), s.side(t, original), nil)
			require.ErrorContains(t, err, "job.batch/c-1 runs, and spec.concurrencyPolicy is Forbid", dryRun)
			s.Wait = true
			_, err = s.HandOver(t.Context(), s.side(t, original), nil)
			require.NoError(t, err, dryRun)
		}
		assert.False(t, s.side(t, original).Suspended(), "nothing was changed")
	})
}

func TestAfterAFailureNeverBothRun(t *testing.T) {
	resource := schema.GroupResource{Resource: "cronjobs"}
	for name, test := range map[string]struct {
		fail        error
		wantResumed bool
		want        string
	}{
		"refused":         {apierrors.NewForbidden(resource, "c", errors.New("quota")), true, "cronjob.batch/c is as it was"},
		"invalid":         {apierrors.NewInvalid(schema.GroupKind{}, "c", nil), true, "cronjob.batch/c is as it was"},
		"somebody's else": {apierrors.NewAlreadyExists(resource, "c"), false, "repeat the command"},
		"a timeout":       {apierrors.NewTimeoutError("slow", 1), false, "repeat the command"},
		"no connection":   {errors.New("connection lost"), false, "cronjob.batch/c stays suspended, as the other may run"},
		"interrupted":     {context.Canceled, false, "repeat the command"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				original := originalAt(t, "@hourly", "10:00:00")
				s := newScene(t, "10:30:00", original)
				_, _, err := s.handOver(t, original, test.fail)
				require.ErrorIs(t, err, test.fail)
				require.ErrorContains(t, err, test.want)
				last := s.side(t, original)
				assert.Equal(t, test.wantResumed, !last.Suspended())
				assert.Equal(t, test.wantResumed, last.suspendBefore() == "")

				// Either way a repeat gets there.
				_, started, err := s.handOver(t, original, nil)
				require.NoError(t, err)
				assert.NotNil(t, started)
			})
		})
	}
}

func TestWaitingForAJobInVainLeavesTheOriginalAsItWas(t *testing.T) {
	for name, test := range map[string]struct {
		timeout time.Duration
		want    string
	}{
		"an interruption":  {0, "context canceled; cronjob.batch/c is as it was"},
		"--timeout passes": {time.Second, "a Job still runs after 1s: --timeout allows for more; cronjob.batch/c is as it was"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				original := originalAt(t, "@hourly", "10:00:00")
				original.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
				job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
					Namespace: "ns", Name: "j", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(original, builtin.GVK)},
				}}
				s := newScene(t, "10:30:00", original, job)
				s.Wait, s.Timeout = true, test.timeout
				ctx, cancel := context.WithCancel(t.Context())
				defer time.AfterFunc(time.Minute, func() {
					assert.True(t, s.side(t, original).SuspendedByUs())
					cancel()
				}).Stop()
				_, err := s.HandOver(ctx, s.side(t, original), nil)
				require.EqualError(t, err, test.want)
				assert.Equal(t, "c: waiting for job.batch/j to end\n", s.said.String())
				assert.False(t, s.side(t, original).Suspended())
				cancel()
			})
		})
	}
}

func TestASpecThatWasEditedMeanwhileIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		original := originalAt(t, "@hourly", "10:00:00")
		s := newScene(t, "10:30:00", original)
		asRead := s.side(t, original)
		edited := s.side(t, original).Object.(*batchv1.CronJob) //nolint:forcetypeassert // it is the built-in
		edited.Generation++
		require.NoError(t, s.Client.Update(t.Context(), edited))
		_, err := s.HandOver(t.Context(), asRead, nil)
		require.ErrorContains(t, err, "suspending cronjob.batch/c: it was changed meanwhile")
		assert.False(t, s.side(t, original).Suspended())
	})
}

func TestWhetherItIsSuspendedIsOnesOwn(t *testing.T) {
	for name, test := range map[string]struct {
		suspend                 bool
		annotation              string
		wantHeld, wantSuspended bool
	}{
		"it runs":                       {false, "", false, false},
		"it is suspended":               {true, "", false, true},
		"it is held":                    {true, "false", true, false},
		"it is held, and was suspended": {true, "true", true, true},
		"it was resumed, with the annotation left": {false, "false", false, false},
		"what can't be read is not resumed":        {true, "?", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := builders.MakeCronJob("c").Suspend(test.suspend).Obj()
			if test.annotation != "" {
				c.Annotations = map[string]string{SuspendBeforeAnnotation: test.annotation}
			}
			assert.Equal(t, test.wantHeld, Ours(c).SuspendedByUs())
			assert.Equal(t, test.wantSuspended, Ours(c).SuspendedByOthers())
		})
	}
}

func TestATickWhoseStartWasDelayedUntilAfterTheStopIsToldAsMissed(t *testing.T) {
	tick := time.Date(2026, time.June, 1, 10, 0, 0, 0, time.UTC)
	c := builders.MakeCronJob("c").Schedule("@hourly").Created(tick.Add(-time.Minute)).Jitter(3000).Deadline(10).Obj()
	delay := plan.Jitter(c)
	require.Greater(t, delay, time.Minute)
	assert.Equal(t, tick, Ours(c).unrun(tick.Add(time.Minute), tick.Add(time.Minute)))
	late := tick.Add(delay + 11*time.Second)
	assert.Zero(t, Ours(c).unrun(late, late), "it has missed that one itself")
	c.Spec.StartingDeadlineSeconds = new(int64(math.MaxInt64))
	assert.Equal(t, tick, Ours(c).unrun(late, late))
}
