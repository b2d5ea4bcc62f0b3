// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"sync"
	"time"
)

// patience is how long a burst waits for requests to strike.
const patience = 10 * time.Second

// bursts are the faults of single requests that are under way. The zero value has none.
type bursts struct {
	mu   sync.Mutex
	live []*burst
}

type burst struct {
	Step
	left  int
	until time.Time
}

// begin begins one.
func (b *bursts) begin(step Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live = append(b.live, &burst{Step: step, left: step.Count, until: time.Now().Add(patience)})
}

// strike returns the fault that a request is struck by; "" for none.
func (b *bursts) strike(target Target) Kind {
	if target == "" {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for _, burst := range b.live {
		if burst.Target == target && burst.left > 0 && now.Before(burst.until) {
			burst.left--
			return burst.Kind
		}
	}
	return ""
}

// end ends all.
func (b *bursts) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live = nil
}
