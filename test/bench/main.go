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

// report is the stage that writes the page.
const report = "report"

// stages in the order in which they are run, and whether they need the control plane. Churn is run
// only if it is named.
var stages = []struct {
	name    string
	cluster bool
	run     func(*bench, context.Context) error
}{
	{results.Ticks, true, (*bench).ticks},
	{results.Idle, true, (*bench).idle},
	{results.Versions, true, (*bench).versions},
	{results.Restart, true, (*bench).restart},
	{results.Tenants, true, (*bench).tenants},
	{results.Micro, false, (*bench).micro},
	{report, false, (*bench).report},
	{results.Churn, true, (*bench).churn},
}

// parseFlags reads the command line.
func parseFlags(args []string) (*options, error) {
	o := &options{}
	var stageNames, contenderNames []string
	for _, stage := range stages {
		stageNames = append(stageNames, stage.name)
	}
	for _, c := range contenders {
		contenderNames = append(contenderNames, c.id)
	}
	usual := slices.DeleteFunc(slices.Clone(stageNames), func(name string) bool { return name == results.Churn })
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	chosen := flags.String("stages", strings.Join(usual, ","), "`names` of the stages to run; the results of others stay as they are")
	numbers := flags.String("n", "1000,5000,20000", "`numbers` of CronJobs that are due at once")
	contending := flags.String("contenders", strings.Join(contenderNames, ","), "`names` of those to measure")
	flags.IntVar(&o.objects, "objects", 20000, "`number` of CronJobs in the stages idle, versions and restart")
	flags.DurationVar(&o.span, "idle", 10*time.Minute, "`duration` of the stage idle, for each contender")
	flags.DurationVar(&o.churning, "churn", 30*time.Minute, "`duration` of the stage churn, which is run only if it is named")
	flags.StringVar(&o.manager, "manager", "bin/manager", "`file` of the manager to measure, to compare builds")
	flags.StringVar(&o.file, "results", "bin/bench/results.json", "`file` with the results, in which those of this run replace older ones")
	err := flags.Parse(args)
	if err != nil {
		return nil, err
	}
	if o.root, err = localcluster.FindRoot(); err != nil {
		return nil, err
	}
	if o.stages, err = namesIn("stages", *chosen, stageNames); err != nil {
		return nil, err
	}
	named, err := namesIn("contenders", *contending, contenderNames)
	if err != nil {
		return nil, err
	}
	for _, name := range named {
		o.contenders = append(o.contenders, contenders[slices.Index(contenderNames, name)])
	}
	for text := range strings.SplitSeq(*numbers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-n: %q is no number of CronJobs: want 1 or more", text)
		}
		o.numbers = append(o.numbers, n)
	}
	return o, nil
}

// namesIn reads names with commas between.
func namesIn(option, text string, known []string) ([]string, error) {
	names := strings.Split(text, ",")
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-%s: there is no %q: want some of %s", option, name, strings.Join(known, ","))
		}
	}
	return names, nil
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

// keep adds a result to the results, notes what failed, and saves them. It is a failure too if the
// operator has taken more memory than it would have had where it is deployed. Here nobody keeps it
// from that.
func (b *bench) keep(result results.Result) error {
	line, err := json.Marshal(result)
	if err != nil {
		return err
	}
	plane.Logf("%s", line)
	b.failures = append(b.failures, b.results.Add(result)...)
	if peak := int64(result.Values[results.Peak]); result.IsOurs() && peak > b.memoryLimit {
		b.failures = append(b.failures, fmt.Sprintf("%s N=%d: %d MiB of memory: deployed, it has %d",
			result.Stage, result.N, peak>>20, b.memoryLimit>>20))
	}
	return b.results.Save(b.file)
}

// each measures contenders in a stage, one after another.
func (b *bench) each(contenders []contender, measure func(contender) (*results.Result, error)) error {
	for _, c := range contenders {
		result, err := measure(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.id, err)
		}
		if err := b.keep(*result); err != nil {
			return err
		}
	}
	return nil
}
