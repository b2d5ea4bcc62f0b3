// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/test/builders"
)

// noon is when the tests look.
var noon = time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) *metav1.Time { return new(metav1.NewTime(noon.Add(-d))) }

// someCronJobs are one of each state.
func someCronJobs() []*v1.CronJob {
	backup := builders.MakeCronJob("backup").Schedule("30 2 * * *").TimeZone("Europe/Paris").Obj()
	backup.Status = v1.CronJobStatus{
		LastSuccessfulTime: before(34 * time.Hour), ConsecutiveFailures: 1,
		RecentRuns: []v1.Run{
			{Result: v1.RunFailed, ScheduledTime: *before(11 * time.Hour), StartTime: before(11 * time.Hour), CompletionTime: before(10 * time.Hour)},
			{Result: v1.RunSucceeded}, {Result: v1.RunMissed}, {Result: v1.RunDeleted}, {Result: "New"},
		},
	}
	running := builders.MakeCronJob("running").Schedule("*/5 * * * *").Obj()
	running.Status = v1.CronJobStatus{ActiveCount: new(int32(1)), RecentRuns: []v1.Run{{Result: v1.RunRunning, ScheduledTime: *before(9 * time.Minute), StartTime: before(8 * time.Minute)}}}
	gap := builders.MakeCronJob("gap").Schedule("@hourly").Obj()
	gap.Status.RecentRuns = []v1.Run{{Result: v1.RunMissed, ScheduledTime: *before(3 * time.Hour)}}
	gap.Status.NextScheduleTime = before(5 * time.Minute)
	older := builders.MakeCronJob("older").Schedule("0 13 * * *").Obj()
	older.Status.LastScheduleTime = before(23 * time.Hour)
	later := builders.MakeCronJob("later").Schedule("@daily").Obj()
	later.Spec.SuspendUntil = new(metav1.NewTime(noon.Add(48 * time.Hour)))
	deleted := builders.MakeCronJob("deleted").Obj()
	deleted.DeletionTimestamp = before(0)
	stopped := builders.MakeCronJob("stopped").StopAfterFailures(1).Obj()
	stopped.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonStoppedAfterFailures}}
	spread := builders.MakeCronJob("spread").Schedule("@hourly").Jitter(300).Obj()
	spread.Status.NextScheduleTime, spread.Status.NextStartTime = before(time.Minute), before(-time.Minute)
	return []*v1.CronJob{
		backup, running, gap, older, later, deleted, stopped, spread,
		builders.MakeCronJob("off").Suspend(true).Obj(),
		builders.MakeCronJob("bad").Schedule("61 * * * *").Also("@daily").TimeZone("Mars").Obj(),
	}
}

// tableOf is the table of CronJobs, without the blanks at the ends of lines.
func tableOf(t *testing.T, options printers.PrintOptions, all []*v1.CronJob) string {
	t.Helper()
	table := &metav1.Table{ColumnDefinitions: columns}
	for _, c := range all {
		table.Rows = append(table.Rows, rowOf(c, noon))
	}
	out, trimmed := &strings.Builder{}, &strings.Builder{}
	require.NoError(t, printers.NewTablePrinter(options).PrintObj(table, out))
	for line := range strings.Lines(out.String()) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return trimmed.String()
}

func TestEachRowSaysHowItWentAndWhenItGoesOn(t *testing.T) {
	assert.Equal(t, strings.TrimPrefix(`
NAME      SCHEDULE              TIMEZONE       LAST RUN            NEXT RUN                   STREAK
backup    At 02:30, every day   Europe/Paris   Failed 10h ago      2027-01-16 02:30, in 13h   ?∅!✔✘
running   Every 5 minutes       UTC            Running 8m ago      2027-01-15 12:00, in 0s    ▶
gap       Every hour            UTC            Missed 3h ago       due since 5m               !
older     At 13:00, every day   UTC            <unknown> 23h ago   2027-01-15 13:00, in 1h    <none>
later     At 00:00, every day   UTC            <none>              Suspended for 2d           <none>
deleted   Every minute          UTC            <none>              Terminating                <none>
stopped   Every minute          UTC            <none>              Stopped                    <none>
spread    Every hour            UTC            <none>              due, starts in 1m          <none>
off       Every minute          UTC            <none>              Suspended                  <none>
bad       61 * * * * | @daily   Mars           <none>              <invalid>                  <none>
`, "\n"), tableOf(t, printers.PrintOptions{}, someCronJobs()))
}

