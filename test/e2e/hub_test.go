//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// healthPort is where a replica answers probes.
const healthPort = 8081

func TestC12WhileTheHubIsNotServedNoReplicaIsReadyAndAfterwardsTheNextTickRuns(t *testing.T) {
	deployed(t)
	s := newSpace(t)
	reader := s.metricsReader()
	running := readyPods(t)
	seen := watchJobs(t, s.ns)
	s.create(s.cronJob("c").Schedule("@every 20s").History(1000, 1000))
	seen.await(t, 1)
	s.kubectl("wait", "--for=condition=Complete", "--timeout="+patience.String(), "job/"+seen.jobs()[0].Name) // its owner was looked up
	watched := map[string]*scraper{}
	for i := range running {
		watched[running[i].Name] = newScraper(t, running[i].Name)
	}
	t.Cleanup(func() { // whatever happens: other tests follow
		assert.NoError(t, serveHub(context.Background(), true))
		assert.NoError(t, rollOut(context.Background()))
	})

	begin, started := time.Now(), len(seen.jobs())
	require.NoError(t, serveHub(t.Context(), false))
	for i := range running {
		name := running[i].Name
		await(t, func(ctx context.Context) error { return isUnready(ctx, running[i].DeepCopy()) })
		t.Logf("%s was not ready after %s", name, sinceSeconds(begin))
		code, answer := askReadyz(t, name)
		assert.Equal(t, http.StatusInternalServerError, code)
		assert.Contains(t, answer, "[-]hub failed")
		assert.NotContains(t, strings.ReplaceAll(answer, "[-]hub", ""), "[-]", "nothing else is wrong")
		_, metrics := watched[name].scrape(t, reader)
		assert.Contains(t, metrics, "\ncronjob_controller_hub_served 0\n")
	}
	awaitRefusalToStart(t, &running[0])
	assert.Len(t, seen.jobs(), started, "nothing was started in %s", sinceSeconds(begin))

	begin = time.Now()
	require.NoError(t, serveHub(t.Context(), true))
	for _, pod := range readyPods(t) {
		_, metrics := newScraper(t, pod.Name).scrape(t, reader)
		assert.Contains(t, metrics, "\ncronjob_controller_hub_served 1\n")
	}
	t.Logf("all were ready after %s", sinceSeconds(begin))
	seen.await(t, started+2)
	t.Logf("two ticks had run after %s", sinceSeconds(begin))
	for _, job := range seen.jobs()[started:] { // the garbage collector finds its owner
		s.kubectl("wait", "--for=condition=Complete", "--timeout="+patience.String(), "job/"+job.Name)
	}
}

// serveHub has the CRD serve v1, or not.
func serveHub(ctx context.Context, isServed bool) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = crdName
	patch := fmt.Sprintf(`[{"op":"test","path":"/spec/versions/0/name","value":"v1"},{"op":"replace","path":"/spec/versions/0/served","value":%t}]`, isServed)
	return cluster.Patch(ctx, crd, client.RawPatch(types.JSONPatchType, []byte(patch)))
}

// isUnready reports, by an error if not, whether a Pod is there and not ready.
func isUnready(ctx context.Context, pod *corev1.Pod) error {
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
		return err
	}
	if isReady(pod) {
		return errors.New("it is ready")
	}
	return nil
}

// askReadyz asks a replica which of its readiness checks fail.
func askReadyz(t *testing.T, pod string) (code int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+forward(t, pod, healthPort)+"/readyz?verbose=true", http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

// awaitRefusalToStart deletes a replica, and waits until the one that replaces it has said why it
// does not start.
func awaitRefusalToStart(t *testing.T, replica *corev1.Pod) {
	t.Helper()
	before, err := pods(t.Context())
	require.NoError(t, err)
	known := map[types.UID]bool{}
	for i := range before {
		known[before[i].UID] = true
	}
	require.NoError(t, cluster.Delete(t.Context(), replica.DeepCopy()))
	await(t, func(ctx context.Context) error {
		now, err := pods(ctx)
		if err != nil {
			return err
		}
		for i := range now {
			statuses := now[i].Status.ContainerStatuses
			if known[now[i].UID] || len(statuses) == 0 || statuses[0].RestartCount == 0 {
				continue
			}
			said, err := tryRun(t, kubectlCommand, []string{"-n", operatorNamespace, "logs", now[i].Name})
			if err == nil {
				assert.Equal(t, "manager: the CRD of cronjobs.batch.tutorial.kubebuilder.io serves v2, and not v1: "+
					"set served: true for v1, in which CronJobs are scheduled\n", said)
			}
			return err
		}
		return errors.New("no new replica has ended yet")
	})
}
