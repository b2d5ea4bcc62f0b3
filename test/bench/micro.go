// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/tools/benchmark/parse"

	"tutorial.kubebuilder.io/project/test/bench/results"
)

// benchmarked are the packages whose Go benchmarks count.
var benchmarked = []string{"internal/schedule", "internal/plan", "apis/batch/v2", "internal/webhook/conversion"}

// micro runs the Go benchmarks.
func (b *bench) micro(ctx context.Context) error {
	b.results.Micro = nil
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
			measured, err := parse.ParseLine(string(line))
			if err != nil {
				continue // a line about something else
			}
			micro := results.Micro{
				Package: name, Name: strings.TrimPrefix(measured.Name, "Benchmark"), Nanoseconds: measured.NsPerOp,
				Bytes: measured.AllocedBytesPerOp, Allocations: measured.AllocsPerOp,
			}
			micro.Name = strings.TrimSuffix(micro.Name, fmt.Sprintf("-%d", b.results.Environment.CPUs))
			b.results.Micro = append(b.results.Micro, micro)
			logf("%s: %s: %.0f ns, %d allocations", name, micro.Name, micro.Nanoseconds, micro.Allocations)
		}
	}
	return b.save()
}
