// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/hack/localcluster"
)

const (
	crdName        = "cronjobs.batch.tutorial.kubebuilder.io"
	mutatingName   = "mutating-webhook-configuration"
	validatingName = "validating-webhook-configuration"
)

// clusterTrust is the trust of a cluster whose objects say nothing yet, and the cluster's own client.
func clusterTrust(t *testing.T) (ClusterTrust, client.Client) {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	cluster, err := localcluster.Start(ctx, localcluster.Options{Webhooks: localcluster.DefaultWebhooks()})
	if errors.Is(err, localcluster.ErrNoBinaries) {
		cancel()
		t.Skip(err)
	}
	require.NoError(t, err)
	scheme := runtime.NewScheme()
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	require.NoError(t, admissionregistrationv1.AddToScheme(scheme))
	objects := Objects{CRD: crdName, Mutating: mutatingName, Validating: validatingName}
	watching, err := cache.New(cluster.Config, cache.Options{Scheme: scheme, ByObject: objects.ByObject()})
	require.NoError(t, err)
	done := make(chan error)
	go func() { done <- watching.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
		assert.NoError(t, cluster.Stop())
	})
	cached, err := client.New(cluster.Config, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: watching}})
	require.NoError(t, err)
	direct, err := client.New(cluster.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	return ClusterTrust{Client: cached, Clock: clock.RealClock{}, Objects: objects}, direct
}

func TestAnAuthorityIsAddedToTheCRDAndBothWebhookConfigurations(t *testing.T) {
	trust, direct := clusterTrust(t)
	first := newAuthority(t, "1", time.Now().AddDate(1, 0, 0))
	second := newAuthority(t, "2", time.Now().AddDate(1, 0, 0))
	for _, ca := range []*authority{first, second} {
		require.EventuallyWithT(t, func(check *assert.CollectT) {
			require.NoError(check, trust.Add(t.Context(), ca.pem)) // conflicts until the cache has caught up
			bundles, err := trust.Bundles(t.Context())
			require.NoError(check, err)
			require.Len(check, bundles, 3)
			for _, bundle := range bundles {
				require.True(check, has(bundle, ca.pem))
			}
		}, 30*time.Second, 20*time.Millisecond)
	}
	bundles, err := trust.Bundles(t.Context())
	require.NoError(t, err)
	for _, bundle := range bundles {
		assert.Equal(t, string(second.pem)+string(first.pem), string(bundle), "the one before stays")
	}

	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, direct.Get(t.Context(), client.ObjectKey{Name: crdName}, crd))
	assert.Len(t, crd.Spec.Versions, 2, "what the cache does not keep is untouched")
	assert.Equal(t, bundles[0], crd.Spec.Conversion.Webhook.ClientConfig.CABundle)
	version := crd.ResourceVersion
	require.NoError(t, trust.Add(t.Context(), second.pem))
	require.NoError(t, direct.Get(t.Context(), client.ObjectKey{Name: crdName}, crd))
	assert.Equal(t, version, crd.ResourceVersion, "what is trusted is not written again")

	missing := trust
	missing.Mutating = "another"
	require.Error(t, missing.Add(t.Context(), first.pem))
	_, err = missing.Bundles(t.Context())
	assert.ErrorContains(t, err, fmt.Sprintf("%q not found", missing.Mutating))
}
