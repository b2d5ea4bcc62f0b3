// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestShortestGap(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		text, zone string
		want       time.Duration
	}{
		{"* * * * *", "", time.Minute},
		{"*/5 * * * *", "", 5 * time.Minute},
		{"*/25 * * * *", "", 10 * time.Minute},
		{"0 * * * *", "", time.Hour},
		{"0 * * * *", "Europe/Paris", time.Hour},
		{"30 9 * * *", "", day},
		{"0 0,23 * * *", "", time.Hour},
		{"0 0,23 * * 1", "", 23 * time.Hour},
		{"0 0,23 1,15 * *", "", 23 * time.Hour},
		{"30 9 * * 1-5", "", day},
		{"30 9 * * 1,4", "", 3 * day},
		{"0 0 1 * *", "", 28 * day},
		{"0 0 29 2 *", "", (4*365 + 1) * day},
		{"0 0 1 2 5", "", day}, // the 1st, or a Friday of February
		{"@every 90m", "Europe/Paris", 90 * time.Minute},
		// The night of 23 hours, the hour that comes twice, and 02:30, which fires at 03:00.
		{"30 9 * * *", "Europe/Paris", 23 * time.Hour},
		{"0 */2 * * *", "Europe/Paris", time.Hour},
		{"30 2,3 * * *", "Europe/Paris", 30 * time.Minute},
		{"59 1,2 * * *", "Europe/Paris", time.Minute},
		{"0 4,5 * * *", "Europe/Paris", time.Hour},
		{"*/20 * * * *", "Australia/Lord_Howe", 20 * time.Minute},
		{"30 2,3 * * *", "Asia/Kathmandu", time.Hour},
		{"30 2,3 * * *", "Europe/Moscow", time.Hour}, // clocks no longer shift there
	} {
		t.Run(tc.text+" "+tc.zone, func(t *testing.T) {
			assert.Equal(t, tc.want, mustParse(t, tc.text, tc.zone).ShortestGap())
		})
	}
}

func TestShortestGapOfSeveralSchedules(t *testing.T) {
	nineOfJuly := slices.Repeat([]string{"0 0 4 7 *"}, 9)
	for _, tc := range []struct {
		texts []string
		zone  string
		want  time.Duration
	}{
		{[]string{"0 9 * * *", "15 10 * * *"}, "", 75 * time.Minute},
		{[]string{"0 9 * * *", "0 9 1 * *"}, "", 24 * time.Hour},
		{[]string{"0 * * * *", "20 0 29 2 *"}, "", 20 * time.Minute},
		{[]string{"0 * * * *", "40 0 29 2 *"}, "", 20 * time.Minute},
		{[]string{"0 0 1 1 *", "0 0 L 12 *"}, "", 24 * time.Hour},
		// The first 31sts are Saturdays.
		{append(nineOfJuly, "*/10 8-18 * * 1-5", "5/10 8-18 31 * *"), "", 5 * time.Minute},
		{[]string{"30 2 * * *", "15 3 * * *"}, "Europe/Paris", 15 * time.Minute}, // in the night in which 02:30 fires at 03:00
	} {
		t.Run(strings.Join(tc.texts, " and "), func(t *testing.T) {
			s, err := mustParse(t, tc.texts[0], tc.zone).With(tc.texts[1:])
			require.NoError(t, err)
			assert.Equal(t, tc.want, s.ShortestGap())
		})
	}
}

func BenchmarkShortestGapOfEachHour(b *testing.B) {
	s, err := Parse("0 * * * *", "Europe/Paris")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.ShortestGap()
	}
}
