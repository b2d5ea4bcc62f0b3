// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// environment describes the machine, without naming it, and the programs.
func environment(ctx context.Context, o *options) (results.Environment, error) {
	e := results.Environment{
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Kubernetes: versionOf(ctx, filepath.Join(localcluster.BinDir(o.root), "kube-apiserver")), Operator: versionOf(ctx, o.manager),
	}
	proc, err := procfs.NewDefaultFS()
	cpus, cpuErr := proc.CPUInfo()
	memory, memoryErr := proc.Meminfo()
	if err := errors.Join(err, cpuErr, memoryErr); err != nil {
		return e, fmt.Errorf("describing the machine: %w", err)
	}
	for _, cpu := range cpus {
		e.CPU = cpu.ModelName
	}
	e.Memory = float64(ptr.Deref(memory.MemTotalBytes, 0))
	return e, nil
}

// versionOf returns the version that a program prints; "" if it can't be run, as its start will
// fail.
func versionOf(ctx context.Context, program string) string {
	out, _ := exec.CommandContext(ctx, program, "--version").Output()
	fields := strings.Fields(string(out))
	return strings.Join(fields[max(0, len(fields)-1):], "")
}

func memoryLimit(o *options) (limit int64, err error) {
	if chosen := o.memory.Value(); chosen > 0 {
		return chosen, nil
	}
	deployment := &appsv1.Deployment{}
	content, err := os.ReadFile(filepath.Join(o.root, "config", "manager", "manager.yaml"))
	if err == nil {
		err = yaml.Unmarshal(content, deployment)
	}
	if err != nil {
		return 0, fmt.Errorf("reading the operator's deployment: %w", err)
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		limit += container.Resources.Limits.Memory().Value()
	}
	return limit, nil
}

// benchmarked has the packages whose Go benchmarks are in the results.
var benchmarked = []string{"internal/schedule", "internal/plan", "apis/batch/v2", "internal/webhook/conversion"}

func (b *bench) micro(ctx context.Context) error {
	b.results.Results = slices.DeleteFunc(b.results.Results, func(r results.Result) bool { return r.Stage == results.Micro })
	for _, name := range benchmarked {
		command := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=.", "-benchmem", "./"+name) //nolint:gosec // constants
		command.Dir, command.Stderr = b.root, os.Stderr
		// The tests of some packages start a control plane if they find one.
		command.Env = append(os.Environ(), "KUBEBUILDER_ASSETS=")
		out, err := command.Output()
		if err != nil {
			return fmt.Errorf("benchmarking %s: %w: %s", name, err, out)
		}
		for line := range bytes.Lines(out) {
			var benchmark string
			var iterations, ns, size, allocations float64
			_, err := fmt.Sscanf(string(line), "Benchmark%s %f %f ns/op %f B/op %f allocs/op",
				&benchmark, &iterations, &ns, &size, &allocations)
			if err != nil {
				continue // another line
			}
			result := results.New(results.Micro, name+" "+strings.TrimSuffix(benchmark, fmt.Sprintf("-%d", runtime.GOMAXPROCS(0))), 0)
			result.Values["ns"], result.Values["bytes"], result.Values[results.Allocated] = ns, size, allocations
			b.results.Add(*result)
			b.failures = append(b.failures, result.Failures(0)...)
		}
	}
	return b.results.Save(b.file)
}

// report saves the results for docs/performance.md, and prints them as tables.
func (b *bench) report(context.Context) error {
	if err := b.results.Save(filepath.Join(b.root, "docs", "performance", "results.json")); err != nil {
		return err
	}
	return b.results.WriteTables(os.Stdout)
}
