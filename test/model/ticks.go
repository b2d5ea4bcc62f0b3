// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// The model finds ticks by brute force: it compares each minute with each schedule. It supports
// only what the actions use: lists, ranges and steps of numbers, "@every", UTC and Paris.

// rhythm has the ticks of a spec in a range of time, in seconds since 1970.
type rhythm struct {
	isValid  bool
	interval int64   // of "@every"; else 0
	ticks    []int64 // of cron expressions
	exists   func(tick int64) bool
}

// minutes caches the ticks of a cron expression in a zone from an instant on, since most runs of
// the model use the same few.
var minutes = map[string][]int64{}

// span is the longest run of the model.
const span = 5 * 24 * time.Hour

func rhythmOf(spec *v1.CronJobSpec, from time.Time) *rhythm {
	zone, name := time.UTC, "UTC"
	if spec.TimeZone != nil {
		name = *spec.TimeZone
		loaded, err := time.LoadLocation(name)
		if err != nil {
			return &rhythm{}
		}
		zone = loaded
	}
	r := &rhythm{isValid: true, exists: func(tick int64) bool { return existsIn(spec, zone, time.Unix(tick, 0)) }}
	if every, ok := strings.CutPrefix(spec.Schedule, "@every "); ok {
		interval, err := time.ParseDuration(every)
		r.interval, r.isValid = int64(interval/time.Second), err == nil
		return r
	}
	for _, text := range append([]string{spec.Schedule}, spec.AdditionalSchedules...) {
		key := fmt.Sprint(text, name, from.Unix())
		if _, ok := minutes[key]; !ok {
			minutes[key] = ticksOf(text, zone, from.Unix())
		}
		if minutes[key] == nil {
			return &rhythm{}
		}
		r.ticks = append(r.ticks, minutes[key]...)
	}
	slices.Sort(r.ticks)
	r.ticks = slices.DeleteFunc(slices.Compact(r.ticks), func(tick int64) bool { return !r.exists(tick) })
	return r
}

// existsIn reports whether a tick is in the window of a spec and not on an excluded day. The
// actions exclude single dates only.
func existsIn(spec *v1.CronJobSpec, zone *time.Location, tick time.Time) bool {
	isExcluded := slices.Contains(spec.Exclude, v1.ExcludedDays(tick.In(zone).Format(time.DateOnly)))
	return !isExcluded && (spec.NotBefore == nil || !tick.Before(spec.NotBefore.Time)) &&
		(spec.NotAfter == nil || !tick.After(spec.NotAfter.Time))
}

// ticksOf returns the ticks of a cron expression; nil for another text. An expression with a
// wildcard as minute or hour fires at each instant whose civil time matches. Any other fires once a
// day for each of its times: the first time it occurs, or right after the gap that skips it.
func ticksOf(text string, zone *time.Location, from int64) []int64 {
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return nil
	}
	isWild := fields[0][0] == '*' || fields[1][0] == '*'
	matches := func(wall time.Time) bool {
		return takes(fields[0], wall.Minute()) && takes(fields[1], wall.Hour()) && takes(fields[3], int(wall.Month())) &&
			takes(fields[2], wall.Day()) && takes(fields[4], int(wall.Weekday()))
	}
	ticks := []int64{}
	wallAt := func(tick int64) time.Time { // the civil time at an instant, as UTC
		_, offset := time.Unix(tick, 0).In(zone).Zone()
		return time.Unix(tick+int64(offset), 0).UTC()
	}
	start := (from + 59) / 60 * 60
	newest := wallAt(start - 60) // the latest civil time so far
	for tick := start; tick < from+int64(span/time.Second); tick += 60 {
		wall := wallAt(tick)
		fires := false
		switch {
		case isWild:
			fires = matches(wall)
		default:
			for shown := newest.Add(time.Minute); !shown.After(wall); shown = shown.Add(time.Minute) {
				fires = fires || matches(shown) // including the times that a gap skips
			}
		}
		if fires {
			ticks = append(ticks, tick)
		}
		if wall.After(newest) {
			newest = wall
		}
	}
	return ticks
}

func takes(field string, n int) bool {
	for item := range strings.SplitSeq(field, ",") {
		bounds, step, hasStep := strings.Cut(item, "/")
		from, to, isRange := strings.Cut(bounds, "-")
		first, last, every := 0, 99, 1
		if from != "*" {
			first, _ = strconv.Atoi(from)
			last = first
		}
		if isRange {
			last, _ = strconv.Atoi(to)
		}
		if hasStep {
			every, _ = strconv.Atoi(step)
		}
		if n >= first && n <= last && (n-first)%every == 0 {
			return true
		}
	}
	return false
}

// between returns the ticks after one instant and up to another. An interval counts from anchor.
func (r *rhythm) between(after, until, anchor int64) []int64 {
	if !r.isValid || until <= after {
		return nil
	}
	if r.interval == 0 {
		i, _ := slices.BinarySearch(r.ticks, after+1)
		j, _ := slices.BinarySearch(r.ticks, until+1)
		return r.ticks[i:j]
	}
	var found []int64
	for tick := anchor + (max(after-anchor, 0)/r.interval+1)*r.interval; tick <= until; tick += r.interval {
		if r.exists(tick) {
			found = append(found, tick)
		}
	}
	return found
}

// next returns the first tick after an instant, if the model looks that far ahead.
func (r *rhythm) next(after, anchor int64) (int64, bool) {
	step := int64(span / time.Second)
	if r.interval > 0 {
		step = r.interval
	}
	for from, end := after, after+3*24*3600; from < end; from += step {
		if ticks := r.between(from, from+step, anchor); len(ticks) > 0 {
			return ticks[0], true
		}
	}
	return 0, false
}

func (r *rhythm) has(tick, anchor int64) bool { return len(r.between(tick-1, tick, anchor)) == 1 }
