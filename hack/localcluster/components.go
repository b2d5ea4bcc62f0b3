// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	loopback = "127.0.0.1"

	// nodeName is the one Node, which kwok plays.
	nodeName = "kwok-node"

	// apiQPS keeps the clients' own rate limits, made for shared clusters, from deciding how fast
	// this one is.
	apiQPS = 1000
)

// controllers are the few of kube-controller-manager that Jobs and clean deletion need.
var controllers = []string{
	"garbage-collector-controller",
	"job-controller",
	"namespace-controller",
	"pod-garbage-collector-controller",
	"serviceaccount-controller",
	"ttl-after-finished-controller",
}

// startComponents starts the components that were asked for, all at once, then waits until each
// is ready.
func (c *Cluster) startComponents(ctx context.Context) error {
	var processes []*Process
	for _, component := range c.options.Components {
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
	return c.awaitUsable(ctx)
}

// command returns a component's command line.
func (c *Cluster) command(component Component) (Command, error) {
	kubeconfig, err := c.AddAdmin("system:" + string(component))
	if err != nil {
		return Command{}, err
	}
	port, err := FreePort()
	if err != nil {
		return Command{}, err
	}
	command := Command{Name: string(component), Path: c.options.binary(component), Args: []string{"--kubeconfig=" + kubeconfig}}
	var args []string
	switch component {
	case ControllerManager:
		args = append(serving(port), "--controllers="+strings.Join(controllers, ","))
	case Scheduler:
		args = serving(port)
	case Kwok:
		if args, err = c.kwokArgs(port); err != nil {
			return Command{}, err
		}
	default:
		return Command{}, fmt.Errorf("starting %q: no such component", component)
	}
	command.HealthURL = healthURL(component, port)
	command.Args = append(append(command.Args, args...), c.options.ExtraArgs[component]...)
	return command, nil
}

// serving returns the flags that kube-controller-manager and kube-scheduler share. Nobody is told
// how to recognise anyone, so that all that their ports tell is how they are.
func serving(port int) []string {
	return []string{
		"--bind-address=" + loopback,
		fmt.Sprintf("--secure-port=%d", port),
		"--leader-elect=false",
		fmt.Sprintf("--kube-api-qps=%d", apiQPS),
		fmt.Sprintf("--kube-api-burst=%d", 2*apiQPS),
	}
}

// kwokArgs returns kwok's flags. Its stages are what happens to Nodes and Pods; it has none built in.
func (c *Cluster) kwokArgs(port int) ([]string, error) {
	stages, err := filepath.Glob(filepath.Join(c.options.BinDir, "kwok-stages", "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("looking for kwok's stages: %w", err)
	}
	if len(stages) == 0 {
		return nil, fmt.Errorf("%w kwok's stages, %s/kwok-stages/*.yaml", ErrNoBinaries, c.options.BinDir)
	}
	args := []string{"--manage-all-nodes", fmt.Sprintf("--server-address=%s:%d", loopback, port)}
	for _, stage := range stages {
		args = append(args, "--config="+stage)
	}
	return args, nil
}

// healthURL returns where a component says that it is ready.
func healthURL(component Component, port int) string {
	scheme := "https"
	if component == Kwok {
		scheme = "http"
	}
	return fmt.Sprintf("%s://%s:%d/healthz", scheme, loopback, port)
}

// FreePort returns a port of the loopback interface that nobody listens on. It is below those that
// Linux gives to connections that go out (net.ipv4.ip_local_port_range, from 32768) and that Services
// have as node ports (from 30000), so that neither takes it before its user listens; and no call of
// this process has had it before.
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

// awaitUsable creates the Node and waits until Pods can run: the Node is ready, and the default
// namespace has its service account.
func (c *Cluster) awaitUsable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if c.options.runs(ControllerManager) {
		if err := c.awaitServiceAccount(ctx); err != nil {
			return c.describe(ControllerManager, err)
		}
	}
	if c.options.runs(Kwok) {
		if err := c.createNode(ctx); err != nil {
			return c.describe(Kwok, err)
		}
	}
	return nil
}

func (c *Cluster) awaitServiceAccount(ctx context.Context) error {
	anyOne := func(client.Object) (bool, error) { return true, nil }
	named := client.MatchingFields{"metadata.name": "default"}
	if err := c.Until(ctx, &corev1.ServiceAccountList{}, anyOne, client.InNamespace("default"), named); err != nil {
		return fmt.Errorf("waiting for the default service account: %w", err)
	}
	return nil
}

func (c *Cluster) createNode(ctx context.Context) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        nodeName,
		Labels:      map[string]string{corev1.LabelHostname: nodeName, corev1.LabelOSStable: "linux"},
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
	}}
	if err := c.Client.Create(ctx, node); err != nil {
		return fmt.Errorf("creating the node: %w", err)
	}
	if err := c.Until(ctx, &corev1.NodeList{}, nodeReady); err != nil {
		return fmt.Errorf("waiting for the node to be ready: %w", err)
	}
	return nil
}

func nodeReady(object client.Object) (bool, error) {
	for _, condition := range object.(*corev1.Node).Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue, nil
		}
	}
	return false, nil
}

// describe adds the end of a component's log to an error. An interrupt needs no explanation.
func (c *Cluster) describe(component Component, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w\n%s", err, tail(c.logPath(component)))
}

// stopAll ends the processes, the last one started first.
func (c *Cluster) stopAll() error {
	var errs []error
	for _, process := range slices.Backward(c.processes) {
		errs = append(errs, process.stop(stopTimeout))
	}
	c.processes = nil
	return errors.Join(errs...)
}

// since says how long something took, for people.
func since(start time.Time) string {
	return fmt.Sprintf("%.1fs", time.Since(start).Seconds())
}

// makeDirs creates directories below the cluster's own.
func (c *Cluster) makeDirs(names ...string) error {
	for _, name := range names {
		if err := os.Mkdir(filepath.Join(c.Dir, name), 0o700); err != nil {
			return fmt.Errorf("making the cluster's directory: %w", err)
		}
	}
	return nil
}
