// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/internal/cli/ui/timeline"
)

// timelineRows is how many CronJobs a page of the timeline has.
const timelineRows = 50

// reach is how far a timeline goes back and ahead.
type reach struct {
	Name string
	of   time.Duration
}

// reaches are those that there are; the third is the one that is not asked for.
var reaches = []reach{
	{"1h", time.Hour}, {"6h", 6 * time.Hour}, {"24h", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"30d", 30 * 24 * time.Hour},
}

// chart is the part of a page that is drawn.
type chart struct {
	timeline.Window

	Labels  []timeline.Label
	Rows    []timeline.Row
	NowAt   float64
	Zone    string
	Reaches []reach
	Reach   string
}

// newChart begins a chart of the reach that a request asks for.
func (s *Site) newChart(r *http.Request) (chart, error) {
	name := r.URL.Query().Get("reach")
	if name == "" {
		name = reaches[2].Name
	}
	i := slices.IndexFunc(reaches, func(r reach) bool { return r.Name == name })
	if i < 0 {
		return chart{}, fmt.Errorf("%w: a timeline of %q", errNotFound, name)
	}
	now := s.Env.Clock.Now()
	w := timeline.NewWindow(now, reaches[i].of)
	return chart{
		Window: w, Labels: w.Labels(now.Location()), NowAt: w.At(now), Zone: zoneOf(now), Reaches: reaches, Reach: name,
	}, nil
}

// timeline is the page of what CronJobs have run and are going to.
func (s *Site) timeline(r *http.Request) (view, error) {
	c, err := s.newChart(r)
	if err != nil {
		return view{}, err
	}
	snapshot := s.Feed.Snapshot()
	l, err := list(r, snapshot, c.Now, timelineRows)
	if err != nil {
		return view{}, err
	}
	for _, cronJob := range l.shown(timelineRows) {
		c.Rows = append(c.Rows, timeline.NewRow(cronJob, snapshot.HistoryOf(cronJob, c.Now, 0), c.Window))
	}
	heat := s.heat.Columns(l.Matches, c.Window, c.Now.Location())
	busiest, isSpread := int32(0), false
	for _, column := range heat {
		busiest, isSpread = max(busiest, column.Starts.Count), isSpread || column.Starts.Count != column.Ticks.Count
	}
	return view{Title: "Timeline", Page: "timeline", Content: struct {
		listing
		chart

		Heat     []timeline.Column
		Busiest  int32
		IsSpread bool
	}{l, c, heat, busiest, isSpread}}, nil
}
