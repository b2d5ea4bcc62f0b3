//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTheBudgetRefusesToEvictTheSecondReplicaWhileTheFirstIsOut(t *testing.T) {
	deployed(t)
	running := readyPods(t)
	await(t, func(ctx context.Context) error {
		budget := &policyv1.PodDisruptionBudget{}
		if err := cluster.Get(ctx, inOperatorNamespace(budgetName), budget); err != nil {
			return err
		}
		if budget.Status.DisruptionsAllowed != 1 {
			return fmt.Errorf("%d disruptions are allowed, not 1", budget.Status.DisruptionsAllowed)
		}
		return nil
	})
	require.NoError(t, evict(t.Context(), &running[0]))
	err := evict(t.Context(), &running[1])
	require.True(t, apierrors.IsTooManyRequests(err), "got %v", err)
	assert.ErrorContains(t, err, "disruption budget")

	awaitReplacement(t, &running[0])
}

// evict asks for a Pod to go, as draining its node does.
func evict(ctx context.Context, pod *corev1.Pod) error {
	return cluster.SubResource("eviction").Create(ctx, pod.DeepCopy(), &policyv1.Eviction{})
}

// awaitReplacement waits until a Pod has been replaced, by one that has been ready for long enough
// to count.
func awaitReplacement(t *testing.T, gone *corev1.Pod) {
	t.Helper()
	await(t, func(ctx context.Context) error { return isNotThere(ctx, gone.DeepCopy()) })
	readyPods(t) // the Deployment's status may be from before
	require.NoError(t, rollOut(t.Context()))
}

func TestNoRequestFailsWhileAReplicaIsDeletedAndThenAllAreRestarted(t *testing.T) {
	deployed(t)
	running := readyPods(t)
	load := startLoad(t, 0)

	begin := time.Now()
	require.NoError(t, cluster.Delete(t.Context(), &running[0]))
	awaitReplacement(t, &running[0])
	t.Logf("a replica was replaced in %s", sinceSeconds(begin))

	begin = time.Now()
	kubectl(t, "-n", operatorNamespace, "rollout", "restart", "deployment/"+deploymentName)
	require.NoError(t, rollOut(t.Context()))
	for i := range running {
		awaitReplacement(t, &running[i])
	}
	t.Logf("all were restarted in %s", sinceSeconds(begin))

	load.stop()
}

func TestV2GoesOnWithinSecondsWhenAReplicaIsKilled(t *testing.T) {
	const outage = 10 * time.Second
	deployed(t)
	running := readyPods(t)
	for i := range running { // one of the two is the one that the API server happens to talk to
		load := startLoad(t, outage)
		require.NoError(t, cluster.Delete(t.Context(), &running[i], client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationBackground)))
		awaitReplacement(t, &running[i])
		load.stop()
	}
}
