// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// cronJobsIn is what kubectl calls the CronJobs in a version.
func cronJobsIn(version string) string {
	return "cronjobs." + version + ".batch.tutorial.kubebuilder.io"
}

// toName makes a name for objects of any text.
func toName(text string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(text), "-"), "-")
}

func TestKubectlAppliesEachSampleOnceAndThenFindsItUnchanged(t *testing.T) {
	t.Parallel()
	samples := map[string]string{"v1": "cronjob-sample", "v2": "cronjob-sample-v2"}
	for version, name := range samples {
		t.Run(version, func(t *testing.T) {
			s := newSpace(t)
			apply := []string{"apply", "-n", s.ns, "-f", filepath.Join("config", "samples", "batch_"+version+"_cronjob.yaml")}
			assert.Equal(t, "cronjob.batch.tutorial.kubebuilder.io/"+name+" created\n", s.kubectl(t, apply...))
			for range 2 {
				assert.Equal(t, "cronjob.batch.tutorial.kubebuilder.io/"+name+" unchanged\n", s.kubectl(t, apply...))
			}
			assert.EqualValues(t, 1, s.get(name).Generation)
			s.kubectl(t, slices.Concat(apply, []string{"--server-side", "--field-manager=kubectl-client-side-apply"})...)
			assert.EqualValues(t, 1, s.get(name).Generation, "server-side apply has nothing to change either")
		})
	}
}

func TestKubectlDiffFindsNothingBetweenASampleAndWhatIsStored(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.kubectl(t, "apply", "-n", s.ns, "-k", "config/samples")
	out, err := s.tryKubectl(t, "diff", "-n", s.ns, "-k", "config/samples")
	assert.NoError(t, err, "%s", out)
	assert.Empty(t, out)
}

// table is what kubectl prints, by column.
type table struct {
	columns []string
	rows    []map[string]string
}

// parseTable takes a table of kubectl apart. A cell begins where its column's heading does.
func parseTable(t *testing.T, text string) table {
	t.Helper()
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	require.NotEmpty(t, lines)
	headings := regexp.MustCompile(`\S+( \S+)*`).FindAllStringIndex(lines[0], -1)
	var parsed table
	for i, line := range lines {
		row := map[string]string{}
		for j, at := range headings {
			end := len(line)
			if j+1 < len(headings) {
				end = min(end, headings[j+1][0])
			}
			cell := strings.TrimSpace(line[min(at[0], end):end])
			if i == 0 {
				parsed.columns = append(parsed.columns, cell)
			} else {
				row[parsed.columns[j]] = cell
			}
		}
		if i > 0 {
			parsed.rows = append(parsed.rows, row)
		}
	}
	return parsed
}

func TestA7BothVersionsPrintTheSameColumns(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 1s").TimeZone("Europe/Paris").Policy(v1.ForbidConcurrent).Obj())
	first := s.awaitJobs("c", 1)[0]
	s.eventually(func() bool { return len(s.get("c").Status.Active) == 1 }, "the status does not list the Job")

	columns := []string{"NAME", "STATUS", "SCHEDULE", "TIMEZONE", "NEXT SCHEDULE", "ACTIVE", "LAST SCHEDULE", "LAST RUN", "AGE"}
	ago := regexp.MustCompile(`^(\d+m)?\d+s$|^\d+m$`)
	versions := []string{"v1", "v2"}
	for _, version := range versions {
		got := parseTable(t, s.kubectl(t, "get", "-n", s.ns, cronJobsIn(version)))
		require.Equal(t, columns, got.columns, version)
		require.Len(t, got.rows, 1)
		row := got.rows[0]
		assert.Equal(t, "@every 1s", row["SCHEDULE"])
		assert.Equal(t, "Europe/Paris", row["TIMEZONE"])
		assert.Contains(t, []string{"Scheduled", "Waiting"}, row["STATUS"])
		assert.Equal(t, "1", row["ACTIVE"])
		assert.Regexp(t, ago, row["LAST SCHEDULE"])
		assert.Contains(t, []string{"Running", "Missed"}, row["LAST RUN"])
		assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, row["NEXT SCHEDULE"])
		assert.Regexp(t, ago, row["AGE"])
	}

	s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend, c.Spec.TimeZone = new(true), nil })
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended) // else the end of the Job may start the tick that waits
	s.end(&first, batchv1.JobComplete)
	s.eventually(func() bool { return s.get("c").Status.LastSuccessfulTime != nil }, "the status does not know of the success")
	for _, version := range versions {
		got := parseTable(t, s.kubectl(t, "get", "-n", s.ns, cronJobsIn(version), "-o", "wide"))
		require.Equal(t, slices.Concat(columns, []string{"SUSPEND", "SUSPEND UNTIL", "CONTAINERS", "IMAGES", "LAST SUCCESS", "LAST FAILURE"}), got.columns, version)
		row := got.rows[0]
		assert.Equal(t, "Suspended", row["STATUS"])
		assert.Equal(t, "UTC", row["TIMEZONE"])
		assert.Equal(t, "true", row["SUSPEND"])
		assert.Equal(t, "0", row["ACTIVE"])
		assert.Equal(t, "main", row["CONTAINERS"])
		assert.Equal(t, "busybox", row["IMAGES"])
		assert.Regexp(t, ago, row["LAST SUCCESS"])
	}
}

