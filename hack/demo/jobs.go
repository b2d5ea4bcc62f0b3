// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cronjobv1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

const (
	// jobTimeout is for CronJobs that are due every minute: the minute that has begun may be
	// theirs or not, and a slow machine gets one more.
	jobTimeout = 130 * time.Second

	diagnoseTimeout = 30 * time.Second
)

var errTooSlow = fmt.Errorf("not within %v", jobTimeout)

// awaitJobs waits until a Job of each CronJob has completed and the CronJob says so. If that does
// not happen it prints what there is to know.
func (d *demo) awaitJobs(parent context.Context) error {
	ctx, stop := d.withManager(parent)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, jobTimeout, errTooSlow)
	defer cancel()

	waitingFor, err := d.cronJobsByUID(ctx)
	if err != nil {
		return err
	}
	d.notef("the next minute begins in %s", seconds(untilNextMinute(time.Now())))
	err = d.awaitCompleteJobs(ctx, maps.Clone(waitingFor))
	if err == nil {
		err = d.awaitSuccessInStatus(ctx, waitingFor)
	}
	if err != nil && parent.Err() == nil { // an interrupt needs no explanation
		d.diagnose(parent)
	}
	return err
}

// awaitCompleteJobs watches the Jobs until one of each CronJob has completed.
func (d *demo) awaitCompleteJobs(ctx context.Context, waitingFor map[types.UID]string) error {
	err := d.cluster.Until(ctx, &batchv1.JobList{}, func(object client.Object) (bool, error) {
		err := d.strike(waitingFor, object.(*batchv1.Job))
		return len(waitingFor) == 0, err
	}, client.InNamespace(metav1.NamespaceDefault))
	if err != nil {
		return fmt.Errorf("waiting for a completed Job of %s: %w", list(waitingFor), err)
	}
	return nil
}

// awaitSuccessInStatus watches the CronJobs until the manager has noted the success of each.
func (d *demo) awaitSuccessInStatus(ctx context.Context, waitingFor map[types.UID]string) error {
	err := d.cluster.Until(ctx, &cronjobv1.CronJobList{}, func(object client.Object) (bool, error) {
		if object.(*cronjobv1.CronJob).Status.LastSuccessfulTime != nil {
			delete(waitingFor, object.GetUID())
		}
		return len(waitingFor) == 0, nil
	}, client.InNamespace(metav1.NamespaceDefault))
	if err != nil {
		return fmt.Errorf("waiting for the success in the status of %s: %w", list(waitingFor), err)
	}
	return nil
}

// list makes one text of the names.
func list(names map[types.UID]string) string {
	return strings.Join(slices.Sorted(maps.Values(names)), " and ")
}

// cronJobsByUID returns the names of the CronJobs that were created.
func (d *demo) cronJobsByUID(ctx context.Context) (map[types.UID]string, error) {
	var cronJobs cronjobv1.CronJobList
	if err := d.cluster.Client.List(ctx, &cronJobs, client.InNamespace(metav1.NamespaceDefault)); err != nil {
		return nil, fmt.Errorf("listing CronJobs: %w", err)
	}
	if len(cronJobs.Items) == 0 {
		return nil, errors.New("there are no CronJobs")
	}
	names := make(map[types.UID]string, len(cronJobs.Items))
	for i := range cronJobs.Items {
		names[cronJobs.Items[i].UID] = cronJobs.Items[i].Name
	}
	return names, nil
}

// strike removes the CronJob from the list whose Job this is, if the Job has completed. A Job that
// failed is an error.
func (d *demo) strike(waitingFor map[types.UID]string, job *batchv1.Job) error {
	owner := metav1.GetControllerOf(job)
	if owner == nil {
		return nil
	}
	name, ok := waitingFor[owner.UID]
	if !ok {
		return nil
	}
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			d.notef("%s Job %s of CronJob %s is complete", time.Now().Format(time.TimeOnly), job.Name, name)
			delete(waitingFor, owner.UID)
		case batchv1.JobFailed:
			return fmt.Errorf("job %s of CronJob %s failed: %s: %s", job.Name, name, condition.Reason, condition.Message)
		}
	}
	return nil
}

// diagnose prints, to stderr, what explains a Job that is missing or does not complete.
func (d *demo) diagnose(parent context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), diagnoseTimeout)
	defer cancel()
	saved := d.out
	d.out = os.Stderr
	defer func() { d.out = saved }()

	d.printf("\n")
	for _, args := range [][]string{
		{"describe", cronJobs("v1")},
		{"describe", "jobs"},
		{"get", "pods"},
		{"events"},
	} {
		if err := d.kubectl(ctx, args...); err != nil {
			d.printf("%v\n", err)
		}
		d.printf("\n")
	}
	if d.manager.Err() == nil { // else the error has it
		d.printf("%s\n", d.manager.LogTail())
	}
}

func untilNextMinute(now time.Time) time.Duration {
	return now.Truncate(time.Minute).Add(time.Minute).Sub(now)
}
