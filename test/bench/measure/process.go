// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package measure measures controllers from outside: the CPU and the memory of their processes,
// what they ask of the API server, and when a watch sees the Jobs that they create.
package measure

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"
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

// CPU returns the CPU time that the process has used, its own and the kernel's on its behalf, in
// steps of 10 ms.
func (p Process) CPU() (time.Duration, error) {
	stat, err := p.proc.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", p.proc.PID, err)
	}
	return time.Duration(stat.CPUTime() * float64(time.Second)), nil
}

// Memory returns how much of the process is in memory, in bytes, and the most that was since its
// start or [Process.ResetPeak].
func (p Process) Memory() (resident, peak uint64, err error) {
	status, err := p.proc.NewStatus()
	if err != nil {
		return 0, 0, fmt.Errorf("reading the memory of process %d: %w", p.proc.PID, err)
	}
	return status.VmRSS, status.VmHWM, nil
}

// ResetPeak has the kernel forget the most that was in memory; see proc_pid_clear_refs(5).
func (p Process) ResetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.proc.PID), []byte("5"), 0)
}

// A process counts as idle when it has used less than a 20th of a CPU for so long.
const (
	calm     = 5 * time.Second
	calmPoll = 500 * time.Millisecond
	calmCPU  = calmPoll / 20
)

// AwaitIdle waits until the process has had nothing to do for five seconds.
func (p Process) AwaitIdle(ctx context.Context) error {
	before, idle := time.Duration(0), time.Duration(0)
	err := wait.PollUntilContextCancel(ctx, calmPoll, true, func(context.Context) (bool, error) {
		now, err := p.CPU()
		idle += calmPoll
		if now-before > calmCPU {
			idle = 0
		}
		before = now
		return idle >= calm, err
	})
	if err != nil {
		return fmt.Errorf("waiting for process %d to be idle: %w", p.proc.PID, err)
	}
	return nil
}
