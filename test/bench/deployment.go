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

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// memoryLimit returns how much memory, in bytes, the operator is deployed with. There it is the Go runtime's limit too, and
// here that alone.
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
