// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"sync"
	"time"
)

// How long a row of requests goes on without one: as long as it takes a manager to ask the next,
// and, when it was told to ask again later, as long as client-go waits.
const (
	breath     = 500 * time.Millisecond
	throttling = 3 * time.Second
)

// rows are the unbroken rows of requests for each CronJob: those of one reconcile. The decision
// that a request carries out was made before the first of its row.
type rows struct {
	mu   sync.Mutex
	rows map[string]*row

	// Between frozen and thawed the process did nothing.
	frozen, thawed time.Time
}

type row struct {
	begun   time.Time
	pending int       // requests without an answer
	until   time.Time // when the row ends, if nothing comes
}

func newRows() *rows { return &rows{rows: map[string]*row{}} }

// begin notes that a request for a CronJob has come, and returns when its row began.
func (r *rows) begin(cronJob string, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	current := r.rows[cronJob]
	if current == nil || current.pending == 0 && now.After(current.until) {
		current = &row{begun: now}
		if now.Before(r.thawed.Add(breath)) {
			current.begun = r.frozen // it may have been decided by then
		}
		r.rows[cronJob] = current
	}
	current.pending++
	return current.begun
}

// froze notes that the process did nothing from an instant until now: the rows that were under way
// go on.
func (r *rows) froze(from time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frozen, r.thawed = from, time.Now()
	for _, row := range r.rows {
		if row.until.After(from) {
			row.until = r.thawed.Add(breath)
		}
	}
}

// end notes that a request was answered. A status is the last that a reconcile writes.
func (r *rows) end(cronJob string, target Target, code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	current := r.rows[cronJob]
	if current == nil {
		return
	}
	current.pending--
	current.until = time.Now().Add(breath)
	switch {
	case code == http.StatusTooManyRequests:
		current.until = time.Now().Add(throttling)
	case target == Statuses && current.pending <= 0:
		delete(r.rows, cronJob)
	}
}
