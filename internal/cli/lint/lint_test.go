// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/validate"
	"tutorial.kubebuilder.io/project/test/builders"
)

var update = flag.Bool("update", false, "write what lint prints of testdata as what is wanted")

// ran is what a command has printed and how it ended.
type ran struct {
	out, err string
	code     int

	// said is what it has printed to the standard error.
	said string
}

// lint runs the command.
func lint(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	streams, in, out, errOut := genericiooptions.NewTestIOStreams()
	in.WriteString(stdin)
	e := env.New(streams)
	e.Clock = clocktesting.NewFakeClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	cmd := NewCommand(e)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	result := ran{out: out.String(), code: env.ExitCode(err), said: errOut.String()}
	if err != nil {
		result.err = err.Error()
	}
	return result
}

// TestGolden holds what is printed of the files of testdata: FILE.txt, if anything is.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.[jy]*[nl]")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := lint(t, "", "-f", path)
			if *update {
				require.NoError(t, os.WriteFile(path+".txt", []byte(got.out), 0o600))
			}
			want, err := os.ReadFile(path + ".txt")
			require.NoError(t, err)
			assert.Equal(t, string(want), got.out)
			wantCode := 0
			switch {
			case strings.Contains(got.out, ": error: "):
				wantCode = 2
			case strings.Contains(got.out, ": warning: "):
				wantCode = 1
			}
			assert.Empty(t, got.err)
			assert.Equal(t, wantCode, got.code)
		})
	}
}

func TestTheSamplesAreGood(t *testing.T) {
	assert.Equal(t, ran{said: "CronJobs checked: 2; of batch/v1, left alone: 0; files: 3\n"}, lint(t, "", "-f", "../../../config/samples", "-R"))
}

func TestWhatIsNotCheckedIsCounted(t *testing.T) {
	builtIn := "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\n"
	for stdin, want := range map[string]string{
		builtIn: "CronJobs checked: 0; of batch/v1, left alone: 1; files: 1\n",
		"":      "CronJobs checked: 0; of batch/v1, left alone: 0; files: 1\n",
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: batch/v1, kind: CronJob}\n- {apiVersion: batch.tutorial.kubebuilder.io/v1, kind: CronJob, spec: {}}\n": "CronJobs checked: 1; of batch/v1, left alone: 1; files: 1\n",
	} {
		assert.Equal(t, want, lint(t, stdin, "-f", "-").said)
	}
	assert.Equal(t, ran{said: "CronJobs checked: 0; of batch/v1, left alone: 0; files: 0\n"}, lint(t, "", "-f", t.TempDir()))
}

func TestOneWrongFieldHidesNoOther(t *testing.T) {
	got := lint(t, `
apiVersion: batch.tutorial.kubebuilder.io/v2
kind: CronJob
metadata: {name: Not_A_Name}
spec:
  schedule: {minute: "61"}
  timeZone: Mars/Olympus
  suspend: "no"
  startingDeadlineSeconds: 5
  successfulJobsHistoryLimit: -1
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Always
          containers: [{name: main, image: busybox, comand: [date]}]
`, "-f", "-")
	for _, want := range []string{
		"metadata.name: Invalid value", `spec.schedule.minute: Invalid value: "61"`, `spec.timeZone: Invalid value: "Mars/Olympus"`,
		`spec.suspend: Invalid value: "string"`, "spec.startingDeadlineSeconds: below 10", "spec.successfulJobsHistoryLimit: Invalid value: -1",
		`15:11: error: spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never" [invalid]`,
		"containers[0].comand: there is no such field",
	} {
		assert.Equal(t, 1, strings.Count(got.out, want), "%s\n%s", want, got.out)
	}
	assert.Equal(t, 8, strings.Count(got.out, "\n"), got.out)
}

