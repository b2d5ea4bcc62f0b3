// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// patience is how long a burst waits for requests to strike.
const patience = 10 * time.Second

// live are the faults of requests that are under way: bursts, and refusals that last. The zero
// value has none.
type live struct {
	mu     sync.Mutex
	faults []*fault
}

type fault struct {
	Step
	until  time.Time // when a burst ends that has not struck enough
	struck int       // how many requests it has struck
}

func (l *live) begin(step Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, &fault{Step: step, until: time.Now().Add(patience)})
}

// end ends one, and returns how many requests it has struck.
func (l *live) end(step Step) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.faults, func(f *fault) bool { return f.Step == step })
	struck := l.faults[i].struck
	l.faults = slices.Delete(l.faults, i, i+1)
	return struck
}

func (l *live) endAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = nil
}

// strike returns the fault of a burst that a request is struck by; "" for none.
func (l *live) strike(target Target) Kind {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.faults {
		if isBurst(f.Kind) && f.Target == target && f.struck < f.Count && time.Now().Before(f.until) {
			f.struck++
			return f.Kind
		}
	}
	return ""
}

// refused returns what a webhook answers to a request; nil if none refuses it.
func (l *live) refused(namespace string, target Target) *apierrors.StatusError {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.faults {
		refusal := refusals[f.Kind]
		if f.Namespace != "" && f.Namespace == namespace && refusal.manifest == "" && refusal.target == target {
			return passedOn(refusal.code)
		}
	}
	return nil
}

func (l *live) note(namespace string, target Target, code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.faults {
		refusal := refusals[f.Kind]
		if f.Namespace != "" && f.Namespace == namespace && refusal.target == target && refusal.code == code {
			f.struck++
		}
	}
}
