// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// badTemplates are templates that the schema accepts and Jobs can't have, and what the API server
// says about them.
var badTemplates = map[string]struct{ template, want string }{
	"no restartPolicy": {
		`{spec: {template: {spec: {containers: [{name: main, image: busybox}]}}}}`,
		`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`,
	},
	"no containers": {
		`{spec: {template: {spec: {restartPolicy: Never, containers: []}}}}`,
		`spec.jobTemplate.spec.template.spec.containers: Required value`,
	},
	"two containers of one name": {
		`{spec: {template: {spec: {restartPolicy: Never, initContainers: [{name: main, image: busybox}], containers: [{name: main, image: busybox}]}}}}`,
		`spec.jobTemplate.spec.template.spec.initContainers[0].name: Duplicate value: "main"`,
	},
	"a volume that does not exist": {
		`{spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox, volumeMounts: [{name: data, mountPath: /data}]}]}}}}`,
		`spec.jobTemplate.spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"`,
	},
	"a negative backoffLimit": {
		`{spec: {backoffLimit: -1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}}`,
		`spec.jobTemplate.spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0`,
	},
	"a label of the Job that is none": {
		`{metadata: {labels: {a: "b c"}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}}`,
		`spec.jobTemplate.metadata.labels: Invalid value: "b c": `,
	},
}

func TestATemplateThatJobsCanNotHaveIsRefusedWhenTheCronJobIsApplied(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for version := range yearly {
		name := "stored-in-" + version
		require.NoError(t, s.Client.Create(t.Context(), s.object(version, name, yearly[version], jobTemplate)))
		s.awaitReady(name, metav1.ConditionTrue, v1.ReasonScheduled) // and the status no longer changes
	}
	for name, test := range badTemplates {
		for version := range yearly {
			t.Run(name+" in "+version, func(t *testing.T) {
				bad := "jobTemplate: " + test.template
				assertTemplateRefused(t, test.want, s.Client.Create(t.Context(), s.object(version, "c", yearly[version], bad)))
				assertTemplateRefused(t, test.want, s.Client.Create(t.Context(), s.object(version, "c", yearly[version], bad), client.DryRunAll))

				stored := s.object(version, "stored-in-"+version)
				require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(stored), stored))
				stored.Object["spec"] = s.object(version, "c", yearly[version], bad).Object["spec"]
				assertTemplateRefused(t, test.want, s.Client.Update(t.Context(), stored))
			})
		}
	}
	assert.Empty(t, s.jobs(""), "a trial creates nothing")
}

// assertTemplateRefused checks that a request was refused for one reason, which begins so.
func assertTemplateRefused(t *testing.T, want string, err error) {
	t.Helper()
	require.Error(t, err)
	_, message, _ := strings.Cut(err.Error(), " is invalid: ")
	assert.True(t, strings.HasPrefix(message, want), "got %v, want %s", err, want)
}

func TestABadTemplateThatIsStoredKeepsNoEditFromBeingMade(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff})
	for version := range yearly {
		c := s.object(version, version, yearly[version], "jobTemplate: "+badTemplates["no restartPolicy"].template)
		c.SetFinalizers([]string{"test.example/held"})
		require.NoError(t, s.Client.Create(t.Context(), c))
	}
	s.switchWebhooksOn()
	for version := range yearly {
		s.kubectl(t, "label", "-n", s.ns, cronJobsIn(version), version, "touched=yes")
		s.kubectl(t, "patch", "-n", s.ns, cronJobsIn(version), version, "--type=merge", "-p", `{"spec":{"suspend":true}}`)
		s.kubectl(t, "patch", "-n", s.ns, cronJobsIn(version), version, "--type=merge", "-p", `{"spec":{"jobTemplate":{"metadata":{"labels":{"a":"b"}}}}}`)
		out, err := s.tryKubectl(t, "patch", "-n", s.ns, cronJobsIn(version), version, "--type=merge", "-p", `{"spec":{"jobTemplate":{"spec":{"backoffLimit":-1}}}}`)
		require.Error(t, err)
		assert.Contains(t, out, "spec.jobTemplate.spec.backoffLimit: Invalid value: -1")
		assert.NotContains(t, out, "restartPolicy", "that was there before")

		s.kubectl(t, "delete", "-n", s.ns, cronJobsIn(version), version, "--wait=false")
		s.kubectl(t, "patch", "-n", s.ns, cronJobsIn(version), version, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		assert.Empty(t, s.kubectl(t, "get", "-n", s.ns, cronJobsIn(version), version, "--ignore-not-found"))
	}
}

