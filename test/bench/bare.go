// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/plane"
)

// bareClient is the argument with which this program is the bare client: what no controller can be
// faster than. It knows the CronJobs beforehand, waits for their tick, and creates their Jobs with
// 32 workers.
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
	at := cronJobs.Items[0].Status.NextScheduleTime.Time // the same of all
	jobs := make([]*batchv1.Job, len(cronJobs.Items))
	for i := range cronJobs.Items {
		jobs[i] = plan.NewJob(&cronJobs.Items[i], at)
	}
	if err := plane.SleepUntil(ctx, at); err != nil {
		return err
	}
	err = inParallel(ctx, len(jobs), func(ctx context.Context, i int) error { return direct.Create(ctx, jobs[i]) })
	if err != nil {
		return err
	}
	<-ctx.Done() // its CPU and memory are still to be measured
	return nil
}
