// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

	Acts     []*acts.Act
	MayRun   bool
	MayRead  bool // logs
	History  []entry
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

	At *moment
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

// bar is the duration of a run, in the plot. Positions are in per cent.
type bar struct {
	Kind, Title            string
	At, Width, Top, Height float64
}

// cronJob is the page of one CronJob.
func (s *Site) cronJob(r *http.Request) (view, error) {
	snapshot, c, err := s.find(r)
	if err != nil {
		return view{}, err
	}
	drawn, err := s.chartOf(r)
	if err != nil {
		return view{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	known, zone := snapshot.HistoryOf(c, drawn.Now, comingTicks), cronjobs.Zone(c)
	d := detail{row: rowOf(c, drawn.Now), chart: drawn, NoJobs: snapshot.JobsProblem, MayRead: s.Rights.Have(ctx, acts.ReadLogs, c.Namespace)}
	d.Rows = []timeline.Row{timeline.NewRow(c, known, drawn.Window)}
	suspended := plan.IsSuspended(c, drawn.Now)
	for _, act := range acts.All {
		isPointless := act.Name == "resume" && !suspended && !plan.IsStopped(c) || act.Name == "suspend" && suspended
		if !isPointless && s.Rights.Have(ctx, act.Right, c.Namespace) {
			d.Acts = append(d.Acts, act)
			d.MayRun = d.MayRun || act.Name == "tick"
		}
	}
	for _, e := range slices.Backward(known.Entries) {
		d.History = append(d.History, entry{e, momentOf(e.At(), drawn.Now)})
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
	return view{Title: c.Namespace + "/" + c.Name, Page: "cronjob", Content: d}, nil
}

// plot draws how long the runs took, oldest first.
func (d *detail) plot() {
	var runs []entry
	for _, e := range slices.Backward(d.History) {
		if e.Job != "" {
			runs, d.Longest = append(runs, e), max(d.Longest, e.Duration())
		}
	}
	width := 100 / float64(max(len(runs), 10))
	for i, e := range runs {
		height := 1.0 // of a run that took no time
		if d.Longest > 0 {
			height = max(height, 100*float64(e.Duration())/float64(d.Longest))
		}
		d.Plot = append(d.Plot, bar{
			Kind: strings.ToLower(string(e.State)), Title: fmt.Sprintf("%s: %s, %s", e.At.Full(), e.State, e.Duration()),
			At: width * float64(i), Width: 0.8 * width, Top: 100 - height, Height: height,
		})
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
