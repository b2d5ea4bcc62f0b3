// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/next"
	"tutorial.kubebuilder.io/project/internal/cli/state"
)

// order is the value of --sort-by; "" keeps the order of the API server.
type order string

const (
	byName  order = "name"
	byState order = "state"
	byLast  order = "last"
	byNext  order = "next"
)

func (o order) check() error {
	if !slices.Contains([]order{"", byName, byState, byLast, byNext}, o) {
		return fmt.Errorf(`invalid --sort-by value (%s): must be "name", "state", "last", or "next"`, o)
	}
	return nil
}

// sort sorts CronJobs. Those that are equal are sorted by name.
func (o order) sort(cronJobs []*v1.CronJob, now time.Time) {
	if o == "" {
		return
	}
	places := make(map[*v1.CronJob]int64, len(cronJobs))
	for _, c := range cronJobs {
		places[c] = o.place(c, now)
	}
	slices.SortStableFunc(cronJobs, func(a, b *v1.CronJob) int {
		return cmp.Or(cmp.Compare(places[a], places[b]), cmp.Compare(a.Name, b.Name))
	})
}

func (o order) place(c *v1.CronJob, now time.Time) int64 {
	switch o {
	case byState:
		word, _ := state.Of(c, false, now)
		return int64(slices.Index(state.All, word))
	case byLast:
		return -cronjobs.LastRun(c).Unix()
	case byNext:
		return nextTime(c, now)
	}
	return 0
}

// nextTime returns the time of the next run in Unix seconds; the maximum for none.
func nextTime(c *v1.CronJob, now time.Time) int64 {
	forecast, err := next.Stored(c, now)
	switch {
	case err != nil || forecast.Suspended || forecast.Stopped:
		return math.MaxInt64
	case forecast.Waiting != "":
		return c.Status.NextScheduleTime.Unix()
	case len(forecast.Ticks) == 0:
		return math.MaxInt64
	}
	return forecast.Ticks[0].Time.Unix()
}