func TestWideHasMoreColumnsAndAllNamespacesTheNamespace(t *testing.T) {
	assert.Equal(t, strings.TrimPrefix(`
NAMESPACE   NAME      SCHEDULE              TIMEZONE       LAST RUN         NEXT RUN                   EXPRESSION    ACTIVE   FAILURES   LAST SUCCESS   SUSPENDED BY   STREAK
default     backup    At 02:30, every day   Europe/Paris   Failed 10h ago   2027-01-16 02:30, in 13h   30 2 * * *    0        1          34h ago        <none>         ?∅!✔✘
default     running   Every 5 minutes       UTC            Running 8m ago   2027-01-15 12:00, in 0s    */5 * * * *   1        0          <none>         <none>         ▶
`, "\n"), tableOf(t, printers.PrintOptions{Wide: true, WithNamespace: true}, someCronJobs()[:2]))
}

func TestWideSaysWhoHasSuspendedAndWhyAsLongAsItLasts(t *testing.T) {
	c := builders.MakeCronJob("c").Suspend(true).Obj()
	c.Annotations = map[string]string{suspend.SuspendedByAnnotation: "alice", suspend.SuspendReasonAnnotation: "storage is moved"}
	assert.Contains(t, rowOf(c, noon).Cells, "alice (storage is moved)")
	c.Spec.Suspend = nil
	assert.NotContains(t, rowOf(c, noon).Cells, "alice (storage is moved)")
}

func TestTheTableFits120ColumnsWithTheUsualContent(t *testing.T) {
	c := builders.MakeCronJob("shop-report").Schedule("0 9 * * 1-5").TimeZone("America/New_York").Obj()
	c.Status.RecentRuns = []v1.Run{{Result: v1.RunSucceeded, CompletionTime: before(23 * time.Hour)}}
	c.Status.RecentRuns = slices.Repeat(c.Status.RecentRuns, 10)
	for line := range strings.Lines(tableOf(t, printers.PrintOptions{}, []*v1.CronJob{c})) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSpace(line)), 120, line)
	}
}

func TestTheExpressionHasAllSchedules(t *testing.T) {
	c := builders.MakeCronJob("c").Schedule("0 9 * * 1-5").Also("0 12 * * 6").Obj()
	assert.Contains(t, rowOf(c, noon).Cells, "0 9 * * 1-5 | 0 12 * * 6")
}

func TestFailingAndSuspendedAreToldInEachVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, status               map[string]any
		wantFailing, wantSuspended bool
	}{
		"neither":                {spec: map[string]any{"suspend": false}, status: map[string]any{"consecutiveFailures": int64(0)}},
		"of an older operator":   {},
		"failing":                {status: map[string]any{"consecutiveFailures": int64(2)}, wantFailing: true},
		"suspended for good":     {spec: map[string]any{"suspend": true}, wantSuspended: true},
		"suspended until later":  {spec: map[string]any{"suspendUntil": "2027-01-15T12:00:01Z"}, wantSuspended: true},
		"suspended until now":    {spec: map[string]any{"suspendUntil": "2027-01-15T12:00:00Z"}},
		"suspended in any words": {spec: map[string]any{"suspend": "yes", "suspendUntil": int64(3)}},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": tc.spec, "status": tc.status}}
			assert.Equal(t, tc.wantFailing, isFailing(object))
			assert.Equal(t, tc.wantSuspended, cronjobs.IsSuspended(object, noon))
		})
	}
}
