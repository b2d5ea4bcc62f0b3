// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

func suspend(c *v1.CronJob) { c.Spec.Suspend = new(true) }

func TestA6TheCRDAppliesWithClientSideApplyAlsoWithAThirdVersion(t *testing.T) {
	t.Parallel()
	plane := plainControlPlane(t)
	for _, dir := range []string{"config/crd", "config/crd/without-webhooks"} {
		manifest, err := kustomize(t.Context(), dir)
		require.NoError(t, err)
		for count := 2; count <= 3; count++ {
			crd := map[string]any{}
			require.NoError(t, yaml.Unmarshal([]byte(manifest), &crd))
			spec := crd["spec"].(map[string]any)
			versions := spec["versions"].([]any)
			if count == 3 { // one whose schedule takes as much as that of the last
				another := maps.Clone(versions[len(versions)-1].(map[string]any))
				another["name"] = "v3"
				spec["versions"] = append(versions, another)
			}
			applied, err := json.Marshal(crd) // as client-side apply keeps it in an annotation
			require.NoError(t, err)
			assert.Less(t, len(applied), 250_000, "%s with %d versions", dir, count)
			out := plane.kubectlWithInput(t, string(applied), "apply", "--dry-run=server", "-f", "-")
			assert.Contains(t, out, crdName+" configured", "%s with %d versions", dir, count)
		}
	}
}

func TestDeployWithoutCertManagerSaysSoInOneLineAndAppliesNothing(t *testing.T) {
	t.Parallel()
	plane := plainControlPlane(t)
	kubectl := plane.Kubectl(t.Context())
	deploy := exec.CommandContext(t.Context(), "make", "--no-print-directory", "deploy", "KUBECTL="+kubectl.Path)
	deploy.Dir, deploy.Env = kubectl.Dir, kubectl.Env
	out, err := deploy.Output()
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed, "%s", out)
	assert.Regexp(t, `^deploy: the cluster has no cert-manager\b.* kubectl apply -f https://\S+\n$`, string(out))
	assert.Empty(t, plane.kubectl(t, "get", "namespace/project-system", "--ignore-not-found"))
}

func TestWithAnEmptyImageNothingIsBuilt(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "make", "--no-print-directory", "build-installer", "IMG=")
	command.Dir = root
	out, err := command.Output()
	assert.Error(t, err)
	assert.Equal(t, "build-installer: IMG is empty. Name the image: make build-installer IMG=<registry>/<image>:<tag>\n", string(out))
}

func TestWithoutWebhooksV1IsScheduledAndV2IsNotOffered(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	manager := s.startOwnManager()
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	s.create(s.cronJob("garbage").Schedule("garbage").Obj())
	s.eventually(func() bool { return s.audit.count(t, s.ns)[createJob] >= 5 }, "it does not run")
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	s.awaitReady("garbage", metav1.ConditionFalse, v1.ReasonInvalidSchedule)

	// A3: defaults hold without the webhook, and are not written.
	s.edit("c", suspend)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	s.audit.settle(t, s.ns)
	assert.Len(t, s.jobs("c"), int(v1.DefaultSuccessfulJobsHistoryLimit))
	assert.Nil(t, s.get("c").Spec.SuccessfulJobsHistoryLimit)

	err := s.Client.List(t.Context(), listKind("v2"), client.InNamespace(s.ns))
	assert.True(t, meta.IsNoMatchError(err), "v2 is served: %v", err)
	resources := s.kubectl(t, "api-resources", "--api-group=batch.tutorial.kubebuilder.io", "--no-headers")
	assert.Regexp(t, `^cronjobs +tcj +batch\.tutorial\.kubebuilder\.io/v1 +true +CronJob\n$`, resources)
	assert.Contains(t, s.kubectl(t, "get", "-n", s.ns, "cronjobs.batch.tutorial.kubebuilder.io"), "@every 1s")
	assert.Contains(t, manager.log(), `"webhooks":false`)
	s.assertKubectlShowsTheEvents("c")
}

