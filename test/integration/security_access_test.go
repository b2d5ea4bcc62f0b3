// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// Not parallel: it starts a process of the shared control plane.
func TestTheBuiltInRolesReachCronJobsInBothVersionsAndNobodyTheStatus(t *testing.T) {
	s := newSpace(t)
	startControllers(t, shared, "clusterrole-aggregation-controller")
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	for _, role := range []string{"view", "edit", "admin"} {
		s.create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role + "-user"}},
		})
	}
	nobody := func(string) bool { return false }
	everybody := func(user string) bool { return user != "other-user" }
	editors := func(user string) bool { return user == "edit-user" || user == "admin-user" }
	tests := map[string]struct {
		do  func(ctx context.Context, c client.Client, version string) error
		may func(user string) bool
	}{
		"get": {func(ctx context.Context, c client.Client, version string) error {
			return c.Get(ctx, s.key("c"), emptyIn(version))
		}, everybody},
		"list": {func(ctx context.Context, c client.Client, version string) error {
			return c.List(ctx, listKind(version), client.InNamespace(s.ns))
		}, everybody},
		"create": {func(ctx context.Context, c client.Client, version string) error {
			return c.Create(ctx, s.newIn(version), client.DryRunAll)
		}, editors},
		"patch": {func(ctx context.Context, c client.Client, version string) error {
			return c.Patch(ctx, s.namedIn(version), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`)), client.DryRunAll)
		}, editors},
		"delete": {func(ctx context.Context, c client.Client, version string) error {
			return c.Delete(ctx, s.namedIn(version), client.DryRunAll)
		}, editors},
		"delete all": {func(ctx context.Context, c client.Client, version string) error {
			return c.DeleteAllOf(ctx, emptyIn(version), client.InNamespace(s.ns), client.DryRunAll)
		}, editors},
		"patch the status": {func(ctx context.Context, c client.Client, version string) error {
			return c.Status().Patch(ctx, s.namedIn(version), client.RawPatch(types.MergePatchType, []byte(`{"status":{"active":[]}}`)), client.DryRunAll)
		}, nobody},
		"update the finalizers": {func(ctx context.Context, c client.Client, version string) error {
			return s.reviewOwnAccess(ctx, c, version, "update", "finalizers")
		}, nobody},
	}
	awaitAggregation(s)
	for _, user := range []string{"view-user", "edit-user", "admin-user", "other-user"} {
		as := s.impersonate(user)
		for what, test := range tests {
			for _, version := range []string{"v1", "v2"} {
				err := test.do(t.Context(), as, version)
				if test.may(user) {
					assert.NoError(t, err, "%s: %s in %s", user, what, version)
				} else {
					assert.True(t, apierrors.IsForbidden(err), "%s: %s in %s is not forbidden: %v", user, what, version, err)
				}
			}
		}
	}
}

// awaitAggregation waits until the API server knows what the built-in roles got from ours.
func awaitAggregation(s *space) {
	s.t.Helper()
	viewer, editor, admin := s.impersonate("view-user"), s.impersonate("edit-user"), s.impersonate("admin-user")
	s.eventually(func() bool {
		ctx := s.t.Context()
		return viewer.Get(ctx, s.key("c"), emptyIn("v2")) == nil &&
			editor.Create(ctx, s.newIn("v2"), client.DryRunAll) == nil &&
			admin.Create(ctx, s.newIn("v2"), client.DryRunAll) == nil
	}, "the built-in roles do not get ours")
}

// impersonate returns a client that acts as a user.
func (s *space) impersonate(user string) client.Client {
	s.t.Helper()
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := client.New(config, client.Options{Scheme: s.Client.Scheme()})
	require.NoError(s.t, err)
	return c
}

// reviewOwnAccess returns an error of the kind Forbidden if a client's user may not use a
// subresource of CronJobs.
func (s *space) reviewOwnAccess(ctx context.Context, c client.Client, version, verb, subresource string) error {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: s.ns, Name: "c", Verb: verb,
			Group: v1.GroupVersion.Group, Version: version, Resource: "cronjobs", Subresource: subresource,
		},
	}}
	if err := c.Create(ctx, review); err != nil || review.Status.Allowed {
		return err
	}
	return apierrors.NewForbidden(v1.GroupVersion.WithResource("cronjobs").GroupResource(), "c", nil)
}

// emptyIn returns an empty CronJob of a version, namedIn one with the name of a stored one, and
// newIn one to be created.
func emptyIn(version string) client.Object {
	if version == "v1" {
		return &v1.CronJob{}
	}
	return &v2.CronJob{}
}

func (s *space) namedIn(version string) client.Object {
	object := emptyIn(version)
	object.SetNamespace(s.ns)
	object.SetName("c")
	return object
}

func (s *space) newIn(version string) client.Object {
	if version == "v1" {
		return s.cronJob("new").Schedule(nextYear).Obj()
	}
	return s.cronJobV2("new", v2.CronSchedule{Every: "8760h"})
}

func TestTheNetworkPoliciesLeaveWebhooksAndMetricsOpenAndNothingElse(t *testing.T) {
	t.Parallel()
	const overlay = "config/overlays/network-policy"
	deployment := built[appsv1.Deployment](t, overlay, "Deployment")[0]
	policies := built[networkingv1.NetworkPolicy](t, overlay, "NetworkPolicy")
	prometheus, anyone := labels.Set{"metrics": "enabled"}, labels.Set{}
	for _, policy := range policies {
		assert.Equal(t, deployment.Namespace, policy.Namespace, policy.Name)
		assert.True(t, selects(t, &policy.Spec.PodSelector, deployment.Spec.Template.Labels), "%s does not select the manager", policy.Name)
		assert.Equal(t, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, policy.Spec.PolicyTypes, policy.Name)
	}
	tests := map[string]struct{ wantFromPrometheus, wantFromAnyone bool }{
		"webhook-server": {wantFromPrometheus: true, wantFromAnyone: true},
		"metrics":        {wantFromPrometheus: true},
		"health":         {}, // the kubelet's probes come from the Pod's node, which policies never stop
	}
	ports := map[string]int32{}
	for _, port := range deployment.Spec.Template.Spec.Containers[0].Ports {
		ports[port.Name] = port.ContainerPort
		require.Contains(t, tests, port.Name)
	}
	for name, test := range tests {
		require.Contains(t, ports, name)
		assert.Equal(t, test.wantFromPrometheus, admits(t, policies, prometheus, ports[name]), "%s, from a namespace with metrics=enabled", name)
		assert.Equal(t, test.wantFromAnyone, admits(t, policies, anyone, ports[name]), "%s, from any other", name)
	}

	for _, service := range built[corev1.Service](t, overlay, "Service") {
		assert.True(t, labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(deployment.Spec.Template.Labels)), service.Name)
		for _, port := range service.Spec.Ports {
			target := ports[port.TargetPort.StrVal]
			assert.True(t, admits(t, policies, prometheus, target), "%s leads to port %d, which is closed", service.Name, target)
		}
	}
	assert.Contains(t, deployment.Spec.Template.Spec.Containers[0].Args, "--metrics-bind-address=:"+strconv.Itoa(int(ports["metrics"])))
}

// selects reports whether a selector selects something with these labels.
func selects(t *testing.T, selector *metav1.LabelSelector, set labels.Set) bool {
	t.Helper()
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	require.NoError(t, err)
	return compiled.Matches(set)
}

// admits reports whether policies that select a Pod let a Pod of a namespace with these labels
// connect to a TCP port.
func admits(t *testing.T, policies []networkingv1.NetworkPolicy, from labels.Set, port int32) bool {
	t.Helper()
	for _, policy := range policies {
		for _, rule := range policy.Spec.Ingress {
			open, known := len(rule.Ports) == 0, len(rule.From) == 0
			for _, p := range rule.Ports {
				open = open || p.Port.IntVal == port && *p.Protocol == corev1.ProtocolTCP
			}
			for _, peer := range rule.From {
				require.Nil(t, peer.IPBlock, "this test does not know addresses")
				require.Nil(t, peer.PodSelector, "this test does not know Pods")
				known = known || selects(t, peer.NamespaceSelector, from)
			}
			if open && known {
				return true
			}
		}
	}
	return false
}
