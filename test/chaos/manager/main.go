// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager is the manager with a clock that a storm can step.
package main

import (
	"os"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/internal/manager"
)

func main() {
	os.Exit(manager.Main(os.Args[1:], os.Getenv, "chaos", steppedClock(os.Getenv("CHAOS_CLOCK"))))
}

// steppedClock is the machine's clock, stepped by the duration in a file. Libraries that fake the
// time do not work, since a Go program reads it from the kernel. As with a real step, running
// timers do not change.
type steppedClock string

// Now returns the time of the stepped clock.
func (c steppedClock) Now() time.Time { return time.Now().Add(c.step()) }

// Since returns the time since an instant of the stepped clock.
func (c steppedClock) Since(past time.Time) time.Duration { return c.Now().Sub(past) }

// step reads the file; 0 without one.
func (c steppedClock) step() time.Duration {
	text, err := os.ReadFile(string(c))
	if err != nil {
		return 0
	}
	step, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic("CHAOS_CLOCK: " + err.Error())
	}
	return step
}
