// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Demo shows on this machine, without a cluster, what the operator does: it starts a control plane
// and the manager, and runs the script steps beside it, which creates CronJobs in both API versions
// and waits until Jobs of them have completed. Then it stays up until Ctrl-C; with CI=true it ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

func main() {
	log.SetLogger(log.Log.WithSink(nil)) // stdout is for the demo, and errors are returned
	// SIGPIPE too: the reader of stdout may go away, and the demo must end cleanly.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1) //nolint:gocritic // nothing that stop would do matters any more
	}
}

func run(ctx context.Context) (err error) {
	root, err := localcluster.FindRoot()
	if err != nil {
		return err
	}
	fmt.Println("\n1. Start a Kubernetes control plane on this machine")
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		RunsJobs: true, Webhooks: true, Logf: notef,
		ExtraArgs: map[localcluster.Component][]string{
			localcluster.ControllerManager: {"--controllers=storage-version-migrator-controller"}, // one more
		},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	fmt.Println("\n2. Start the manager, with webhooks and no more rights than its own role gives it")
	manager, err := startManager(ctx, cluster, filepath.Join(root, "bin", "manager"))
	if err != nil {
		return err
	}
	notef("its log: %s", manager.LogPath)
	running, end := context.WithCancelCause(ctx)
	go func() {
		<-manager.Done()
		end(manager.Err())
	}()
	if err := runSteps(running, root, cluster); err != nil {
		if ctx.Err() == nil { // an interrupt needs no explanation
			fmt.Fprintln(os.Stderr, manager.LogTail())
		}
		return err
	}
	if os.Getenv("CI") == "true" {
		return nil
	}
	return stayUp(running, root, cluster)
}

func startManager(ctx context.Context, cluster *localcluster.Cluster, binary string) (*localcluster.Process, error) {
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("the manager is not built, run \"make build\": %w", err)
	}
	kubeconfig, err := cluster.AddManager(ctx)
	if err != nil {
		return nil, err
	}
	command, err := cluster.Manager(binary, kubeconfig)
	if err != nil {
		return nil, err
	}
	return cluster.Run(ctx, command)
}

// runSteps runs the script. When the context ends, it ends the script and all its children.
func runSteps(ctx context.Context, root string, cluster *localcluster.Cluster) error {
	kubectl := cluster.Kubectl(ctx)
	script := exec.CommandContext(ctx, "hack/demo/steps")
	script.Dir, script.Stdout, script.Stderr = kubectl.Dir, os.Stdout, os.Stderr
	path := []string{filepath.Join(root, "bin"), filepath.Dir(kubectl.Path), os.Getenv("PATH")}
	script.Env = append(slices.Clone(kubectl.Env), "PATH="+strings.Join(path, string(filepath.ListSeparator)))
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	script.Cancel = func() error { return syscall.Kill(-script.Process.Pid, syscall.SIGTERM) }
	if err := script.Run(); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}

// stayUp waits for an interrupt or the end of the manager.
func stayUp(ctx context.Context, root string, cluster *localcluster.Cluster) error {
	fmt.Printf(`The cluster and the manager stay up until Ctrl-C. Its Pods are simulated by kwok, and have no logs. In another terminal:

export KUBECONFIG=%s
export PATH=%s:%s:$PATH

kubectl get tcj                  # each CronJob, and how it is
kubectl cronjob history failing  # what ran, what did not, and why
kubectl cronjob ui               # all of it on a page in the browser
`, cluster.Kubeconfig, filepath.Join(root, "bin"), filepath.Dir(cluster.Kubectl(ctx).Path))
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	fmt.Println("\nStopping")
	return nil
}

func notef(format string, args ...any) { fmt.Printf("   "+format+"\n", args...) }
