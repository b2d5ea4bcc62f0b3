//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// release is a release of the operator: its tree, below the project's directory, and the image of
// its manager.
type release struct{ tree, image string }

// current is the release under test.
func current() release { return release{".", image} }

// previous is the one before it, which `make test-e2e` prepares by hack/baseline.
func previous(t *testing.T) release {
	t.Helper()
	r := release{filepath.Join("bin", "baseline"), image + "-baseline"}
	require.FileExists(t, filepath.Join(root, r.tree, "bin", "manager"), "make test-e2e prepares it")
	return r
}

// deploy deploys it by make, and waits until it is rolled out.
func (r release) deploy(t *testing.T) {
	t.Helper()
	runMake(t, "-C", r.tree, "deploy", "IMG="+r.image, "KUBECTL="+kubectlPath)
	r.requireRolledOut(t)
}

// apply deploys it by server-side apply of its manifests, and waits until it is rolled out.
func (r release) apply(t *testing.T) {
	t.Helper()
	runMake(t, "-C", r.tree, "build-installer", "IMG="+r.image)
	kubectl(t, "apply", "--server-side", "-f", filepath.Join(r.tree, "dist", "install.yaml"))
	r.requireRolledOut(t)
}

// helmRelease is the name of the operator's release. The objects have the names of `make deploy`.
const helmRelease = "cronjobs"

// helm runs a command of helm on the operator's release, and waits until it is done.
func helm(t *testing.T, command string, args ...string) {
	t.Helper()
	run(t, helmCommand, append([]string{command, helmRelease, "--namespace=" + operatorNamespace, "--wait", "--timeout=" + patience.String()}, args...))
}

// helm installs or upgrades it, and waits until it is rolled out.
func (r release) helm(t *testing.T, command string, args ...string) {
	t.Helper()
	charts, err := filepath.Glob(filepath.Join(root, r.tree, "charts", "*", "Chart.yaml"))
	require.NoError(t, err)
	require.Len(t, charts, 1)
	separator := strings.LastIndex(r.image, ":")
	helm(t, command, append([]string{
		filepath.Dir(charts[0]), "--set=fullnameOverride=project",
		"--set=image.repository=" + r.image[:separator], "--set=image.tag=" + r.image[separator+1:],
	}, args...)...)
	r.requireRolledOut(t)
}

// requireRolledOut waits until all replicas are of the release, and fails the test unless its CRD
// is there as well.
func (r release) requireRolledOut(t *testing.T) {
	t.Helper()
	require.NoError(t, rollOut(t.Context()))
	for _, pod := range readyPods(t) {
		assert.Equal(t, r.image, pod.Spec.Containers[0].Image, pod.Name)
	}
	want, got := &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
	file := filepath.Join(r.tree, "config", "crd", "bases", "batch.tutorial.kubebuilder.io_cronjobs.yaml")
	require.NoError(t, yaml.UnmarshalStrict([]byte(readFile(t, file)), want))
	require.NoError(t, cluster.Get(t.Context(), types.NamespacedName{Name: crdName}, got))
	assert.Equal(t, want.Spec.Versions, got.Spec.Versions)
}
