// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/cli/ui/actions"
	"tutorial.kubebuilder.io/project/internal/cli/ui/timeline"
)

const (
	comingTicks = 5

	// readTimeout limits the time of requests for what the feed lacks.
	readTimeout = 5 * time.Second
)

type detail struct {
	row
	chart

	Actions []*actions.Action
	MayRun  bool
	MayRead bool // may read logs

	// Named is the Job that the link names, and Shown its run, or else the newest entry; nil if
	// there is none. Log is the end of the run's log if the run is named or has failed.
	Named string
	Shown *history.Entry
	Log   string

	// History has past runs and ticks, newest first, and Coming the ticks to come, oldest first.
	History, Coming []history.Entry

	Plot     []bar
	Longest  time.Duration
	Events   []corev1.Event
	NoEvents string // why the events are unknown
	NoJobs   string // why the Jobs are unknown
}

// bar shows the duration of a run at its start. The height is in per cent.
type bar struct {
	timeline.Mark

	Height float64
}

func (s *Site) cronJob(r *http.Request) (view, error) {
	snapshot, c, err := s.find(r)
	if err != nil {
		return view{}, err
	}
	drawn, err := s.chartOf(r, "24h")
	if err != nil {
		return view{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	known := snapshot.HistoryOf(c, drawn.Now, comingTicks)
	d := detail{
		row: rowOf(c, snapshot.IsQueued(c), drawn.Now), chart: drawn, Named: r.URL.Query().Get("run"),
		NoJobs: snapshot.JobsProblem, MayRead: s.Rights.Have(ctx, actions.ReadLogs, c.Namespace),
	}
	d.Rows = []timeline.Row{timeline.NewRow(c, known, drawn.Window)}
	for _, action := range actions.All {
		isPointless := action.Name == "resume" && !d.CanResume() || action.Name == "suspend" && d.CanResume()
		if !isPointless && s.Rights.Have(ctx, action.Right, c.Namespace) {
			d.Actions = append(d.Actions, action)
			d.MayRun = d.MayRun || action.Name == "tick"
		}
	}
	d.sort(known)
	if d.HasLog(d.Shown) && (d.Named != "" || d.Shown.State == v1.RunFailed) {
		d.Log = s.endOfLog(ctx, client.ObjectKey{Namespace: c.Namespace, Name: d.Shown.Job})
	}
	d.plot()
	if d.Events, err = s.events(ctx, c); err != nil {
		d.NoEvents = err.Error()
	}
	return view{Title: c.Namespace + "/" + c.Name, Page: "cronjob", Content: &d}, nil
}

// sort divides the entries into past and coming ones, and finds the one to show.
func (d *detail) sort(known history.History) {
	for _, e := range known.Entries {
		if e.State == history.Coming {
			d.Coming = append(d.Coming, e)
		} else {
			d.History = append(d.History, e)
		}
	}
	slices.Reverse(d.History)
	i := slices.IndexFunc(d.History, func(e history.Entry) bool {
		return d.Named == e.Job && e.Job != "" || d.Named == "" && e.State != history.Waiting
	})
	if i >= 0 {
		d.Shown = &d.History[i]
	}
}

// HasLog reports whether a run has a log that the user may read.
func (d *detail) HasLog(e *history.Entry) bool {
	return e != nil && e.Job != "" && !e.JobIsGone && d.MayRead && d.NoJobs == ""
}

func (d *detail) plot() {
	runs := slices.DeleteFunc(slices.Clone(d.Rows[0].Runs), func(m timeline.Mark) bool { return m.Job == "" })
	for _, run := range runs {
		d.Longest = max(d.Longest, run.Took)
	}
	for _, run := range runs {
		height := 100 * max(0.02, float64(run.Took)/float64(max(d.Longest, 1)))
		d.Plot = append(d.Plot, bar{run, height})
	}
}

const maxEvents = 50

func (s *Site) events(ctx context.Context, c *v1.CronJob) ([]corev1.Event, error) {
	list := &corev1.EventList{}
	err := s.Cluster.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingFields{"involvedObject.uid": string(c.UID)})
	slices.SortStableFunc(list.Items, func(a, b corev1.Event) int { return timeOf(b).Compare(timeOf(a)) })
	return list.Items[:min(len(list.Items), maxEvents)], err
}

func timeOf(e corev1.Event) time.Time {
	if e.LastTimestamp.After(e.EventTime.Time) {
		return e.LastTimestamp.Time
	}
	return e.EventTime.Time
}
