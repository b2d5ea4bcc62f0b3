// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/builders"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// The label of namespaces in which the API server does not ask the admission webhooks.
const (
	webhooksLabel = "webhooks"
	webhooksOff   = "off"
)

// managerZone is the time zone of the machine, as the manager sees it. It must not matter.
const managerZone = "Asia/Kolkata"

// controlPlane is a kube-apiserver with its etcd, and what the tests know about it.
type controlPlane struct {
	*localcluster.Cluster

	// audit has the requests of the manager.
	audit *auditLog

	// managerKubeconfig has the manager's user.
	managerKubeconfig string

	// manager is the one that serves all tests; nil when each starts its own.
	manager *process
}

// withWebhooks and withoutWebhooks are the two ways to install the operator. The latter has no CRD
// yet: the tests apply it.
const (
	withWebhooks    = true
	withoutWebhooks = false
)

// auditPolicy logs what the manager asks for, and nothing else.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + localcluster.ManagerUser + `"]
- level: None
`

// startControlPlane starts an API server, gives the manager its user and role, and returns when it
// can be used.
func startControlPlane(ctx context.Context, webhooks bool) (*controlPlane, error) {
	dir, err := os.MkdirTemp("", "integration-audit-")
	if err != nil {
		return nil, err
	}
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	c := &controlPlane{audit: &auditLog{dir: dir}}
	options := localcluster.Options{
		Webhooks: webhooks, WithoutCRD: !webhooks,
		ExtraArgs: map[localcluster.Component][]string{localcluster.APIServer: {
			"--audit-policy-file=" + policy,
			"--audit-log-path=" + c.audit.path(),
		}},
	}
	if c.Cluster, err = localcluster.Start(ctx, options); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := c.prepare(ctx, webhooks); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// prepare makes what the manager needs, and the way around the webhooks.
func (c *controlPlane) prepare(ctx context.Context, webhooks bool) error {
	if webhooks {
		if err := c.exemptNamespaces(ctx); err != nil {
			return fmt.Errorf("exempting namespaces from the webhooks: %w", err)
		}
	}
	var err error
	c.managerKubeconfig, err = c.AddManager(ctx)
	return err
}

// exemptNamespaces lets objects be stored as they are while webhooks are off, in namespaces with a
// label.
func (c *controlPlane) exemptNamespaces(ctx context.Context) error {
	selector := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: webhooksLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{webhooksOff},
	}}}
	mutating, validating := &admissionv1.MutatingWebhookConfigurationList{}, &admissionv1.ValidatingWebhookConfigurationList{}
	if err := errors.Join(c.Client.List(ctx, mutating), c.Client.List(ctx, validating)); err != nil {
		return err
	}
	if len(mutating.Items) != 1 || len(validating.Items) != 1 {
		return fmt.Errorf("want one mutating and one validating configuration, got %d and %d", len(mutating.Items), len(validating.Items))
	}
	for i := range mutating.Items[0].Webhooks {
		mutating.Items[0].Webhooks[i].NamespaceSelector = selector
	}
	for i := range validating.Items[0].Webhooks {
		validating.Items[0].Webhooks[i].NamespaceSelector = selector
	}
	return errors.Join(c.Client.Update(ctx, &mutating.Items[0]), c.Client.Update(ctx, &validating.Items[0]))
}

// startSharedManager starts the manager with its webhooks and waits until the API server asks them
// where it should, and only there.
func (c *controlPlane) startSharedManager(ctx context.Context) error {
	c.manager = &process{
		path: managerBinary,
		env:  []string{"KUBECONFIG=" + c.managerKubeconfig, "TZ=" + managerZone},
		args: []string{
			"--enable-webhooks",
			"--webhook-cert-path=" + c.WebhookCertDir,
			fmt.Sprintf("--webhook-port=%d", c.WebhookPort),
			"--metrics-bind-address=0",
			fmt.Sprintf("--memory-limit=%d", containerMemory),
		},
	}
	if err := c.manager.startReady(ctx); err != nil {
		return err
	}
	on, off := "webhooks-are-on", "webhooks-are-off"
	for name, labels := range map[string]map[string]string{on: nil, off: {webhooksLabel: webhooksOff}} {
		if err := c.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}); err != nil {
			return err
		}
	}
	return wait.PollUntilContextTimeout(ctx, glance, patience, true, func(ctx context.Context) (bool, error) {
		return !c.admitsGarbage(ctx, on) && c.admitsGarbage(ctx, off), nil
	})
}

// admitsGarbage reports whether no webhook stops a CronJob without a schedule that could be parsed.
// Nothing is stored.
func (c *controlPlane) admitsGarbage(ctx context.Context, namespace string) bool {
	garbage := builders.MakeCronJob("garbage").Namespace(namespace).Schedule("garbage").Suspend(true).Obj()
	return c.Client.Create(ctx, garbage, client.DryRunAll) == nil
}

// verdict tells what must not have happened, whatever the tests did.
func (c *controlPlane) verdict() error {
	if c.manager != nil && c.manager.Process != nil {
		if c.manager.hasEnded() {
			return fmt.Errorf("the manager has ended during the tests: %s", c.manager.LogTail())
		}
		for _, sign := range []string{"panic:", "DATA RACE", "Observed a panic"} {
			if strings.Contains(c.manager.log(), sign) {
				return fmt.Errorf("the manager's log has %q: %s", sign, c.manager.LogTail())
			}
		}
	}
	requests, err := c.audit.read()
	if err != nil {
		return err
	}
	for _, r := range requests {
		byRole := !strings.Contains(r.Message, "quota") && !strings.Contains(r.Message, "being terminated")
		if r.Code == http.StatusForbidden && byRole {
			return fmt.Errorf("the manager's role does not let it do what it does: %s: %s", r, r.Message)
		}
	}
	return nil
}

// stop ends the manager and the control plane, and removes their files.
func (c *controlPlane) stop() error {
	var err error
	if c.manager != nil {
		err = c.manager.terminate()
	}
	return errors.Join(err, c.Stop(), os.RemoveAll(c.audit.dir))
}

// isOlderThan reports whether the API server is of an earlier version of Kubernetes.
func (c *controlPlane) isOlderThan(t *testing.T, version string) bool {
	t.Helper()
	server, err := discovery.NewDiscoveryClientForConfig(c.Config)
	require.NoError(t, err)
	info, err := server.ServerVersion()
	require.NoError(t, err)
	return utilversion.MustParseGeneric(info.GitVersion).LessThan(utilversion.MustParseGeneric(version))
}

// kubectl runs kubectl in the project's directory as administrator and returns its output.
func (c *controlPlane) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.tryKubectl(t, args...)
	require.NoError(t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return out
}

// tryKubectl is kubectl for a command that may fail.
func (c *controlPlane) tryKubectl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := c.Kubectl(t.Context(), args...).CombinedOutput()
	return string(out), err
}

// kubectlWithInput is kubectl with something on its standard input.
func (c *controlPlane) kubectlWithInput(t *testing.T, input string, args ...string) string {
	t.Helper()
	command := c.Kubectl(t.Context(), args...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// plain is the control plane without webhooks, on which each test runs managers of its own. It is
// started by the first test that needs it.
var plain struct {
	start sync.Once
	*controlPlane
	err error
}

// plainControlPlane returns the control plane without webhooks, with config/crd/without-webhooks
// applied.
func plainControlPlane(t *testing.T) *controlPlane {
	t.Helper()
	plain.start.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		if plain.controlPlane, plain.err = startControlPlane(ctx, withoutWebhooks); plain.err == nil {
			plain.err = plain.installCRD(ctx)
		}
	})
	require.NoError(t, plain.err)
	return plain.controlPlane
}

// installCRD does what `make install` does, after what `make deploy` does: the one has to undo the
// other.
func (c *controlPlane) installCRD(ctx context.Context) error {
	for _, dir := range []string{"config/crd", "config/crd/without-webhooks"} {
		manifests, err := kustomize(ctx, dir)
		if err != nil {
			return err
		}
		apply := c.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-f", "-")
		apply.Stdin = strings.NewReader(manifests)
		if out, err := apply.CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl apply of %s: %w: %s", dir, err, out)
		}
	}
	established := c.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s", "crd/"+crdName)
	if out, err := established.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl wait for the CRD: %w: %s", err, out)
	}
	return nil
}

// stopPlain stops the control plane without webhooks, if it was started.
func stopPlain() error {
	if plain.controlPlane == nil {
		return nil
	}
	return errors.Join(plain.verdict(), plain.stop())
}

// kustomize builds a directory of the project.
func kustomize(ctx context.Context, dir string) (string, error) {
	command := exec.CommandContext(ctx, "go", "tool", "kustomize", "build", dir)
	command.Dir = root
	stderr := &strings.Builder{}
	command.Stderr = stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("kustomize build %s: %w: %s", dir, err, stderr)
	}
	return string(out), nil
}
