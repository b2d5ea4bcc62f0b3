// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package bounds

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// recorder notes that a test would fail.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

var sink []byte

func TestWhatTakesTooMuchMemoryFails(t *testing.T) {
	for name, tc := range map[string]struct {
		size, takes int
		want        bool
	}{
		"little":                         {0, 1 << 20, false},
		"much":                           {1 << 10, 8 << 20, true},
		"much, but of a large input too": {1 << 20, 8 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			Hold(r, tc.size, func() { sink = make([]byte, tc.takes) })
			assert.Equal(t, tc.want, r.failed)
		})
	}
}

func TestWhatWorksForTooLongIsNoticed(t *testing.T) {
	var noticed atomic.Bool
	go limitTime(t.Context().Done(), 20*time.Millisecond, func() { noticed.Store(true) })
	for !noticed.Load() {
		sink = make([]byte, 1<<10)
	}
}
