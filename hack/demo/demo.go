// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cronjobv1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/hack/localcluster"
)

const (
	// jobTimeout is for CronJobs that are due every minute: the minute that has begun may be
	// theirs or not, and a slow machine gets one more.
	jobTimeout = 130 * time.Second

	diagnoseTimeout = 30 * time.Second
)

// versions are the API versions, in each of which there is a sample.
var versions = []string{"v1", "v2"}

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
	err := do(ctx)
	took := time.Since(begin).Seconds()
	if err != nil {
		return fmt.Errorf("step %d failed after %.1fs: %w", d.steps, took, err)
	}
	d.notef("done in %.1fs", took)
	return nil
}

func (d *demo) startCluster(ctx context.Context) (err error) {
	d.cluster, err = localcluster.Start(ctx, localcluster.Options{
		Root: d.root, RunsJobs: true, Webhooks: true, Logf: d.notef,
	})
	return err
}

func (d *demo) startManager(ctx context.Context) error {
	binary := filepath.Join(d.root, "bin", "manager")
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("the manager is not built, run \"make build\": %w", err)
	}
	kubeconfig, err := d.cluster.AddManager(ctx)
	if err != nil {
		return err
	}
	command, err := d.cluster.Manager(binary, kubeconfig)
	if err != nil {
		return err
	}
	d.manager, err = d.cluster.Run(ctx, command)
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

// showSchedules prints the schedule of every CronJob in every version.
func (d *demo) showSchedules(ctx context.Context) error {
	const schedules = `-o=jsonpath={range .items[*]}{.metadata.name}: {.spec.schedule}{"\n"}{end}`
	for _, version := range versions {
		if err := d.kubectl(ctx, "get", cronJobs(version), schedules); err != nil {
			return err
		}
	}
	return nil
}

// awaitJobs waits until the status of each CronJob tells of a Job that has completed. If that does
// not happen it prints what there is to know.
func (d *demo) awaitJobs(parent context.Context) error {
	ctx, cancel := context.WithTimeoutCause(parent, jobTimeout, fmt.Errorf("no Job of each has completed in %v", jobTimeout))
	defer cancel()
	begin := time.Now()
	d.notef("the next minute begins in %.0fs", begin.Truncate(time.Minute).Add(time.Minute).Sub(begin).Seconds())
	done := map[string]bool{}
	err := d.cluster.Until(ctx, &cronjobv1.CronJobList{}, func(object client.Object) (bool, error) {
		if object.(*cronjobv1.CronJob).Status.LastSuccessfulTime != nil && !done[object.GetName()] {
			done[object.GetName()] = true
			d.notef("a Job of CronJob %s has completed after %.0fs", object.GetName(), time.Since(begin).Seconds())
		}
		return len(done) == len(versions), d.manager.Err()
	}, client.InNamespace(metav1.NamespaceDefault))
	if err != nil && parent.Err() == nil { // an interrupt needs no explanation
		d.diagnose(parent)
	}
	return err
}

// diagnose prints, to stderr, what explains a Job that is missing or does not complete.
func (d *demo) diagnose(parent context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), diagnoseTimeout)
	defer cancel()
	show := demo{out: os.Stderr, cluster: d.cluster}
	for _, args := range [][]string{{"describe", cronJobs("v1")}, {"describe", "jobs"}, {"get", "pods"}, {"events"}} {
		if err := show.kubectl(ctx, args...); err != nil {
			show.printf("%v\n", err)
		}
	}
	show.printf("%s\n", d.manager.LogTail())
}

// showResult prints what there is at the end.
func (d *demo) showResult(ctx context.Context) error {
	d.printf("\nThe result:\n\n")
	for _, resource := range []string{cronJobs("v1"), cronJobs("v2"), "jobs"} {
		if err := d.kubectl(ctx, "get", resource); err != nil {
			return err
		}
	}
	return nil
}

// stayUp leaves everything running until it is interrupted or the manager ends.
func (d *demo) stayUp(ctx context.Context) error {
	bin := filepath.Join(d.root, "bin")
	d.printf("The cluster and the manager stay up until Ctrl-C. In another terminal:\n\n")
	// "make build-plugin" puts the plugin into bin.
	d.printf("export KUBECONFIG=%s\nexport PATH=%s:%s:$PATH\nkubectl get %s --watch\n",
		d.cluster.Kubeconfig, bin, filepath.Join(bin, "k8s"), cronJobs("v2"))
	select {
	case <-ctx.Done():
		d.printf("\nStopping\n")
		return nil
	case <-d.manager.Done():
		return d.manager.Err()
	}
}

// stop ends whatever was started.
func (d *demo) stop() error {
	if d.cluster == nil {
		return nil
	}
	return d.cluster.Stop()
}

// cronJobs names the resource of a version as kubectl understands it.
func cronJobs(version string) string {
	return "cronjobs." + version + ".batch.tutorial.kubebuilder.io"
}

// kubectl prints a command line as one would type it, then runs it and prints what it says.
func (d *demo) kubectl(ctx context.Context, args ...string) error {
	words := make([]string, len(args))
	for i, arg := range args {
		if words[i] = arg; strings.ContainsAny(arg, " {") {
			words[i] = "'" + arg + "'"
		}
	}
	line := "kubectl " + strings.Join(words, " ")
	d.printf("$ %s\n", line)
	command := d.cluster.Kubectl(ctx, args...)
	command.Stdout, command.Stderr = d.out, d.out
	err := command.Run()
	d.printf("\n")
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx)) // the error is only that kubectl was killed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
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
