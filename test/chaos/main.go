// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command chaos runs CronJobs for some time on a local control plane, and injects faults around the
// managers. Then it checks the history of what happened against the operator's contract: whether a
// tick was lost, doubled, early, or another law broken. See docs/reliability.md.
//
// Run it by "make chaos", which builds what it needs. It leaves no process behind, and only the
// files in -out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tutorial.kubebuilder.io/project/test/chaos/faults"
	"tutorial.kubebuilder.io/project/test/chaos/mutations"
	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

func main() { plane.Main("chaos", run) }

// all selects all faults or all mutations.
const all = "all"

type options struct {
	duration  time.Duration
	seed      uint64
	cronJobs  int
	faults    []faults.Kind
	manager   string
	previous  string
	plugin    string
	mutation  *mutations.Mutation
	mutations string
	out       string
	check     string
	plan      bool
	calm      time.Duration
	patience  time.Duration
	slowness  float64
}

func parseFlags(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.DurationVar(&o.duration, "duration", 10*time.Minute, "`duration` of the storm; to settle takes a minute more")
	flags.DurationVar(&o.calm, "calm", 20*time.Second, "`duration` of the calm after the storm, without faults; none if 0")
	flags.DurationVar(&o.patience, "patience", 3*time.Minute, "`duration` after which it has failed if all has not become idle")
	flags.Uint64Var(&o.seed, "seed", 0, "`number` from which all that is random is made; a new one if 0")
	flags.IntVar(&o.cronJobs, "cronjobs", 600, "`number` of CronJobs")
	kinds := flags.String("faults", all, "`names` of the faults, with commas between: all, none, or some of "+fmt.Sprint(faults.Kinds()))
	flags.StringVar(&o.manager, "manager", "", "`file` of a manager that was built from test/chaos/manager, in place of a build")
	flags.StringVar(&o.previous, "previous", "", "`file` of such a manager of an earlier build: each one that ends is replaced "+
		"by one of the other build, as in rolling updates there and back")
	flags.StringVar(&o.mutations, "mutations", "", "`text` in the names of the mutations to try, each in a short storm, or all; "+
		"it fails if the checker does not catch one")
	flags.StringVar(&o.out, "out", filepath.Join("bin", "chaos"), "`directory` for the history, the managers' logs and the verdict")
	flags.StringVar(&o.check, "check", "", "`file` of a history to have a verdict of, again; nothing is run")
	flags.Float64Var(&o.slowness, "slowness", 1, "`factor` by which this machine may be slower than one that keeps up, "+
		"before what it does late is a violation")
	flags.BoolVar(&o.plan, "plan", false, "print the plan of acts and faults, and run nothing")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	var err error
	switch *kinds {
	case all:
		o.faults = faults.Kinds()
	case "none":
	default:
		if o.faults, err = plane.Pick("faults", *kinds, faults.Kinds(), func(k faults.Kind) string { return string(k) }); err != nil {
			return nil, err
		}
	}
	switch {
	case o.cronJobs < 1:
		return nil, fmt.Errorf("-cronjobs=%d: want at least one", o.cronJobs)
	case o.duration < 30*time.Second:
		return nil, fmt.Errorf("-duration=%v: want at least 30s", o.duration)
	case o.slowness < 1:
		return nil, fmt.Errorf("-slowness=%v: want at least 1", o.slowness)
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	switch {
	case o.plan:
		o.printPlan()
		return nil
	case o.check != "":
		return o.judge(o.check)
	case o.mutations != "":
		return o.tryMutations(ctx)
	}
	if err := o.build(ctx); err != nil {
		return err
	}
	file := filepath.Join(o.out, fmt.Sprintf("history-%d.jsonl", o.seed))
	plane.Logf("a storm of %v with %d CronJobs and -seed=%d; its history is %s", o.duration, o.cronJobs, o.seed, file)
	err = o.storm(ctx, file)
	if ctx.Err() != nil {
		return err
	}
	return errors.Join(err, o.judge(file)) // after an error the history may explain it
}

func (o *options) printPlan() {
	for _, step := range faults.Plan(o.seed, o.duration, o.faults) {
		fmt.Println(step)
	}
	for _, c := range storm.Plan(o.seed, time.Time{}, o.duration, o.cronJobs) {
		for _, act := range c.Acts {
			fmt.Printf("%7.1fs %s %s/%s %v\n", act.At.Seconds(), act.Verb, c.Namespace, c.Name, act.Spec.Fields)
		}
	}
}

// build makes the output directory, and builds the kubectl plugin and, unless -manager names one,
// the manager with a clock that can be stepped.
func (o *options) build(ctx context.Context) error {
	root, err := localcluster.FindRoot()
	if err != nil {
		return err
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	args := []string{"build", "-o", out + "/", "./cmd/kubectl-cronjob"}
	o.plugin = filepath.Join(out, "kubectl-cronjob")
	if o.manager == "" {
		o.manager, args = filepath.Join(out, "manager"), append(args, "./test/chaos/manager")
	}
	build := exec.CommandContext(ctx, "go", args...)
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the manager and the plugin: %w: %s", err, output)
	}
	return nil
}
