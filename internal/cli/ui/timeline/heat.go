// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// Heat is the Jobs that start in each minute: before now the runs that are remembered, after it
// those of the ticks.
type Heat struct {
	// Columns are those in which something starts.
	Columns []Column

	// Busiest is the most that start in one minute. IsSpread says that jitter has some start later.
	Busiest  int32
	IsSpread bool

	// Runs and Failed count the runs of the past. Peak is the most of one minute to come, at
	// PeakAt.
	Runs, Failed, Peak int32
	PeakAt             time.Time
}

// Column is a part of the width. Its kind is that of runs that succeeded, or of ticks to come.
type Column struct {
	Mark

	// Starts is the busiest of its minutes by the Jobs that start, and Ticks by what would start
	// without jitter. Failed is as much of Starts as the share of the runs that failed. They are
	// heights, in per cent.
	Starts, Ticks, Failed float64
}

// minute counts Jobs: the runs of the past and how many of them failed, the starts to come, and the
// ticks to come, which are the starts without jitter.
type minute struct{ runs, failed, coming, ticks int32 }

func (m minute) starts() int32        { return m.runs + m.coming }
func (m minute) withoutJitter() int32 { return m.runs + m.ticks }

// NewHeat counts the starts of CronJobs in a window, in a zone.
func NewHeat(all []*v1.CronJob, w Window, zone *time.Location) Heat {
	minutes := make([]minute, w.minute(w.Until)+1)
	for _, g := range groupsOf(all) {
		w.addComing(minutes, g)
	}
	w.addRuns(minutes, all)
	h, most := Heat{}, int32(1)
	for i, m := range minutes {
		h.Runs, h.Failed = h.Runs+m.runs, h.Failed+m.failed
		h.Busiest, h.IsSpread = max(h.Busiest, m.starts()), h.IsSpread || m.coming != m.ticks
		most = max(most, m.starts(), m.withoutJitter())
		if m.coming > h.Peak {
			h.Peak, h.PeakAt = m.coming, w.From.Add(time.Duration(i)*time.Minute).In(zone)
		}
	}
	from := w.From.In(zone)
	for part := range slices.Chunk(minutes, int(w.step/time.Minute)) {
		if column := w.column(from, part, float64(most)/100); column.Ticks+column.Starts > 0 {
			h.Columns = append(h.Columns, column)
		}
		from = from.Add(w.step)
	}
	return h
}

func (w Window) minute(t time.Time) int { return int(t.Sub(w.From) / time.Minute) }

// column makes a column of its minutes. One per cent of the height is so many Jobs.
func (w Window) column(from time.Time, minutes []minute, percent float64) Column {
	var total, busiest minute
	at, ticks := from, int32(0)
	for i, m := range minutes {
		total.runs, total.failed = total.runs+m.runs, total.failed+m.failed
		ticks = max(ticks, m.withoutJitter())
		if m.starts() > busiest.starts() {
			busiest, at = m, from.Add(time.Duration(i)*time.Minute)
		}
	}
	title := fmt.Sprintf("%s: %d in this minute", at.Format("Mon 2006-01-02 15:04"), busiest.starts())
	if ticks != busiest.starts() {
		title += fmt.Sprintf(", %d without jitter", ticks)
	}
	if total.failed > 0 {
		title += fmt.Sprintf("; %d of %d runs failed in %s", total.failed, total.runs, strings.TrimSuffix(w.step.String(), "0s"))
	}
	kind := "coming"
	if busiest.runs > 0 {
		kind = "succeeded"
	}
	starts := float64(busiest.starts()) / percent
	return Column{
		Mark:   w.mark(kind, from, from.Add(w.step), "%s", title),
		Starts: starts, Ticks: float64(ticks) / percent, Failed: starts * float64(total.failed) / float64(max(1, total.runs)),
	}
}

// group is CronJobs that fire at the same times.
type group struct {
	of *v1.CronJob // one of them

	// delays has how many there are of each jitter, as far as it makes another minute of a start.
	delays map[time.Duration]int32
}

// groupsOf puts CronJobs together whose ticks need to be computed once.
func groupsOf(all []*v1.CronJob) map[string]group {
	groups := map[string]group{}
	for _, c := range all {
		if cronjobs.IsIdle(c) {
			continue
		}
		key, delay := plan.SpecOf(&c.Spec).String(), plan.Jitter(c)
		if strings.HasPrefix(c.Spec.Schedule, "@every") { // it counts from the last run
			key += plan.Anchor(c, c.Status).String()
		} else {
			delay = delay.Truncate(time.Minute) // its ticks are on full minutes
		}
		if c.Spec.SuspendUntil != nil {
			key += " suspended until " + c.Spec.SuspendUntil.String()
		}
		if _, ok := groups[key]; !ok {
			groups[key] = group{c, map[time.Duration]int32{}}
		}
		groups[key].delays[delay]++
	}
	return groups
}

// addComing adds the ticks to come of a group, and the starts to come of ticks that have passed.
func (w Window) addComing(minutes []minute, g group) {
	ticks, err := cronjobs.Schedule(g.of)
	if err != nil {
		return
	}
	from := w.Now.Add(-slices.Max(slices.Collect(maps.Keys(g.delays))))
	for tick := range cronjobs.Coming(g.of, ticks, from) {
		if !tick.Before(w.Until) {
			break
		}
		for delay, count := range g.delays {
			if tick.After(w.Now) {
				minutes[w.minute(tick)].ticks += count
			}
			if start := tick.Add(delay); start.After(w.Now) && w.has(start) {
				minutes[w.minute(start)].coming += count
			}
		}
	}
}

func (w Window) addRuns(minutes []minute, all []*v1.CronJob) {
	for _, c := range all {
		for _, run := range c.Status.RecentRuns {
			if run.StartTime == nil || !w.has(run.StartTime.Time) {
				continue
			}
			m := &minutes[w.minute(run.StartTime.Time)]
			m.runs++
			if run.Result == v1.RunFailed {
				m.failed++
			}
		}
	}
}
