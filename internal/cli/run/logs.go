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

// ErrNoLog is for a Job whose Pods have logged nothing, as none is there or has started.
var ErrNoLog = errors.New("no log")

// LogOptions say what of a Job's log is printed, and how.
type LogOptions struct {
	// Container is the only one whose log is printed; "" for all.
	Container string

	// Follow goes on until the Job has ended.
	Follow bool

	// Tail is how many of the last lines of each container are printed of a Job that is not
	// followed; all if it is nil.
	Tail *int64

	// Prefix has each line say which container it is of, even if there is one alone.
	Prefix bool
}

// Logs prints what the Pods of a Job log: one Pod and one container after another, unless it follows
// them.
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

// printAll prints what Pods have logged, oldest first.
func (f *follower) printAll(ctx context.Context, pods []corev1.Pod) {
	f.once = true
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range pods {
		f.see(ctx, &pods[i])
	}
}

// checkContainer says that neither a Job's template nor one of its Pods has a container.
func checkContainer(job *batchv1.Job, pods []corev1.Pod, container string) error {
	names := cronjobs.AllContainerNames(job.Spec.Template.Spec)
	if container == "" || slices.Contains(names, container) ||
		slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return slices.Contains(cronjobs.AllContainerNames(pod.Spec), container) }) {
		return nil
	}
	return fmt.Errorf("-c %s: no container has this name: %s", container, strings.Join(names, ", "))
}