func TestKubectlFindsCronJobsByTheirShortNameAndAmongAll(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	for _, what := range []string{"tcj", "all"} {
		assert.Contains(t, s.kubectl(t, "get", "-n", s.ns, what, "-o", "name"), "cronjob.batch.tutorial.kubebuilder.io/c", what)
	}
}

func TestA6ExplainDocumentsEveryFieldOfOurs(t *testing.T) {
	t.Parallel()
	fields := map[string][]string{
		"cronjobs.spec.schedule": {"minute", "hour", "dayOfMonth", "month", "dayOfWeek", "every"},
		"cronjobs.spec": {"schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "suspend", "jobTemplate",
			"successfulJobsHistoryLimit", "failedJobsHistoryLimit"},
		"cronjobs.status": {"active", "activeCount", "lastScheduleTime", "lastSuccessfulTime", "nextScheduleTime",
			"observedGeneration", "conditions"},
		"cronjobs": {"spec", "status"},
	}
	for _, version := range []string{"v1", "v2"} {
		apiVersion := "--api-version=batch.tutorial.kubebuilder.io/" + version
		for path, names := range fields {
			out := shared.kubectl(t, "explain", path, apiVersion)
			assert.NotContains(t, out, "<no description>", "%s in %s", path, version)
			assert.NotContains(t, out, "<empty>", "%s in %s", path, version)
			if version == "v1" && path == "cronjobs.spec.schedule" {
				assert.Contains(t, out, "FIELD: schedule <string>")
				continue
			}
			for _, name := range names {
				assert.Regexp(t, `(?m)^  `+name+`\t<.*\n(  enum: .*\n)?    \S`, out, "%s in %s", path, version)
			}
		}
		recursive := shared.kubectl(t, "explain", "cronjobs", apiVersion, "--recursive")
		for _, name := range slices.Concat(fields["cronjobs.spec"], fields["cronjobs.status"]) {
			assert.Regexp(t, `(?m)^    `+name+`\t<`, recursive)
		}
		for _, name := range []string{"suspendUntil", "notBefore", "notAfter"} { // explain calls them strings
			assert.Regexp(t, `"2027-[^"]*T.*"`, shared.kubectl(t, "explain", "cronjobs.spec."+name, apiVersion), "an example of %s", name)
		}
	}
}

// explainWidth is how wide kubectl explain wraps descriptions, which it indents by explainIndent.
const (
	explainWidth  = 76
	explainIndent = "    "
)

// raggedLines returns the lines of descriptions that end although the next word would have fit.
func raggedLines(explained string) []string {
	_, descriptions, _ := strings.Cut(explained, "DESCRIPTION:\n")
	lines := strings.Split(descriptions, "\n")
	var ragged []string
	for i, line := range lines[:len(lines)-1] {
		text, isText := strings.CutPrefix(line, explainIndent)
		next, isContinued := strings.CutPrefix(lines[i+1], explainIndent)
		if !isText || !isContinued || strings.TrimSpace(text) == "" || strings.TrimSpace(next) == "" {
			continue
		}
		if utf8.RuneCountInString(text+" "+strings.Fields(next)[0]) <= explainWidth {
			ragged = append(ragged, line)
		}
	}
	return ragged
}

func TestA6ExplainFillsItsLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"    two"}, raggedLines("DESCRIPTION:\n    two\n    lines\n\n    "+strings.Repeat("x", 73)+"\n    and more\n"))
	wrapped := 0
	for _, version := range []string{"v1", "v2"} {
		for _, path := range []string{
			"", ".apiVersion", ".spec", ".spec.schedule", ".spec.timeZone", ".spec.concurrencyPolicy", ".spec.jobTemplate", ".spec.jobTemplate.spec",
			".status", ".status.active", ".status.conditions", ".status.missed",
		} {
			out := shared.kubectl(t, "explain", "cronjobs"+path, "--api-version=batch.tutorial.kubebuilder.io/"+version)
			assert.Empty(t, raggedLines(out), "cronjobs%s in %s", path, version)
			wrapped += len(regexp.MustCompile(`(?m)^ {4}.{60,76}$`).FindAllString(out, -1))
		}
	}
	assert.Greater(t, wrapped, 50, "descriptions of more than a line")
}

