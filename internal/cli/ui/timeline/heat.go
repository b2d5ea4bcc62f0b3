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

	// Runs and Failed count the runs of the past. Peak is the most of one minute to come, at PeakAt.
	Runs, Failed, Peak int32
	PeakAt             time.Time
}

// Column is a part of the width.
type Column struct {
	// At and Width are in per cent of the width.
	At, Width float64

	// Starts is the busiest of its minutes by the Jobs that start, and Ticks by what would start
	// without jitter. Failed is as much of Starts as the share of the column's runs that failed.
	Starts, Failed, Ticks Bar

	// IsPast says that the busiest minute is not one to come.
	IsPast bool
	Title  string
}

// Bar is a number of Jobs. Top and Height are in per cent of the height.
type Bar struct {
	Count       int32
	Top, Height float64
}

// minutes counts Jobs by the minutes of a window: those that start, those that would without jitter,
// and those that failed.
type minutes struct{ starts, ticks, failed []int32 }

// NewHeat counts the starts of CronJobs in a window, in a zone.
func NewHeat(all []*v1.CronJob, w Window, zone *time.Location) Heat {
	total, now := w.minute(w.Until)+1, w.minute(w.Now)
	counted := minutes{make([]int32, total), make([]int32, total), make([]int32, total)}
	for _, g := range groupsOf(all) {
		counted.addComing(g, w)
	}
	coming := slices.Clone(counted.starts)
	counted.addRuns(all, w)
	h := Heat{Columns: w.columns(counted, zone)}
	for _, column := range h.Columns {
		h.Busiest = max(h.Busiest, column.Starts.Count)
		h.IsSpread = h.IsSpread || column.Starts.Count != column.Ticks.Count
	}
	for minute := range now + 1 {
		h.Runs += counted.starts[minute] - coming[minute]
		h.Failed += counted.failed[minute]
	}
	var at int
	h.Peak, at = busiest(coming[now:])
	h.PeakAt = w.From.Add(time.Duration(now+at) * time.Minute).In(zone)
	return h
}

// minute returns which minute of the window an instant is in.
func (w Window) minute(t time.Time) int { return int(t.Sub(w.From) / time.Minute) }

// columns makes columns of minutes.
func (w Window) columns(counted minutes, zone *time.Location) []Column {
	step := int(w.step / time.Minute)
	var found []Column
	most := float64(max(1, slices.Max(counted.starts), slices.Max(counted.ticks)))
	for first := 0; first < len(counted.starts); first += step {
		end := min(first+step, len(counted.starts))
		starts, at := busiest(counted.starts[first:end])
		ticks, _ := busiest(counted.ticks[first:end])
		if max(starts, ticks) == 0 {
			continue
		}
		minute := w.From.Add(time.Duration(first+at) * time.Minute)
		title := fmt.Sprintf("%s: %d in this minute", minute.In(zone).Format("Mon 2006-01-02 15:04"), starts)
		if ticks != starts {
			title += fmt.Sprintf(", %d without jitter", ticks)
		}
		runs, failed := sum(counted.starts[first:end]), sum(counted.failed[first:end])
		if failed > 0 {
			title += fmt.Sprintf("; %d of %d runs failed in %s", failed, runs, strings.TrimSuffix(w.step.String(), "0s"))
		}
		from := w.From.Add(time.Duration(first) * time.Minute)
		place := w.mark("", from, from.Add(w.step), "%s", title)
		found = append(found, Column{
			At: place.At, Width: place.Width, Title: title, IsPast: !minute.After(w.Now),
			Starts: barOf(starts, float64(starts)/most), Ticks: barOf(ticks, float64(ticks)/most),
			Failed: barOf(failed, float64(starts)/most*float64(failed)/float64(max(1, runs))),
		})
	}
	return found
}

// barOf makes a bar that is as high as a share of the height.
func barOf(count int32, share float64) Bar {
	return Bar{Count: count, Top: 100 - 100*share, Height: 100 * share}
}

// busiest returns the highest count, and the minute that has it first.
func busiest(counts []int32) (most int32, at int) {
	most = slices.Max(counts)
	return most, slices.Index(counts, most)
}

func sum(counts []int32) (total int32) {
	for _, count := range counts {
		total += count
	}
	return total
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
		if IsIdle(c) {
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
func (m minutes) addComing(g group, w Window) {
	ticks, err := cronjobs.Schedule(g.of)
	if err != nil {
		return
	}
	from := w.Now.Add(-slices.Max(slices.Collect(maps.Keys(g.delays))))
	if until := g.of.Spec.SuspendUntil; until != nil && until.After(from) {
		from = until.Time
	}
	for tick := range cronjobs.Between(ticks, from, w.Until) {
		for delay, count := range g.delays {
			if tick.After(w.Now) {
				m.ticks[w.minute(tick)] += count
			}
			if start := tick.Add(delay); start.After(w.Now) && w.has(start) {
				m.starts[w.minute(start)] += count
			}
		}
	}
}

// addRuns adds the runs that are remembered.
func (m minutes) addRuns(all []*v1.CronJob, w Window) {
	for _, c := range all {
		for _, run := range c.Status.RecentRuns {
			if run.StartTime == nil || !w.has(run.StartTime.Time) {
				continue
			}
			minute := w.minute(run.StartTime.Time)
			m.starts[minute]++
			m.ticks[minute]++
			if run.Result == v1.RunFailed {
				m.failed[minute]++
			}
		}
	}
}
