// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

// contender is a controller of CronJobs, or the bare client.
type contender struct {
	id string

	// kind is the kind of its CronJobs.
	kind kind

	// command returns the command that starts it with a kubeconfig, without leader election.
	command func(p *cluster, kubeconfig string) (localcluster.Command, error)
}

// operator is the only contender of some stages.
var operator = contender{id: results.Operator, kind: operatorV1, command: operatorCommand}

// contenders are in the order in which they are measured. The bare client finds the control plane
// in the same state as the operator: with the same CronJobs, as long after their creation.
var contenders = []contender{
	{id: results.Bare, kind: operatorV1, command: bareCommand},
	operator,
	{id: results.Tuned, kind: builtin, command: builtinCommand(
		"--kube-api-qps=2000", "--kube-api-burst=4000", "--concurrent-cron-job-syncs=20")},
	{id: results.Shipped, kind: builtin, command: builtinCommand()},
}

// controllers returns the selected contenders for stages that are not about rate limits. There the
// built-in as shipped would do the same as the tuned one.
func (b *bench) controllers() []contender {
	return slices.DeleteFunc(slices.Clone(b.contenders), func(c contender) bool { return c.id == results.Bare || c.id == results.Shipped })
}

// builtinCommand runs kube-controller-manager with the built-in CronJob controller alone.
func builtinCommand(flags ...string) func(*cluster, string) (localcluster.Command, error) {
	return func(p *cluster, kubeconfig string) (localcluster.Command, error) {
		return p.KubeCommand(localcluster.ControllerManager, kubeconfig, append(flags, "--controllers=cronjob-controller")...)
	}
}

// operatorCommand runs the manager of `make build` with the memory limit and the metrics of its
// deployment, and with profiles.
func operatorCommand(p *cluster, kubeconfig string) (localcluster.Command, error) {
	command, err := p.Manager(p.program, kubeconfig)
	command.Args = append(command.Args, fmt.Sprintf("--memory-limit=%d", p.memoryLimit),
		"--metrics-bind-address="+p.metricsAddress, "--pprof-bind-address="+p.profilesAddress)
	return command, err
}

func bareCommand(_ *cluster, kubeconfig string) (localcluster.Command, error) {
	self, err := os.Executable()
	return localcluster.Command{Name: bareClient, Path: self, Args: []string{bareClient, "--kubeconfig=" + kubeconfig}}, err
}

// start starts a contender with further flags and returns when it is ready. All contenders are
// administrators, whom priority and fairness does not limit.
func (p *cluster) start(ctx context.Context, c contender, flags ...string) (*running, error) {
	kubeconfig, err := p.AddAdmin("bench-" + c.id)
	if err != nil {
		return nil, err
	}
	command, err := c.command(p, kubeconfig)
	if err != nil {
		return nil, err
	}
	command.Args = append(command.Args, flags...)
	command.Env = append(command.Env, "TZ=UTC") // the built-in's zone for a schedule without one
	process, err := p.Run(ctx, command)
	if err != nil {
		return nil, err
	}
	proc, err := procfs.NewProc(process.PID()) // Linux only
	if err != nil {
		return nil, fmt.Errorf("looking for process %d: %w", process.PID(), err)
	}
	return &running{process, proc}, nil
}

// settled starts a contender and waits until it has read all objects and is idle.
func (p *cluster) settled(ctx context.Context, c contender, flags ...string) (*running, error) {
	r, err := p.start(ctx, c, flags...)
	if err != nil {
		return nil, err
	}
	if err := r.awaitIdle(ctx); err != nil {
		return nil, errors.Join(err, r.Err())
	}
	return r, nil
}

