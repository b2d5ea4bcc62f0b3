// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
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
}

// set steps the clock. The history has it before any manager.
func (c *clock) set(step time.Duration) error {
	c.log.Add(history.Record{Clock: &history.Clock{Step: step}})
	if err := renameio.WriteFile(c.path, []byte((step + c.hidden).String()), 0o600); err != nil {
		return fmt.Errorf("stepping the clock: %w", err)
	}
	return nil
}
