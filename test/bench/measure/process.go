// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package measure looks at controllers from outside: the CPU and memory of their process, what they ask of
// the API server, and when their Jobs are there. It takes nothing on the controller's word.
package measure

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/procfs"
)

// Process is a process of this machine.
type Process struct{ proc procfs.Proc }

// ProcessOf returns the process with an id. Linux alone has what it reads, /proc.
func ProcessOf(pid int) (Process, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return Process{}, fmt.Errorf("looking for process %d: %w", pid, err)
	}
	return Process{proc}, nil
}

// CPU returns the CPU time that the process has used, its own and the kernel's on its behalf, in steps of 10 ms.
func (p Process) CPU() (time.Duration, error) {
	stat, err := p.proc.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", p.proc.PID, err)
	}
	return time.Duration(stat.CPUTime() * float64(time.Second)), nil
}

// Resident returns how much of the process is in memory, in bytes.
func (p Process) Resident() (uint64, error) {
	status, err := p.proc.NewStatus()
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", p.proc.PID, err)
	}
	return status.VmRSS, nil
}

// PeakResident returns the most of the process that has ever been in memory, in bytes.
func (p Process) PeakResident() (uint64, error) {
	status, err := p.proc.NewStatus()
	if err != nil {
		return 0, fmt.Errorf("reading the memory of process %d: %w", p.proc.PID, err)
	}
	return status.VmHWM, nil
}

// When a process counts as idle: it has used less than a 20th of a CPU for so long.
const (
	calm     = 5 * time.Second
	calmPoll = 500 * time.Millisecond
	calmCPU  = calmPoll / 20
)

// AwaitIdle waits until the process has had nothing to do for five seconds.
func (p Process) AwaitIdle(ctx context.Context) error {
	before, err := p.CPU()
	if err != nil {
		return err
	}
	ticker := time.NewTicker(calmPoll)
	defer ticker.Stop()
	for idle := time.Duration(0); idle < calm; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for process %d to be idle: %w", p.proc.PID, context.Cause(ctx))
		case <-ticker.C:
		}
		now, err := p.CPU()
		if err != nil {
			return err
		}
		idle += calmPoll
		if now-before > calmCPU {
			idle = 0
		}
		before = now
	}
	return nil
}

// peakPoll is how often the memory is looked at for its peak.
const peakPoll = 100 * time.Millisecond

// Peak follows the memory of a process.
type Peak struct {
	highest atomic.Uint64
	cancel  context.CancelFunc
	ended   chan struct{}
}

// FollowResident looks at the process's memory until [Peak.Stop].
func (p Process) FollowResident(ctx context.Context) *Peak {
	ctx, cancel := context.WithCancel(ctx)
	peak := &Peak{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(peak.ended)
		ticker := time.NewTicker(peakPoll)
		defer ticker.Stop()
		for {
			if resident, err := p.Resident(); err == nil && resident > peak.highest.Load() {
				peak.highest.Store(resident)
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return peak
}

// Stop ends the looking and returns the most that was seen, in bytes.
func (p *Peak) Stop() uint64 {
	p.cancel()
	<-p.ended
	return p.highest.Load()
}
