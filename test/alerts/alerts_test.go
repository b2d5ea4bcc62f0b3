// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package alerts tests the alerts of config/prometheus as kustomize builds them, with promtool, and
// the dashboards of config/grafana. It is a module of its own, so that nothing else depends on
// Prometheus.
package alerts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const (
	root = "../.."

	// unitTests has promtool's unit tests.
	unitTests = "alerts.yaml"
)

// rules is what Prometheus is told: the spec of a PrometheusRule, and a rule file.
type rules struct {
	Groups []struct {
		Name     string  `json:"name"`
		Interval string  `json:"interval,omitempty"`
		Rules    []alert `json:"rules"`
	} `json:"groups"`
}

type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// alerts returns all alerts.
func (r rules) alerts() []alert {
	var all []alert
	for _, group := range r.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// build returns the rules as kustomize builds them.
func build(t *testing.T) rules {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "tool", "kustomize", "build", "config/prometheus")
	command.Dir, command.Stderr = root, os.Stderr
	built, err := command.Output()
	require.NoError(t, err)
	for document := range strings.SplitSeq(string(built), "\n---\n") {
		var object struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   any    `json:"metadata"`
			Spec       rules  `json:"spec"`
		}
		if strings.Contains(document, "kind: PrometheusRule") {
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &object), "a field that the tests leave out")
			require.NotEmpty(t, object.Spec.alerts())
			return object.Spec
		}
	}
	require.Fail(t, "config/prometheus has no PrometheusRule")
	return rules{}
}

// promtool runs promtool in a directory in which rules.yaml has the rules.
func promtool(t *testing.T, r rules, args ...string) {
	t.Helper()
	tool, err := filepath.Abs(filepath.Join(root, "bin", "promtool"))
	require.NoError(t, err)
	require.FileExists(t, tool, "make verify-alerts builds it")
	dir := t.TempDir()
	text, err := yaml.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), text, 0o600))
	tests, err := os.ReadFile(unitTests)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, unitTests), tests, 0o600))
	command := exec.CommandContext(t.Context(), tool, args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestPromtoolAcceptsTheRules(t *testing.T) {
	promtool(t, build(t), "check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
}

func TestAlertsFireAndStaySilentAsTheirUnitTestsSay(t *testing.T) {
	r := build(t)
	for _, alert := range r.alerts() {
		for _, text := range []string{"description", "runbook_url"} {
			assert.NotContains(t, alert.Annotations[text], "{{", "the unit tests would have to compare it")
			delete(alert.Annotations, text)
		}
	}
	promtool(t, r, "test", "rules", unitTests)
}

func TestEachAlertHasAUnitTestInWhichItFiresAndOneInWhichItStaysSilent(t *testing.T) {
	var file struct {
		Tests []struct {
			Name  string `json:"name"`
			Cases []struct {
				Alert string `json:"alertname"`
				Want  []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	text, err := os.ReadFile(unitTests)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &file))
	fires, isSilent := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		about, _, _ := strings.Cut(test.Name, " ")
		hasFired := false
		for _, c := range test.Cases {
			hasFired = hasFired || c.Alert == about && len(c.Want) > 0
		}
		assert.NotEmpty(t, test.Cases, test.Name)
		assert.Equal(t, strings.Contains(test.Name, " fires "), hasFired, "%s: the name says it otherwise", test.Name)
		if hasFired {
			fires[about] = true
		} else {
			isSilent[about] = true
		}
	}
	for _, alert := range build(t).alerts() {
		assert.True(t, fires[alert.Alert], "no unit test in which %s fires", alert.Alert)
		assert.True(t, isSilent[alert.Alert], "no unit test in which %s stays silent", alert.Alert)
	}
}

// heading is one of Markdown, by which there is an anchor.
var heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

func TestEachAlertNamesItsPartOfTheOperationsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	require.NoError(t, err)
	anchors := map[string]bool{}
	for _, found := range heading.FindAllSubmatch(page, -1) {
		anchors[strings.ReplaceAll(strings.ToLower(string(found[1])), " ", "-")] = true
	}
	bases := map[string]bool{}
	for _, alert := range build(t).alerts() {
		base, anchor, _ := strings.Cut(alert.Annotations["runbook_url"], "#")
		bases[base] = true
		assert.Equal(t, strings.ToLower(alert.Alert), anchor)
		assert.True(t, anchors[anchor], "docs/operations.md has no heading %s", alert.Alert)
		assert.NotEmpty(t, alert.Annotations["summary"], alert.Alert)
		assert.NotEmpty(t, alert.Annotations["description"], alert.Alert)
		assert.Contains(t, []string{"critical", "warning"}, alert.Labels["severity"], alert.Alert)
	}
	require.Len(t, bases, 1, "it is set in one place")
	for base := range bases {
		assert.Regexp(t, `^https://.*/docs/operations\.md$`, base)
	}
}

// Each selector has a label of what it selects from, so that the alerts and dashboards see no other's
// metrics. The test in test/integration, which finds the metrics of alerts by the braces, depends on
// it.
func TestEachMetricIsSelectedByItsJobOrItsKind(t *testing.T) {
	for _, alert := range build(t).alerts() {
		requireOwnMetrics(t, alert.Alert, alert.Expr)
	}
	for _, d := range dashboards(t) {
		for _, panel := range d.Panels {
			for _, target := range panel.Targets {
				requireOwnMetrics(t, panel.Title, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
			}
		}
	}
}

// requireOwnMetrics requires that an expression selects metrics of the manager, of the API server
// about the CRD, or of kube-state-metrics about the kind.
func requireOwnMetrics(t *testing.T, name, text string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	require.NoError(t, err, name)
	count := 0
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			count++
			assert.NotEmpty(t, selector.Name, "%s selects metrics that it does not name", name)
			assert.True(t, selects(selector, "job", "project") || selects(selector, "crd_name", "cronjobs.batch.tutorial.kubebuilder.io") ||
				selects(selector, "customresource_group", "batch.tutorial.kubebuilder.io"), "%s: %s", name, selector)
		}
		return nil
	})
	assert.Positive(t, count, name)
	assert.Equal(t, count, strings.Count(text, "{"), name)
}

// selects reports whether a selector has a label with a value.
func selects(selector *parser.VectorSelector, name, value string) bool {
	for _, matcher := range selector.LabelMatchers {
		if matcher.Type == labels.MatchEqual && matcher.Name == name && matcher.Value == value {
			return true
		}
	}
	return false
}
