// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"tutorial.kubebuilder.io/project/test/chaos/history"
)

// clock is by how much the managers' clocks are stepped against the machine's. They read it from a
// file.
type clock struct {
	path   string
	hidden time.Duration // a step that the history does not tell of
	log    *history.Log

	mu    sync.Mutex
	steps []stepped
}

type stepped struct {
	at   time.Time
	step time.Duration
}

// newClock makes a clock that is not stepped.
func newClock(path string, hidden time.Duration, log *history.Log) (*clock, error) {
	c := &clock{path: path, hidden: hidden, log: log, steps: []stepped{{}}}
	return c, os.WriteFile(path, []byte(hidden.String()), 0o600)
}

// set steps the clock.
func (c *clock) set(step time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if err := renameio.WriteFile(c.path, []byte((step + c.hidden).String()), 0o600); err != nil {
		return fmt.Errorf("stepping the clock: %w", err)
	}
	c.steps = append(c.steps, stepped{now, step})
	c.log.Add(history.Record{At: now, Clock: &history.Clock{Step: step}})
	return nil
}

// unsure is how long around a step either may have been read.
const unsure = time.Second

// around returns the steps that may have been in force when something was decided, between two
// instants.
func (c *clock) around(from, to time.Time) []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var steps []time.Duration
	for i, s := range c.steps {
		if s.at.After(to.Add(unsure)) {
			break
		}
		if i+1 < len(c.steps) && c.steps[i+1].at.Before(from.Add(-unsure)) {
			continue
		}
		if !slices.Contains(steps, s.step) {
			steps = append(steps, s.step)
		}
	}
	return steps
}