// warningsOf has kubectl create or apply a CronJob, and returns what that says.
func (s *space) warningsOf(t *testing.T, verb, version, name string, lines ...string) string {
	t.Helper()
	manifest, err := yaml.Marshal(s.object(version, name, lines...).Object)
	require.NoError(t, err)
	return s.kubectlWithInput(t, string(manifest), verb, "-f", "-")
}

func TestWhatKeepsJobsFromBeingCreatedAtPresentIsAWarning(t *testing.T) {
	t.Parallel()
	const atPresent = "Warning: spec.jobTemplate: at present no Job can be created from it: "
	s := newSpace(t)
	s.quotaOfJobs()(0)
	for version := range yearly {
		out := s.warningsOf(t, "create", version, version, yearly[version], jobTemplate)
		assert.Contains(t, out, atPresent+"jobs.batch ")
		assert.Contains(t, out, "exceeded quota: jobs")
		assert.Contains(t, out, " created")
	}
	s.kubectl(t, "delete", "-n", s.ns, "resourcequota", "jobs")

	s.denyJobs()
	s.eventually(func() bool {
		out := s.warningsOf(t, "create", "v1", fmt.Sprintf("c%d", time.Now().UnixNano()), yearly["v1"], s.freshTemplate())
		return strings.Contains(out, atPresent+"jobs.batch ") && strings.Contains(out, "denied request: no Jobs here")
	}, "the policy is not heard of")
}

// denyJobs has a policy of the API server refuse all Jobs of the namespace.
func (s *space) denyJobs() {
	s.t.Helper()
	manifest := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  validations: [{expression: "false", message: "no Jobs here"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, s.ns)
	s.kubectlWithInput(s.t, manifest, "apply", "-f", "-")
	name := metav1.ObjectMeta{Name: s.ns}
	s.deleteInTheEnd(&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: name}, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: name})
}

func TestAWebhookForJobsThatDoesNotAnswerKeepsNoCronJobFromBeingCreated(t *testing.T) {
	t.Parallel()
	silent := listenInSilence(t)
	nobody, err := localcluster.FreePort()
	require.NoError(t, err)
	for name, test := range map[string]struct {
		port int
		want string
	}{
		"silent": {silent.Addr().(*net.TCPAddr).Port, "Warning: spec.jobTemplate: not checked, as the API server did not answer in time"},
		"absent": {nobody, "Warning: spec.jobTemplate: at present no Job can be created from it: Internal error occurred: failed calling webhook"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.askAboutJobs(fmt.Sprintf("https://127.0.0.1:%d/", test.port))
			var out string
			s.eventually(func() bool {
				out = s.warningsOf(t, "create", "v1", fmt.Sprintf("c%d", time.Now().UnixNano()), yearly["v1"], s.freshTemplate())
				return strings.Contains(out, "Warning: ")
			}, "the webhook is not asked")
			assert.Contains(t, out, test.want)
			assert.Contains(t, out, " created")
		})
	}
}

// listenInSilence takes connections, and never says a word.
func listenInSilence(t *testing.T) *net.TCPListener {
	t.Helper()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	return silent.(*net.TCPListener)
}

// awaitConnections waits until there are so many more, and keeps them open.
func awaitConnections(t *testing.T, silent *net.TCPListener, count int) {
	t.Helper()
	require.NoError(t, silent.SetDeadline(time.Now().Add(patience)))
	for range count {
		connection, err := silent.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close() })
	}
}

// askAboutJobs has the API server ask a webhook about all Jobs of the namespace.
func (s *space) askAboutJobs(url string) {
	s.t.Helper()
	webhook := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.ns},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "jobs.test.example", ClientConfig: admissionv1.WebhookClientConfig{URL: &url},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{batchv1.GroupName}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
			}},
			NamespaceSelector: s.selector(),
			SideEffects:       new(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
	s.create(webhook)
	s.deleteInTheEnd(webhook)
}

