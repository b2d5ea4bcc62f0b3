// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the operator against Kubernetes' own CronJob controller and against a bare client, in turn
// and on the same work, on a control plane of its own on this machine. See docs/performance.md, which it writes.
//
// Run it by "make bench", which builds what it needs. It leaves no process behind, and no file but its results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/results"
)

func main() {
	ctrl.SetLogger(logr.Discard()) // what fails is returned
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == bareClient {
		err = runBareClient(ctx, os.Args[2:])
	} else {
		err = run(ctx, os.Args[1:])
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // nothing that stop would do matters any more
	}
}

// begun is when the program began, for the log.
var begun = time.Now()

// logf tells how far the bench is.
func logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(begun).Seconds(), fmt.Sprintf(format, args...))
}

// bench is a run.
type bench struct {
	options
	plane    *plane
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
	namespaces int
	hogs       int
	cut        time.Duration
	churning   time.Duration
	file       string
	manager    string
	root       string // the project's directory
}

// stages in the order in which they are run.
var stages = []struct {
	name string
	// measures says that its results are of this machine, and cluster that it needs the control plane.
	measures, cluster bool
	run               func(*bench, context.Context) error
}{
	{"ticks", true, true, (*bench).ticks},
	{"idle", true, true, (*bench).idle},
	{"versions", true, true, (*bench).versions},
	{"restart", true, true, (*bench).restart},
	{"tenants", true, true, (*bench).tenants},
	{"micro", true, false, (*bench).micro},
	{"report", false, false, (*bench).report},
	{churnStage, true, true, (*bench).churn},
}

// parseFlags reads the command line.
func parseFlags(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var names []string
	for _, stage := range stages {
		names = append(names, stage.name)
	}
	usual := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == churnStage })
	chosen := flags.String("stages", strings.Join(usual, ","), "`names` of the stages to run; the results of others stay as they are")
	numbers := flags.String("n", "1000,5000,20000", "`numbers` of CronJobs that are due at once")
	contending := flags.String("contenders", "bare,operator,tuned,shipped", "`names` of those to measure")
	flags.IntVar(&o.objects, "objects", 20000, "`number` of CronJobs in the stages idle, versions and restart")
	flags.DurationVar(&o.span, "idle", 10*time.Minute, "`duration` of the stage idle, for each contender")
	flags.IntVar(&o.namespaces, "namespaces", 10, "`number` of namespaces over which the CronJobs are spread")
	flags.IntVar(&o.hogs, "hogs", 5000, "`number` of CronJobs of one namespace that are due every second, in the stage tenants")
	flags.DurationVar(&o.churning, "churn", 30*time.Minute, "`duration` of the stage "+churnStage+", which is run only if it is named")
	flags.DurationVar(&o.cut, "cut", 3*time.Minute, "`duration` after a tick at which the measuring of it is broken off")
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
			return nil, fmt.Errorf("--stages: there is no %q: want some of %s", name, strings.Join(names, ","))
		}
		o.stages = append(o.stages, name)
	}
	for text := range strings.SplitSeq(*numbers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--n: %q is no number of CronJobs: want 1 or more", text)
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
	here, err := environment(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		if b.plane != nil {
			err = errors.Join(err, b.plane.Stop())
		}
	}()
	for _, stage := range stages {
		if !slices.Contains(b.stages, stage.name) {
			continue
		}
		if stage.measures {
			b.results.Environment = here
		}
		if stage.cluster && b.plane == nil {
			if b.plane, err = startPlane(ctx, o); err != nil {
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

func (b *bench) save() error { return b.results.Save(b.file) }
