// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"maps"
	"sync"
	"time"
)

// namespaceWindow is for how long a namespace counts after a tick.
const namespaceWindow = 15 * time.Minute

// tickingNamespaces counts the namespaces in which ticks ran or were missed of late. The alert on
// missed ticks tells by it whether one tenant has a problem or all of them have. The metrics have
// the number alone: a label with the namespaces would make as many series as there are tenants, and
// name their objects. The zero value is ready for use.
type tickingNamespaces struct {
	mu     sync.Mutex
	ticked map[string]time.Time // when a tick ran or was missed last
	missed map[string]time.Time // when one was missed last
}

// noteRun notes that a tick has run.
func (n *tickingNamespaces) noteRun(namespace string, now time.Time) {
	n.note(namespace, now, false)
}

// noteMissed notes that a tick was missed.
func (n *tickingNamespaces) noteMissed(namespace string, now time.Time) {
	n.note(namespace, now, true)
}

func (n *tickingNamespaces) note(namespace string, now time.Time, isMissed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ticked == nil {
		n.ticked, n.missed = map[string]time.Time{}, map[string]time.Time{}
	}
	n.ticked[namespace] = now
	if isMissed {
		n.missed[namespace] = now
	}
}

// count returns how many namespaces have ticked of late, or have missed a tick.
func (n *tickingNamespaces) count(now time.Time, missed bool) float64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	counted := n.ticked
	if missed {
		counted = n.missed
	}
	maps.DeleteFunc(counted, func(_ string, last time.Time) bool { return now.Sub(last) > namespaceWindow })
	return float64(len(counted))
}
