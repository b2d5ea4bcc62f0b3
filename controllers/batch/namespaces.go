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

// tickingNamespaces counts the namespaces in which ticks recently ran or were missed. The alert on
// missed ticks needs the counts to tell a problem of one tenant from one of all. Metrics have no
// namespace label: it would make a series for each tenant, and expose object names. The zero value
// is ready for use.
type tickingNamespaces struct {
	mu     sync.Mutex
	ticked map[string]time.Time // when a tick last ran or was missed
	missed map[string]time.Time // when one was last missed
}

func (n *tickingNamespaces) noteRun(namespace string, now time.Time) {
	n.note(namespace, now, false)
}

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

// count returns in how many namespaces a tick ran or was missed within namespaceWindow; if missed
// is true, only in how many one was missed.
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
