// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// ErrNoLog is in the chain of the error for a Job without a log: it has no Pod, or none has
// started.
var ErrNoLog = errors.New("no log")

// LogOptions are the options of Logs.
type LogOptions struct {
	// Container is the container whose log to print; "" for all.
	Container string

	// Follow is whether to print new lines until the Job has ended.
	Follow bool

	// Tail is the number of last lines to print of each container; nil for all. It does not apply
	// to Follow while the Job runs.
	Tail *int64

	// Prefix is whether to print the container's name before each line, even if there is only one.
	Prefix bool
}

// Logs prints the log of a Job's Pods: one container after the other, or with Follow all at the
// same time.
func Logs(ctx context.Context, e *env.Env, job *batchv1.Job, o LogOptions) error {
	cluster, err := e.Clientset()
	if err != nil {
		return err
	}
	f := newFollower(cluster, job, o.Container, e.Out, e.ErrOut)
	pods, err := cluster.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: f.selector})
	if err != nil {
		return err
	}
	if err := checkContainer(job, pods.Items, o.Container); err != nil {
		return err
	}
	f.tail, f.prefixed = o.Tail, f.prefixed || o.Prefix || len(pods.Items) > 1
	switch {
	case o.Follow && plan.ResultOf(job) == "":
		if _, err = f.followToEnd(ctx, job); err != nil {
			err = fmt.Errorf("waiting for job.batch/%s: %w", job.Name, err)
		}
	case len(pods.Items) == 0:
		err = fmt.Errorf("no Pod of it is there, and so %w", ErrNoLog)
	default:
		f.printAll(ctx, pods.Items)
		if !f.hasStarted {
			err = fmt.Errorf("none of its containers has started, and so %w", ErrNoLog)
		}
	}
	switch {
	case ctx.Err() != nil:
		return &env.ExitError{Code: env.Interrupted}
	case err == nil && f.failed:
		return fmt.Errorf("some of the log of job.batch/%s could not be read", job.Name)
	}
	return err
}

func (f *follower) printAll(ctx context.Context, pods []corev1.Pod) {
	f.once = true
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range pods {
		f.see(ctx, &pods[i])
	}
}

// checkContainer returns an error if neither the template of a Job nor one of its Pods has a
// container of this name.
func checkContainer(job *batchv1.Job, pods []corev1.Pod, container string) error {
	names := cronjobs.AllContainerNames(job.Spec.Template.Spec)
	if container == "" || slices.Contains(names, container) ||
		slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return slices.Contains(cronjobs.AllContainerNames(pod.Spec), container) }) {
		return nil
	}
	return fmt.Errorf("-c %s: no container has this name: %s", container, strings.Join(names, ", "))
}
