// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"archive/zip"
	_ "embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// zoneArchive is the IANA database as it comes with Go. make generate copies it.
//
//go:embed zoneinfo.zip
var zoneArchive string

// database reads zoneArchive. No other copy is asked, so that the manager and the plugin of one
// release agree on every tick: time.LoadLocation prefers the machine's copy, even to time/tzdata.
// 4d63.com/tz does the same as this, but its database is as old as its last release.
var database = sync.OnceValues(func() (*zip.Reader, error) {
	return zip.NewReader(strings.NewReader(zoneArchive), int64(len(zoneArchive)))
})

// zones caches the loaded time zones.
var zones sync.Map // of string to *time.Location

// LoadZone returns the time zone of a name of the IANA database; "" is UTC. An error wraps
// ErrTimeZone.
func LoadZone(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil //nolint:forcetypeassert // only locations are stored
	}
	if isMachineZone(name) {
		return nil, fmt.Errorf("%w %q: it depends on the machine, use a name of the IANA database such as Europe/Paris", ErrTimeZone, name)
	}
	zone, err := readZone(name)
	if err != nil {
		return nil, fmt.Errorf("%w %q: use a name of the IANA database such as Europe/Paris", ErrTimeZone, name)
	}
	zones.Store(name, zone)
	return zone, nil
}

func readZone(name string) (*time.Location, error) {
	archive, err := database()
	if err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(archive, name)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}

// ZoneNames returns the names of all time zones of the database.
func ZoneNames() []string {
	archive, err := database()
	if err != nil {
		return nil
	}
	var names []string
	for _, file := range archive.File {
		if !file.FileInfo().IsDir() {
			names = append(names, file.Name)
		}
	}
	return names
}

// isMachineZone reports whether some machines have the name in addition to those of the database.
func isMachineZone(name string) bool {
	switch strings.ToLower(name) {
	case "local", "localtime", "posixrules":
		return true
	}
	return strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/")
}

// period is a span of time in a zone without a shift of the clock. Within it, an instant and its
// civil time (what a clock on the wall shows, as a time in UTC) differ by offset. A shift forward
// skips civil times, the gap; a shift backward repeats some:
//
//	instants ───────────────┤ start ├───────────────►
//	forward    01:58  01:59 │ 03:00   03:01             gap: 02:00 until 03:00
//	backward   02:58  02:59 │ 02:00   02:01             repeated until 03:00
type period struct {
	start, end     time.Time // zero where the zone's first or last offset has no bound
	offset, before time.Duration
}

func periodAt(t time.Time, zone *time.Location) period {
	local := t.In(zone)
	p := period{offset: offsetOf(local)}
	p.before = p.offset
	p.start, p.end = boundsAt(local)
	if !p.start.IsZero() {
		p.before = offsetOf(p.start.Add(-time.Second))
	}
	return p
}

// boundsAt corrects two errors of ZoneBounds around the last shift that the zone's data lists.
// After it, the data has a rule for all later years.
func boundsAt(local time.Time) (start, end time.Time) {
	start, end = local.ZoneBounds()
	if !end.IsZero() && !end.After(local) {
		// ZoneBounds takes every year to have 365 days: on the last day of a leap year, the end
		// that it returns has passed (https://go.dev/issue/81583). No clock shifts on that day.
		end = local.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).In(local.Location())
	}
	// The rule's last shift may lie before the last that is listed, as for Ciudad Juárez at the end
	// of 2022.
	for !start.IsZero() {
		_, next := start.ZoneBounds()
		if next.IsZero() || next.After(local) || !next.After(start) {
			break
		}
		start = next
	}
	return start, end
}

func offsetOf(local time.Time) time.Duration {
	_, seconds := local.Zone()
	return time.Duration(seconds) * time.Second
}

func (p period) civil(instant time.Time) time.Time { return instant.UTC().Add(p.offset) }

func (p period) instant(civil time.Time) time.Time { return civil.Add(-p.offset) }

// gap returns the first civil time that the shift at the start of the period skips, and the first
// one after the gap. If there is no gap, the second is not after the first.
func (p period) gap() (time.Time, time.Time) {
	if p.start.IsZero() {
		return time.Time{}, time.Time{}
	}
	return p.start.UTC().Add(p.before), p.start.UTC().Add(p.offset)
}

// repeatedUntil returns the first civil time of the period that does not repeat an earlier one.
func (p period) repeatedUntil() time.Time {
	if p.start.IsZero() {
		return time.Time{}
	}
	return p.start.UTC().Add(p.before)
}
