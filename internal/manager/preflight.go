/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package manager

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
)

// clusterConfig finds the cluster, and checks that it answers and that the files the manager can't
// start without are there: a line that names what is missing says more than a failing manager.
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
	config.DisableCompression = true // the API server is near: to compress a list takes longer than to send it
	probe := rest.CopyConfig(config)
	probe.Timeout = 10 * time.Second
	discoverer, err := discovery.NewDiscoveryClientForConfig(probe)
	if err != nil {
		return nil, fmt.Errorf("the configuration of the cluster: %w", err)
	}
	if _, err := discoverer.ServerVersion(); err != nil {
		return nil, fmt.Errorf("no cluster answers at %s: %w", config.Host, err)
	}
	return config, nil
}
