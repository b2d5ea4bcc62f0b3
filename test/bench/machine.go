// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"tutorial.kubebuilder.io/project/test/bench/results"
)

// namespaces is how many there are over which the CronJobs are spread.
const namespaces = 10

// environment describes the machine, but not which one it is, and what runs on it.
func environment(ctx context.Context, o *options) (results.Environment, error) {
	e := results.Environment{
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Namespaces: namespaces,
		Kubernetes: versionOf(ctx, filepath.Join(o.root, "bin", "k8s", "kube-apiserver")), Operator: versionOf(ctx, o.manager),
	}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return e, fmt.Errorf("describing the machine: %w", err)
	}
	cpus, cpuErr := proc.CPUInfo()
	memory, memoryErr := proc.Meminfo()
	if err := errors.Join(cpuErr, memoryErr); err != nil {
		return e, fmt.Errorf("describing the machine: %w", err)
	}
	if len(cpus) > 0 {
		e.CPU = cpus[0].ModelName
	}
	if memory.MemTotalBytes != nil {
		e.Memory = *memory.MemTotalBytes
	}
	return e, nil
}

// versionOf asks a program for its version; "" if it can't say. What needs the program will
// complain.
func versionOf(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

// memoryLimit returns how much memory, in bytes, the operator is deployed with.
func memoryLimit(root string) (int64, error) {
	path := filepath.Join(root, "config", "manager", "manager.yaml")
	manifests, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("reading the operator's deployment: %w", err)
	}
	defer func() { _ = manifests.Close() }()
	for decoder := yaml.NewYAMLOrJSONDecoder(manifests, 4096); ; {
		deployment := &appsv1.Deployment{}
		err := decoder.Decode(deployment)
		if errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("%s: no Deployment has a container with a memory limit", path)
		}
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", path, err)
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			if limit := container.Resources.Limits.Memory(); !limit.IsZero() {
				return limit.Value(), nil
			}
		}
	}
}

// benchmarked are the packages whose Go benchmarks count.
var benchmarked = []string{"internal/schedule", "internal/plan", "apis/batch/v2", "internal/webhook/conversion"}

// micro runs the Go benchmarks.
func (b *bench) micro(ctx context.Context) error {
	b.results.Results = slices.DeleteFunc(b.results.Results, func(r results.Result) bool { return r.Stage == results.Micro })
	for _, name := range benchmarked {
		command := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=.", "-benchmem", "./"+name) //nolint:gosec // constants
		command.Dir, command.Stderr = b.root, os.Stderr
		// The tests of some packages start a control plane where they find one.
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
				continue // a line about something else
			}
			benchmark = strings.TrimSuffix(benchmark, fmt.Sprintf("-%d", runtime.GOMAXPROCS(0)))
			b.results.Add(results.Result{Stage: results.Micro, Of: name + " " + benchmark, Values: map[string]float64{
				"ns": ns, "bytes": size, "allocations": allocations,
			}})
		}
	}
	return b.results.Save(b.file)
}

// report writes the page.
func (b *bench) report(context.Context) error {
	page := &bytes.Buffer{}
	if err := b.results.WritePage(page); err != nil {
		return err
	}
	docs := filepath.Join(b.root, "docs")
	if err := b.results.Save(filepath.Join(docs, "performance", "results.json")); err != nil {
		return err
	}
	//nolint:gosec // it is to be read by all
	if err := os.WriteFile(filepath.Join(docs, "performance.md"), page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
