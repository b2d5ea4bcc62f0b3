// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain runs the tests as on a machine whose copy of the database is wrong: in it, Paris has the
// clocks of Tokyo, and Atlantis exists.
func TestMain(m *testing.M) {
	if err := misleadTheMachine(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(os.Getenv("ZONEINFO")); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// misleadTheMachine makes the wrong database, and sets ZONEINFO, which the time package reads once.
func misleadTheMachine() error {
	archive, err := database()
	if err != nil {
		return err
	}
	tokyo, err := fs.ReadFile(archive, "Asia/Tokyo")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "zoneinfo")
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "Europe"), 0o700); err != nil {
		return err
	}
	for _, name := range []string{"Europe/Paris", "Europe/Atlantis"} {
		if err := os.WriteFile(filepath.Join(dir, name), tokyo, 0o600); err != nil {
			return err
		}
	}
	return os.Setenv("ZONEINFO", dir)
}

func TestA2TheDatabaseOfTheMachineIsNotAsked(t *testing.T) {
	misled, err := time.LoadLocation("Europe/Paris")
	require.NoError(t, err)
	noon := time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, "2026-01-01T21:00:00+09:00", noon.In(misled).Format(time.RFC3339))

	s, err := Parse("0 12 * * *", "Europe/Paris")
	require.NoError(t, err)
	next, ok := s.Next(noon)
	assert.True(t, ok)
	assert.Equal(t, "2026-01-02T11:00:00Z", next.Format(time.RFC3339))
	_, err = LoadZone("Europe/Atlantis")
	assert.ErrorIs(t, err, ErrTimeZone)
}

func TestA2OnlyNamesOfTheDatabaseAreTimeZones(t *testing.T) {
	for name, want := range map[string]string{
		"": "UTC", "UTC": "UTC", "Etc/UTC": "Etc/UTC", "EST5EDT": "EST5EDT", "America/Argentina/Ushuaia": "America/Argentina/Ushuaia",
	} {
		zone, err := LoadZone(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, zone.String())
	}
	for _, name := range []string{
		"europe/paris", "utc", "Europe", "Europe/", "/Europe/Paris", "./Europe/Paris", "Europe//Paris", "Europe/../Europe/Paris", "../zone.go",
		".", `Europe\Paris`, " ", "Local", "local", "localtime", "posixrules", "posix/Europe/Paris", "right/UTC", "Europe/Paris\x00",
	} {
		_, err := LoadZone(name)
		assert.ErrorIs(t, err, ErrTimeZone, name)
		assert.ErrorContains(t, err, "use a name of the IANA database such as Europe/Paris", name)
	}
}

func TestEachNameOfTheDatabaseIsATimeZone(t *testing.T) {
	names := ZoneNames()
	assert.Contains(t, names, "Europe/Paris")
	for _, name := range names {
		_, err := LoadZone(name)
		assert.NoError(t, err, name)
	}
}
