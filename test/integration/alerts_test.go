// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/hack/localcluster"
)

var (
	// selector finds the metrics in the expressions of alerts, and their labels.
	selector = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\{([^}]*)\}`)

	// matcher finds what a selector asks of a label.
	matcher = regexp.MustCompile(`([a-z_]+)(=|!=|=~|!~)"([^"]*)"`)
)

// startManagerWithAll starts a manager with all that has metrics, and returns where it serves them.
func (s *space) startManagerWithAll() (url string) {
	s.t.Helper()
	metrics, err := localcluster.FreePort()
	require.NoError(s.t, err)
	webhooks, err := localcluster.FreePort()
	require.NoError(s.t, err)
	p := s.startOwnManager("--enable-webhooks", "--webhook-cert-path="+shared.WebhookCertDir, fmt.Sprintf("--webhook-port=%d", webhooks),
		"--leader-elect", "--leader-election-namespace="+managerNamespace,
		fmt.Sprintf("--memory-limit=%d", containerMemory), fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", metrics))
	s.awaitMetrics(p, metrics)
	return fmt.Sprintf("https://127.0.0.1:%d/metrics", metrics)
}

// exports reports whether there is a series of a metric with the labels that a selector asks for.
// Of a label that is to differ, or to match, its name has to be there.
func exports(series map[string]string, metric, labels string) bool {
	for name := range series {
		base, has, _ := strings.Cut(name, "{")
		if base != metric {
			continue
		}
		fits := true
		for _, want := range matcher.FindAllStringSubmatch(labels, -1) {
			label := want[1] + `="`
			if want[2] == "=" {
				label += want[3] + `"`
			}
			fits = fits && (want[1] == "job" || strings.Contains(has, label)) // Prometheus adds the job
		}
		if fits {
			return true
		}
	}
	return false
}

func TestEachMetricThatAnAlertNeedsIsExported(t *testing.T) {
	t.Parallel()
	rules, err := kustomize(t.Context(), "config/prometheus")
	require.NoError(t, err)
	s := newSpaceOn(t, plainControlPlane(t), nil)
	url, token := s.startManagerWithAll(), s.readerOfMetrics()
	var ours map[string]string
	s.eventually(func() bool {
		ours = scrape(t, url, token)
		return ours[`leader_election_master_status{name="cronjob-controller.tutorial.kubebuilder.io"}`] == "1"
	}, "the leader does not say that it leads")
	assert.Equal(t, fmt.Sprint(float64(containerMemory/10*9)), ours["go_gc_gomemlimit_bytes"])

	converting := newSpace(t)
	converting.create(converting.cronJob("c").Schedule(nextYear).Obj())
	converting.kubectl(t, "get", "-n", converting.ns, cronJobsIn("v2"), "c")
	apiServers := parseMetrics(shared.kubectl(t, "get", "--raw", "/metrics"))
	assert.True(t, exports(apiServers, "apiserver_crd_conversion_webhook_duration_seconds_count", `succeeded="true"`))

	found := selector.FindAllStringSubmatch(rules, -1)
	require.NotEmpty(t, found)
	for _, selected := range found {
		metric, labels := selected[1], selected[2]
		switch {
		case metric == "up": // Prometheus makes it
		case strings.HasPrefix(metric, "kube_"): // of another test
		case strings.HasPrefix(metric, "apiserver_"):
			labels = strings.Replace(labels, `succeeded="false"`, `succeeded!=""`, 1) // none has failed
			assert.True(t, exports(apiServers, metric, labels), "the API server exports no %s", selected[0])
		default:
			assert.True(t, exports(ours, metric, labels), "the manager exports no %s", selected[0])
		}
	}
}
