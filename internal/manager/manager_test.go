// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheRuntimeKeepsToNineTenthsOfTheContainersMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	limitMemory(0)
	assert.Equal(t, before, debug.SetMemoryLimit(-1), "by default, it is GOMEMLIMIT's to say")
	limitMemory(1000)
	assert.EqualValues(t, 900, debug.SetMemoryLimit(-1))
}
