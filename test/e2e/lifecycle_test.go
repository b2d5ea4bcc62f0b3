//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

func TestDeployingAgainChangesNothing(t *testing.T) {
	deployed(t)
	state := func() string {
		var all strings.Builder
		for _, what := range []string{
			"crd/" + crdName, "mutatingwebhookconfiguration/" + mutatingName, "validatingwebhookconfiguration/" + validatingName,
			"deployment,replicaset,pod,service,poddisruptionbudget,certificate,issuer,role,rolebinding",
		} {
			columns := ":.kind,:.metadata.name,:.metadata.uid"
			if !strings.Contains(what, "webhook") || strings.Contains(kubectl(t, "get", what, "--output=yaml"), "\n  matchConditions:") {
				columns += ",:.metadata.generation" // cert-manager before 1.12 drops matchConditions, and apply adds them again
			}
			all.WriteString(kubectl(t, "-n", operatorNamespace, "get", what, "--no-headers", "--output=custom-columns="+columns))
		}
		return all.String()
	}

	before := state()
	out := runMake(t, "deploy", "IMG="+image)
	assert.Equal(t, before, state(), out)
	assert.Contains(t, out, "deployment.apps/"+deploymentName+" unchanged")
	assert.NotContains(t, out, " created")
}

func TestUndeployRefusesWhileThereAreCronJobsAndTakesThemWithItWhenForced(t *testing.T) {
	deployed(t)
	require.NoError(t, clearUp(t.Context())) // for the count
	s := newSpace(t)
	s.create(s.cronJob("one").Schedule("@every 1s"))
	s.create(s.cronJob("two"))
	s.awaitJobs(1)

	out, err := tryRun(t, makeCommand, []string{"undeploy"})
	var failed *exec.ExitError
	require.ErrorAs(t, err, &failed, "%s", out)
	assert.Regexp(t, `\b2 CronJobs\b`, out)
	assert.Contains(t, out, "FORCE=1")
	assert.Len(t, s.list(), 2, "refused, and nothing deleted")
	deployed(t)

	runMake(t, "undeploy", "FORCE=1")
	require.NoError(t, isGone(t.Context()))
	s.awaitNoJobs()

	runMake(t, "undeploy") // there is nothing left, and nothing to refuse
}

func TestFromNothingOneDeployIsEnoughForBothVersions(t *testing.T) {
	undeployed(t)
	deployed(t)
	newSpace(t).applySamplesAndReadThem()
}

func TestUndeployWorksWhenTheManagerIsGone(t *testing.T) {
	deployed(t)
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 1s"))
	s.awaitJobs(1)
	kubectl(t, "-n", operatorNamespace, "delete", "deployment/"+deploymentName)
	await(t, func(ctx context.Context) error {
		left, err := pods(ctx)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d Pods are left", len(left))
		}
		return err
	})

	_, err := tryRun(t, makeCommand, []string{"undeploy"})
	assert.Error(t, err, "it still counts the CronJobs")

	runMake(t, "undeploy", "FORCE=1")
	require.NoError(t, isGone(t.Context()))
	s.awaitNoJobs()
	require.NoError(t, clearUp(t.Context()), "namespaces with CronJobs go, too")
}

func TestTheInstallerIsAllThatKubectlNeeds(t *testing.T) {
	undeployed(t)
	runMake(t, "build-installer", "IMG="+image)
	kubectl(t, "apply", "-f", "dist/install.yaml")
	require.NoError(t, rollOut(t.Context()))
	newSpace(t).applySamplesAndReadThem()
}

func TestHelmDeletesCronJobsOnlyWhenItIsTold(t *testing.T) {
	undeployed(t)
	chart := current()
	chart.helm(t, "install", "--create-namespace")
	s := newSpace(t)
	s.applySamplesAndReadThem()
	created := s.create(s.cronJob("c").Schedule("@every 5s").History(1000, 1000))
	ran := s.awaitJobs(1)[0]
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crdName}}

	helm(t, "uninstall", "--wait")
	assert.Equal(t, created.UID, s.v1("c").UID)
	assert.Len(t, s.list(), 3)
	require.Error(t, isNotThere(t.Context(), ran.DeepCopy()), "the Jobs stay, too")

	chart.helm(t, "install")
	again := time.Now()
	assert.Equal(t, created.UID, s.v2("c").UID)
	s.awaitStatus("c", func(status v1.CronJobStatus) bool { return status.LastScheduleTime.After(again) })

	chart.helm(t, "upgrade", "--reset-then-reuse-values", "--set=crds.enabled=false")
	assert.Len(t, s.list(), 3)

	chart.helm(t, "upgrade", "--reset-then-reuse-values", "--set=crds.enabled=true", "--set=crds.keep=false")
	helm(t, "uninstall", "--wait")
	assert.NoError(t, isNotThere(t.Context(), crd))
	undeployed(t) // what the other tests need is `make deploy`'s
}

func TestTheReplicasRunWithNoMoreRightsThanTheyNeedAndTellTheirVersion(t *testing.T) {
	deployed(t)
	running := readyPods(t)
	for _, pod := range running {
		require.NotNil(t, pod.Spec.SecurityContext)
		assert.Equal(t, new(true), pod.Spec.SecurityContext.RunAsNonRoot)
		for _, container := range pod.Spec.Containers {
			assert.Equal(t, new(true), container.SecurityContext.ReadOnlyRootFilesystem, container.Name)
		}
		version := kubectl(t, "-n", operatorNamespace, "exec", pod.Name, "--", "/manager", "--version")
		assert.Regexp(t, `^\S+\n$`, version)
		log := kubectl(t, "-n", operatorNamespace, "logs", pod.Name)
		assert.Regexp(t, `"msg":"Starting","version":`+regexp.QuoteMeta(fmt.Sprintf("%q", version[:len(version)-1])), log)
	}

	root := running[0].DeepCopy()
	root.ObjectMeta = metav1.ObjectMeta{Namespace: operatorNamespace, Name: "root"}
	root.Spec.NodeName = ""
	root.Spec.SecurityContext.RunAsNonRoot = new(false)
	assert.ErrorContains(t, cluster.Create(t.Context(), root, client.DryRunAll), `violates PodSecurity "restricted:`)
}
