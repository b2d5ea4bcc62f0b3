// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/webhook/trust"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

func TestC12AManagerIsNotReadyWhileTheHubIsNotServed(t *testing.T) {
	cluster, err := localcluster.Start(t.Context(), localcluster.Options{})
	if errors.Is(err, localcluster.ErrNoBinaries) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	discoverer, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	require.NoError(t, err)
	c, err := client.New(cluster.Config, client.Options{Scheme: newScheme()})
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "cronjobs.batch.tutorial.kubebuilder.io"}, crd))
	require.Equal(t, "v1", crd.Spec.Versions[0].Name)
	serve := func(served string) {
		patch := `[{"op":"replace","path":"/spec/versions/0/served","value":` + served + `},{"op":"replace","path":"/spec/versions/1/served","value":true}]`
		require.NoError(t, c.Patch(t.Context(), crd, client.RawPatch(types.JSONPatchType, []byte(patch))))
	}

	informers, err := cache.New(cluster.Config, cache.Options{Scheme: newScheme(), ByObject: trust.CacheByObject()})
	require.NoError(t, err)
	require.NoError(t, watchHub(t.Context(), informers))
	go func() { assert.NoError(t, informers.Start(t.Context())) }()

	require.NoError(t, checkHub(t.Context(), discoverer))
	serve("false")
	require.Eventually(t, isHubMissing, 30*time.Second, 5*time.Millisecond, "the CRD says so, without a check")
	require.EventuallyWithT(t, func(check *assert.CollectT) {
		require.ErrorContains(check, checkHub(t.Context(), discoverer), "serves v2, and not v1: set served: true for v1")
	}, 30*time.Second, 50*time.Millisecond)
	away, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, checkHub(away, discoverer), "without an answer nothing is known")
	serve("true")
	require.EventuallyWithT(t, func(check *assert.CollectT) {
		require.NoError(check, checkHub(t.Context(), discoverer))
		assert.False(check, isHubMissing())
	}, 30*time.Second, 50*time.Millisecond)
}
