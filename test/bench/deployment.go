// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"tutorial.kubebuilder.io/project/test/bench/results"
)

// checkMemory notes it as a failure if the operator has taken more memory than it would have had where it is deployed. Here
// nobody keeps it from that.
func (b *bench) checkMemory(c contender, when string, peak uint64) {
	if limit := uint64(b.plane.memoryLimit); c.id == results.Operator && peak > limit { //nolint:gosec // it is positive
		b.failures = append(b.failures, fmt.Sprintf("%s: %d MiB of memory: deployed, it has %d", when, peak>>20, limit>>20))
	}
}

// memoryLimit returns how much memory, in bytes, the operator is deployed with.
func memoryLimit(root string) (int64, error) {
	path := filepath.Join(root, "config", "manager", "manager.yaml")
	manifests, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("reading the operator's deployment: %w", err)
	}
	defer func() { _ = manifests.Close() }()
	for decoder := yaml.NewYAMLOrJSONDecoder(manifests, 4096); ; {
		deployment := &appsv1.Deployment{}
		err := decoder.Decode(deployment)
		if errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("%s: no Deployment has a container with a memory limit", path)
		}
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", path, err)
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			if limit := container.Resources.Limits.Memory(); !limit.IsZero() {
				return limit.Value(), nil
			}
		}
	}
}
