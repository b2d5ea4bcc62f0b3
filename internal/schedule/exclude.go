// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrExclude is wrapped by the errors for an entry of Spec.Exclude that names no days.
var ErrExclude = errors.New("not a day")

const (
	// leapYear is any year with a February 29, to parse the days of each year.
	leapYear = "2000"

	mustBeDays = "must be a date of the calendar such as 2026-12-25, a range such as 2026-12-24/2027-01-02, " +
		"or a day of each year such as --12-25"
)

// dayRange is a range of civil days, from one civil midnight until another.
type dayRange struct{ first, end time.Time }

// parseDays reads an entry of Spec.Exclude, and reports whether it is a day of each year. The error
// says what is wrong.
func parseDays(entry string) (found dayRange, isYearly bool, err error) {
	from, to, isRange := strings.Cut(entry, "/")
	layout := time.DateOnly
	if strings.HasPrefix(from, "--") {
		if isRange {
			return dayRange{}, false, errors.New("a range needs years, such as 2026-12-24/2026-12-26; of each year, write its days one by one")
		}
		layout, isYearly = "2006--01-02", true
		from = leapYear + from
	}
	if !isRange {
		to = from
	}
	first, err1 := time.Parse(layout, from)
	last, err2 := time.Parse(layout, to)
	switch {
	case err1 != nil || err2 != nil:
		return dayRange{}, false, errors.New(mustBeDays)
	case last.Before(first):
		return dayRange{}, false, fmt.Errorf("the range ends before it begins: write %s/%s", to, from)
	}
	return dayRange{first, last.Add(oneDay)}, isYearly, nil
}

// CheckDays says what is wrong with an entry of Spec.Exclude; nil if nothing is.
func CheckDays(entry string) error {
	_, _, err := parseDays(entry)
	return err
}

// exclusion has the excluded days: ticks whose local date is one of them do not exist.
type exclusion struct {
	zone *time.Location

	// ranges are sorted, and no two of them overlap or touch.
	ranges []dayRange

	// yearly has the days of each year as bits, by month.
	yearly [13]uint64
}

func newExclusion(entries []string, zone *time.Location) (exclusion, error) {
	x := exclusion{zone: zone}
	for i, entry := range entries {
		found, isYearly, err := parseDays(entry)
		switch {
		case err != nil:
			return x, fmt.Errorf("%w: exclude[%d] %q: %w", ErrExclude, i, shorten(entry), err)
		case isYearly:
			x.yearly[found.first.Month()] |= 1 << found.first.Day()
		default:
			x.ranges = append(x.ranges, found)
		}
	}
	slices.SortFunc(x.ranges, func(a, b dayRange) int { return a.first.Compare(b.first) })
	merged := x.ranges[:0]
	for _, next := range x.ranges {
		if last := len(merged) - 1; last >= 0 && !next.first.After(merged[last].end) {
			merged[last].end = latest(merged[last].end, next.end)
		} else {
			merged = append(merged, next)
		}
	}
	x.ranges = merged
	return x, nil
}

// around reports whether the local date of an instant is excluded, and returns a range of excluded
// days around it. More excluded days may follow that range or precede it.
func (x *exclusion) around(at time.Time) (dayRange, bool) {
	if len(x.ranges) == 0 && x.yearly == [13]uint64{} {
		return dayRange{}, false
	}
	civil := at.UTC().Add(offsetOf(at.In(x.zone)))
	i, ok := slices.BinarySearchFunc(x.ranges, civil, func(d dayRange, civil time.Time) int {
		switch {
		case civil.Before(d.first):
			return 1
		case civil.Before(d.end):
			return 0
		}
		return -1
	})
	if ok {
		return x.ranges[i], true
	}
	midnight := civil.Truncate(oneDay)
	found := dayRange{midnight, midnight.Add(oneDay)}
	if !x.isYearly(midnight) {
		return found, false
	}
	for range MaxExcluded { // all days of a year may be excluded
		if x.isYearly(found.end) {
			found.end = found.end.Add(oneDay)
		}
		if before := found.first.Add(-oneDay); x.isYearly(before) {
			found.first = before
		}
	}
	return found, true
}

// isYearly reports whether a civil day is excluded each year.
func (x *exclusion) isYearly(civil time.Time) bool {
	return x.yearly[civil.Month()]&(1<<civil.Day()) != 0
}

// limit returns the instant at which a search for the next tick can stop: if no day up to it that
// is not excluded has a tick, no later day has. By then all ranges are over, and the calendar with
// the days of each year has repeated.
func (x *exclusion) limit(after time.Time) time.Time {
	if last := len(x.ranges) - 1; last >= 0 {
		after = latest(after, x.ranges[last].end)
	}
	return after.AddDate(0, searchMonths, 0)
}

// after returns an instant later than at, up to which all instants are within the excluded days.
func (x *exclusion) after(within dayRange, at time.Time) time.Time {
	p := periodAt(at, x.zone)
	end := p.instant(within.end)
	switch {
	case p.end.IsZero() || end.Before(p.end):
		return end
	case p.civil(at).Sub(within.first) > maxOffset: // no shift leads back before the range
		return latest(p.end, within.end.Add(-maxOffset))
	}
	return p.end
}

// before returns an instant earlier than at, down to which all instants are within the excluded
// days.
func (x *exclusion) before(within dayRange, at time.Time) time.Time {
	p := periodAt(at, x.zone)
	first := p.instant(within.first)
	switch start := p.start.Add(-time.Nanosecond); {
	case p.start.IsZero() || !first.Before(p.start):
		return first.Add(-time.Nanosecond)
	case within.end.Sub(p.civil(at)) > maxOffset && within.first.Add(maxOffset).Before(start):
		return within.first.Add(maxOffset)
	default:
		return start
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