// populate creates CronJobs. The operator runs meanwhile if they are its own, and writes their
// first statuses.
func (p *cluster) populate(ctx context.Context, b batch, flags ...string) error {
	if !b.kind.isOperators() {
		_, err := p.create(ctx, b)
		return err
	}
	r, err := p.start(ctx, operator, flags...)
	if err != nil {
		return err
	}
	took, err := p.create(ctx, b)
	if err != nil {
		return errors.Join(err, r.Err())
	}
	plane.Logf("%d CronJobs created in %.1fs", b.count, took.Seconds())
	return errors.Join(r.awaitIdle(ctx), p.End(r.Process))
}

// ready returns a contender that is idle, with a batch of CronJobs and no others.
func (p *cluster) ready(ctx context.Context, c contender, b batch) (*running, error) {
	if err := p.store(ctx, b); err != nil {
		return nil, err
	}
	return p.settled(ctx, c)
}

// store stores a batch of CronJobs and no others. It does nothing if they are stored already.
func (p *cluster) store(ctx context.Context, b batch) error {
	if reflect.DeepEqual(p.stored, b) {
		return nil
	}
	if err := p.clear(ctx); err != nil {
		return err
	}
	if err := p.populate(ctx, b); err != nil {
		return err
	}
	p.stored = b
	return p.compact(ctx)
}

type running struct {
	*localcluster.Process
	proc procfs.Proc
}

// measure adds to a result what a contender uses during a function, and all requests to the API
// server: CPU, the memory before and its peak, requests.
func (p *cluster) measure(ctx context.Context, r *running, result *results.Result, do func() error) error {
	// 5 resets the peak, see proc_pid_clear_refs(5).
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", r.proc.PID), []byte("5"), 0); err != nil {
		return err
	}
	before, err := p.requests(ctx)
	memoryErr := r.addMemory(result)
	resident := result.Values[results.Resident]
	cpuBefore, cpuErr := r.cpu()
	if err := errors.Join(err, memoryErr, cpuErr); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	cpu, cpuErr := r.cpu()
	memoryErr = r.addMemory(result)
	after, err := p.requests(ctx)
	result.Values[results.CPU], result.Values[results.Resident] = (cpu - cpuBefore).Seconds(), resident
	result.Requests = after.since(before)
	return errors.Join(err, memoryErr, cpuErr)
}

func (p *cluster) addControlPlane(ctx context.Context, result *results.Result) error {
	const memory = "process_resident_memory_bytes"
	families, err := plane.ReadMetrics(ctx, p.REST, memory)
	status, etcdErr := p.etcd.Status(ctx, p.EtcdURL)
	if err := errors.Join(err, etcdErr); err != nil {
		return fmt.Errorf("measuring the control plane: %w", err)
	}
	result.Values[results.APIServer], result.Values[results.Etcd] = plane.Sum(families[memory]), float64(status.DbSize)
	return nil
}

func (r *running) addMemory(result *results.Result) error {
	status, err := r.proc.NewStatus()
	if err != nil {
		return fmt.Errorf("reading the memory of process %d: %w", r.proc.PID, err)
	}
	result.Values[results.Resident], result.Values[results.Peak] = float64(status.VmRSS), float64(status.VmHWM)
	return nil
}

// cpu returns the CPU time of the process, including the kernel's for it, in steps of 10 ms.
func (r *running) cpu() (time.Duration, error) {
	stat, err := r.proc.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", r.proc.PID, err)
	}
	return time.Duration(stat.CPUTime() * float64(time.Second)), nil
}

// A process is idle when it has used less than a 20th of a CPU for this long.
const (
	idleFor  = 5 * time.Second
	idlePoll = 500 * time.Millisecond
	idleCPU  = idlePoll / 20
)

func (r *running) awaitIdle(ctx context.Context) error {
	before, idle := time.Duration(0), time.Duration(0)
	err := wait.PollUntilContextCancel(ctx, idlePoll, true, func(context.Context) (bool, error) {
		now, err := r.cpu()
		idle += idlePoll
		if now-before > idleCPU {
			idle = 0
		}
		before = now
		return idle >= idleFor, err
	})
	if err != nil {
		return fmt.Errorf("waiting for process %d to be idle: %w", r.proc.PID, err)
	}
	return nil
}
