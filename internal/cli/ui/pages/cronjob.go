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
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/cli/ui/acts"
	"tutorial.kubebuilder.io/project/internal/cli/ui/timeline"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const (
	// comingTicks is how many of the ticks to come the page of a CronJob lists.
	comingTicks = 5

	// readTimeout is how long reading what the feed does not have may take.
	readTimeout = 5 * time.Second
)

// detail is the page of one CronJob.
type detail struct {
	row
	chart

	Acts    []*acts.Act
	MayRun  bool
	MayRead bool // logs

	// Shown is the run of the Job that the link names, or what happened last if it names none; nil if
	// that is not known. Log is the end of its log, if it is worth a look.
	Named string
	Shown *entry
	Log   string

	// History is the runs and ticks of the past, newest first, Coming those to come, oldest first.
	History, Coming []entry

	Plot     []bar
	Longest  time.Duration
	Missed   []missed
	Events   []event
	NoEvents string // why there are none
	NoJobs   string // why the Jobs are not known
}

// entry is a run, or a tick.
type entry struct {
	history.Entry

	// At is the tick, or else the start. Started is nil if nothing has.
	At, Started *moment
}

// IsPast reports whether it is of a tick that has come.
func (e entry) IsPast() bool { return e.State != history.Coming && e.State != history.Waiting }

// missed is a row of missed ticks.
type missed struct {
	First, Last *moment
	Count       int32
	Why         string
}

// event is one of the newest events about a CronJob.
type event struct {
	At                    *moment
	Type, Reason, Message string
}

// bar is the duration of a run, at the time of the run. Positions are in per cent.
type bar struct {
	timeline.Mark

	Top, Height float64
}

// cronJob is the page of one CronJob.
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
	known, zone := snapshot.HistoryOf(c, drawn.Now, comingTicks), cronjobs.Zone(c)
	d := detail{
		row: rowOf(c, drawn.Now), chart: drawn, Named: r.URL.Query().Get("run"),
		NoJobs: snapshot.JobsProblem, MayRead: s.Rights.Have(ctx, acts.ReadLogs, c.Namespace),
	}
	d.Rows = []timeline.Row{timeline.NewRow(c, known, drawn.Window)}
	for _, act := range acts.All {
		isPointless := act.Name == "resume" && !d.CanResume() || act.Name == "suspend" && d.CanResume()
		if !isPointless && s.Rights.Have(ctx, act.Right, c.Namespace) {
			d.Acts = append(d.Acts, act)
			d.MayRun = d.MayRun || act.Name == "tick"
		}
	}
	d.sort(known)
	if d.HasLog(d.Shown) && (d.Named != "" || d.Shown.State == v1.RunFailed) {
		d.Log = s.endOfLog(ctx, client.ObjectKey{Namespace: c.Namespace, Name: d.Shown.Job})
	}
	d.plot()
	for _, row := range c.Status.Missed {
		d.Missed = append(d.Missed, missed{
			First: momentOf(row.First.In(zone), drawn.Now), Last: momentOf(row.Last.In(zone), drawn.Now), Count: row.Count,
			Why: plan.MissedRow(row).Event().Note,
		})
	}
	if d.Events, err = s.events(ctx, c, drawn.Now); err != nil {
		d.NoEvents = err.Error()
	}
	return view{Title: c.Namespace + "/" + c.Name, Page: "cronjob", Content: &d}, nil
}

// sort sorts what is known of the runs, and finds the one to show.
func (d *detail) sort(known history.History) {
	for _, e := range known.Entries {
		sorted := entry{e, momentOf(e.At(), d.Now), momentOf(e.Start, d.Now)}
		if e.State == history.Coming {
			d.Coming = append(d.Coming, sorted)
		} else {
			d.History = append(d.History, sorted)
		}
	}
	slices.Reverse(d.History)
	i := slices.IndexFunc(d.History, func(e entry) bool { return e.IsPast() && (d.Named == "" || e.Job == d.Named) })
	if i >= 0 {
		d.Shown = &d.History[i]
	}
}

// HasLog reports whether a run has a log that the user may read.
func (d *detail) HasLog(e *entry) bool {
	return e != nil && e.Job != "" && !e.JobIsGone && d.MayRead && d.NoJobs == ""
}

// plot draws how long the runs took that the timeline shows.
func (d *detail) plot() {
	runs := slices.DeleteFunc(slices.Clone(d.Rows[0].Runs), func(m timeline.Mark) bool { return m.Job == "" })
	for _, run := range runs {
		d.Longest = max(d.Longest, run.Took)
	}
	for _, run := range runs {
		height := 100 * max(0.02, float64(run.Took)/float64(max(d.Longest, 1)))
		d.Plot = append(d.Plot, bar{Mark: run, Top: 100 - height, Height: height})
	}
}

// maxEvents is how many events a page shows.
const maxEvents = 50

// events returns the newest events about a CronJob, newest first.
func (s *Site) events(ctx context.Context, c *v1.CronJob, now time.Time) ([]event, error) {
	list := &corev1.EventList{}
	err := s.Cluster.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingFields{"involvedObject.uid": string(c.UID)})
	if err != nil {
		return nil, err
	}
	var events []event
	for i := range list.Items {
		e := &list.Items[i]
		at := e.EventTime.Time
		if e.LastTimestamp.After(at) {
			at = e.LastTimestamp.Time
		}
		events = append(events, event{At: momentOf(at.In(now.Location()), now), Type: e.Type, Reason: e.Reason, Message: e.Message})
	}
	slices.SortStableFunc(events, func(a, b event) int { return b.At.at.Compare(a.At.at) })
	return events[:min(len(events), maxEvents)], nil
}
