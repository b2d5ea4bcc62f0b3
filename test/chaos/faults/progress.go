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

// informerLag is how long a manager has, after it was sent an event, before it is taken to know it,
// if the machine keeps up.
const informerLag = 2 * time.Second

// How long a row of requests goes on without one: as long as it takes a manager to ask the next,
// and, when it was told to ask again later, as long as client-go waits.
const (
	breath     = 500 * time.Millisecond
	throttling = 3 * time.Second
)

// progress is which revision of CronJobs a manager's process has been sent, and when, and which of
// its requests belong together: nobody can obey an edit that he was not told of when he decided.
type progress struct {
	name string // of the process, such as a-3
	lag  time.Duration

	mu   sync.Mutex
	sent []sent // in the order of time and of revisions

	// rows are the unbroken rows of requests for each CronJob: those of one reconcile. The decision
	// that a request carries out was made before the first of its row.
	rows map[string]*row

	// Between frozen and thawed the process did nothing.
	frozen, thawed time.Time
}

type sent struct {
	at       time.Time
	revision int64
}

type row struct {
	begun   time.Time
	pending int       // requests without an answer
	until   time.Time // when the row ends, if nothing comes
}

// learn notes that the process has been sent all up to a revision.
func (p *progress) learn(revision int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := len(p.sent) - 1; last < 0 || p.sent[last].revision < revision {
		p.sent = append(p.sent, sent{time.Now(), revision})
	}
}

// knew returns what the process had been sent, and had had the time to take in, at an instant.
func (p *progress) knew(instant time.Time) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, _ := slices.BinarySearchFunc(p.sent, instant.Add(-p.lag), func(s sent, by time.Time) int { return s.at.Compare(by) })
	if i == 0 {
		return 0
	}
	return p.sent[i-1].revision
}

// begin notes that a request for a CronJob has come, and returns when its row began.
func (p *progress) begin(cronJob string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	current := p.rows[cronJob]
	if current == nil || current.pending == 0 && now.After(current.until) {
		current = &row{begun: now}
		if now.Before(p.thawed.Add(breath)) {
			current.begun = p.frozen // it may have been decided by then
		}
		p.rows[cronJob] = current
	}
	current.pending++
	return current.begun
}

// end notes that a request was answered. A status is the last that a reconcile writes.
func (p *progress) end(cronJob string, target Target, code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	current := p.rows[cronJob]
	if current == nil {
		return
	}
	current.pending--
	current.until = time.Now().Add(breath)
	switch {
	case code == http.StatusTooManyRequests:
		current.until = time.Now().Add(throttling)
	case target == Statuses && current.pending <= 0:
		delete(p.rows, cronJob)
	}
}

// froze notes that the process did nothing from an instant until now. What it was sent in that
// time, or shortly before, it begins to take in now, and the rows that were under way go on.
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
	initial bool // what comes now is all there is, in no order; a bookmark ends it
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

// revisionIn returns the revision of a list, or of the object of a watch's event; 0 for anything
// else.
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
