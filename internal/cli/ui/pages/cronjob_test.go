// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/cli/ui/timeline"
)

// detailOf returns the page of a CronJob with two runs, of 12 and of 6 minutes.
func detailOf(t *testing.T, named string) *detail {
	t.Helper()
	c := hourly("c").Obj()
	for i, result := range []v1.RunResult{v1.RunFailed, v1.RunSucceeded} {
		start := metav1.NewTime(noon.Add(-time.Duration(i+1) * time.Hour))
		c.Status.RecentRuns = append(c.Status.RecentRuns, v1.Run{
			Result: result, Trigger: v1.TriggerSchedule, JobName: []string{"newer", "older"}[i], ScheduledTime: start, StartTime: &start,
			CompletionTime: new(metav1.NewTime(start.Add(time.Duration(12/(i+1)) * time.Minute))),
		})
	}
	known, w := history.FromStatus(c, noon, 2), timeline.NewWindow(noon, 4*time.Hour, 2*time.Hour)
	d := &detail{chart: newChart(w), Named: named}
	d.Rows = []timeline.Row{timeline.NewRow(c, known, w)}
	d.sort(known)
	d.plot()
	return d
}

func TestWhatHappenedLastIsShownUnlessTheLinkNamesARun(t *testing.T) {
	assert.Equal(t, "newer", detailOf(t, "").Shown.Job)
	assert.Equal(t, "older", detailOf(t, "older").Shown.Job)
	assert.Nil(t, detailOf(t, "nobody").Shown)
	d := detailOf(t, "")
	assert.Len(t, d.History, 2)
	assert.Len(t, d.Coming, 2)
	assert.True(t, d.Coming[0].Tick.Before(d.Coming[1].Tick))
}

func TestADurationIsDrawnAtTheTimeOfItsRun(t *testing.T) {
	d := detailOf(t, "")
	require.Len(t, d.Plot, 2)
	assert.Equal(t, 12*time.Minute, d.Longest)
	for _, bar := range d.Plot {
		run := map[string]struct {
			start  time.Time
			height float64
		}{"newer": {noon.Add(-time.Hour), 100}, "older": {noon.Add(-2 * time.Hour), 50}}[bar.Job]
		assert.InDelta(t, d.At(run.start), bar.At, 0.1)
		assert.InDelta(t, run.height, bar.Height, 0.1)
	}
}

func TestARangeThatIsOftenBackfilledIsNeverInTheFuture(t *testing.T) {
	var got []string
	for _, p := range presets(noon.Add(-9 * time.Hour)) {
		got = append(got, p.Title+" "+p.From+" "+p.To)
	}
	assert.Equal(t, []string{
		"Last hour 2027-01-15T02:00:00+05:30 2027-01-15T03:00:00+05:30",
		"Last night 2027-01-14T18:00:00+05:30 2027-01-15T03:00:00+05:30",
		"Today 2027-01-15T00:00:00+05:30 2027-01-15T03:00:00+05:30",
		"Yesterday 2027-01-14T00:00:00+05:30 2027-01-15T00:00:00+05:30",
	}, got)
}
