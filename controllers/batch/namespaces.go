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

// recentNamespaces counts the namespaces in which something happened within namespaceWindow. The
// alert on missed ticks needs two such counts to tell a problem of one tenant from one of all.
// Metrics have no namespace label: it would make a series for each tenant, and expose object names.
// The zero value is ready for use.
type recentNamespaces struct {
	mu     sync.Mutex
	last   map[string]time.Time // when it last happened
	pruned time.Time
}

// note notes that it happened in a namespace. It prunes the others once in a namespaceWindow, because
// nothing may ever ask for the count.
func (n *recentNamespaces) note(namespace string, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		n.last = map[string]time.Time{}
	}
	n.last[namespace] = now
	if now.Sub(n.pruned) > namespaceWindow {
		n.prune(now)
	}
}

func (n *recentNamespaces) count(now time.Time) float64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prune(now)
	return float64(len(n.last))
}

// prune forgets the namespaces that don't count any more. The caller holds the lock.
func (n *recentNamespaces) prune(now time.Time) {
	n.pruned = now
	maps.DeleteFunc(n.last, func(_ string, last time.Time) bool { return now.Sub(last) > namespaceWindow })
}