func TestFieldsBesideAWrongElementKeepTheirIndices(t *testing.T) {
	value := map[string]any{"a": []any{"0", "1", map[string]any{"b": "c", "d": "e"}}, "f": "g"}
	remove(value, steps("a[2].b"))
	assert.Equal(t, map[string]any{"a": []any{"0", "1", map[string]any{"d": "e"}}, "f": "g"}, value)
	remove(value, steps("a[1]"))
	remove(value, steps("a[7].b"))
	remove(value, steps("f.none"))
	assert.Equal(t, map[string]any{"a": []any{"0"}, "f": "g"}, value)
}

func TestTheStandardInputIsCheckedAsAFile(t *testing.T) {
	text, err := os.ReadFile("testdata/never.yaml")
	require.NoError(t, err)
	got := lint(t, string(text), "-f", "-")
	assert.Contains(t, got.out, "standard input:6:3: error: spec.schedule: ")
	assert.Equal(t, 2, got.code)
}

func TestJSONAndSARIFSayWhatTheTextSays(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(lint(t, "", "-f", "testdata").out), "\n")

	var findings []finding
	got := lint(t, "", "-f", "testdata", "-o", "json")
	assert.Equal(t, 2, got.code)
	require.NoError(t, json.Unmarshal([]byte(got.out), &findings))
	require.Len(t, findings, len(lines))
	var printed bytes.Buffer
	require.NoError(t, write(&printed, cronjobs.Output{}, findings))
	assert.Equal(t, strings.Join(lines, "\n")+"\n", printed.String())

	got = lint(t, "", "-f", "testdata", "-o", "sarif")
	assert.Equal(t, 2, got.code)
	report, err := sarif.FromString(got.out)
	require.NoError(t, err)
	require.NoError(t, report.Validate(), "it is what the schema of SARIF 2.1.0 wants")
	assert.Equal(t, "2.1.0", report.Version)
	require.Len(t, report.Runs, 1)
	require.Len(t, report.Runs[0].Results, len(lines))
	for i, result := range report.Runs[0].Results {
		place := result.Locations[0].PhysicalLocation
		assert.Equal(t, findings[i].File, *place.ArtifactLocation.URI)
		assert.Equal(t, findings[i].Line, *place.Region.StartLine)
		assert.Equal(t, findings[i].Column, *place.Region.StartColumn)
		assert.Equal(t, findings[i].Rule, *result.RuleID)
		assert.Equal(t, findings[i].String(), *result.Message.Text)
	}

	assert.Equal(t, "[]\n", lint(t, "", "-f", "testdata/good.yaml", "-o", "json").out)
}

func TestSARIFNamesAFileByItsURI(t *testing.T) {
	text, err := os.ReadFile("testdata/never.yaml")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("100% a.yaml", text, 0o600))
	assert.Contains(t, lint(t, "", "-f", "100% a.yaml", "-o", "sarif").out, `"uri": "100%25%20a.yaml"`)
}

func TestWhatIsAcceptedAndProbablyWrongIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"0 0 31 * *":   "spec.schedule: day of month \"31\": nothing runs in February, April, June, September, November, as there is no such day; ",
		"0 0 30 * *":   "spec.schedule: day of month \"30\": nothing runs in February, as there is no such day; ",
		"0 0 29 * *":   "spec.schedule: day of month \"29\": nothing runs in February but in leap years, as there is no such day; ",
		"0 0 31 4,5 *": "spec.schedule: day of month \"31\": nothing runs in April, as there is no such day; ",
		"*/45 * * * *": "spec.schedule: minute \"*/45\": the step of */45 begins anew with each hour, which it does not divide, " +
			"so that the last one is shorter; for equal ones write another step, or an interval with @every (every in v2)",
		"0 */10 * * *": "spec.schedule: hour \"*/10\": the step of */10 begins anew with each day, which",
		"0 0 */2 * *":  "spec.schedule: day of month \"*/2\": the step of */2 begins anew with each month, which",
		"0 0 1 */5 *":  "spec.schedule: month \"*/5\": the step of */5 begins anew with each year, which",
		"0 0 * * */2":  "spec.schedule: day of week \"*/2\": the step of */2 begins anew with each week, which",

		"0 0 28 * *": "", "0 0 28-31 * *": "", "0 0 L * *": "", "0 0 31,L * *": "", "0 0 31 1,3 *": "", "0 0 31 * 1": "", "0 0 */1 * *": "", "@monthly": "", "@every 45m": "",
		"*/15 */6 * */3 *": "", "*/90 * * * *": "", "0-59/45 * * * *": "",
	} {
		var got string
		for _, p := range likelyMistakes(&builders.MakeCronJob("c").Schedule(text).Obj().Spec, validate.Form{}) {
			got += p.Field + ": " + p.Message
		}
		if want == "" {
			assert.Empty(t, got, text)
			continue
		}
		assert.True(t, strings.HasPrefix(got, want), "%s: %s", text, got)
	}
}

