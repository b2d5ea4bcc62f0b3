/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
	"k8s.io/client-go/tools/clientcmd"
)

// bareClient is the argument with which this program is the bare client instead: what no controller can be faster
// than. It knows the CronJobs beforehand, waits for their tick, creates their Jobs with 32 workers, says how long
// that took, and does nothing else.
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
	config.QPS, config.ContentType = -1, runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := client.BatchV1().CronJobs("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	jobs := jobsAt(time.Unix(*tick, 0), list.Items)
	select {
	case <-time.After(time.Until(time.Unix(*tick, 0))):
	case <-ctx.Done():
		return nil
	}
	begin := time.Now()
	err = inParallel(ctx, len(jobs), func(ctx context.Context, i int) error {
		_, err := client.BatchV1().Jobs(jobs[i].Namespace).Create(ctx, jobs[i], metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s%f\n", tookMark, time.Since(begin).Seconds())
	<-ctx.Done() // whoever measures this process wants it to be there
	return nil
}

// jobsAt makes a Job of each CronJob for a tick, as the built-in controller does.
func jobsAt(tick time.Time, cronJobs []batchv1.CronJob) []*batchv1.Job {
	jobs := make([]*batchv1.Job, 0, len(cronJobs))
	for i := range cronJobs {
		c := &cronJobs[i]
		template := c.Spec.JobTemplate
		jobs = append(jobs, &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: c.Namespace, Name: fmt.Sprintf("%s-%d", c.Name, tick.Unix()/60), Labels: template.Labels,
				Annotations:     map[string]string{batchv1.CronJobScheduledTimestampAnnotation: tick.UTC().Format(time.RFC3339)},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
			},
			Spec: template.Spec,
		})
	}
	return jobs
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
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), tookMark); ok {
			took = rest // the last is the latest
		}
	}
	if took == "" {
		return 0, errors.New("the bare client did not say how long it took")
	}
	return strconv.ParseFloat(took, 64)
}
