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

// Heat counts the Jobs that start in each minute: past runs, and ticks to come.
type Heat struct {
	// Columns has those in which a Job starts.
	Columns []Column

	// Busiest is the most starts in one minute. IsSpread is whether jitter moves a start into
	// another minute.
	Busiest  int32
	IsSpread bool

	// Runs and Failed count past runs. Peak is the most starts to come in one minute, which is at
	// PeakAt.
	Runs, Failed, Peak int32
	PeakAt             time.Time
}

// Column is a column of the chart. Its kind is "succeeded" for runs and "coming" for ticks.
type Column struct {
	Mark

	// Starts is the most starts in one of its minutes, and Ticks the same without jitter. Failed is
	// the part of Starts that stands for failed runs. All are heights in per cent.
	Starts, Ticks, Failed float64
}

// minute counts the Jobs of one minute: past runs, how many of them failed, starts to come, and
// ticks to come, which are the starts without jitter.
type minute struct{ runs, failed, coming, ticks int32 }

func (m minute) starts() int32        { return m.runs + m.coming }
func (m minute) withoutJitter() int32 { return m.runs + m.ticks }

// NewHeat counts the starts of CronJobs in a window. Titles are in the given time zone.
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

// column sums up the minutes of a column. percent is how many Jobs make one per cent of the height.
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

// group is a set of CronJobs that fire at the same times.
type group struct {
	of *v1.CronJob // one of them

	// delays counts the CronJobs by their jitter, in minutes if that is precise enough.
	delays map[time.Duration]int32
}

// groupsOf groups CronJobs so that the ticks of each group are computed once.
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

// addComing counts the ticks to come of a group, and the delayed starts of ticks that have passed.
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
