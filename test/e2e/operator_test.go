//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What `make deploy` makes.
const (
	operatorNamespace = "project-system"
	deploymentName    = "project-controller-manager"
	budgetName        = "project-controller-manager"
	mutatingName      = "project-mutating-webhook-configuration"
	validatingName    = "project-validating-webhook-configuration"
	crdName           = "cronjobs.batch.tutorial.kubebuilder.io"
	replicas          = 2
)

// inOperatorNamespace names an object of the operator's.
func inOperatorNamespace(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: operatorNamespace, Name: name}
}

// deploying is held while the operator is deployed: tests may ask for it side by side.
var deploying sync.Mutex

// deploy deploys the operator, unless it is already, and waits until it is rolled out.
func deploy(ctx context.Context) error {
	deploying.Lock()
	defer deploying.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	if !isDeployed(ctx) {
		if out, err := makeCommand(ctx, "deploy", "IMG="+image).CombinedOutput(); err != nil {
			return fmt.Errorf("make deploy: %w: %s", err, out)
		}
	}
	return rollOut(ctx)
}

// isDeployed reports whether there is all that tests take away, or change.
func isDeployed(ctx context.Context) bool {
	deployment, crd := &appsv1.Deployment{}, &apiextensionsv1.CustomResourceDefinition{}
	err := errors.Join(
		cluster.Get(ctx, inOperatorNamespace(deploymentName), deployment),
		cluster.Get(ctx, types.NamespacedName{Name: crdName}, crd),
		cluster.Get(ctx, types.NamespacedName{Name: mutatingName}, &admissionv1.MutatingWebhookConfiguration{}),
		cluster.Get(ctx, types.NamespacedName{Name: validatingName}, &admissionv1.ValidatingWebhookConfiguration{}),
	)
	return err == nil && deployment.Spec.Template.Spec.Containers[0].Image == image && *deployment.Spec.Replicas == replicas &&
		crd.DeletionTimestamp == nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// rollOut waits until the operator is rolled out.
func rollOut(ctx context.Context) error {
	rollout := kubectlCommand(ctx, "-n", operatorNamespace, "rollout", "status", "deployment/"+deploymentName, "--timeout="+patience.String())
	if out, err := rollout.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// deployed has the operator deployed.
func deployed(t *testing.T) {
	t.Helper()
	require.NoError(t, deploy(t.Context()))
}

// undeployed has nothing of the operator there.
func undeployed(t *testing.T) {
	t.Helper()
	if isGone(t.Context()) != nil {
		runMake(t, "undeploy", "FORCE=1")
		require.NoError(t, isGone(t.Context()))
	}
}

// isGone reports, by an error if not, whether nothing that could hold up others is left of the
// operator.
func isGone(ctx context.Context) error {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	var left []error
	for _, object := range []client.Object{
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: named(crdName)},
		&corev1.Namespace{ObjectMeta: named(operatorNamespace)},
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: named(mutatingName)},
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: named(validatingName)},
	} {
		left = append(left, isNotThere(ctx, object))
	}
	return errors.Join(left...)
}

// isNotThere reports, by an error if not, whether an object is gone.
func isNotThere(ctx context.Context, object client.Object) error {
	err := cluster.Get(ctx, client.ObjectKeyFromObject(object), object)
	if err == nil {
		return fmt.Errorf("%T %s is still there", object, object.GetName())
	}
	return client.IgnoreNotFound(err)
}

// pods returns the operator's Pods that are not on their way out.
func pods(ctx context.Context) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	selector := client.MatchingLabels{"control-plane": "controller-manager"}
	if err := cluster.List(ctx, list, client.InNamespace(operatorNamespace), selector); err != nil {
		return nil, err
	}
	var staying []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			staying = append(staying, pod)
		}
	}
	return staying, nil
}

// readyPods waits until the operator has as many Pods as it should and all are ready, and returns
// them.
func readyPods(t *testing.T) []corev1.Pod {
	t.Helper()
	var found []corev1.Pod
	await(t, func(ctx context.Context) error {
		var err error
		if found, err = pods(ctx); err != nil {
			return err
		}
		for i := range found {
			if !isReady(&found[i]) {
				return fmt.Errorf("pod %s is not ready", found[i].Name)
			}
		}
		if len(found) != replicas {
			return fmt.Errorf("%d Pods are ready, not %d", len(found), replicas)
		}
		return nil
	})
	return found
}

// isReady reports whether a Pod is ready.
func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// makeCommand is a make in the project's directory.
func makeCommand(ctx context.Context, args ...string) *exec.Cmd {
	return command(ctx, "make", append([]string{"--no-print-directory"}, args...))
}

// kubectlCommand is a kubectl in the project's directory.
func kubectlCommand(ctx context.Context, args ...string) *exec.Cmd {
	return command(ctx, kubectlPath, args)
}

// helmCommand is the helm that the chart's tests use, too.
func helmCommand(ctx context.Context, args ...string) *exec.Cmd {
	return command(ctx, "go", append([]string{"-C", "hack/chart/helmtest", "tool", "helm"}, args...))
}

// command is a command in the project's directory. When the context ends, it is killed, and nobody
// waits for long for its children.
func command(ctx context.Context, path string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = root
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// runMake runs make and returns what it printed.
func runMake(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, makeCommand, args)
}

// kubectl runs kubectl and returns what it printed.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, kubectlCommand, args)
}

// run runs a command that has to succeed, and returns what it printed.
func run(t *testing.T, commandOf func(context.Context, ...string) *exec.Cmd, args []string) string {
	t.Helper()
	out, err := tryRun(t, commandOf, args)
	require.NoError(t, err, "%s: %s", args, out)
	return out
}

// tryRun runs a command, for no longer than patience, and returns what it printed.
func tryRun(t *testing.T, commandOf func(context.Context, ...string) *exec.Cmd, args []string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := commandOf(ctx, args...).CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("it does not end: %w", err)
	}
	return string(out), err
}
