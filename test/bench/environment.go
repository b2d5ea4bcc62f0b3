// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"

	"tutorial.kubebuilder.io/project/test/bench/results"
)

// environment describes the machine, but not which one it is, and what runs on it.
func environment(ctx context.Context, o *options) (results.Environment, error) {
	e := results.Environment{
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Namespaces: o.namespaces,
	}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return e, fmt.Errorf("describing the machine: %w", err)
	}
	cpus, err := proc.CPUInfo()
	if err != nil {
		return e, fmt.Errorf("describing the machine: %w", err)
	}
	if len(cpus) > 0 {
		e.CPU = cpus[0].ModelName
	}
	memory, err := proc.Meminfo()
	if err != nil {
		return e, fmt.Errorf("describing the machine: %w", err)
	}
	if memory.MemTotalBytes != nil {
		e.Memory = *memory.MemTotalBytes
	}
	e.Kubernetes = versionOf(ctx, filepath.Join(o.root, "bin", "k8s", "kube-apiserver"))
	e.Operator = versionOf(ctx, o.manager)
	return e, nil
}

// versionOf asks a program for its version; "" if it can't say. What needs the program will complain.
func versionOf(ctx context.Context, program string) string {
	//nolint:gosec // what to measure is for the command line to say
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(out))
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}
