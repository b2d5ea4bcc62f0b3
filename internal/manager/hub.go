// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// hubTimeout is how long a check of the hub takes at most: less than the second that a readiness
// probe waits.
const hubTimeout = 500 * time.Millisecond

// Whether the hub is missing by the last check of the discovery, and by the CRD, which says it at
// once.
var undiscovered, undefined atomic.Bool

// isHubMissing reports whether the hub is known not to be served.
func isHubMissing() bool { return undiscovered.Load() || undefined.Load() }

func init() { //nolint:gochecknoinits // as controller-runtime registers its own
	metrics.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "cronjob_controller_hub_served",
		Help: "1 if the API server serves the hub version, in which alone the controller reads CronJobs; else 0, and nothing is scheduled.",
	}, func() float64 {
		if isHubMissing() {
			return 0
		}
		return 1
	}))
}

// checkHub returns an error if the CRD does not serve the hub version: the watch of CronJobs would
// wait for it, and nothing be scheduled, without a word. It returns none while there is no CRD at
// all, as during an installation, or no answer.
func checkHub(ctx context.Context, discoverer discovery.DiscoveryInterface) error {
	ctx, cancel := context.WithTimeout(ctx, hubTimeout)
	defer cancel()
	group := &metav1.APIGroup{}
	if err := discoverer.RESTClient().Get().AbsPath("/apis", v1.GroupVersion.Group).Do(ctx).Into(group); err != nil {
		return nil // another check is about an API server that does not answer
	}
	var served []string
	for _, version := range group.Versions {
		served = append(served, version.Version)
	}
	isServed := slices.Contains(served, v1.GroupVersion.Version)
	undiscovered.Store(!isServed)
	if !isServed {
		return fmt.Errorf("the CRD of cronjobs.%s serves %s, and not %s: set served: true for %s, in which CronJobs are scheduled",
			v1.GroupVersion.Group, strings.Join(served, ", "), v1.GroupVersion.Version, v1.GroupVersion.Version)
	}
	return nil
}

// watchHub watches the CRD, so that nothing is started from the moment in which it no longer serves
// the hub.
func watchHub(ctx context.Context, informers cache.Informers) error {
	informer, err := informers.GetInformer(ctx, &apiextensionsv1.CustomResourceDefinition{})
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(crd any) { undefined.Store(!definesHub(crd)) },
		UpdateFunc: func(_, crd any) { undefined.Store(!definesHub(crd)) },
		DeleteFunc: func(any) { undefined.Store(false) },
	})
	return err
}

func definesHub(object any) bool {
	crd, ok := object.(*apiextensionsv1.CustomResourceDefinition)
	return !ok || slices.ContainsFunc(crd.Spec.Versions, func(version apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return version.Name == v1.GroupVersion.Version && version.Served
	})
}

// hubIsServed is a readiness check of the hub.
func hubIsServed(discoverer discovery.DiscoveryInterface) healthz.Checker {
	return func(request *http.Request) error { return checkHub(request.Context(), discoverer) }
}
