//go:build ui

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bufio"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// manyCronJobs is how many the pages of the benchmark have.
const manyCronJobs = 10_000

// BenchmarkThePagesOf10000CronJobs measures the plugin as it is installed, with an API server of its
// own, in which nothing else goes on: how soon a browser paints the first page, how long the server
// takes for an update of each page, and how much memory the plugin has had at most by then. It prints
// figures, and fails on none.
func BenchmarkThePagesOf10000CronJobs(b *testing.B) {
	plain, err := localcluster.Start(b.Context(), localcluster.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { assert.NoError(b, plain.Stop()) })
	begin := time.Now().UTC().Add(time.Hour).Truncate(time.Minute)
	createMany(b, plain.Client, manyCronJobs, func(i int) *v1.CronJob { // of 720 schedules; every second has a jitter
		next := begin.Add(time.Duration(i%720) * time.Minute)
		c := builders.MakeCronJob(fmt.Sprintf("c-%05d", i)).Schedule(next.Format("4 15 * * *")).Jitter(int32(i % 2 * 600)).Obj()
		c.Status.NextScheduleTime = new(metav1.NewTime(next))
		c.Status.RecentRuns = pastRuns(time.Hour, v1.RunFailed, v1.RunSucceeded, v1.RunSucceeded, v1.RunSucceeded, v1.RunDeleted,
			v1.RunSucceeded, v1.RunFailed, v1.RunSucceeded, v1.RunSucceeded, v1.RunSucceeded)
		return c
	})
	ui := newTab(b)
	ui.ns = metav1.NamespaceDefault
	process := ui.startProcess(plain.Kubeconfig)
	b.Run("first paint", func(b *testing.B) {
		var paints []float64
		before := cpu(b, process)
		for b.Loop() {
			ui.open("")
			ui.await("performance.getEntriesByName('first-contentful-paint').length > 0")
			paints = append(paints, evaluate[float64](ui, "performance.getEntriesByName('first-contentful-paint')[0].startTime"))
		}
		slices.Sort(paints)
		b.ReportMetric(paints[len(paints)/2], "median-paint-ms")
		b.ReportMetric(paints[len(paints)-1], "worst-paint-ms")
		report(b, process, before)
	})
	for _, page := range []string{"", "?sort=next", "?state=failing&q=99", "timeline", "timeline?reach=30d", ui.path("c-00000")} {
		b.Run("update of /"+page, func(b *testing.B) {
			before := cpu(b, process)
			for b.Loop() {
				ui.update(page)
			}
			report(b, process, before)
		})
	}
}

// createMany creates CronJobs with numbers from 0 on, with the statuses that they are given.
func createMany(t testing.TB, cluster client.Client, count int, numbered func(i int) *v1.CronJob) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(16)
	for i := range count {
		group.Go(func() error {
			c := numbered(i)
			c.UID, c.Generation = "", 0
			status := c.Status
			if err := cluster.Create(t.Context(), c); err != nil {
				return err
			}
			before := c.DeepCopy()
			c.Status = status
			return cluster.Status().Patch(t.Context(), c, client.MergeFrom(before))
		})
	}
	require.NoError(t, group.Wait())
}

// startProcess has ui be the plugin's own process, and waits until it shows all CronJobs.
func (ui *tab) startProcess(kubeconfig string) procfs.Proc {
	ui.t.Helper()
	plugin := filepath.Join(ui.t.TempDir(), "kubectl-cronjob")
	build := exec.CommandContext(ui.t.Context(), "go", "build", "-o", plugin, "./cmd/kubectl-cronjob")
	build.Dir = root
	output, err := build.CombinedOutput()
	require.NoError(ui.t, err, string(output))
	cmd := exec.CommandContext(ui.t.Context(), plugin, "ui", "--no-browser", "--kubeconfig="+kubeconfig)
	out, err := cmd.StdoutPipe()
	require.NoError(ui.t, err)
	require.NoError(ui.t, cmd.Start())
	ui.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	begin, lines := time.Now(), bufio.NewScanner(out)
	require.True(ui.t, lines.Scan(), "it prints no link")
	ui.link = lines.Text()
	ui.open("")
	ui.awaitText(fmt.Sprintf("%d of %[1]d CronJobs", manyCronJobs))
	fmt.Printf("all %d CronJobs are shown %v after the command was started\n", manyCronJobs, time.Since(begin).Round(time.Millisecond))
	ui.do(chromedp.Navigate("about:blank"))
	process, err := procfs.NewProc(cmd.Process.Pid)
	require.NoError(ui.t, err)
	return process
}

// update asks for the part of a page that changes, as an EventSource does, and waits until it has all
// of it.
func (ui *tab) update(page string) {
	request, err := http.NewRequestWithContext(ui.t.Context(), http.MethodGet, ui.link+page, http.NoBody)
	require.NoError(ui.t, err)
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	require.NoError(ui.t, err)
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	for line := "data"; line != "\n"; {
		line, err = lines.ReadString('\n')
		require.NoError(ui.t, err)
	}
}

// report reports what the plugin's process has needed since it had needed so much time of a CPU.
func report(b *testing.B, process procfs.Proc, before time.Duration) {
	b.Helper()
	status, err := process.NewStatus()
	require.NoError(b, err)
	b.ReportMetric(float64((cpu(b, process)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(status.VmHWM)/1e6, "peak-MB")
}

// cpu returns how much time of a CPU a process has needed.
func cpu(b *testing.B, process procfs.Proc) time.Duration {
	b.Helper()
	stat, err := process.Stat()
	require.NoError(b, err)
	return time.Duration(stat.CPUTime() * float64(time.Second))
}
