//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// leaseName is the Lease that the leader holds.
const leaseName = "cronjob-controller.tutorial.kubebuilder.io"

// leader returns the name of the Pod that leads; none if nobody does.
func leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	if err := cluster.Get(ctx, inOperatorNamespace(leaseName), lease); err != nil {
		return "", err
	}
	if lease.Spec.HolderIdentity == nil {
		return "", nil
	}
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return pod, nil
}

// awaitLeader waits until a Pod leads, and not the former one if there is one, and returns it.
func awaitLeader(t *testing.T, former string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	await(t, func(ctx context.Context) error {
		name, err := leader(ctx)
		if err != nil {
			return err
		}
		if name == former {
			return fmt.Errorf("%q leads", name)
		}
		return cluster.Get(ctx, inOperatorNamespace(name), pod)
	})
	return pod
}

func TestEachTickRunsOnceWhileTheLeaderIsReplaced(t *testing.T) {
	deployed(t)
	const interval = 5 * time.Second
	readyPods(t)
	first := awaitLeader(t, "")
	s := newSpace(t)
	seen := watchJobs(t, s.ns)
	s.create(s.cronJob("c").Schedule("@every "+interval.String()).History(1000, 1000))
	seen.await(t, 2)

	begin := time.Now()
	require.NoError(t, cluster.Delete(t.Context(), first))
	second := awaitLeader(t, first.Name)
	t.Logf("%s leads after %s", second.Name, sinceSeconds(begin))
	seen.await(t, len(seen.jobs())+3)

	for i, job := range seen.jobs() {
		tick := tickOf(t, &job)
		assert.Equal(t, fmt.Sprintf("c-%d", tick.Unix()), job.Name)
		assert.False(t, job.CreationTimestamp.Time.Before(tick), "%s is early", job.Name)
		if i > 0 {
			before := seen.jobs()[i-1]
			assert.Equal(t, interval, tick.Sub(tickOf(t, &before)), "between %s and %s", before.Name, job.Name)
		}
	}
	assert.Empty(t, s.events("MissSchedule"))
	awaitReplacement(t, first)
}

// tickOf returns the tick that a Job is for.
func tickOf(t *testing.T, job *batchv1.Job) time.Time {
	t.Helper()
	tick, err := time.Parse(time.RFC3339, job.Annotations["batch.tutorial.kubebuilder.io/scheduled-at"])
	require.NoError(t, err)
	return tick
}

// jobsSeen are the Jobs that were created while somebody watched.
type jobsSeen struct {
	mu  sync.Mutex
	all []batchv1.Job
}

// watchJobs watches the Jobs of a namespace until the test ends.
func watchJobs(t *testing.T, namespace string) *jobsSeen {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	seen := &jobsSeen{}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	informer := factory.Batch().V1().Jobs().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		seen.all = append(seen.all, *object.(*batchv1.Job))
	}})
	require.NoError(t, err)
	factory.Start(t.Context().Done())
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))
	t.Cleanup(factory.Shutdown)
	return seen
}

// jobs returns the Jobs that were seen, in the order in which they came.
func (s *jobsSeen) jobs() []batchv1.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// await waits until so many Jobs were seen.
func (s *jobsSeen) await(t *testing.T, atLeast int) {
	t.Helper()
	await(t, func(context.Context) error {
		if seen := len(s.jobs()); seen < atLeast {
			return fmt.Errorf("%d Jobs were created, not %d", seen, atLeast)
		}
		return nil
	})
}
