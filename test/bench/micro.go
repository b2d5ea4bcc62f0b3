/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
