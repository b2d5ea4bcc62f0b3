// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/plane"
)

// bareClient is the argument with which this program is the bare client instead: what no controller
// can be faster than. It knows the CronJobs beforehand, waits for their tick, creates their Jobs
// with 32 workers, says how long that took, and does nothing else.
const bareClient = "bare-client"

func runBareClient(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(bareClient, flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "`file` that says where the API server is")
	tick := flags.Int64("tick", 0, "when to begin, in `seconds` since 1970")
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
	at, cronJobs := time.Unix(*tick, 0), &v1.CronJobList{}
	if err := direct.List(ctx, cronJobs); err != nil {
		return fmt.Errorf("listing the CronJobs: %w", err)
	}
	jobs := make([]*batchv1.Job, len(cronJobs.Items))
	for i := range cronJobs.Items {
		jobs[i] = plan.NewJob(&cronJobs.Items[i], at)
	}
	if err := plane.SleepUntil(ctx, at); err != nil {
		return err
	}
	begin := time.Now()
	err = inParallel(ctx, len(jobs), func(ctx context.Context, i int) error { return direct.Create(ctx, jobs[i]) })
	if err != nil {
		return err
	}
	fmt.Printf(tookFormat, time.Since(begin).Seconds())
	<-ctx.Done() // whoever measures this process wants it to be there
	return nil
}

// tookFormat is the line that says how many seconds it took.
const tookFormat = "took %f\n"

// bareTook reads what the bare client said at last.
func bareTook(log string) (took float64, err error) {
	content, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(content))+"\n", "\n")
	if _, err := fmt.Sscanf(lines[max(0, len(lines)-2)], tookFormat, &took); err != nil {
		return 0, fmt.Errorf("the bare client did not say how long it took: %w", err)
	}
	return took, nil
}
