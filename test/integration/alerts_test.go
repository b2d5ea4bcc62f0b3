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

	"tutorial.kubebuilder.io/project/test/localcluster"
)

var (
	// selector finds the metrics in the expressions of alerts, and their labels.
	selector = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\{([^}]*)\}`)

	// matcher finds what a selector asks of a label.
	matcher = regexp.MustCompile(`([a-z_]+)(=|!=|=~|!~)"([^"]*)"`)
)

// startManagerWithAll starts a manager with all that has metrics, and returns where it serves them
// and its webhooks.
func (s *space) startManagerWithAll() (metrics, webhooks string) {
	s.t.Helper()
	s.kubectl(s.t, "create", "role", "-n", s.ns, "leader", "--verb=get,create,update,patch",
		"--resource=leases.coordination.k8s.io,events")
	s.kubectl(s.t, "create", "rolebinding", "-n", s.ns, "leader", "--role=leader", "--user="+localcluster.ManagerUser)
	metricsPort, err := localcluster.FreePort()
	require.NoError(s.t, err)
	webhookPort, err := localcluster.FreePort()
	require.NoError(s.t, err)
	p := s.startOwnManager("--enable-webhooks", "--webhook-cert-path="+shared.WebhookCertDir, fmt.Sprintf("--webhook-port=%d", webhookPort),
		"--leader-elect", "--leader-election-namespace="+s.ns,
		fmt.Sprintf("--memory-limit=%d", containerMemory), fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", metricsPort))
	s.awaitMetrics(p, metricsPort)
	return fmt.Sprintf("https://127.0.0.1:%d/metrics", metricsPort), fmt.Sprintf("https://127.0.0.1:%d", webhookPort)
}

// scrapeLeader reads the metrics of a manager once it leads.
func (s *space) scrapeLeader(url, token string) map[string]string {
	s.t.Helper()
	var metrics map[string]string
	s.eventually(func() bool {
		metrics = scrape(s.t, url, token)
		return metrics[`leader_election_master_status{name="cronjob-controller.tutorial.kubebuilder.io"}`] == "1"
	}, "the leader does not say that it leads")
	return metrics
}

// conversionMetrics reads the metrics of an API server that has converted a CronJob.
func conversionMetrics(t *testing.T) map[string]string {
	t.Helper()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.kubectl(t, "get", "-n", s.ns, cronJobsIn("v2"), "c")
	return parseMetrics(s.kubectl(t, "get", "--raw", "/metrics"))
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
	url, _ := s.startManagerWithAll()
	ours := s.scrapeLeader(url, s.readerOfMetrics())
	assert.Equal(t, fmt.Sprint(float64(containerMemory/10*9)), ours["go_gc_gomemlimit_bytes"])

	apiServers := conversionMetrics(t)
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
