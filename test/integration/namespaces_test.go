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

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leaseElsewhere makes a namespace in which the manager may hold a Lease, as in that of a deployment.
func (c *controlPlane) leaseElsewhere(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "system-"}}
	require.NoError(t, c.Client.Create(t.Context(), namespace))
	const name = "leader-election-role"
	role := &rbacv1.Role{}
	require.NoError(t, c.Client.Get(t.Context(), types.NamespacedName{Namespace: managerNamespace, Name: name}, role))
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: name}, Rules: role.Rules},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: managerUser}},
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

func TestTheOverlayForNamespacesApplies(t *testing.T) {
	t.Parallel()
	manifests, err := kustomize(t.Context(), "config/overlays/namespaces")
	require.NoError(t, err)
	plane := plainControlPlane(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "project-namespaces-system"}}
	require.NoError(t, plane.Client.Create(t.Context(), namespace)) // or a dry run finds no place for the rest
	out := plane.kubectlWithInput(t, manifests, "apply", "--server-side", "--dry-run=server", "--force-conflicts", "-f", "-")
	assert.Contains(t, out, "deployment.apps/project-namespaces-controller-manager serverside-applied")
	assert.NotContains(t, out, "customresourcedefinition")
	assert.NotContains(t, out, "webhookconfiguration")
}
