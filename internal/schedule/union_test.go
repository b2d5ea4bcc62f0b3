// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestS19TheTicksOfSeveralSchedulesAreTheUnionOfTheirs compares random unions with the model that
// looks at the clock on the wall once a minute, for each schedule by itself, around every shift of
// odd clocks.
func TestS19TheTicksOfSeveralSchedulesAreTheUnionOfTheirs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range append(oddZones, "Europe/Paris", "America/St_Johns") {
		zone, err := LoadZone(name)
		require.NoError(t, err)
		windows, instants := aroundShifts(shiftsOf(zone))
		for i, w := range windows {
			texts := make([]string, 2+random.IntN(4))
			entries := make([]*vixie, len(texts))
			for i := range texts {
				texts[i] = walked[random.IntN(len(walked))]
				entries[i] = newVixie(t, texts[i])
			}
			s, err := mustParse(t, texts[0], name).With(texts[1:])
			require.NoError(t, err)
			want := slices.Concat(w.walk(t, entries, zone)...)
			slices.SortFunc(want, time.Time.Compare)
			w.requireTicks(t, s, slices.Compact(want), instants[3*i:3*i+3], strings.Join(texts, " | ")+" in "+name)
		}
	}
}

func TestS19ATickThatSchedulesShareIsOne(t *testing.T) {
	s, err := mustParse(t, "0 9 * * *", "Europe/Paris").With([]string{"0 9 * * 1-5", "@hourly", "30 9 * * *"})
	require.NoError(t, err)
	assert.Equal(t, 3, Ticks{schedule: s}.Count(at("2026-01-05T07:30:00Z"), at("2026-01-05T09:30:00Z"), 100), "08:00, 08:30 and 09:00 in UTC")
}

func TestS19WithLeavesTheScheduleThatItIsMadeFrom(t *testing.T) {
	s, err := mustParse(t, "0 9 * * *", "").With([]string{"0 10 * * *"})
	require.NoError(t, err)
	for _, text := range []string{"0 11 * * *", "0 12 * * *"} {
		_, err = s.With([]string{text})
		require.NoError(t, err)
	}
	assert.Equal(t, 2, Ticks{schedule: s}.Count(at("2026-01-05T00:00:00Z"), at("2026-01-06T00:00:00Z"), 100))
}

func TestA5WhatIsWrongWithSeveralSchedulesNamesTheOne(t *testing.T) {
	for name, tc := range map[string]struct {
		text       string
		additional []string
		want       string
	}{
		"no schedule":         {"0 9 * * *", []string{"@daily", "61 * * * *"}, `additionalSchedules[1]: not a schedule: minute "61": ` + wantMinute},
		"30 February":         {"0 9 * * *", []string{"0 0 30 2 *"}, "additionalSchedules[0]: never fires: no day has this day of month, month, hour and minute"},
		"an interval":         {"0 9 * * *", []string{"@every 5m"}, "additionalSchedules[0]: " + ErrCombined.Error()},
		"beside an interval":  {"@every 5m", []string{"0 9 * * *"}, ErrCombined.Error()},
		"an interval alone":   {"@every 5m", nil, ""},
		"none beside another": {"0 9 * * *", []string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mustParse(t, tc.text, "").With(tc.additional)
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, tc.want)
		})
	}
	_, err := ParseCombined("@every 5m", "")
	mistake := &Mistake{}
	require.ErrorAs(t, err, &mistake)
	assert.Equal(t, "every", mistake.Field)
	assert.Equal(t, "5m", mistake.Value)
}

func BenchmarkLastTickOfSeventeenSchedules(b *testing.B) {
	s, err := mustParse(b, "* * * * *", "Europe/Paris").With(slices.Repeat([]string{"30 10,11,12 29 2 *"}, 16))
	require.NoError(b, err)
	after, now := at("2016-01-01T00:00:00Z"), at("2026-01-01T00:00:30Z")
	b.ReportAllocs()
	for b.Loop() {
		s.Last(after, now)
	}
}
