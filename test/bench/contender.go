// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/results"
)

// contender is a controller of CronJobs, or what stands in for one.
type contender struct {
	id string

	// kind is that of the CronJobs it runs.
	kind kind

	// slow says that it takes minutes for what takes others seconds: it is measured once, and in
	// the stages that are not about speed not at all.
	slow bool

	// command is how to start it with a kubeconfig. It has no leader to elect, as there is but one.
	command func(p *cluster, kubeconfig string) (localcluster.Command, error)
}

// operator is this operator, which some stages measure alone.
var operator = contender{id: results.Operator, kind: operatorV1, command: operatorCommand}

// contenders in the order in which they are measured. The bare client's limit is that of the
// control plane in the state in which the operator finds it, with the same CronJobs stored, and as
// long after they were created.
var contenders = []contender{
	{id: results.Bare, kind: operatorV1, command: bareCommand},
	operator,
	{id: results.Tuned, kind: builtin, command: builtinCommand(
		"--kube-api-qps=2000", "--kube-api-burst=4000", "--concurrent-cron-job-syncs=20")},
	{id: results.Shipped, kind: builtin, slow: true, command: builtinCommand()},
}

// builtinCommand runs the built-in controller, and no other, in kube-controller-manager.
func builtinCommand(flags ...string) func(*cluster, string) (localcluster.Command, error) {
	return func(p *cluster, kubeconfig string) (localcluster.Command, error) {
		port, err := localcluster.FreePort()
		return localcluster.Command{
			Name: string(localcluster.ControllerManager), Path: p.Binary(localcluster.ControllerManager),
			Args: append([]string{
				"--kubeconfig=" + kubeconfig, "--controllers=cronjob-controller", "--leader-elect=false",
				"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
			}, flags...),
			HealthURL: fmt.Sprintf("https://127.0.0.1:%d/healthz", port),
		}, err
	}
}

// operatorCommand runs the manager as `make build` made it. All that decides about its speed is as
// it is deployed by default.
func operatorCommand(p *cluster, kubeconfig string) (localcluster.Command, error) {
	command, err := p.Manager(p.program, kubeconfig)
	command.Args = append(command.Args, fmt.Sprintf("--memory-limit=%d", p.memoryLimit))
	return command, err
}

// bareCommand runs this program again, as the bare client.
func bareCommand(_ *cluster, kubeconfig string) (localcluster.Command, error) {
	self, err := os.Executable()
	return localcluster.Command{Name: bareClient, Path: self, Args: []string{bareClient, "--kubeconfig=" + kubeconfig}}, err
}

// start starts a contender, with flags of its own, and returns when it says that it is ready. All
// contenders are administrators, whom the API server's priority and fairness lets through as fast
// as they ask.
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
	command.Env = append(command.Env, "TZ=UTC") // by which the built-in reads a schedule without a time zone
	process, err := p.Run(ctx, command)
	if err != nil {
		return nil, err
	}
	proc, err := procfs.NewProc(process.PID()) // Linux alone has what it reads
	if err != nil {
		return nil, fmt.Errorf("looking for process %d: %w", process.PID(), err)
	}
	return &running{Process: process, proc: proc, end: func() error { return p.End(process) }}, nil
}

// settled starts a contender and waits until it has read all there is and made up its mind.
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

// populate creates CronJobs for a contender. The operator's are left as they are when that has
// taken note of them. It returns how long the creation took.
func (p *cluster) populate(ctx context.Context, c contender, prefix string, count int, schedule string) (time.Duration, error) {
	if !c.kind.isOperators() {
		return p.create(ctx, p.namespaces, c.kind, prefix, count, schedule)
	}
	r, err := p.start(ctx, operator)
	if err != nil {
		return 0, err
	}
	took, err := p.create(ctx, p.namespaces, c.kind, prefix, count, schedule)
	if err != nil {
		return 0, errors.Join(err, r.Err())
	}
	if err := r.awaitIdle(ctx); err != nil {
		return 0, err
	}
	return took, r.end()
}
