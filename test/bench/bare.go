// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// bareClient is the argument with which this program is the bare client instead: what no controller
// can be faster than. It knows the CronJobs beforehand, waits for their tick, creates their Jobs
// with 32 workers, says how long that took, and does nothing else.
const bareClient = "bare-client"

func runBareClient(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(bareClient, flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "`file` that says where the API server is")
	tick := flags.Int64("tick", 0, "when to begin, in `seconds` since 1970")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	jobs, err := jobsAt(ctx, config, time.Unix(*tick, 0))
	if err != nil {
		return err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	select {
	case <-time.After(time.Until(time.Unix(*tick, 0))):
	case <-ctx.Done():
		return nil
	}
	begin := time.Now()
	err = inParallel(ctx, len(jobs), func(ctx context.Context, i int) error {
		_, err := typed.BatchV1().Jobs(jobs[i].Namespace).Create(ctx, jobs[i], metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s%f\n", tookMark, time.Since(begin).Seconds())
	<-ctx.Done() // whoever measures this process wants it to be there
	return nil
}

// jobsAt makes the Jobs of a tick, as the operator does.
func jobsAt(ctx context.Context, config *rest.Config, tick time.Time) ([]*batchv1.Job, error) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	cronJobs := &v1.CronJobList{}
	if err := reader.List(ctx, cronJobs); err != nil {
		return nil, fmt.Errorf("listing the CronJobs: %w", err)
	}
	jobs := make([]*batchv1.Job, len(cronJobs.Items))
	for i := range cronJobs.Items {
		jobs[i] = plan.NewJob(&cronJobs.Items[i], tick)
	}
	return jobs, nil
}

// tookMark begins the line that says how many seconds it took.
const tookMark = "took "

// bareTook reads what the bare client said.
func bareTook(log string) (float64, error) {
	content, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	took := ""
	for line := range strings.Lines(string(content)) {
		if seconds, ok := strings.CutPrefix(strings.TrimSpace(line), tookMark); ok {
			took = seconds // the last is the latest
		}
	}
	if took == "" {
		return 0, errors.New("the bare client did not say how long it took")
	}
	return strconv.ParseFloat(took, 64)
}
