// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package bounds has tests fail on input that costs too much, be it time or memory.
package bounds

import (
	"fmt"
	"runtime/metrics"
	"testing"
	"time"
)

// What an input may cost: much more than it does, also with the race detector, which takes ten
// times as long. What grows with the square of its input goes beyond when the input is as large as
// a request may be.
const (
	mostTime        = 20 * time.Second // of the processors
	mostMemory      = 4 << 20
	memoryPerByte   = 256
	allocatedMetric = "/gc/heap/allocs:bytes"
)

// Hold runs something with an input of some bytes. It fails the test if that allocates more than 4
// MiB and 256 bytes for each byte. If it takes more than 20 seconds, not counting those that other
// processes take, it panics, as what hangs can't be told in another way: a fuzz target then keeps
// the input as one that crashes it. Nothing else may run in the process meanwhile.
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

// limitTime calls back if the process works for longer than that before something ends.
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

// allocated returns how many bytes the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: allocatedMetric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