func TestS2AfterAnOutageTheNewestTickRunsAndTheOthersAreReported(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	manager := s.startOwnManager()
	s.create(s.cronJob("c").Schedule("@every 2s").Obj())
	s.awaitJobs("c", 1)
	require.NoError(t, manager.terminate())
	assert.Zero(t, manager.exitCode())
	before := s.jobs("c")
	last := tickOf(t, &before[len(before)-1])
	missed := last.Add(2 * time.Second)
	s.eventually(func() bool { return time.Since(missed) > 5*time.Second }, "time stands still")

	back := time.Now()
	s.startOwnManager()
	jobs := s.awaitJobs("c", len(before)+1)
	newest := tickOf(t, &jobs[len(before)])
	assert.False(t, newest.Before(back.Add(-2*time.Second).Truncate(time.Second)), "%v is not the newest tick at %v", newest, back)
	event := s.awaitEvent("c", plan.EventMissSchedule)
	assert.Contains(t, event.Note, missed.UTC().Format(time.RFC3339))
	assert.Contains(t, event.Note, "a newer one was due when the controller looked again")
}

func TestS4AManagerThatIsKilledAndStartedAgainRunsNoTickTwice(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	s.watchLastScheduleTime("c")
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").History(0, 0).Obj())
	for range 4 {
		manager := s.startOwnManager()
		before := s.audit.count(t, s.ns)[createJob]
		// Right after the Job is there, and most likely before the status says so.
		require.Eventually(t, func() bool { return s.audit.count(t, s.ns)[createJob] > before }, patience, time.Millisecond)
		manager.kill()
	}
	s.startOwnManager()
	s.eventually(func() bool { return len(s.jobs("c")) == 0 && s.get("c").Status.LastScheduleTime != nil }, "it does not tidy up")
	s.edit("c", suspend)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	s.audit.settle(t, s.ns)
	s.assertEachTickRanOnce()
	assert.Empty(t, s.jobs("c"))
}

func TestS4TwoManagersAtOnceRunNoTickTwice(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	s.watchLastScheduleTime("c")
	s.endJobs(batchv1.JobComplete)
	for range 2 {
		s.startOwnManager() // neither asks who leads
	}
	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	s.eventually(func() bool {
		counts := s.audit.count(t, s.ns)
		return counts[createJob] >= 5 && counts["get cronjobs"] > 0
	}, "no status of the one conflicts with the other's, after which it would read what is stored")
	s.edit("c", suspend)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	s.audit.settle(t, s.ns)
	s.assertEachTickRanOnce()
}

func TestTheNextManagerLeadsAsSoonAsTheLeaderStops(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	managers := make([]*process, 2)
	for i := range managers {
		managers[i] = s.ownManager("--leader-elect", "--leader-election-namespace="+localcluster.ManagerNamespace)
		require.NoError(t, managers[i].startReady(t.Context()), "one that does not lead is ready, too")
	}
	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	s.awaitJobs("c", 1)
	leader, other := managers[0], managers[1]
	if leads(other) {
		leader, other = other, leader
	}
	require.True(t, leads(leader))
	require.False(t, leads(other))
	before := s.lease()

	stopped := time.Now()
	require.NoError(t, leader.terminate())
	assert.Zero(t, leader.exitCode(), "%s", leader.LogTail())
	s.eventually(func() bool { return leads(other) }, "the other does not take over: %s", other.LogTail())
	assert.Less(t, time.Since(stopped), time.Duration(*before.Spec.LeaseDurationSeconds)*time.Second*2/3, "it waited for the lease to run out")
	assert.NotEqual(t, before.Spec.HolderIdentity, s.lease().Spec.HolderIdentity)
	s.awaitJobs("c", len(s.jobs("c"))+2)
	s.assertEachTickRanOnce()
}

// leads reports whether a manager has become the leader.
func leads(p *process) bool {
	return strings.Contains(strings.ToLower(p.log()), "successfully acquired lease")
}

// lease returns what the leader holds.
func (s *space) lease() *coordinationv1.Lease {
	s.t.Helper()
	lease := &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: localcluster.ManagerNamespace, Name: "cronjob-controller.tutorial.kubebuilder.io"}
	require.NoError(s.t, s.Client.Get(s.t.Context(), key, lease))
	return lease
}

// reconcilesIn adds up the reconciles that metrics tell of.
func reconcilesIn(t *testing.T, metrics map[string]string) int {
	t.Helper()
	total := 0
	for name, value := range metrics {
		if strings.HasPrefix(name, "controller_runtime_reconcile_total{") {
			var count int
			_, err := fmt.Sscan(value, &count)
			require.NoError(t, err)
			total += count
		}
	}
	return total
}
