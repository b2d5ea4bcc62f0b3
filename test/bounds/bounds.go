// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package bounds fails tests in which an input takes too much time or memory.
package bounds

import (
	"fmt"
	"runtime/metrics"
	"testing"
	"time"
)

// The limits are far above what an input takes, even with the race detector, which is ten times
// slower. Work that is quadratic in the size of its input exceeds them for inputs as large as a
// request may be.
const (
	mostTime        = 20 * time.Second // CPU time
	mostMemory      = 4 << 20
	memoryPerByte   = 256
	allocatedMetric = "/gc/heap/allocs:bytes"
)

// Hold calls a function with an input of some size. It fails the test if that allocates more than 4
// MiB plus 256 times the size. After 20 seconds of CPU time it panics, since it can't return: a
// fuzz target then saves the input as a crasher. Nothing else may run in the process meanwhile.
func Hold(t testing.TB, size int, run func()) {
	t.Helper()
	ended := make(chan struct{})
	defer close(ended)
	go limitTime(ended, mostTime, func() { panic(fmt.Sprintf("%s: an input of %d bytes takes more than %s", t.Name(), size, mostTime)) })
	before := allocated()
	run()
	most := uint64(mostMemory + memoryPerByte*size) //nolint:gosec // a size is not negative
	if took := allocated() - before; took > most {
		t.Errorf("an input of %d bytes takes %d bytes of memory, more than %d", size, took, most)
	}
}

// limitTime calls back if the process uses more CPU time than this before ended is closed.
func limitTime(ended <-chan struct{}, most time.Duration, tooLong func()) {
	looks := time.NewTicker(most / 20)
	defer looks.Stop()
	begin := workedFor()
	for {
		select {
		case <-ended:
			return
		case <-looks.C:
			if workedFor()-begin > most {
				tooLong()
				return
			}
		}
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: allocatedMetric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