func TestExplainPointsToTheJobBelowJobTemplate(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		for path, want := range map[string]string{
			".spec": "`kubectl explain job.spec`", ".spec.jobTemplate": "`kubectl explain job.spec`",
			".spec.jobTemplate.spec": "`kubectl explain job.spec`", ".spec.jobTemplate.spec.template": "`kubectl explain job.spec.template`",
			".spec.jobTemplate.spec.template.spec": "`kubectl explain job.spec.template.spec`",
			".spec.jobTemplate.metadata":           "`kubectl explain job.metadata`",
		} {
			out := shared.kubectl(t, "explain", "cronjobs"+path, "--api-version=batch.tutorial.kubebuilder.io/"+version)
			assert.Contains(t, out, want, "cronjobs%s in %s", path, version)
		}
	}
	for _, pointer := range []string{"job.metadata", "job.spec", "job.spec.template", "job.spec.template.spec"} {
		assert.Contains(t, shared.kubectl(t, "explain", pointer), "FIELDS:", "the pointer leads somewhere")
	}
}

func TestA6EveryFieldOfOursIsDescribedInTheSchema(t *testing.T) {
	t.Parallel()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, json.Unmarshal([]byte(shared.kubectl(t, "get", "crd", crdName, "-o", "json")), crd))
	require.Len(t, crd.Spec.Versions, 2)
	for _, version := range crd.Spec.Versions {
		for _, undescribed := range undescribedBelow(version.Schema.OpenAPIV3Schema, version.Name) {
			t.Errorf("%s has no description", undescribed)
		}
	}
}

func TestAnEditMayMakeAnyTemplateOfATemplate(t *testing.T) {
	t.Parallel()
	crd := shared.kubectl(t, "get", "crd", crdName, "-o", "json")
	assert.NotContains(t, crd, "oldSelf", "what may not change in a Job that runs may change in a template")
}

// undescribedBelow returns the paths of the fields without a description. What is below jobTemplate
// is Kubernetes' own.
func undescribedBelow(schema *apiextensionsv1.JSONSchemaProps, path string) []string {
	var found []string
	if schema.Items != nil && schema.Items.Schema != nil {
		schema = schema.Items.Schema
	}
	for name, property := range schema.Properties {
		at := path + "." + name
		if name == "metadata" {
			continue
		}
		if property.Description == "" {
			found = append(found, at)
		}
		if name != "jobTemplate" {
			found = append(found, undescribedBelow(&property, at)...)
		}
	}
	return found
}

func TestO2KubectlWaitsForReady(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("scheduled").Schedule(nextYear).Obj())
	s.create(s.cronJob("suspended").Schedule(nextYear).Suspend(true).Obj())
	for _, version := range []string{"v1", "v2"} {
		s.kubectl(t, "wait", "-n", s.ns, "--for=condition=Ready", "--timeout=30s", cronJobsIn(version)+"/scheduled", cronJobsIn(version)+"/suspended")
	}
	scheduled := s.awaitReady("scheduled", metav1.ConditionTrue, v1.ReasonScheduled)
	assert.NotNil(t, scheduled.Status.NextScheduleTime)
	suspended := s.awaitReady("suspended", metav1.ConditionTrue, v1.ReasonSuspended)
	assert.Nil(t, suspended.Status.NextScheduleTime)

	// After an edit the condition is about the edited spec.
	s.edit("scheduled", func(c *v1.CronJob) { c.Spec.Schedule = "0 0 2 1 *" })
	edited := s.awaitReady("scheduled", metav1.ConditionTrue, v1.ReasonScheduled)
	assert.EqualValues(t, 2, edited.Status.ObservedGeneration)
	assert.Equal(t, 2, edited.Status.NextScheduleTime.UTC().Day())
}

func TestO2ACronJobWithoutATickToComeIsCompletedAndReady(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	created := s.cronJob("c").Exclude("--12-25", "2026-12-24/2027-01-02").NotBefore(time.Unix(0, 0)).NotAfter(time.Unix(7*86400, 0)).Obj()
	s.create(created)
	completed := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonCompleted)
	assert.Nil(t, completed.Status.NextScheduleTime)
	for _, version := range []string{"v1", "v2"} {
		s.kubectl(t, "wait", "-n", s.ns, "--for=condition=Ready", "--timeout=30s", cronJobsIn(version)+"/c")
	}
	inV2 := s.getV2("c").Spec
	assert.Equal(t, created.Spec.Exclude, inV2.Exclude)
	assert.True(t, created.Spec.NotBefore.Equal(inV2.NotBefore))
	assert.True(t, created.Spec.NotAfter.Equal(inV2.NotAfter))

	s.edit("c", func(c *v1.CronJob) { c.Spec.Schedule, c.Spec.NotAfter = nextYear, nil })
	assert.NotNil(t, s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled).Status.NextScheduleTime)
}
