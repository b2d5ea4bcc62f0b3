// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// startKubeStateMetrics starts kube-state-metrics for the namespace with the configuration and the
// rights of config/kube-state-metrics, and returns where it serves metrics.
func (s *space) startKubeStateMetrics() (url string) {
	s.t.Helper()
	manifests, err := kustomize(s.t.Context(), "config/kube-state-metrics")
	require.NoError(s.t, err)
	s.kubectlWithInput(s.t, manifests, "apply", "-f", "-")
	config := filepath.Join(s.t.TempDir(), "config.yaml")
	text := s.kubectl(s.t, "get", "configmap", "-n", "kube-system", "kube-state-metrics-cronjobs",
		"-o", `go-template={{index .data "custom_resource_state.yaml"}}`)
	require.NoError(s.t, os.WriteFile(config, []byte(text), 0o600))
	kubeconfig, err := s.AddUser("system:serviceaccount:kube-system:kube-state-metrics", "system:serviceaccounts")
	require.NoError(s.t, err)
	port, err := localcluster.FreePort()
	require.NoError(s.t, err)
	own, err := localcluster.FreePort() // of its own metrics
	require.NoError(s.t, err)
	p := &process{path: filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kube-state-metrics"), args: []string{
		"--kubeconfig=" + kubeconfig, "--namespaces=" + s.ns, "--custom-resource-state-only",
		"--custom-resource-state-config-file=" + config,
		"--host=127.0.0.1", fmt.Sprintf("--port=%d", port), "--telemetry-host=127.0.0.1", fmt.Sprintf("--telemetry-port=%d", own),
	}}
	require.FileExists(s.t, p.path, "make control-plane-test builds it")
	require.NoError(s.t, p.start())
	s.t.Cleanup(func() { assert.NoError(s.t, p.terminate()) })
	return fmt.Sprintf("http://127.0.0.1:%d/metrics", port)
}

func TestKubeStateMetricsExportsEachCronJobAndWhatItsAlertNeeds(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	hour := func(n int) *metav1.Time { return &metav1.Time{Time: time.Unix(int64(1790000000+3600*n), 0)} }
	c := s.cronJob("c").Schedule(nextYear).Obj()
	s.create(c)
	before := c.DeepCopy()
	c.Status = v1.CronJobStatus{
		ActiveCount: new(int32(2)), ConsecutiveFailures: 3,
		LastScheduleTime: hour(1), LastSuccessfulTime: hour(2), LastFailureTime: hour(3), NextScheduleTime: hour(5),
		Missed:     []v1.MissedTicks{{Reason: "Deadline", First: *hour(3), Last: *hour(4), Count: 2, Time: *hour(5)}},
		Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: "True", Reason: v1.ReasonSuspended, LastTransitionTime: *hour(0)}},
	}
	require.NoError(t, s.Client.Status().Patch(t.Context(), c, client.MergeFrom(before)))
	s.create(s.cronJob("new").Schedule(nextYear).Obj())

	url := s.startKubeStateMetrics()
	var exported map[string]string
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		_, text := ask(s.t.Context(), url)
		exported = parseMetrics(strings.ReplaceAll(text, `,customresource_group="batch.tutorial.kubebuilder.io",customresource_kind="CronJob",`+
			`customresource_version="v1",namespace="`+s.ns+`"`, ""))
		assert.Contains(t, exported, `kube_tutorial_cronjob_created{cronjob="c"}`, text)
		assert.Contains(t, exported, `kube_tutorial_cronjob_created{cronjob="new"}`, text)
	}, patience, glance)
	for metric, want := range map[string]string{
		`spec_suspend{cronjob="c"}`:                                     "0",
		`status_active{cronjob="c"}`:                                    "2",
		`status_active{cronjob="new"}`:                                  "0",
		`status_consecutive_failures{cronjob="c"}`:                      "3",
		`status_last_schedule_time{cronjob="c"}`:                        "1.7900036e+09",
		`status_last_successful_time{cronjob="c"}`:                      "1.7900072e+09",
		`status_last_failure_time{cronjob="c"}`:                         "1.7900108e+09",
		`status_last_missed_time{cronjob="c"}`:                          "1.7900144e+09",
		`status_next_schedule_time{cronjob="c"}`:                        "1.790018e+09",
		`status_condition{cronjob="c",reason="Suspended",type="Ready"}`: "1",
		`status_last_successful_time{cronjob="new"}`:                    "",
	} {
		assert.Equal(t, want, exported["kube_tutorial_cronjob_"+metric], metric)
	}

	_, text := ask(t.Context(), url)
	series := parseMetrics(text)
	rules, err := kustomize(t.Context(), "config/prometheus")
	require.NoError(t, err)
	for _, selected := range selector.FindAllStringSubmatch(rules, -1) {
		if strings.HasPrefix(selected[1], "kube_tutorial_") {
			assert.True(t, exports(series, selected[1], selected[2]), selected[0])
		}
	}
}
