// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// informerLag is how long after an event was sent a manager must know it, if the machine keeps up.
const informerLag = 2 * time.Second

// How long a row of requests may pause: until a manager sends the next one, or, if it was told to
// retry later, as long as client-go waits.
const (
	breath     = 500 * time.Millisecond
	throttling = 3 * time.Second
)

// progress records which revision of CronJobs a manager's process has received, and which of its
// requests belong together: a process can't take account of an edit that it received after its
// decision.
type progress struct {
	name string // of the process, such as a-3
	lag  time.Duration

	mu   sync.Mutex
	sent []sent // by time, and by revision

	// rows has the current row of requests for each CronJob: those of one reconcile. Their decision
	// was made before the first of them.
	rows map[string]*row

	// The process did nothing from frozen to thawed.
	frozen, thawed time.Time
}

type sent struct {
	at       time.Time
	revision int64
}

type row struct {
	begun   time.Time
	pending int       // the number of requests without an answer
	until   time.Time // when the row ends unless another request comes
}

// learn records that the process has received all up to a revision.
func (p *progress) learn(revision int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.sent) - 1; last < 0 || p.sent[last].revision < revision {
		p.sent = append(p.sent, sent{time.Now(), revision})
	}
}

// knew returns the revision that the process had received long enough before an instant to know it.
func (p *progress) knew(instant time.Time) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.sent, instant.Add(-p.lag), func(s sent, by time.Time) int { return s.at.Compare(by) })
	if i == 0 {
		return 0
	}
	return p.sent[i-1].revision
}

// begin records a request for a CronJob, and returns when its row began.
func (p *progress) begin(cronJob string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	current := p.rows[cronJob]
	if current == nil || current.pending == 0 && now.After(current.until) {
		current = &row{begun: now}
		if now.Before(p.thawed.Add(breath)) {
			current.begun = p.frozen // the decision may be from before the freeze
		}
		p.rows[cronJob] = current
	}
	current.pending++
	return current.begun
}

// end records an answer, or that the process has given up waiting for it. A status is the last
// request of a reconcile.
func (p *progress) end(cronJob string, target Target, code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	current := p.rows[cronJob]
	if current == nil {
		return
	}
	current.pending--
	if target == Statuses && code != http.StatusTooManyRequests && current.pending <= 0 {
		delete(p.rows, cronJob)
		return
	}
	until := time.Now().Add(breath)
	if code == http.StatusTooManyRequests {
		until = time.Now().Add(throttling)
	}
	if until.After(current.until) { // another request may be about to be retried
		current.until = until
	}
}

// froze records that the process did nothing from an instant until now. What it received in that
// time, or shortly before, it can process only now, and its rows continue.
func (p *progress) froze(from time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen, p.thawed = from, time.Now()
	for i := range p.sent {
		if p.sent[i].at.After(from.Add(-p.lag)) {
			p.sent[i].at = p.thawed
		}
	}
	for _, row := range p.rows {
		if row.until.After(from) {
			row.until = p.thawed.Add(breath)
		}
	}
}

// listener reads a watch of CronJobs as it is sent to a process.
type listener struct {
	*progress
	initial bool // the events are those of the initial list, in no order, which a bookmark ends
	rest    []byte
}

func (l *listener) hear(data []byte) {
	l.rest = append(l.rest, data...)
	for {
		line, rest, isWhole := bytes.Cut(l.rest, []byte("\n"))
		if !isWhole {
			return
		}
		if !l.initial || bytes.Contains(line, []byte(`"k8s.io/initial-events-end":"true"`)) {
			l.initial = false
			l.learn(revisionIn(line))
		}
		l.rest = rest
	}
}

// revisionIn returns the revision of a list or of a watch's event; 0 for anything else.
func revisionIn(data []byte) int64 {
	type object struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	var said struct {
		object
		Object object `json:"object"`
	}
	if json.Unmarshal(data, &said) != nil {
		return 0
	}
	revision, err := strconv.ParseInt(said.Metadata.ResourceVersion+said.Object.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return revision
}
