// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// healthIs checks what tools take a CronJob for: Flux and Helm, which ask kstatus, and Argo CD.
func (s *space) healthIs(name string, wantKstatus status.Status, wantArgoCD, wantMessage string) {
	s.t.Helper()
	object := s.inArgoCD("v1", name)
	found, err := status.Compute(object)
	require.NoError(s.t, err)
	assert.Equal(s.t, wantKstatus, found.Status, "%s: %s", name, found.Message)
	health, message := newArgoCD(s.t).healthOf(object)
	assert.Equal(s.t, wantArgoCD, health, name)
	assert.Contains(s.t, message, wantMessage, name)
}

func TestO2ToolsThatWaitSeeWhetherACronJobIsReadyAtEachMoment(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	refused := s.cronJob("refused").Schedule("@every 1s").Obj()
	refused.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	for _, c := range []*v1.CronJob{
		s.cronJob("scheduled").Schedule(nextYear).Obj(), s.cronJob("suspended").Suspend(true).Obj(),
		s.cronJob("waiting").Schedule("@every 1s").Policy(v1.ForbidConcurrent).Obj(),
		s.cronJob("invalid").Schedule("garbage").Obj(), refused,
	} {
		s.create(c)
		s.healthIs(c.Name, status.InProgressStatus, "Progressing", "has not looked at it yet")
	}

	manager := s.startOwnManager()
	for _, moment := range []struct {
		name    string
		ready   metav1.ConditionStatus
		reason  string
		kstatus status.Status
		argoCD  string
		message string
	}{
		{"scheduled", metav1.ConditionTrue, v1.ReasonScheduled, status.CurrentStatus, "Healthy", "Jobs start on schedule."},
		{"suspended", metav1.ConditionTrue, v1.ReasonSuspended, status.CurrentStatus, "Healthy", "while spec.suspend is true"},
		{"waiting", metav1.ConditionTrue, v1.ReasonWaiting, status.CurrentStatus, "Healthy", "waits, as concurrencyPolicy is Forbid"},
		{"invalid", metav1.ConditionFalse, v1.ReasonInvalidSchedule, status.InProgressStatus, "Degraded", "not a schedule"},
		{"refused", metav1.ConditionFalse, v1.ReasonJobCreationFailed, status.InProgressStatus, "Degraded", "restartPolicy"},
	} {
		s.awaitReady(moment.name, moment.ready, moment.reason)
		s.healthIs(moment.name, moment.kstatus, moment.argoCD, moment.message)
	}

	s.end(s.runNow("scheduled"), batchv1.JobFailed)
	s.eventually(func() bool { return s.get("scheduled").Status.ConsecutiveFailures == 1 }, "the failure is not seen")
	s.healthIs("scheduled", status.CurrentStatus, "Healthy", "Jobs start on schedule. The last run failed: ")

	require.NoError(t, manager.terminate())
	s.edit("scheduled", suspend)
	s.healthIs("scheduled", status.InProgressStatus, "Progressing", "has not looked at it yet")
}
