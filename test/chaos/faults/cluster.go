// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	corev1 "k8s.io/api/core/v1"

	"tutorial.kubebuilder.io/project/hack/localcluster"
)

// cluster is the control plane, whose processes can be struck.
type cluster struct {
	*localcluster.Cluster
	mu   sync.Mutex
	rest *rest.RESTClient
}

func newCluster(c *localcluster.Cluster) (*cluster, error) {
	config := rest.CopyConfig(c.Config)
	config.APIPath, config.GroupVersion = "/", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.QPS = -1
	client, err := rest.RESTClientFor(config)
	return &cluster{Cluster: c, rest: client}, err
}

// run starts a process that ends with the cluster. It is safe for concurrent use.
func (c *cluster) run(ctx context.Context, command localcluster.Command) (*localcluster.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Run(ctx, command)
}

// component is a process of the control plane.
type component struct {
	name localcluster.Component
	pid  int
	args []string
}

// find finds the process of a component of this cluster, which envtest has started and does not tell.
func (c *cluster) find(name localcluster.Component) (*component, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		args := strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00")
		if args[0] != c.Binary(name) || !strings.Contains(string(content), c.Dir+"/") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		return &component{name, pid, args}, nil
	}
	return nil, fmt.Errorf("looking for %s: there is no such process", name)
}

// kill kills a component, and starts it again after a while.
func (c *cluster) kill(ctx context.Context, name localcluster.Component, after time.Duration) error {
	found, err := c.find(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(found.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing %s: %w", name, err)
	}
	sleep(ctx, after)
	command := localcluster.Command{Name: string(name), Path: found.args[0], Args: found.args[1:]}
	if _, err := c.run(context.WithoutCancel(ctx), command); err != nil {
		return err
	}
	return c.awaitReady(ctx)
}

// pause stops a component as it is for a while.
func (c *cluster) pause(ctx context.Context, name localcluster.Component, hold time.Duration) error {
	found, err := c.find(name)
	if err != nil {
		return err
	}
	if err := syscall.Kill(found.pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pausing %s: %w", name, err)
	}
	sleep(ctx, hold)
	if err := syscall.Kill(found.pid, syscall.SIGCONT); err != nil {
		return fmt.Errorf("waking %s: %w", name, err)
	}
	return c.awaitReady(ctx)
}

// awaitReady waits until the API server says that it is ready.
func (c *cluster) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	for {
		err := c.ready(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for the API server: %w", err)
		}
		sleep(ctx, 100*time.Millisecond)
	}
}

func (c *cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return c.rest.Get().AbsPath("/readyz").Do(ctx).Error()
}

// sleep sleeps, or until the context ends. It reports whether it has slept for all of the time.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
