// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
)

var errGone = errors.New("was deleted")

// await waits until the Job has ended, and returns an error if it failed. With --follow it prints
// its log.
func (c *command) await(ctx context.Context, job *batchv1.Job) error {
	cluster, err := c.Clientset()
	if err != nil {
		return err
	}
	waiting, cancel := watchtools.ContextWithOptionalTimeout(ctx, c.timeout)
	defer cancel()
	var ended *batchv1.Job
	if c.follow {
		ended, err = newFollower(cluster, job, "", c.Out, c.ErrOut).followToEnd(waiting, job)
	} else {
		ended, err = awaitEnd(waiting, cluster, job)
	}
	return c.verdict(ctx, waiting, job, ended, err)
}

// awaitEnd waits until a Job has ended, and returns its last state.
func awaitEnd(ctx context.Context, cluster kubernetes.Interface, job *batchv1.Job) (*batchv1.Job, error) {
	jobs := cache.NewListWatchFromClient(cluster.BatchV1().RESTClient(), "jobs", job.Namespace,
		fields.OneTermEqualSelector("metadata.name", job.Name))
	isThere := func(store cache.Store) (bool, error) {
		if len(store.List()) > 0 {
			return false, nil
		}
		// The watch may begin with a state from before the creation of the Job.
		_, err := cluster.BatchV1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			err = errGone
		}
		return false, err
	}
	var ended *batchv1.Job
	hasEnded := func(event watch.Event) (bool, error) {
		current, ok := event.Object.(*batchv1.Job)
		if !ok {
			return false, nil
		}
		if event.Type == watch.Deleted || current.UID != job.UID {
			return false, errGone
		}
		ended = current
		return plan.ResultOf(current) != "", nil
	}
	_, err := watchtools.UntilWithSync(ctx, jobs, &batchv1.Job{}, isThere, hasEnded)
	return ended, err
}

func (c *command) verdict(ctx, waiting context.Context, job, ended *batchv1.Job, err error) error {
	switch {
	case err == nil && plan.ResultOf(ended) == v1.RunSucceeded:
		fmt.Fprintf(c.messages(), "job.batch/%s completed\n", job.Name)
		return nil
	case err == nil:
		return fmt.Errorf("job.batch/%s failed: %s", job.Name, cronjobs.WhyFailed(ended))
	case ctx.Err() != nil:
		return &env.ExitError{Code: env.Interrupted, Err: fmt.Errorf("interrupted: job.batch/%[1]s runs on: "+
			"kubectl logs -n %[2]s -f job/%[1]s shows what it logs, kubectl delete -n %[2]s job/%[1]s ends it", job.Name, job.Namespace)}
	case waiting.Err() != nil:
		return fmt.Errorf("job.batch/%s has not ended after %v; it runs on", job.Name, c.timeout)
	}
	return fmt.Errorf("waiting for job.batch/%s: %w", job.Name, err)
}
