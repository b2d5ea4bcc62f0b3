// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"golang.org/x/sync/errgroup"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// kind is a kind of CronJobs.
type kind struct {
	apiVersion   string
	isStructured bool // its schedules have fields
}

var (
	builtin    = kind{apiVersion: "batch/v1"}
	operatorV1 = kind{apiVersion: "batch.tutorial.kubebuilder.io/v1"}
	operatorV2 = kind{apiVersion: "batch.tutorial.kubebuilder.io/v2", isStructured: true}
)

// schedule returns a schedule of five fields as the kind writes it.
func (k kind) schedule(text string) any {
	if !k.isStructured {
		return text
	}
	fields := map[string]string{}
	for i, value := range strings.Fields(text) {
		if value != "*" {
			fields[[]string{"minute", "hour", "dayOfMonth", "month", "dayOfWeek"}[i]] = value
		}
	}
	return fields
}

// isOperators says that they are the operator's, which has to run for them to be created: they pass
// its webhooks.
func (k kind) isOperators() bool { return strings.HasPrefix(k.apiVersion, v1.GroupVersion.Group+"/") }

// in returns the collection's path in a namespace.
func (k kind) in(namespace string) string {
	return "/apis/" + k.apiVersion + "/namespaces/" + namespace + "/cronjobs"
}

// everywhere returns the collection's path in all namespaces.
func (k kind) everywhere() string { return "/apis/" + k.apiVersion + "/cronjobs" }

// daily is the schedule of a tick that comes once a day.
func daily(tick time.Time) string {
	return fmt.Sprintf("%d %d * * *", tick.UTC().Minute(), tick.UTC().Hour())
}

// notSoon is a schedule that is not due for ten months.
func notSoon(now time.Time) string {
	return fmt.Sprintf("0 0 1 %d *", (int(now.UTC().Month())+9)%12+1)
}

// jobTemplate is what every CronJob and every Job here is made of: of the size that people write.
func jobTemplate() batchv1.JobTemplateSpec {
	backoffLimit := int32(2)
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	return batchv1.JobTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "bench"}},
		Spec: batchv1.JobSpec{
			BackoffLimit: &backoffLimit,
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "bench"}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyOnFailure,
					Containers: []corev1.Container{{
						Name: "main", Image: "registry.example/team/report:v1.2.3",
						Command:   []string{"/bin/sh", "-c", "report --since=24h --to=archive"},
						Env:       []corev1.EnvVar{{Name: "TARGET", Value: "archive"}, {Name: "VERBOSE", Value: "0"}},
						Resources: corev1.ResourceRequirements{Requests: amounts, Limits: amounts},
					}},
				},
			},
		},
	}
}

// manifest returns a CronJob as JSON.
func (k kind) manifest(namespace, name, schedule string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"apiVersion": k.apiVersion, "kind": "CronJob",
		"metadata": metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "bench"}},
		"spec":     map[string]any{"schedule": k.schedule(schedule), "jobTemplate": jobTemplate()},
	})
}

// create creates so many CronJobs, spread over some namespaces, and returns how long it took.
func (p *cluster) create(
	ctx context.Context, namespaces []string, k kind, prefix string, count int, schedule string,
) (time.Duration, error) {
	begin := time.Now()
	err := inParallel(ctx, count, func(ctx context.Context, i int) error {
		namespace := namespaces[i%len(namespaces)]
		manifest, err := k.manifest(namespace, nameOf(prefix, i), schedule)
		if err != nil {
			return err
		}
		request := p.json.Post().AbsPath(k.in(namespace)).SetHeader("Content-Type", "application/json").Body(manifest)
		if err := request.Do(ctx).Error(); err != nil {
			return fmt.Errorf("creating CronJobs of %s: %w", k.apiVersion, err)
		}
		return nil
	})
	return time.Since(begin), err
}

func (p *cluster) namespaceOf(i int) string { return p.namespaces[i%len(p.namespaces)] }

func nameOf(prefix string, i int) string { return fmt.Sprintf("%s-%05d", prefix, i) }

// inParallel does something for each number below count, with 32 workers, until one fails.
func inParallel(ctx context.Context, count int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range count {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// cronJob is what the bench reads of a CronJob of either kind.
type cronJob struct {
	Metadata struct {
		Namespace, Name string
		UID             types.UID
	} `json:"metadata"`
	Status struct {
		LastScheduleTime *time.Time `json:"lastScheduleTime"`
	} `json:"status"`
}

// cronJobs returns all CronJobs of a kind.
func (p *cluster) cronJobs(ctx context.Context, k kind) ([]cronJob, error) {
	body, err := p.json.Get().AbsPath(k.everywhere()).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the CronJobs of %s: %w", k.apiVersion, err)
	}
	defer func() { _ = body.Close() }()
	var list struct {
		Items []cronJob `json:"items"`
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return nil, fmt.Errorf("listing the CronJobs of %s: %w", k.apiVersion, err)
	}
	return list.Items, nil
}
