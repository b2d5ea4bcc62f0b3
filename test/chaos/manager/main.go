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

// steppedClock is the clock of the machine, stepped by the duration in a file: a program in Go
// takes the time from the kernel, past the libraries that are made to fake it. As when a machine's
// clock is stepped, timers that run already are not touched.
type steppedClock string

// Now returns the time of the stepped clock.
func (c steppedClock) Now() time.Time { return time.Now().Add(c.step()) }

// Since returns the time that has passed since another of the stepped clock.
func (c steppedClock) Since(past time.Time) time.Duration { return c.Now().Sub(past) }

// step reads the file; no step without one.
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
