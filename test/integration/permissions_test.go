// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

// The CA is added beside the one that the shared manager needs, which stays.
func TestTheManagerIsReadyOnceTheAPIServerTrustsItsCertificate(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	dir, authority := newCertificate(t)
	webhooks, err := localcluster.FreePort()
	require.NoError(t, err)
	health, err := localcluster.FreePort()
	require.NoError(t, err)
	p := s.ownManager("--enable-webhooks", "--webhook-host=127.0.0.1", fmt.Sprintf("--webhook-port=%d", webhooks),
		"--webhook-cert-path="+dir, fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health))
	p.health = fmt.Sprintf("http://127.0.0.1:%d", health)
	require.NoError(t, p.start())
	s.eventually(func() bool {
		answer := p.readiness(t.Context())
		return strings.Contains(answer, "[-]trust failed") && strings.Contains(answer, "[+]webhooks ok")
	}, "the manager does not say that its certificate is not trusted")

	admin, crd := direct(t), &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, admin.Get(t.Context(), client.ObjectKey{Name: crdName}, crd))
	patch := client.MergeFrom(crd.DeepCopy())
	config := crd.Spec.Conversion.Webhook.ClientConfig
	config.CABundle = append(config.CABundle, authority...)
	require.NoError(t, admin.Patch(t.Context(), crd, patch))
	s.eventually(func() bool { return p.isReady(t.Context()) }, "the manager is not ready")
}

// direct is an administrator's client that knows CRDs.
func direct(t *testing.T) client.Client {
	t.Helper()
	scheme, err := localcluster.NewScheme()
	require.NoError(t, err)
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	c, err := client.New(shared.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	return c
}

// newCertificate makes a serving certificate with an authority of its own, in a directory as the
// kubelet would. It returns the directory and the authority.
func newCertificate(t *testing.T) (dir, authority string) {
	t.Helper()
	chain, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	require.NoError(t, err)
	leaf, issuer := pem.Decode(chain)
	dir, authority = t.TempDir(), string(issuer)
	for name, content := range map[string][]byte{"tls.crt": pem.EncodeToMemory(leaf), "tls.key": key} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return dir, authority
}

// checkedNotAsked are permissions that no request in the tests shows.
var checkedNotAsked = []string{
	// Whoever sets an owner that blocks deletion has to be able to write that owner's finalizers:
	// the API server checks it without being asked (OwnerReferencesPermissionEnforcement).
	"update batch.tutorial.kubebuilder.io/cronjobs/finalizers",
	// The webhooks look for built-in CronJobs up to Kubernetes 1.36, and the tests run on a later
	// one.
	"get batch/cronjobs",
}

// assertEveryPermissionIsUsed compares what the manager's roles let it do with what it did in all
// tests.
func assertEveryPermissionIsUsed() error {
	var asked []request
	for _, c := range []*controlPlane{shared, plain.controlPlane} {
		requests, err := c.audit.read()
		if err != nil {
			return err
		}
		asked = append(asked, requests...)
	}
	used := append(usedPermissions(asked), checkedNotAsked...)
	var unused []error
	for _, file := range []string{"role.yaml", "leader_election_role.yaml"} {
		raw, err := os.ReadFile(filepath.Join(root, "config", "rbac", file))
		if err != nil {
			return err
		}
		role := rbacv1.ClusterRole{} // a Role has the same rules
		if err := yaml.Unmarshal(raw, &role); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		for _, permission := range unusedPermissions(role.Rules, used) {
			unused = append(unused, fmt.Errorf("%s lets the manager %s, which it never does", file, permission))
		}
	}
	return errors.Join(unused...)
}

// usedPermissions are the permissions that requests need: verb, API group and resource.
func usedPermissions(requests []request) []string {
	var used []string
	for _, r := range requests {
		used = append(used, r.Verb+" "+r.Group+"/"+r.Resource)
		if r.Verb == "watch" { // which lists too, but for API servers before 1.32
			used = append(used, "list "+r.Group+"/"+r.Resource)
		}
	}
	return used
}

// unusedPermissions are the permissions that rules give and that are not among those used.
func unusedPermissions(rules []rbacv1.PolicyRule, used []string) []string {
	var unused []string
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if permission := verb + " " + group + "/" + resource; !slices.Contains(used, permission) {
						unused = append(unused, permission)
					}
				}
			}
		}
	}
	return unused
}

func TestAPermissionInAnotherAPIGroupIsUnused(t *testing.T) {
	t.Parallel()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"batch", "batch.tutorial.kubebuilder.io"}, Resources: []string{"cronjobs"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}},
	}
	used := usedPermissions([]request{
		{Verb: "get", Group: "batch.tutorial.kubebuilder.io", Resource: "cronjobs"},
		{Verb: "watch", Group: "batch.tutorial.kubebuilder.io", Resource: "cronjobs"},
		{Verb: "create", Group: "events.k8s.io", Resource: "events"},
	})
	assert.Equal(t, []string{"get batch/cronjobs", "list batch/cronjobs", "create /events"}, unusedPermissions(rules, used))
}
