// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the operator beside Kubernetes' own CronJob controller, on a control plane
// of its own on this machine, and writes docs/performance.md.
//
// Run it by "make bench", which builds what it needs. It leaves no process behind, and no files but
// the results.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == bareClient {
		plane.Main(bareClient, runBareClient)
		return
	}
	plane.Main("bench", run)
}

// bench is a run.
type bench struct {
	options
	*cluster
	results  *results.Results
	failures []string
}

// options are what the command line says.
type options struct {
	stages     []string
	numbers    []int
	contenders []contender
	objects    int
	span       time.Duration
	churning   time.Duration
	file       string
	manager    string
	root       string // the project's directory
}

// churnStage is run only if it is named.
const churnStage = "churn"

// stages in the order in which they are run.
var stages = []struct {
	name    string
	cluster bool // whether it needs the control plane
	run     func(*bench, context.Context) error
}{
	{"ticks", true, (*bench).ticks},
	{"idle", true, (*bench).idle},
	{"versions", true, (*bench).versions},
	{"restart", true, (*bench).restart},
	{"tenants", true, (*bench).tenants},
	{"micro", false, (*bench).micro},
	{"report", false, (*bench).report},
	{churnStage, true, (*bench).churn},
}

// parseFlags reads the command line.
func parseFlags(args []string) (*options, error) {
	o := &options{}
	var names []string
	for _, stage := range stages {
		names = append(names, stage.name)
	}
	usual := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == churnStage })
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	chosen := flags.String("stages", strings.Join(usual, ","), "`names` of the stages to run; the results of others stay as they are")
	numbers := flags.String("n", "1000,5000,20000", "`numbers` of CronJobs that are due at once")
	contending := flags.String("contenders", "bare,operator,tuned,shipped", "`names` of those to measure")
	flags.IntVar(&o.objects, "objects", 20000, "`number` of CronJobs in the stages idle, versions and restart")
	flags.DurationVar(&o.span, "idle", 10*time.Minute, "`duration` of the stage idle, for each contender")
	flags.DurationVar(&o.churning, "churn", 30*time.Minute, "`duration` of the stage "+churnStage+", which is run only if it is named")
	flags.StringVar(&o.manager, "manager", "bin/manager", "`file` of the manager to measure, to compare builds")
	flags.StringVar(&o.file, "results", "bin/bench/results.json", "`file` with the results, in which those of this run replace older ones")
	err := flags.Parse(args)
	if err != nil {
		return nil, err
	}
	if o.root, err = localcluster.FindRoot(); err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(*chosen, ",") {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("-stages: there is no %q: want some of %s", name, strings.Join(names, ","))
		}
		o.stages = append(o.stages, name)
	}
	for text := range strings.SplitSeq(*numbers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-n: %q is no number of CronJobs: want 1 or more", text)
		}
		o.numbers = append(o.numbers, n)
	}
	for name := range strings.SplitSeq(*contending, ",") {
		c, err := contenderOf(results.Contender(name))
		if err != nil {
			return nil, err
		}
		o.contenders = append(o.contenders, c)
	}
	return o, nil
}

// run does what the command line says.
func run(ctx context.Context, args []string) (err error) {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	b := &bench{options: *o}
	if b.results, err = results.Load(b.file); err != nil {
		return err
	}
	defer func() {
		if b.cluster != nil {
			err = errors.Join(err, b.Stop())
		}
	}()
	for _, stage := range stages {
		if !slices.Contains(b.stages, stage.name) {
			continue
		}
		if stage.cluster && b.cluster == nil {
			if b.results.Environment, err = environment(ctx, o); err != nil {
				return err
			}
			if b.cluster, err = startCluster(ctx, o); err != nil {
				return err
			}
		}
		if err := stage.run(b, ctx); err != nil {
			return fmt.Errorf("stage %s: %w", stage.name, err)
		}
	}
	if len(b.failures) > 0 {
		return fmt.Errorf("the operator did not do what it must:\n  %s", strings.Join(b.failures, "\n  "))
	}
	return nil
}

// keep adds a result to the results, notes what failed, and saves them.
func (b *bench) keep(result any) error {
	line, err := json.Marshal(result)
	if err != nil {
		return err
	}
	plane.Logf("%T %s", result, line)
	b.failures = append(b.failures, b.results.Add(result)...)
	return b.results.Save(b.file)
}

// checkMemory notes it as a failure if the operator has taken more memory than it would have had
// where it is deployed. Here nobody keeps it from that.
func (b *bench) checkMemory(c contender, when string, peak uint64) {
	if limit := uint64(b.memoryLimit); c.id == results.Operator && peak > limit { //nolint:gosec // it is positive
		b.failures = append(b.failures, fmt.Sprintf("%s: %d MiB of memory: deployed, it has %d", when, peak>>20, limit>>20))
	}
}
