// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	before = names{"tutorial.kubebuilder.io/project", "batch.tutorial.kubebuilder.io", "CronJob", "cronjobs", "tcj", "project"}
	after  = names{"example.com/batch-operator", "ops.example.com", "CronJobPolicy", "cronjobpolicies", "cjp", "batch-operator"}
)

func TestANameIsReplacedWhereverItStands(t *testing.T) {
	for text, want := range map[string]string{
		`import "tutorial.kubebuilder.io/project/apis/batch/v1"`: `import "example.com/batch-operator/apis/ops/v1"`,
		"package batch":              "package ops",
		"batch.Versions.ConvertJSON": "ops.Versions.ConvertJSON",
		"func (c *CronJob) cronJobs(list CronJobList) []CronJobs":     "func (c *CronJobPolicy) cronJobPolicies(list CronJobPolicyList) []CronJobPolicies",
		"cronjobs.batch.tutorial.kubebuilder.io":                      "cronjobpolicies.ops.example.com",
		"cronjob.batch.tutorial.kubebuilder.io/c":                     "cronjobpolicy.ops.example.com/c",
		"cronjob-controller.tutorial.kubebuilder.io":                  "cronjobpolicy-controller.example.com",
		"/mutate-batch-tutorial-kubebuilder-io-v1-cronjob":            "/mutate-ops-example-com-v1-cronjobpolicy",
		"config/samples/batch_v1_cronjob.yaml":                        "config/samples/ops_v1_cronjobpolicy.yaml",
		`^cronjobs +tcj +batch\.tutorial\.kubebuilder\.io/v1`:         `^cronjobpolicies +cjp +ops\.example\.com/v1`,
		"kube_tutorial_cronjob_created":                               "kube_example_cronjobpolicy_created",
		`{job="project"} or {job=\"project\"}`:                        `{job="batch-operator"} or {job=\"batch-operator\"}`,
		"namePrefix: project-\nnamespace: project-system":             "namePrefix: batch-operator-\nnamespace: batch-operator-system",
		"helm install project charts/cronjob-operator":                "helm install batch-operator charts/cronjobpolicy-operator",
		"apiVersion: batch.tutorial.kubebuilder.io/v1\nkind: CronJob": "apiVersion: ops.example.com/v1\nkind: CronJobPolicy",
	} {
		assert.Equal(t, want, newReplacer(before, after).replace(text))
	}
}

func TestWhatIsNotOursKeepsItsName(t *testing.T) {
	for _, text := range []string{
		"batchv1.CronJobSpec{}", `batchv1.SchemeGroupVersion.WithKind("CronJob")`, `"k8s.io/api/batch/v1"`, "groups=batch,resources=cronjobs",
		"apiVersion: batch/v1\nkind: CronJob", `"apiVersion": "batch/v1", "kind": "CronJob"`, "\"apiVersion\": \"batch/v1\",\n  \"kind\": \"CronJob\"", `apiVersion: batch/v1\nkind: CronJobList`,
		"a built-in CronJob (batch/v1)", "the CronJobs of batch/v1", "kubectl get cronjobs.batch", "kubectl create cronjob c --image=busybox", "cronjob.kubernetes.io/instantiate",
		"this project's directory", "https://book.kubebuilder.io/multiversion-tutorial/tutorial",
	} {
		assert.Equal(t, text, newReplacer(before, after).replace(text))
	}
}

func TestWhatNothingChangesStays(t *testing.T) {
	const text = "package batch // of CronJobs, cronjob.batch.tutorial.kubebuilder.io, tcj, charts/cronjob-operator"
	assert.Equal(t, text, newReplacer(before, before).replace(text))
}

func TestThePresentNamesAreThoseOfPROJECTAndTheCRD(t *testing.T) {
	t.Chdir("../..")
	got, err := present()
	require.NoError(t, err)
	require.NoError(t, got.validate())
	assert.NotContains(t, []string{got.module, got.group, got.kind, got.plural, got.short, got.project}, "")
}

func TestANameThatCanNotBeIsRefused(t *testing.T) {
	for want, wrong := range map[string]names{
		`-module "Backup": want the path of a Go module`:        {module: "Backup"},
		`-group "ops": want a word`:                             {group: "ops"},
		`-group "my-ops.example.com": want a word`:              {group: "my-ops.example.com"},
		`-group "func.example.com": want a word`:                {group: "func.example.com"},
		`-group "cronJobPolicy.example.com": want a word`:       {group: "cronJobPolicy.example.com"},
		`-group "backup.example.com": want a group that`:        {group: "backup.example.com", kind: "Backup", plural: "backups"},
		`-kind "backup": want a word with a capital`:            {kind: "backup", plural: "backups"},
		`-kind "Range": want a word with a capital`:             {kind: "Range", plural: "ranges"},
		`-plural "cronjobpolicy": want the plural`:              {plural: "cronjobpolicy"},
		`-plural "CronJobPolicies": want the plural`:            {plural: "CronJobPolicies"},
		`-short "CJP": want a short name`:                       {short: "CJP"},
		`-project "Batch": want up to 27 letters`:               {project: "Batch"},
		`-project "a-name-of-twenty-eight-chars": want up to 2`: {project: "a-name-of-twenty-eight-chars"},
	} {
		n := after
		for into, value := range map[*string]string{
			&n.module: wrong.module, &n.group: wrong.group, &n.kind: wrong.kind, &n.plural: wrong.plural, &n.short: wrong.short, &n.project: wrong.project,
		} {
			if value != "" {
				*into = value
			}
		}
		assert.ErrorContains(t, n.validate(), want)
	}
	assert.NoError(t, after.validate())
	assert.ErrorContains(t, names{}.validate(), `-kind "": want a word with a capital`)
}

func TestANameThatTheCodeUsesForSomethingElseIsRefused(t *testing.T) {
	t.Chdir("../..")
	files, err := tracked()
	require.NoError(t, err)
	old, err := present()
	require.NoError(t, err)
	job, schedule := old, old
	job.kind, job.plural = "Job", "jobs"
	schedule.group = "schedule.example.com"
	assert.ErrorContains(t, job.isFree(old, files), "-kind Job: ")
	assert.ErrorContains(t, schedule.isFree(old, files), "-group schedule.example.com: schedule is the name of something else at ")
	assert.NoError(t, old.isFree(old, files))
}
