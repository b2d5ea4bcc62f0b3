// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"tutorial.kubebuilder.io/project/hack/localcluster"
)

// demo is the state of the show.
type demo struct {
	out     io.Writer
	root    string
	cluster *localcluster.Cluster
	manager *localcluster.Process
	steps   int
}

// perform runs every step and prints what came of it.
func (d *demo) perform(ctx context.Context) error {
	var err error
	if d.root, err = localcluster.FindRoot(); err != nil {
		return err
	}
	steps := []struct {
		title string
		do    func(context.Context) error
	}{
		{"Start a Kubernetes control plane on this machine", d.startCluster},
		{"Start the manager, with webhooks and no more rights than its own role gives it", d.startManager},
		{"Create a CronJob in each API version", d.applySamples},
		{"Read both schedules in both versions", d.showSchedules},
		{fmt.Sprintf("Wait until a Job of each CronJob has completed (at most %v)", jobTimeout), d.awaitJobs},
	}
	for _, step := range steps {
		if err := d.step(ctx, step.title, step.do); err != nil {
			return err
		}
	}
	return d.showResult(ctx)
}

// step runs one step, with a heading before it and its duration after it.
func (d *demo) step(ctx context.Context, title string, do func(context.Context) error) error {
	d.steps++
	d.printf("\n%d. %s\n", d.steps, title)
	begin := time.Now()
	if err := do(ctx); err != nil {
		return fmt.Errorf("step %d failed after %s: %w", d.steps, seconds(time.Since(begin)), err)
	}
	d.printf("   done in %s\n", seconds(time.Since(begin)))
	return nil
}

func (d *demo) startCluster(ctx context.Context) error {
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		Root:       d.root,
		Components: localcluster.RunsJobs(),
		Webhooks:   localcluster.DefaultWebhooks(),
		Logf:       d.notef,
	})
	if err != nil {
		return err
	}
	d.cluster = cluster
	return nil
}

// The manager's service account, which its role binding names before kustomize changes names.
const (
	managerUser      = "system:serviceaccount:system:controller-manager"
	managerUserGroup = "system:serviceaccounts"
)

func (d *demo) startManager(ctx context.Context) error {
	binary := filepath.Join(d.root, "bin", "manager")
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("the manager is not built, run \"make build\": %w", err)
	}
	err := d.quietly(ctx, "apply", "-f", "config/rbac/role.yaml", "-f", "config/rbac/role_binding.yaml")
	if err != nil {
		return err
	}
	kubeconfig, err := d.cluster.AddUser(managerUser, managerUserGroup)
	if err != nil {
		return err
	}
	port, err := localcluster.FreePort()
	if err != nil {
		return err
	}
	health := fmt.Sprintf("127.0.0.1:%d", port)
	d.manager, err = d.cluster.Run(ctx, localcluster.Command{
		Name:      "manager",
		Path:      binary,
		Env:       []string{"KUBECONFIG=" + kubeconfig},
		HealthURL: "http://" + health + "/readyz",
		Args: []string{
			"--enable-webhooks", // whatever the environment says
			"--webhook-cert-path=" + d.cluster.WebhookCertDir,
			"--webhook-host=127.0.0.1",
			fmt.Sprintf("--webhook-port=%d", d.cluster.WebhookPort),
			"--health-probe-bind-address=" + health,
			"--metrics-bind-address=0",
		},
	})
	if err != nil {
		return err
	}
	d.notef("its log: %s", d.manager.LogPath)
	return nil
}

func (d *demo) applySamples(ctx context.Context) error {
	for _, version := range versions {
		if err := d.kubectl(ctx, "apply", "-f", "config/samples/batch_"+version+"_cronjob.yaml"); err != nil {
			return err
		}
	}
	return nil
}

// showResult prints what there is at the end.
func (d *demo) showResult(ctx context.Context) error {
	d.printf("\nThe result:\n\n")
	for _, version := range versions {
		if err := d.kubectl(ctx, "get", cronJobs(version)); err != nil {
			return err
		}
		d.printf("\n")
	}
	return d.kubectl(ctx, "get", "jobs")
}

// stayUp leaves everything running until it is interrupted or the manager ends.
func (d *demo) stayUp(ctx context.Context) error {
	d.printf("\nThe cluster and the manager stay up until Ctrl-C. In another terminal:\n\n")
	d.printf("%s", otherTerminal(d.root, d.cluster.Kubeconfig))
	select {
	case <-ctx.Done():
		d.printf("\nStopping\n")
		return nil
	case <-d.manager.Done():
		return d.manager.Err()
	}
}

// otherTerminal returns what to type in another terminal. "make build-plugin" puts the plugin into bin.
func otherTerminal(root, kubeconfig string) string {
	bin := filepath.Join(root, "bin")
	return fmt.Sprintf("export KUBECONFIG=%s\nexport PATH=%s:%s:$PATH\nkubectl get %s --watch\n",
		kubeconfig, bin, filepath.Join(bin, "k8s"), cronJobs("v2"))
}

// stop ends whatever was started.
func (d *demo) stop() error {
	if d.cluster == nil {
		return nil
	}
	if err := d.cluster.Stop(); err != nil {
		return fmt.Errorf("cleaning up: %w", err)
	}
	return nil
}

func (d *demo) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(d.out, format, args...)
}

// notef prints a line that belongs to the running step.
func (d *demo) notef(format string, args ...any) {
	d.printf("   "+format+"\n", args...)
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// withManager returns a context that also ends when the manager does, and says so.
func (d *demo) withManager(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-ctx.Done():
		case <-d.manager.Done():
			cancel(d.manager.Err())
		}
	}()
	return ctx, func() { cancel(nil) }
}
