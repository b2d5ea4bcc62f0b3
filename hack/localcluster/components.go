// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

const loopback = "127.0.0.1"

// awaitStart is how long kubectl waits for what the components do at first.
var awaitStart = "--timeout=" + startTimeout.String()

// controllers are the few of kube-controller-manager that Jobs and clean deletion need.
var controllers = []string{
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"pod-garbage-collector-controller",
	"serviceaccount-controller",
	"ttl-after-finished-controller",
}

// runJobs starts the components that run Jobs, all at once, and waits until each is ready and Pods
// can run.
func (c *Cluster) runJobs(ctx context.Context) error {
	var processes []*Process
	for _, component := range jobRunners {
		command, err := c.command(component)
		if err != nil {
			return err
		}
		process, err := c.launch(command)
		if err != nil {
			return err
		}
		processes = append(processes, process)
	}
	for _, process := range processes {
		if err := process.awaitReady(ctx); err != nil {
			return err
		}
	}
	if err := c.kubectl(ctx, "create", "-f", "hack/localcluster/node.yaml"); err != nil {
		return err
	}
	if err := c.kubectl(ctx, "wait", "--for=condition=Ready", "node", "--all", awaitStart); err != nil {
		return c.describe(Kwok, err)
	}
	// Without it, the namespace can have no Pods.
	if err := c.kubectl(ctx, "wait", "--for=create", "serviceaccount/default", "--namespace=default", awaitStart); err != nil {
		return c.describe(ControllerManager, err)
	}
	return nil
}

func (c *Cluster) command(component Component) (Command, error) {
	kubeconfig, err := c.AddAdmin("system:" + string(component))
	if err != nil {
		return Command{}, err
	}
	port, err := FreePort()
	if err != nil {
		return Command{}, err
	}
	command := Command{
		Name: string(component), Path: c.options.binary(component), Args: []string{"--kubeconfig=" + kubeconfig},
		HealthURL: fmt.Sprintf("https://%s:%d/healthz", loopback, port),
	}
	switch component {
	case ControllerManager:
		command.Args = append(command.Args, "--controllers="+strings.Join(controllers, ","))
		command.Args = append(command.Args, serving(port)...)
	case Scheduler:
		command.Args = append(command.Args, serving(port)...)
	case Kwok:
		stages, err := c.kwokStages()
		if err != nil {
			return Command{}, err
		}
		command.Args = append(command.Args, "--manage-all-nodes", fmt.Sprintf("--server-address=%s:%d", loopback, port))
		command.Args = append(command.Args, stages...)
		command.HealthURL = fmt.Sprintf("http://%s:%d/healthz", loopback, port)
	}
	command.Args = append(command.Args, c.options.ExtraArgs[component]...)
	return command, nil
}

// serving returns the flags that kube-controller-manager and kube-scheduler share. Their own rate
// limits, made for shared clusters, shall not decide how fast this cluster is.
func serving(port int) []string {
	return []string{
		"--bind-address=" + loopback, fmt.Sprintf("--secure-port=%d", port),
		"--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000",
	}
}

// kwokStages returns kwok's flags for what happens to Nodes and Pods; it has none built in.
func (c *Cluster) kwokStages() ([]string, error) {
	pattern := filepath.Join(BinDir(c.options.root), "kwok-stages", "*.yaml")
	stages, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("looking for kwok's stages: %w", err)
	}
	if len(stages) == 0 {
		return nil, notBuilt(pattern)
	}
	for i := range stages {
		stages[i] = "--config=" + stages[i]
	}
	return stages, nil
}

// FreePort returns a port of the loopback interface that nobody listens on. It is below those that
// Linux gives to connections that go out (net.ipv4.ip_local_port_range, from 32768) and that
// Services have as node ports (from 30000), so that neither takes it before its user listens. No
// call of this process has returned it before.
func FreePort() (int, error) {
	const lowest, highest = 20000, 29999
	for range highest - lowest {
		port := lowest + rand.IntN(highest-lowest+1) //nolint:gosec // which port it is is no secret
		if _, taken := handedOut.LoadOrStore(port, true); taken {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("releasing port %d: %w", port, err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("no port of %s from %d to %d is free", loopback, lowest, highest)
}

// handedOut holds the ports that FreePort has returned or found taken.
var handedOut sync.Map
