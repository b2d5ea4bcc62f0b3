// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
)

// clusterConfig returns the configuration of the cluster. It first checks that the cluster answers,
// that it serves the hub version, and that the webhooks' certificate exists, so that what is missing
// is one clear line.
func clusterConfig(opts *options) (*rest.Config, error) {
	if opts.enableWebhooks {
		for _, name := range []string{"tls.crt", "tls.key"} {
			if _, err := os.Stat(filepath.Join(opts.webhookCertPath, name)); err != nil {
				return nil, fmt.Errorf("the webhooks' certificate: %w (set --webhook-cert-path, or --enable-webhooks=false)", err)
			}
		}
	}
	config, err := ctrlconfig.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster is configured: %w", err)
	}
	config.QPS, config.Burst = float32(opts.qps), opts.burst
	config.DisableCompression = true // within a cluster, compressing a list takes longer than sending it
	probe := rest.CopyConfig(config)
	probe.Timeout = 10 * time.Second
	discoverer, err := discovery.NewDiscoveryClientForConfig(probe)
	if err != nil {
		return nil, fmt.Errorf("the configuration of the cluster: %w", err)
	}
	if _, err := discoverer.ServerVersion(); err != nil {
		return nil, fmt.Errorf("no cluster answers at %s: %w", config.Host, err)
	}
	return config, checkHub(context.Background(), discoverer)
}
