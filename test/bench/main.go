// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench compares the operator with Kubernetes' own CronJob controller on a local control
// plane, and prints tables for docs/performance.md.
//
// Run it by "make bench", which builds what it needs. It leaves no process behind, and only the
// file with the results.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == bareClient {
		plane.Main(bareClient, runBareClient)
		return
	}
	plane.Main("bench", run)
}

type bench struct {
	options
	*cluster
	results  *results.Results
	failures []string
}

type options struct {
	stages     []stage
	numbers    []int
	contenders []contender
	objects    int
	finished   int
	span       time.Duration
	churning   time.Duration
	working    time.Duration
	memory     resource.QuantityValue
	file       string
	manager    string
	root       string // the directory of the project
}

type stage struct {
	name         string
	needsCluster bool
	run          func(*bench, context.Context) error
}

// stages has the stages in the order in which they run. Without -stages, all but churn and hour
// run. Idle starts with the CronJobs of versions, and restart with those of idle, since creating
// them takes minutes.
var stages = []stage{
	{results.Ticks, true, (*bench).ticks},
	{results.Jitter, true, (*bench).jittered},
	{results.Versions, true, (*bench).versions},
	{results.Idle, true, (*bench).idle},
	{results.Restart, true, (*bench).restart},
	{results.Tenants, true, (*bench).tenants},
	{results.Hour, false, (*bench).hour}, // it starts its own
	{results.Micro, false, (*bench).micro},
	{"report", false, (*bench).report},
	{results.Churn, true, (*bench).churn},
}

func parseFlags(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	chosen := flags.String("stages", "ticks,jitter,versions,idle,restart,tenants,micro,report",
		"`names` of the stages to run, of these, churn and hour; the results of others stay as they are")
	numbers := flags.String("n", "1000,5000",
		"`numbers` of CronJobs that are due at once; in the stage jitter the largest, but at most 5000")
	contending := flags.String("contenders", "bare,operator,tuned,shipped", "`names` of those to measure")
	flags.IntVar(&o.objects, "objects", 10000, "`number` of CronJobs in the stages idle, versions, restart and hour")
	flags.IntVar(&o.finished, "finished", 3, "`number` of finished Jobs of each CronJob in the stage restart: the default history limit")
	flags.DurationVar(&o.span, "idle", 8*time.Minute, "`duration` of the stage idle, for each contender")
	flags.DurationVar(&o.churning, "churn", 30*time.Minute, "`duration` of the stage churn")
	flags.DurationVar(&o.working, "hour", 30*time.Minute, "`duration` of the stage hour, for each contender")
	flags.Var(&o.memory, "memory-limit", "`quantity` of memory that the operator may take, such as 2Gi; 0 for what its deployment has")
	flags.StringVar(&o.manager, "manager", "bin/manager", "`file` of the manager to measure, to compare builds")
	flags.StringVar(&o.file, "results", "bin/bench/results.json", "`file` with the results, in which those of this run replace older ones")
	err := flags.Parse(args)
	if err != nil {
		return nil, err
	}
	if o.objects < 1 || o.finished < 0 {
		return nil, fmt.Errorf("-objects=%d -finished=%d: want 1 or more CronJobs, and 0 or more Jobs of each", o.objects, o.finished)
	}
	for text := range strings.SplitSeq(*numbers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-n: %q is not a number of CronJobs: want 1 or more", text)
		}
		o.numbers = append(o.numbers, n)
	}
	if o.stages, err = plane.Pick("stages", *chosen, stages, func(s stage) string { return s.name }); err != nil {
		return nil, err
	}
	if o.contenders, err = plane.Pick("contenders", *contending, contenders, func(c contender) string { return c.id }); err != nil {
		return nil, err
	}
	o.root, err = localcluster.FindRoot()
	return o, err
}

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
	for _, stage := range b.stages {
		if stage.needsCluster && b.cluster == nil {
			if err := b.startAnew(ctx); err != nil {
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

// startAnew replaces the control plane by a new one, and records its versions.
func (b *bench) startAnew(ctx context.Context) (err error) {
	if b.cluster != nil {
		if err := errors.Join(b.etcd.Close(), b.Stop()); err != nil {
			return err
		}
	}
	if b.results.Environment, err = environment(ctx, &b.options); err != nil {
		return err
	}
	b.cluster, err = startCluster(ctx, &b.options)
	return err
}

// keep saves a result and its failures. It is also a failure if the operator used more memory than
// its deployment allows, since nothing limits it here.
func (b *bench) keep(result results.Result) error {
	line, err := json.Marshal(result)
	if err != nil {
		return err
	}
	plane.Logf("%s", line)
	b.results.Add(result)
	if result.IsOurs() {
		b.failures = append(b.failures, result.Failures(b.memoryLimit)...)
	}
	return b.results.Save(b.file)
}

func (b *bench) each(ctx context.Context, contenders []contender, measure func(context.Context, contender) (*results.Result, error)) error {
	for _, c := range contenders {
		result, err := measure(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.id, err)
		}
		if err := b.keep(*result); err != nil {
			return err
		}
	}
	return nil
}