// deleteInTheEnd deletes objects when the test is over.
func (s *space) deleteInTheEnd(objects ...client.Object) {
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, object := range objects {
			assert.NoError(s.t, s.Client.Delete(ctx, object))
		}
	})
}

// freshTemplate is a template that was never tried.
func (s *space) freshTemplate() string {
	return strings.Replace(jobTemplate, "{spec:", fmt.Sprintf("{metadata: {labels: {fresh: t%d}}, spec:", time.Now().UnixNano()), 1)
}

func TestTheAPIServersWarningsAboutTheJobsReachWhoeverAppliesTheCronJob(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{"pod-security.kubernetes.io/warn": "restricted"})
	for version := range yearly {
		out := s.warningsOf(t, "create", version, version, yearly[version], jobTemplate)
		assert.Contains(t, out, `Warning: spec.jobTemplate: would violate PodSecurity "restricted:latest"`, version)
	}
}

func TestABuiltInCronJobOfTheSameNameIsWarnedOfUpToKubernetes136(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	warned := s.isOlderThan(t, "1.37")
	template := s.cronJob("c").Obj().Spec.JobTemplate
	s.create(&batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "taken"},
		Spec:       batchv1.CronJobSpec{Schedule: nextYear, JobTemplate: template},
	})
	out := s.warningsOf(t, "create", "v2", "taken", yearly["v2"], jobTemplate)
	assert.Equal(t, warned, strings.Contains(out, "Warning: metadata.name: the namespace has a built-in CronJob (batch/v1) of this name"), out)
	assert.NotContains(t, s.warningsOf(t, "create", "v2", "free", yearly["v2"], jobTemplate), "Warning")
	lookedFor := slices.ContainsFunc(s.admissionRequests(t), func(r request) bool { return r.Resource == "cronjobs" })
	assert.Equal(t, warned, lookedFor, "where it does no harm, nobody asks")
}

// admissionRequests are what the webhooks asked the API server about CronJobs of the namespace.
func (s *space) admissionRequests(t *testing.T) []request {
	t.Helper()
	all, err := s.audit.read()
	require.NoError(t, err)
	return slices.DeleteFunc(slices.Clone(all), func(r request) bool { return r.Namespace != s.ns || !r.Admission })
}

func TestWhatIsProbablyWrongIsWarnedOfInBothVersions(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	schedules := map[string]string{"v1": `schedule: "@every 2s"`, "v2": `schedule: {every: 2s}`}
	for version, schedule := range schedules {
		out := s.warningsOf(t, "create", version, version, schedule, "suspend: true", "concurrencyPolicy: Replace",
			`jobTemplate: {spec: {activeDeadlineSeconds: 600, template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}}`)
		assert.Contains(t, out, "Warning: spec.schedule: a Job every 2s", version)
		assert.Contains(t, out, "Warning: spec.jobTemplate.spec.activeDeadlineSeconds: 600 is longer than the 2s from a tick to the next", version)
		assert.NotContains(t, s.kubectl(t, "label", "-n", s.ns, cronJobsIn(version), version, "touched=yes"), "Warning", version)
	}
}

func TestA5AnIntervalOfNothingIsRefusedInBothVersions(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for _, every := range []string{"0s", "-5m"} {
		err := s.Client.Create(t.Context(), s.object("v1", "c", `schedule: "@every `+every+`"`, jobTemplate))
		assertRefusal(t, fmt.Sprintf(`spec.schedule: Invalid value: "@every %s": must be an interval above 0, such as @every 90m`, every), err, "v1")
		err = s.Client.Create(t.Context(), s.object("v2", "c", `schedule: {every: "`+every+`"}`, jobTemplate))
		assertRefusal(t, fmt.Sprintf(`spec.schedule.every: Invalid value: %q: must be an interval above 0, such as 90m`, every), err, "v2")
	}
}

func TestATemplateIsTriedOnceAMinuteWhoeverUsesIt(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for i := range 10 {
		s.create(s.cronJob(fmt.Sprintf("c%d", i)).Schedule(nextYear).Obj())
	}
	trials := slices.DeleteFunc(s.admissionRequests(t), func(r request) bool { return r.Resource != "jobs" })
	require.Len(t, trials, 1)
	assert.Equal(t, http.StatusCreated, trials[0].Code, "%s", trials[0])
	assert.Empty(t, s.jobs(""))
}
