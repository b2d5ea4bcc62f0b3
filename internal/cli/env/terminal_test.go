// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATerminalIsKnownByWhatItIs(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	defer func() { assert.NoError(t, terminal.Close()) }()
	assert.Equal(t, Terminal, SourceOf(terminal))
	assert.Equal(t, defaultColumns, ColumnsOf(terminal), "its width is unknown")
}

func TestAFileIsNoTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer func() { assert.NoError(t, file.Close()) }()
	assert.Equal(t, Pipe, SourceOf(file))
	assert.Zero(t, ColumnsOf(file))
}
