// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const loopback = "127.0.0.1"

// awaitStart is how long kubectl waits for the first results of the components.
var awaitStart = "--timeout=" + startTimeout.String()

// controllers are those of kube-controller-manager that Jobs and a clean deletion need.
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
		if err := process.AwaitReady(ctx); err != nil {
			return err
		}
	}
	if err := c.kubectl(ctx, "create", "-f", "test/localcluster/node.yaml"); err != nil {
		return err
	}
	if err := c.kubectl(ctx, "wait", "--for=condition=Ready", "node", "--all", awaitStart); err != nil {
		return c.describe(Kwok, err)
	}
	// Without it, the namespace can't have Pods.
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
	// Their default rate limits are for shared clusters, and would slow down this one.
	flags := []string{"--kube-api-qps=1000", "--kube-api-burst=2000"}
	switch component {
	case Kwok:
		return c.kwok(kubeconfig)
	case ControllerManager:
		flags = append(flags, "--controllers="+strings.Join(controllers, ","))
	}
	return c.KubeCommand(component, kubeconfig, append(flags, c.options.ExtraArgs[component]...)...)
}

// KubeCommand returns the command of kube-controller-manager or kube-scheduler, without leader
// election.
func (c *Cluster) KubeCommand(component Component, kubeconfig string, flags ...string) (Command, error) {
	port, err := FreePort()
	return Command{
		Name: string(component), Path: c.Binary(component),
		Args: append([]string{
			"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--bind-address=" + loopback, fmt.Sprintf("--secure-port=%d", port),
		}, flags...),
		HealthURL: fmt.Sprintf("https://%s:%d/healthz", loopback, port),
	}, err
}

func (c *Cluster) kwok(kubeconfig string) (Command, error) {
	stages, err := c.kwokStages()
	if err != nil {
		return Command{}, err
	}
	port, err := FreePort()
	address := fmt.Sprintf("%s:%d", loopback, port)
	return Command{
		Name: string(Kwok), Path: c.Binary(Kwok), HealthURL: "http://" + address + "/healthz",
		Args: slices.Concat([]string{"--kubeconfig=" + kubeconfig, "--manage-all-nodes", "--server-address=" + address},
			stages, c.options.ExtraArgs[Kwok]),
	}, err
}

// kwokStages returns kwok's flags for the stages of Nodes and Pods. kwok has no default stages.
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

// FreePort returns a free port of the loopback interface. It is below Linux's ports for outgoing
// connections (net.ipv4.ip_local_port_range, from 32768) and the node ports of Services (from
// 30000), so that neither takes it before its user listens. It returns no port twice.
func FreePort() (int, error) {
	const lowest, highest = 20000, 29999
	for range highest - lowest {
		port := lowest + rand.IntN(highest-lowest+1) //nolint:gosec // the port is not a secret
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

// handedOut has the ports that FreePort has returned or found in use.
var handedOut sync.Map
