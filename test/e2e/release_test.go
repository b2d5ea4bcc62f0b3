//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// release is a release of the operator: its tree, below the project's directory, and the image of
// its manager.
type release struct{ tree, image string }

// current is the release under test.
func current() release { return release{".", image} }

// baseline makes the release before, once, and says which it is.
var baseline = sync.OnceValues(func() ([]byte, error) {
	return command(context.Background(), "hack/baseline", []string{baselineTree, image + "-baseline"}).Output()
})

const (
	// baselineTree is where baseline puts the release's tree.
	baselineTree = "bin/baseline"

	// notInClone is how hack/baseline ends if the clone lacks the release.
	notInClone = 3
)

// previous is the release before. Without it, it skips the test.
func previous(t *testing.T) release {
	t.Helper()
	which, err := baseline()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		if ended.ExitCode() == notInClone {
			t.Skipf("%s", ended.Stderr)
		}
		t.Fatalf("hack/baseline: %s: %s", err, ended.Stderr)
	}
	require.NoError(t, err)
	t.Logf("%s", which)
	return release{baselineTree, image + "-baseline"}
}

// deploy deploys it by make, and waits until it is rolled out.
func (r release) deploy(t *testing.T) {
	t.Helper()
	runMake(t, "-C", r.tree, "deploy", "IMG="+r.image, "KUBECTL="+kubectlPath)
	r.awaitRollout(t)
}

// apply deploys it by server-side apply of its manifests, whichever client has applied others
// before, and waits until it is rolled out.
func (r release) apply(t *testing.T) {
	t.Helper()
	runMake(t, "-C", r.tree, "build-installer", "IMG="+r.image)
	kubectl(t, "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(r.tree, "dist", "install.yaml"))
	r.awaitRollout(t)
}

// helm runs a command of helm on the operator's release.
func helm(t *testing.T, command string, args ...string) {
	t.Helper()
	run(t, helmCommand, append([]string{command, "cronjob-operator", "--namespace=" + operatorNamespace}, args...))
}

// helm installs or upgrades it, with the names of `make deploy`, and waits until it is rolled out.
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
	r.awaitRollout(t)
}

// awaitRollout waits until all Pods are of the release and one of them leads, and fails the test
// unless the CRD is of the release as well.
func (r release) awaitRollout(t *testing.T) {
	t.Helper()
	require.NoError(t, rollOut(t.Context()))
	await(t, func(ctx context.Context) error {
		list := &corev1.PodList{}
		if err := cluster.List(ctx, list, client.InNamespace(operatorNamespace)); err != nil {
			return err
		}
		for i := range list.Items { // also those that are on their way out
			if got := list.Items[i].Spec.Containers[0].Image; got != r.image {
				return fmt.Errorf("pod %s is of %s, not of %s", list.Items[i].Name, got, r.image)
			}
		}
		name, err := leader(ctx)
		if err != nil {
			return err
		}
		return cluster.Get(ctx, inOperatorNamespace(name), &corev1.Pod{})
	})
	want, got := &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
	file := filepath.Join(r.tree, "config", "crd", "bases", "batch.tutorial.kubebuilder.io_cronjobs.yaml")
	require.NoError(t, yaml.UnmarshalStrict([]byte(readFile(t, file)), want))
	require.NoError(t, cluster.Get(t.Context(), types.NamespacedName{Name: crdName}, got))
	assert.Equal(t, want.Spec.Versions, got.Spec.Versions)
}
