// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
)

func TestTheRuntimeKeepsToNineTenthsOfTheContainersMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	limitMemory(0)
	assert.Equal(t, before, debug.SetMemoryLimit(-1), "by default, it is GOMEMLIMIT's to say")
	limitMemory(1000)
	assert.EqualValues(t, 900, debug.SetMemoryLimit(-1))
}

// forcedCollections returns how often something but the runtime itself has had garbage collected.
func forcedCollections() uint32 {
	stats := &runtime.MemStats{}
	runtime.ReadMemStats(stats)
	return stats.NumForcedGC
}

func TestANewLeaderHasTheGarbageOfItsFirstListsCollectedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := forcedCollections()
		ctx, lose := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- memoryRelease{&informertest.FakeInformers{Scheme: newScheme()}}.Start(ctx) }()
		time.Sleep(releaseDelay - time.Nanosecond)
		synctest.Wait()
		assert.Equal(t, before, forcedCollections(), "what is due goes before it")
		require.NoError(t, <-ended)
		assert.Equal(t, before+1, forcedCollections())

		go func() { ended <- memoryRelease{&informertest.FakeInformers{Scheme: newScheme()}}.Start(ctx) }()
		lose()
		require.NoError(t, <-ended)
		assert.Equal(t, before+1, forcedCollections(), "who leads no more leaves it")
	})
}
