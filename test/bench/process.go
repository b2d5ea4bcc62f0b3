// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"

	"tutorial.kubebuilder.io/project/hack/localcluster"
)

// running is a contender that runs.
type running struct {
	*localcluster.Process
	proc procfs.Proc
	end  func() error
}

// usage is what a contender has used, in bytes and in all, and what was asked of the API server, by
// anybody.
type usage struct {
	cpu            time.Duration
	resident, peak uint64
	requests       requests
}

// used returns the usage so far. The CPU comes last: what it takes to answer is not in it.
func (p *cluster) used(ctx context.Context, r *running) (u usage, err error) {
	if u.requests, err = p.requests(ctx); err != nil {
		return u, err
	}
	status, err := r.proc.NewStatus()
	if err != nil {
		return u, fmt.Errorf("reading the memory of process %d: %w", r.proc.PID, err)
	}
	u.resident, u.peak = status.VmRSS, status.VmHWM
	u.cpu, err = r.cpu()
	return u, err
}

// cpu returns the CPU time that the process has used, its own and the kernel's on its behalf, in
// steps of 10 ms.
func (r *running) cpu() (time.Duration, error) {
	stat, err := r.proc.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", r.proc.PID, err)
	}
	return time.Duration(stat.CPUTime() * float64(time.Second)), nil
}

// resetPeak has the kernel forget the most that was in memory; see proc_pid_clear_refs(5).
func (r *running) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", r.proc.PID), []byte("5"), 0)
}

// A process counts as idle when it has used less than a 20th of a CPU for so long.
const (
	calm     = 5 * time.Second
	calmPoll = 500 * time.Millisecond
	calmCPU  = calmPoll / 20
)

// awaitIdle waits until the process has had nothing to do for five seconds.
func (r *running) awaitIdle(ctx context.Context) error {
	before, idle := time.Duration(0), time.Duration(0)
	err := wait.PollUntilContextCancel(ctx, calmPoll, true, func(context.Context) (bool, error) {
		now, err := r.cpu()
		idle += calmPoll
		if now-before > calmCPU {
			idle = 0
		}
		before = now
		return idle >= calm, err
	})
	if err != nil {
		return fmt.Errorf("waiting for process %d to be idle: %w", r.proc.PID, err)
	}
	return nil
}