func TestEachOfSeveralSchedulesIsDoubted(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("0 9 * * *").Also("0 12 * * *", "0 0 31 * *").Policy("Forbid").Deadline(4 * 3600).Obj()
	c.Spec.JobTemplate.Spec.ActiveDeadlineSeconds = new(int64(86400))
	for apiVersion, want := range map[string]string{
		v1.GroupVersion.String(): "spec.additionalSchedules[1]",
		v2.GroupVersion.String(): "spec.additionalSchedules[1].dayOfMonth",
	} {
		found := likelyMistakes(&c.Spec, validate.FormIn(apiVersion, c))
		require.Len(t, found, 1, "there are 3 h from a tick to the next, and not 24")
		assert.Equal(t, want, found[0].Field)
	}
}

func TestTicksThatWaitNeedJobsThatEnd(t *testing.T) {
	const hangs, late = "no-time-limit", "short-deadline"
	for name, tc := range map[string]struct {
		deadline, jobLimit, podLimit *int64
		atOnce                       int32
		want                         []string
	}{
		"no limit":                                  {want: []string{hangs}},
		"a limit of the Job":                        {jobLimit: new(int64(7200))},
		"a limit of its Pods":                       {podLimit: new(int64(7200))},
		"no limit, and a tick may wait shortly":     {deadline: new(int64(60)), want: []string{hangs, late}},
		"a Job that may take longer than they wait": {deadline: new(int64(60)), jobLimit: new(int64(3661)), want: []string{late}},
		"a Job that ends while they wait":           {deadline: new(int64(60)), jobLimit: new(int64(3660))},
		"ticks that wait for the next":              {deadline: new(int64(3600)), jobLimit: new(int64(86400))},
		"no limit, and two may run":                 {atOnce: 2, want: []string{hangs}},
		"two that may take longer than they wait":   {atOnce: 2, deadline: new(int64(60)), jobLimit: new(int64(7261)), want: []string{late}},
		"two that end while they wait":              {atOnce: 2, deadline: new(int64(60)), jobLimit: new(int64(7260))},
	} {
		t.Run(name, func(t *testing.T) {
			c := builders.MakeCronJob("c").Schedule("@hourly").Policy("Forbid").Obj()
			if tc.atOnce > 0 {
				c.Spec.ConcurrencyPolicy, c.Spec.MaxConcurrency = "Allow", &tc.atOnce
			}
			c.Spec.StartingDeadlineSeconds = tc.deadline
			c.Spec.JobTemplate.Spec.ActiveDeadlineSeconds = tc.jobLimit
			c.Spec.JobTemplate.Spec.Template.Spec.ActiveDeadlineSeconds = tc.podLimit
			var got []string
			for _, p := range likelyMistakes(&c.Spec, validate.Form{}) {
				got = append(got, p.Rule)
			}
			assert.Equal(t, tc.want, got)
			c.Spec.ConcurrencyPolicy, c.Spec.MaxConcurrency = "Allow", nil
			assert.Empty(t, likelyMistakes(&c.Spec, validate.Form{}), "nothing waits")
		})
	}
}
