/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
