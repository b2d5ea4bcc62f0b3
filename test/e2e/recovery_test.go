//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// pluginCommand is the kubectl plugin, as make build-plugin builds it.
func pluginCommand(ctx context.Context, args ...string) *exec.Cmd {
	return command(ctx, "bin/kubectl-cronjob", args)
}

// awaitStatus waits until a status is as a check wants it.
func (s *space) awaitStatus(name string, isSo func(v1.CronJobStatus) bool) v1.CronJobStatus {
	s.t.Helper()
	c := &v1.CronJob{}
	await(s.t, func(ctx context.Context) error {
		if err := cluster.Get(ctx, s.key(name), c); err != nil {
			return err
		}
		if !isSo(c.Status) {
			return fmt.Errorf("the status is %+v", c.Status)
		}
		return nil
	})
	return c.Status
}

// outage is how long nobody leads, of a CronJob that runs every five seconds.
const outage = 30 * time.Second

func TestAnOutageIsBackfilledAndAStreakOfFailuresEnds(t *testing.T) {
	deployed(t)
	runMake(t, "build-plugin")
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 5s").History(3, 3))
	s.awaitStatus("c", func(status v1.CronJobStatus) bool { return status.LastSuccessfulTime != nil })

	s.kubectl("patch", "cronjobs.v1.batch.tutorial.kubebuilder.io", "c", "--type=json",
		`-p=[{"op":"replace","path":"/spec/jobTemplate/spec/template/spec/containers/0/command","value":["false"]},`+
			`{"op":"add","path":"/spec/jobTemplate/spec/backoffLimit","value":0}]`)
	failing := s.awaitStatus("c", func(status v1.CronJobStatus) bool { return status.ConsecutiveFailures >= 2 })
	assert.True(t, meta.IsStatusConditionFalse(failing.Conditions, v1.ConditionLastRunSucceeded))
	assert.True(t, meta.IsStatusConditionTrue(failing.Conditions, v1.ConditionReady), "it is scheduled all the same")
	s.kubectl("patch", "cronjobs.v1.batch.tutorial.kubebuilder.io", "c", "--type=json",
		`-p=[{"op":"replace","path":"/spec/jobTemplate/spec/template/spec/containers/0/command","value":["true"]}]`)
	s.awaitStatus("c", func(status v1.CronJobStatus) bool {
		return status.ConsecutiveFailures == 0 && meta.IsStatusConditionTrue(status.Conditions, v1.ConditionLastRunSucceeded)
	})

	before := *s.v1("c").Status.LastScheduleTime
	kubectl(t, "-n", operatorNamespace, "scale", "deployment/"+deploymentName, "--replicas=0")
	await(t, func(context.Context) error {
		if time.Since(before.Time) < outage {
			return errors.New("the outage goes on")
		}
		return nil
	})
	kubectl(t, "-n", operatorNamespace, "scale", "deployment/"+deploymentName, fmt.Sprintf("--replicas=%d", replicas))
	require.NoError(t, rollOut(t.Context()))
	status := s.awaitStatus("c", func(status v1.CronJobStatus) bool {
		return len(status.Missed) > 0 && status.Missed[0].Count >= 3
	})
	gap := status.Missed[0]
	backfill := []string{"-n", s.ns, "backfill", "c", "--only=missed", "--from", gap.First.UTC().Format(time.RFC3339), "--to", gap.Last.UTC().Format(time.RFC3339)}
	assert.Contains(t, run(t, pluginCommand, append(backfill, "--dry-run")), fmt.Sprint(gap.Count))
	t.Log(run(t, pluginCommand, backfill))

	pods := &corev1.PodList{}
	require.NoError(t, cluster.List(t.Context(), pods, client.InNamespace(s.ns)))
	ticks := map[string]bool{}
	for _, pod := range pods.Items {
		if pod.Annotations[v1.TriggerAnnotation] == string(v1.TriggerBackfill) {
			ticks[pod.Annotations[v1.ScheduledAtAnnotation]] = true
		}
	}
	assert.Contains(t, ticks, gap.Last.UTC().Format(time.RFC3339), "the Pods see the tick that they are for")
	assert.True(t, s.v1("c").Status.LastScheduleTime.After(gap.Last.Time), "the schedule goes on")

	done := s.backfilled()
	t.Log(run(t, pluginCommand, backfill))
	assert.Subset(t, done, s.backfilled(), "a second call starts nothing")
}

// backfilled returns the UIDs of the Jobs of backfilled ticks.
func (s *space) backfilled() []types.UID {
	s.t.Helper()
	jobs, err := s.jobs(s.t.Context())
	require.NoError(s.t, err)
	var uids []types.UID
	for _, job := range jobs {
		if job.Annotations[v1.TriggerAnnotation] == string(v1.TriggerBackfill) {
			uids = append(uids, job.UID)
		}
	}
	return uids
}
