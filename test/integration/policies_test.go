// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

func TestS20NoMoreJobsRunThanMaxConcurrencyAllows(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 1s").MaxConcurrency(2).Obj())
	waiting := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonWaiting)
	jobs := s.jobs("c")
	require.Len(t, jobs, 2)
	s.eventually(func() bool { return len(s.events("c", plan.EventMissSchedule)) >= 2 }, "no tick waits until a newer one is due")
	assert.Len(t, s.jobs("c"), 2)
	assert.Contains(t, s.events("c", plan.EventJobAlreadyActive)[0].Note, "is running and maxConcurrency is 2")

	s.end(&jobs[1], batchv1.JobComplete)
	started := s.awaitJobs("c", 3)[2]
	assert.True(t, tickOf(t, &started).After(waiting.Status.NextScheduleTime.Time), "a newer tick than the first that waited")
}

func TestS20TheSchemaRefusesAMaxConcurrencyBesideAnotherPolicy(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		for _, policy := range []v1.ConcurrencyPolicy{v1.ForbidConcurrent, v1.ReplaceConcurrent} {
			err := s.Client.Create(s.t.Context(), s.cronJob("c").Schedule(nextYear).Policy(policy).MaxConcurrency(2).Obj())
			assert.ErrorContains(s.t, err, "spec: Invalid value: maxConcurrency goes with concurrencyPolicy Allow: "+
				"Forbid runs 1 at a time, and Replace the newest alone")
		}
		s.create(s.cronJob("c").Schedule(nextYear).Policy(v1.ForbidConcurrent).MaxConcurrency(1).Obj())
	})
}
