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

// live has the faults of requests that are in progress: bursts and refusals. The zero value is
// empty.
type live struct {
	mu     sync.Mutex
	faults []*fault
}

type fault struct {
	Step
	until  time.Time // when a burst ends that has not struck enough requests
	struck int       // the number of requests
}

func (l *live) begin(step Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, &fault{Step: step, until: time.Now().Add(patience)})
}

// end ends a fault, and returns how many requests it struck.
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

// strike returns the burst that strikes a request; "" for none.
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

// refused returns a webhook's refusal of a request; nil for none.
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
