// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/cli/next"
	"tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// columns are the columns of the table; those with a priority are for -o wide. STREAK is the last
// one, because the printer counts each of its symbols as three columns.
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name"},
	{Name: "Schedule", Type: "string"},
	{Name: "Timezone", Type: "string"},
	{Name: "Last Run", Type: "string"},
	{Name: "Next Run", Type: "string"},
	{Name: "Expression", Type: "string", Priority: 1},
	{Name: "Active", Type: "integer", Priority: 1},
	{Name: "Failures", Type: "integer", Priority: 1},
	{Name: "Last Success", Type: "string", Priority: 1},
	{Name: "Suspended By", Type: "string", Priority: 1},
	{Name: "Streak", Type: "string"},
}

// none and invalid are kubectl's words for a missing and for an invalid value.
const none, invalid = "<none>", "<invalid>"

func rowOf(c *v1.CronJob, now time.Time) metav1.TableRow {
	forecast, err := next.Stored(c, now)
	description, zone := forecast.Description, forecast.TimeZone
	if err != nil {
		description, zone = cronjobs.Expressions(c), ptr.Deref(c.Spec.TimeZone, "")
	}
	return metav1.TableRow{
		Cells: []any{
			c.Name, description, zone, lastRun(c.Status, now), nextRun(c, forecast, err, now),
			cronjobs.Expressions(c), plan.ActiveCount(c.Status), c.Status.ConsecutiveFailures,
			ago(c.Status.LastSuccessfulTime, now, duration.HumanDuration), suspendedBy(c, now), streak(c.Status.RecentRuns),
		},
		Object: runtime.RawExtension{Object: &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}}},
	}
}

// lastRun returns the result of the newest run, and how long ago it ended or else started. An older
// operator records just its tick.
func lastRun(status v1.CronJobStatus, now time.Time) string {
	switch {
	case len(status.RecentRuns) > 0:
		newest := status.RecentRuns[0]
		at := cmp.Or(newest.CompletionTime, newest.StartTime, &newest.ScheduledTime)
		return fmt.Sprintf("%s %s", newest.Result, ago(at, now, duration.ShortHumanDuration))
	case status.LastScheduleTime != nil:
		return fmt.Sprintf("<unknown> %s", ago(status.LastScheduleTime, now, duration.ShortHumanDuration))
	}
	return none
}

// nextRun returns the time of the next run and how far off it is, or why there is none.
func nextRun(c *v1.CronJob, forecast next.Forecast, err error, now time.Time) string {
	switch due := c.Status.NextScheduleTime; {
	case !c.DeletionTimestamp.IsZero():
		return "Terminating"
	case err != nil:
		return invalid
	case forecast.Suspended:
		return "Suspended"
	case plan.IsSuspended(c, now):
		return fmt.Sprintf("Suspended for %s", duration.ShortHumanDuration(c.Spec.SuspendUntil.Sub(now)))
	case forecast.Stopped:
		return "Stopped"
	case forecast.WaitingUntil != "":
		return fmt.Sprintf("due, starts in %s", duration.ShortHumanDuration(plan.NextStart(c).Sub(now)))
	case forecast.Waiting != "":
		return fmt.Sprintf("due since %s", duration.ShortHumanDuration(now.Sub(due.Time)))
	case len(forecast.Ticks) == 0:
		return none
	}
	at := forecast.Ticks[0].Time
	return fmt.Sprintf("%s, in %s", at.Format("2006-01-02 15:04"), duration.ShortHumanDuration(at.Sub(now)))
}

func suspendedBy(c *v1.CronJob, now time.Time) string {
	if !plan.IsSuspended(c, now) {
		return none
	}
	return cmp.Or(suspend.ByWhom(c), none)
}

func ago(at *metav1.Time, now time.Time, format func(time.Duration) string) string {
	if at == nil {
		return none
	}
	return format(now.Sub(at.Time)) + " ago"
}

// streak returns a symbol for each run, oldest first.
func streak(newestFirst []v1.Run) string {
	signs := &strings.Builder{}
	for _, run := range slices.Backward(newestFirst) {
		signs.WriteString(history.Symbol(run.Result))
	}
	return cmp.Or(signs.String(), none)
}
