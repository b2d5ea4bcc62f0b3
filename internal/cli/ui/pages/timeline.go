// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/internal/cli/ui/timeline"
)

// reach is the duration that a timeline shows.
type reach struct {
	Name string
	of   time.Duration
}

var reaches = []reach{
	{"1h", time.Hour}, {"6h", 6 * time.Hour}, {"24h", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"30d", 30 * 24 * time.Hour},
}

type chart struct {
	timeline.Window

	Labels  []timeline.Label
	Rows    []timeline.Row
	Heat    timeline.Heat
	NowAt   float64
	Zone    string
	Reaches []reach
	Reach   string
}

func newChart(w timeline.Window) chart {
	return chart{Window: w, Labels: w.Labels(w.Now.Location()), NowAt: w.At(w.Now), Zone: zoneOf(w.Now), Reaches: reaches}
}

// chartOf returns a chart of the duration that a request asks for, or else of the default. Two
// thirds of it are in the past.
func (s *Site) chartOf(r *http.Request, otherwise string) (chart, error) {
	name := cmp.Or(r.URL.Query().Get("reach"), otherwise)
	i := slices.IndexFunc(reaches, func(r reach) bool { return r.Name == name })
	if i < 0 {
		return chart{}, fmt.Errorf("%w: a timeline of %q", errNotFound, name)
	}
	ahead := reaches[i].of / 3
	c := newChart(timeline.NewWindow(s.Env.Clock.Now(), 2*ahead, ahead))
	c.Reach = name
	return c, nil
}

func (s *Site) timeline(r *http.Request) (view, error) {
	c, err := s.chartOf(r, "6h")
	if err != nil {
		return view{}, err
	}
	snapshot := s.Feed.Snapshot()
	l, err := list(r, snapshot, c.Now)
	if err != nil {
		return view{}, err
	}
	for _, cronJob := range l.shown() {
		c.Rows = append(c.Rows, timeline.NewRow(cronJob, snapshot.HistoryOf(cronJob, c.Now, 0), c.Window))
	}
	c.Heat = timeline.NewHeat(l.Matches, c.Window, c.Now.Location())
	return view{Title: "Timeline", Page: "timeline", Content: struct {
		listing
		chart
	}{l, c}}, nil
}
