// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// promtoolTest is a unit test of promtool: what Prometheus has, and what it shall answer.
type promtoolTest struct {
	Interval string         `json:"interval"`
	Series   []promSeries   `json:"input_series"`
	Queries  []promQuestion `json:"promql_expr_test"`
}

type promSeries struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type promQuestion struct {
	Expr    string       `json:"expr"`
	At      string       `json:"eval_time"`
	Samples []promSample `json:"exp_samples"`
}

type promSample struct {
	Labels string      `json:"labels"`
	Value  json.Number `json:"value"`
}

// add adds series as Prometheus has them after six scrapes a minute apart: the first found before, and
// the others after. Prometheus adds the labels.
func (p *promtoolTest) add(before, after map[string]string, labels string) {
	for name, value := range after {
		first, ok := before[name]
		if !ok {
			first = "_"
		}
		metric, has, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
		all := strings.Trim(has+","+labels, ",")
		p.Series = append(p.Series, promSeries{metric + "{" + all + "}", first + strings.Repeat(" "+value, 5)})
	}
}

// ask has Prometheus evaluate a query, which shall have an answer, and if want is set, this one.
func (p *promtoolTest) ask(query string, want json.Number) {
	expr := "sum(" + query + ")"
	if want == "" {
		expr, want = "count("+query+") > bool 0", "1"
	}
	p.Queries = append(p.Queries, promQuestion{expr, "5m", []promSample{{"{}", want}}})
}

// run has promtool run the test.
func (p *promtoolTest) run(t *testing.T) {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{"tests": []*promtoolTest{p}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "dashboards.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	tool := filepath.Join(root, "bin", "promtool")
	require.FileExists(t, tool, "make bin/promtool builds it")
	out, err := exec.CommandContext(t.Context(), tool, "test", "rules", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// dashboard is what the queries of a dashboard are in.
type dashboard struct {
	Templating struct {
		List []struct {
			Query string `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		Title   string `json:"title"`
		Targets []struct {
			Expr string `json:"expr"`
		} `json:"targets"`
	} `json:"panels"`
}

// labelValues is the query of a variable.
var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

// askAll asks all that a dashboard asks about a CronJob. What is known of the answers is by the title
// of the panel.
func (p *promtoolTest) askAll(t *testing.T, path string, wants map[string]json.Number, variables *strings.Replacer) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	d := dashboard{}
	require.NoError(t, yaml.Unmarshal(text, &d))
	for _, variable := range d.Templating.List[1:] {
		found := labelValues.FindStringSubmatch(variables.Replace(variable.Query))
		require.NotNil(t, found, variable.Query)
		p.ask(fmt.Sprintf("count by (%s) (%s)", found[2], found[1]), "")
	}
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			p.ask(variables.Replace(target.Expr), wants[panel.Title])
		}
		delete(wants, panel.Title)
	}
	assert.Empty(t, wants, "%s has no such panels", path)
}

// live has a CronJob go through all that a dashboard shows: a success, a failure, a missed tick, and
// a Job that runs.
func (s *space) live(name string) {
	s.t.Helper()
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob(name).Schedule("@every 1s").Policy(v1.ForbidConcurrent).Obj())
	status := func() v1.CronJobStatus { return s.get(name).Status }
	s.eventually(func() bool { return status().LastSuccessfulTime != nil }, "it does not run")
	blocking := s.runNow(name, "--force")
	s.eventually(func() bool { return len(status().Missed) > 0 }, "no tick is missed")
	s.edit(name, func(c *v1.CronJob) { c.Spec.Schedule = nextYear })
	s.awaitReady(name, metav1.ConditionTrue, v1.ReasonScheduled)
	s.end(blocking, batchv1.JobFailed)
	s.eventually(func() bool { return status().ConsecutiveFailures == 1 && *status().ActiveCount == 0 }, "the failure is not seen")
	s.runNow(name)
	s.eventually(func() bool { return *status().ActiveCount == 1 }, "the run is not seen")
}

func TestPrometheusAnswersEachQueryOfTheDashboards(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	metrics, webhooks := s.startManagerWithAll()
	token, each := s.readerOfMetrics(), s.startKubeStateMetrics()
	before := s.scrapeLeader(metrics, token)
	s.live("c")
	s.create(s.cronJob("invalid").Schedule("garbage").Obj())
	s.awaitReady("invalid", metav1.ConditionFalse, v1.ReasonInvalidSchedule)
	for _, path := range []string{"/convert", "/mutate-batch-tutorial-kubebuilder-io-v1-cronjob"} {
		getWithToken(t, webhooks+path, "") // no review: but a request, which is counted
	}

	p := &promtoolTest{Interval: "1m"}
	p.add(nil, map[string]string{"up": "1"}, `job="project"`)
	p.add(before, scrape(t, metrics, token), `job="project",namespace="project-system",pod="a"`)
	apiServers := conversionMetrics(t)
	p.add(apiServers, apiServers, "")
	labels := `customresource_group="batch.tutorial.kubebuilder.io",customresource_kind="CronJob",customresource_version="v1",namespace="` + s.ns + `"}`
	s.eventually(func() bool {
		_, text := ask(t.Context(), each)
		series := parseMetrics(text)
		for _, known := range []string{`status_consecutive_failures{cronjob="c",`, `status_active{cronjob="c",`} {
			if series["kube_tutorial_cronjob_"+known+labels] != "1" {
				return false
			}
		}
		if !strings.Contains(text, v1.ReasonInvalidSchedule) {
			return false
		}
		p.add(series, series, "")
		return true
	}, "kube-state-metrics does not know of the CronJobs")

	dir, variables := filepath.Join(root, "config", "grafana"), strings.NewReplacer("$__rate_interval", "5m", "$namespace", s.ns, "$cronjob", "c")
	p.askAll(t, filepath.Join(dir, "cronjobs.json"), map[string]json.Number{
		"Managers": "1", "Leaders": "1", "Running Jobs": "1", "Failing CronJobs": "1", "Not ready": "1", "CronJobs that fail": "1",
	}, variables)
	p.askAll(t, filepath.Join(dir, "cronjob.json"), map[string]json.Number{
		"Ready": "1", "Last run": "0", "Failed runs in a row": "1", "Running Jobs": "1",
	}, variables)
	p.run(t)
}
