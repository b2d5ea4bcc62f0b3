// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// Column is a part of the width.
type Column struct {
	// At and Width are in per cent of the width.
	At, Width float64

	// Starts is the busiest of its minutes by the Jobs that start, and Ticks by what would start
	// without jitter.
	Starts, Ticks Bar
	Title         string
}

// Bar is a number of Jobs. Top and Height are in per cent of the height.
type Bar struct {
	Count       int32
	Top, Height float64
}

// minutes counts Jobs by the minutes of a window: those that start, and those that would without
// jitter.
type minutes struct{ starts, ticks []int32 }

// Heat counts the Jobs that start in each minute: before now the runs that are remembered, after it
// those of the ticks. It remembers what it counted last. The zero value has counted nothing.
type Heat struct {
	mu     sync.Mutex
	seed   maphash.Seed
	of     uint64
	coming minutes
}

// Columns counts the starts of CronJobs in a window, in a zone. Columns without any are left out.
func (h *Heat) Columns(all []*v1.CronJob, w Window, zone *time.Location) []Column {
	coming := h.count(all, w)
	counted, past := minutes{slices.Clone(coming.starts), slices.Clone(coming.ticks)}, w.minute(w.Now)+1
	clear(counted.starts[:past])
	clear(counted.ticks[:past])
	for _, c := range all {
		for _, run := range c.Status.RecentRuns {
			if run.StartTime != nil && w.has(run.StartTime.Time) {
				counted.starts[w.minute(run.StartTime.Time)]++
				counted.ticks[w.minute(run.StartTime.Time)]++
			}
		}
	}
	return w.columns(counted, zone)
}

// minute returns which minute of the window an instant is in.
func (w Window) minute(t time.Time) int { return int(t.Sub(w.From) / time.Minute) }

// columns makes columns of minutes.
func (w Window) columns(counted minutes, zone *time.Location) []Column {
	total := len(counted.starts)
	step := max(1, total/columns)
	var found []Column
	most := int32(1)
	for first := 0; first < total; first += step {
		end := min(first+step, total)
		starts, at := busiest(counted.starts[first:end])
		ticks, _ := busiest(counted.ticks[first:end])
		if max(starts, ticks) == 0 {
			continue
		}
		minute := w.From.Add(time.Duration(first+at) * time.Minute).In(zone)
		title := fmt.Sprintf("%s: %d in this minute", minute.Format("Mon 2006-01-02 15:04"), starts)
		if ticks != starts {
			title += fmt.Sprintf(", %d without jitter", ticks)
		}
		from := w.From.Add(time.Duration(first) * time.Minute)
		place := w.mark("", from, from.Add(time.Duration(step)*time.Minute), "%s", title)
		found = append(found, Column{
			At: place.At, Width: place.Width, Title: title, Starts: Bar{Count: starts}, Ticks: Bar{Count: ticks},
		})
		most = max(most, starts, ticks)
	}
	for i := range found {
		for _, bar := range []*Bar{&found[i].Starts, &found[i].Ticks} {
			bar.Height = 100 * float64(bar.Count) / float64(most)
			bar.Top = 100 - bar.Height
		}
	}
	return found
}

// busiest returns the highest count, and the minute that has it first.
func busiest(counts []int32) (most int32, at int) {
	most = slices.Max(counts)
	return most, slices.Index(counts, most)
}

// group is CronJobs that fire at the same times.
type group struct {
	of *v1.CronJob // one of them

	// delays has how many there are of each jitter, as far as it makes another minute of a start.
	delays map[time.Duration]int32
}

// count returns what starts in each minute of the window by schedule. Ticks that many CronJobs have
// are computed once, and none while neither the schedules nor the window has changed.
func (h *Heat) count(all []*v1.CronJob, w Window) minutes {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.coming.starts == nil {
		h.seed = maphash.MakeSeed()
	}
	groups, of := map[string]group{}, maphash.Comparable(h.seed, [2]int64{w.From.Unix(), w.Until.Unix()})
	for _, c := range all {
		if IsIdle(c) {
			continue
		}
		key, delay := tickKey(c), plan.Jitter(c)
		if !isInterval(c) {
			delay = delay.Truncate(time.Minute) // its ticks are on full minutes
		}
		if _, ok := groups[key]; !ok {
			groups[key] = group{c, map[time.Duration]int32{}}
		}
		groups[key].delays[delay]++
		of += maphash.Comparable(h.seed, struct {
			key   string
			delay time.Duration
		}{key, delay}) // in whatever order they come
	}
	if h.coming.starts != nil && h.of == of {
		return h.coming
	}
	total := w.minute(w.Until) + 1
	h.of, h.coming = of, minutes{make([]int32, total), make([]int32, total)}
	for _, g := range groups {
		h.coming.add(g, w)
	}
	return h.coming
}

func isInterval(c *v1.CronJob) bool { return strings.HasPrefix(c.Spec.Schedule, "@every") }

// tickKey is the same for CronJobs that fire at the same times.
func tickKey(c *v1.CronJob) string {
	key := plan.SpecOf(&c.Spec).String()
	if isInterval(c) { // it counts from the last run
		key += plan.Anchor(c, c.Status).String()
	}
	if c.Spec.SuspendUntil != nil {
		key += " suspended until " + c.Spec.SuspendUntil.String()
	}
	return key
}

// add adds the ticks of a group.
func (m minutes) add(g group, w Window) {
	ticks, err := cronjobs.Schedule(g.of)
	if err != nil {
		return
	}
	from := w.From
	if until := g.of.Spec.SuspendUntil; until != nil && until.After(from) {
		from = until.Time
	}
	for tick := range cronjobs.Between(ticks, from, w.Until) {
		for delay, count := range g.delays {
			m.ticks[w.minute(tick)] += count
			if start := tick.Add(delay); w.has(start) {
				m.starts[w.minute(start)] += count
			}
		}
	}
}
