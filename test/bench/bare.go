// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

// bareClient is the argument by which this program is the bare client, the lower limit for any
// controller. It knows the CronJobs beforehand, and creates the Job of the next tick of each with
// 32 workers. After that, the bench itself patches the statuses.
const bareClient = "bare-client"

func runBareClient(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(bareClient, flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "`file` that says where the API server is")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	scheme, err := localcluster.NewScheme()
	if err != nil {
		return err
	}
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	cronJobs := &v1.CronJobList{}
	if err := direct.List(ctx, cronJobs); err != nil {
		return fmt.Errorf("listing the CronJobs: %w", err)
	}
	due := func(i int) time.Time { return cronJobs.Items[i].Status.NextScheduleTime.Time }
	slices.SortFunc(cronJobs.Items, func(a, b v1.CronJob) int {
		return a.Status.NextScheduleTime.Compare(b.Status.NextScheduleTime.Time)
	})
	jobs := make([]*batchv1.Job, len(cronJobs.Items))
	for i := range cronJobs.Items {
		jobs[i] = plan.NewJob(&cronJobs.Items[i], due(i))
	}
	err = inParallel(ctx, len(jobs), func(ctx context.Context, i int) error {
		if err := plane.SleepUntil(ctx, due(i)); err != nil {
			return err
		}
		return direct.Create(ctx, jobs[i])
	})
	if err != nil && ctx.Err() == nil { // otherwise the next ticks would be too late to measure
		return err
	}
	<-ctx.Done() // its CPU and memory are measured next
	return nil
}

// patchStatuses patches the status of each CronJob, as the operator does after it has started a
// Job, and returns how long that takes with 32 workers. That is the API server's part for any
// controller. An operator for another namespace converts.
func (p *cluster) patchStatuses(ctx context.Context, k kind, cronJobs []cronJob, tick time.Time) (time.Duration, error) {
	r, err := p.settled(ctx, operator, "--namespaces="+neighbour)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	err = inParallel(ctx, len(cronJobs), func(ctx context.Context, i int) error {
		patch, err := json.Marshal(map[string]any{"status": statusAfter(&cronJobs[i], tick)})
		if err != nil {
			return err
		}
		return p.REST.Patch(types.MergePatchType).AbsPath(k.in(cronJobs[i].Namespace), cronJobs[i].Name, "status").
			SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").Body(patch).Do(ctx).Error()
	})
	took := time.Since(begin)
	return took, errors.Join(err, p.End(r.Process))
}

// statusAfter returns the change of a status when a Job is started. The UID of the Job, which
// nobody reads, is that of the CronJob.
func statusAfter(c *cronJob, tick time.Time) v1.CronJobStatus {
	at, next := metav1.NewTime(tick), metav1.NewTime(tick.AddDate(0, 0, 1))
	job := corev1.ObjectReference{
		APIVersion: "batch/v1", Kind: "Job", Namespace: c.Namespace, UID: c.UID,
		Name: plan.JobName(&v1.CronJob{ObjectMeta: c.ObjectMeta}, tick),
	}
	return v1.CronJobStatus{
		Active: []corev1.ObjectReference{job}, ActiveCount: new(int32(1)),
		LastScheduleTime: &at, NextScheduleTime: &next, NextStartTime: &next,
		RecentRuns: []v1.Run{{ScheduledTime: at, Result: v1.RunRunning, Trigger: v1.TriggerSchedule, JobName: job.Name, JobUID: job.UID}},
	}
}
