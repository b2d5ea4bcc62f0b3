// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"

	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

// signal sends a signal to a component of this cluster, and returns its command line. It searches
// for the process, since envtest does not return it.
func (s *Site) signal(name localcluster.Component, signal syscall.Signal) (args []string, err error) {
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	for _, process := range processes {
		args, err := process.CmdLine()
		if err == nil && len(args) > 0 && args[0] == s.Binary(name) && strings.Contains(strings.Join(args, " "), s.Dir+"/") {
			return args, syscall.Kill(process.PID, signal)
		}
	}
	return nil, fmt.Errorf("looking for %s: there is no such process", name)
}

func (s *Site) kill(ctx context.Context, name localcluster.Component, after time.Duration) error {
	args, err := s.signal(name, syscall.SIGKILL)
	if err != nil {
		return err
	}
	plane.Sleep(ctx, after)
	command := localcluster.Command{Name: string(name), Path: args[0], Args: args[1:]}
	process, err := s.Cluster.Run(context.WithoutCancel(ctx), command)
	if err != nil {
		return err
	}
	if err := s.awaitReady(ctx); err != nil {
		return fmt.Errorf("%w\n%s", err, process.LogTail())
	}
	return nil
}

func (s *Site) pause(ctx context.Context, name localcluster.Component, hold time.Duration) error {
	if _, err := s.signal(name, syscall.SIGSTOP); err != nil {
		return err
	}
	plane.Sleep(ctx, hold)
	if _, err := s.signal(name, syscall.SIGCONT); err != nil {
		return err
	}
	return s.awaitReady(ctx)
}

func (s *Site) awaitReady(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 90*time.Second, true, func(ctx context.Context) (bool, error) {
		return s.REST.Get().AbsPath("/readyz").Timeout(3*time.Second).Do(ctx).Error() == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the API server: %w", err)
	}
	return nil
}
