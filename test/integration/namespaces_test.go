// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

// leaseElsewhere makes a namespace in which the manager may hold a Lease, as in that of a
// deployment.
func (c *controlPlane) leaseElsewhere(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "system-"}}
	require.NoError(t, c.Client.Create(t.Context(), namespace))
	const name = "leader-election-role"
	role := &rbacv1.Role{}
	require.NoError(t, c.Client.Get(t.Context(), types.NamespacedName{Namespace: localcluster.ManagerNamespace, Name: name}, role))
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: name}, Rules: role.Rules},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: localcluster.ManagerUser}},
		},
	} {
		require.NoError(t, c.Client.Create(t.Context(), object))
	}
	return namespace.Name
}

func TestManagersOfDisjointNamespacesEachLeadAndScheduleTheirOwn(t *testing.T) {
	t.Parallel()
	plane := plainControlPlane(t)
	spaces := []*space{newSpaceOn(t, plane, nil), newSpaceOn(t, plane, nil)}
	nobodys := newSpaceOn(t, plane, nil)
	for _, s := range append(spaces, nobodys) {
		s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	}
	managers := make([]*process, len(spaces))
	for i, s := range spaces {
		system := plane.leaseElsewhere(t)
		managers[i] = s.startOwnManager("--leader-elect", "--leader-election-namespace="+system)
		s.awaitJobs("c", 2)
		lease := &coordinationv1.LeaseList{}
		require.NoError(t, plane.Client.List(t.Context(), lease, client.InNamespace(system)))
		require.Len(t, lease.Items, 1)
		assert.NotEmpty(t, lease.Items[0].Spec.HolderIdentity)
	}
	for i, s := range spaces {
		assert.True(t, leads(managers[i]))
		assert.True(t, answersOK(t.Context(), managers[i].health+"/healthz/leader"), "the liveness probe looks at its lease")
		s.awaitJobs("c", len(s.jobs("c"))+2)
	}

	require.NoError(t, managers[0].terminate())
	ran := len(spaces[0].jobs("c"))
	spaces[1].awaitJobs("c", len(spaces[1].jobs("c"))+2)
	assert.Len(t, spaces[0].jobs("c"), ran, "whose manager is gone, nobody else schedules")
	assert.Empty(t, nobodys.jobs(""))
	for _, s := range spaces {
		s.assertEachTickRanOnce()
	}
}

func TestTheOverlayForNamespacesLetsItsManagerScheduleThereAndNowhereElse(t *testing.T) {
	t.Parallel()
	manifests, err := kustomize(t.Context(), "config/overlays/namespaces")
	require.NoError(t, err)
	plane := plainControlPlane(t)
	a, b, others := newSpaceOn(t, plane, nil), newSpaceOn(t, plane, nil), newSpaceOn(t, plane, nil)
	manifests = strings.NewReplacer("team-a", a.ns, "team-b", b.ns).Replace(manifests)
	out := plane.kubectlWithInput(t, manifests, "apply", "--server-side", "-f", "-")
	assert.Contains(t, out, "deployment.apps/project-namespaces-controller-manager serverside-applied")
	assert.NotContains(t, out, "customresourcedefinition")
	assert.NotContains(t, out, "webhookconfiguration")

	const system, name = "project-namespaces-system", "project-namespaces-controller-manager"
	user := "system:serviceaccount:" + system + ":" + name
	kubeconfig, err := plane.AddUser(user)
	require.NoError(t, err)
	port, err := localcluster.FreePort()
	require.NoError(t, err)
	manager := a.ownManager("--leader-elect", "--leader-election-namespace="+system, "--namespaces="+a.ns+","+b.ns,
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", port))
	manager.env = []string{"KUBECONFIG=" + kubeconfig, "ENABLE_WEBHOOKS=false"}
	for _, s := range []*space{a, b, others} {
		s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	}
	require.NoError(t, manager.startReady(t.Context()))
	a.awaitJobs("c", 2)
	b.awaitJobs("c", 2)
	assert.Empty(t, others.jobs("c"))
	for _, resource := range []string{"jobs.batch", "cronjobs.batch.tutorial.kubebuilder.io"} {
		refused, err := plane.Kubectl(t.Context(), "auth", "can-i", "list", resource, "--namespace="+others.ns, "--as="+user).Output()
		require.Error(t, err, "kubectl says no by its exit code too")
		assert.Equal(t, "no\n", string(refused), resource)
	}

	a.awaitMetrics(manager, port)
	plane.kubectl(t, "create", "serviceaccount", "-n", a.ns, "prometheus")
	plane.kubectl(t, "create", "clusterrolebinding", "prometheus-"+a.ns,
		"--clusterrole=project-namespaces-metrics-reader", "--serviceaccount="+a.ns+":prometheus")
	token := strings.TrimSpace(plane.kubectl(t, "create", "token", "-n", a.ns, "prometheus"))
	assert.Contains(t, scrape(t, fmt.Sprintf("https://127.0.0.1:%d/metrics", port), token), "cronjob_controller_jobs_active")
	service := &corev1.Service{}
	require.NoError(t, plane.Client.Get(t.Context(), types.NamespacedName{Namespace: system, Name: name + "-metrics-service"}, service))
	deployment := &appsv1.Deployment{}
	require.NoError(t, plane.Client.Get(t.Context(), types.NamespacedName{Namespace: system, Name: name}, deployment))
	assert.Contains(t, deployment.Spec.Template.Spec.Containers[0].Args, "--metrics-bind-address=:8443")
}
