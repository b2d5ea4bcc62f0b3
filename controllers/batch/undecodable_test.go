// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// broken returns the CronJob of the stage as the cache has one that can't be decoded.
func (s *stage) broken() *v1.CronJob {
	s.Helper()
	c := s.stored()
	c.Spec = v1.CronJobSpec{}
	c.Annotations = map[string]string{"batch.tutorial.kubebuilder.io/decoding-error": "spec.suspend: is no boolean"}
	return c
}

// fromCache is a cache that has a CronJob.
func fromCache(c *v1.CronJob) interceptor.Funcs {
	return interceptor.Funcs{Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
		*o.(*v1.CronJob) = *c
		return nil
	}}
}

func TestS10ACronJobThatCanNotBeDecodedIsAConditionAndOneEvent(t *testing.T) {
	s := newStage(t, every())
	next := s.toNextTick()
	for range 2 {
		s.interfere(fromCache(s.broken()))
		result, err := s.reconcileOnce()
		require.NoError(t, err)
		assert.Zero(t, result, "nothing is to be done until it is mended")
		s.clock.SetTime(next.Add(time.Hour))
	}
	assert.Empty(t, s.jobs())
	assert.Equal(t, []string{"Warning InvalidObject spec.suspend: is no boolean"}, s.events())
	stored := s.stored()
	ready := meta.FindStatusCondition(stored.Status.Conditions, v1.ConditionReady)
	require.NotNil(t, ready)
	assert.Equal(t, metav1.ConditionFalse, ready.Status)
	assert.Equal(t, v1.ReasonInvalidObject, ready.Reason)
	assert.Equal(t, "spec.suspend: is no boolean", ready.Message)
	assert.Equal(t, stored.Generation, ready.ObservedGeneration)
	assert.True(t, ready.LastTransitionTime.Time.Before(next.Add(time.Minute)), "the second reconcile has written nothing")
	s.stopInterfering()
	s.awaitCached()
	s.reconcile()
	assert.True(t, meta.IsStatusConditionTrue(s.stored().Status.Conditions, v1.ConditionReady))
}

func TestS7NoTickFromBeforeItWasMendedByTakingTheFieldAwayRuns(t *testing.T) {
	s := newStage(t, every())
	patch := func(patch string) {
		require.NoError(t, mgr.GetClient().Patch(t.Context(), s.stored(), client.RawPatch(types.MergePatchType, []byte(patch))))
	}
	patch(`{"spec":{"suspend":true}}`)
	s.interfere(fromCache(s.broken()))
	s.reconcile()
	s.stopInterfering()
	s.clock.SetTime(s.clock.Now().Add(time.Hour + time.Second))
	patch(`{"spec":{"suspend":null}}`)
	s.awaitCached()
	s.reconcile()
	assert.Empty(t, s.jobs())
	assert.True(t, s.stored().Status.NextScheduleTime.After(s.clock.Now()))
}

// A read from the API server can't decode it either.
func TestW2WhatCanNotBeDecodedIsNotReadAgainAndAgainAfterALostAnswer(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	written := s.broken()
	s.interfere(interceptor.Funcs{Get: fromCache(written).Get, SubResourcePatch: statusAnswerIsLost(t).SubResourcePatch})
	s.reconcile()
	s.reconciler.APIReader = away{s.reconciler.APIReader}
	s.interfere(fromCache(s.broken()))
	s.reconcile()
	assert.Zero(t, s.reconcile(), "nothing is to be done until it is mended")
}

// The status of a CronJob that can't be decoded records no runs.
func TestS5ARunWhoseStatusWasDeferredIsNotForgottenWhileTheCronJobCanNotBeDecoded(t *testing.T) {
	s := newStage(t, every())
	tick := s.toNextTick()
	result, err := s.reconcileOnce()
	require.NoError(t, err)
	require.True(t, isDeferred(result))
	s.interfere(fromCache(s.broken()))
	s.reconcile()
	require.NoError(t, mgr.GetClient().DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(s.key.Namespace),
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.stopInterfering()
	s.awaitCached()
	s.reconcile()
	require.NotNil(t, s.stored().Status.LastScheduleTime)
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick))
	assert.Empty(t, s.stored().Status.Missed)
	assert.Empty(t, s.jobs(), "S4")
}

func TestS14AStatusOfWhatCanNotBeDecodedThatCanNotBeWrittenIsTriedAgain(t *testing.T) {
	resource := schema.GroupResource{Group: v1.GroupVersion.Group, Resource: "cronjobs"}
	for name, tc := range map[string]struct {
		refusal   error
		wantAfter time.Duration
	}{
		"edited meanwhile": {apierrors.NewConflict(resource, "c", errors.New("edited")), conflictRetry},
		"invalid":          {apierrors.NewInvalid(v1.GroupVersion.WithKind("CronJob").GroupKind(), "c", nil), firstRetry},
		"forbidden":        {apierrors.NewForbidden(resource, "c", errors.New("no")), firstRetry},
		"the server fails": {errTrouble, firstRetry},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every())
			funcs := fromCache(s.broken())
			funcs.SubResourcePatch = statusFails(tc.refusal).SubResourcePatch
			s.interfere(funcs)
			assert.Equal(t, tc.wantAfter, s.reconcile().RequeueAfter)
			assert.Greater(t, s.reconcile().RequeueAfter, tc.wantAfter, "with a backoff")
			assert.Equal(t, []string{"Warning InvalidObject spec.suspend: is no boolean"}, s.events(), "once")
		})
	}
}

func TestAnEventTellsThatACronJobCanBeDecodedAgainThoughItsSpecIsTheSame(t *testing.T) {
	s := newStage(t, every())
	good, broken := s.stored(), s.broken()
	assert.True(t, s.reconciler.sawCronJob(broken, good))
	assert.True(t, s.reconciler.sawCronJob(good, broken))
	assert.False(t, s.reconciler.sawCronJob(good, good))
	again := good.DeepCopy()
	again.UID = "another"
	assert.True(t, s.reconciler.sawCronJob(good, again), "S13: deleted and created again, while the watch was broken")
	assert.False(t, s.reconciler.sawCronJob(broken, broken))
}
