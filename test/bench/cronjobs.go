// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// kind is a kind of CronJobs, by its apiVersion.
type kind string

const (
	builtin    kind = "batch/v1"
	operatorV1 kind = "batch.tutorial.kubebuilder.io/v1"
	operatorV2 kind = "batch.tutorial.kubebuilder.io/v2"
)

// isOperators is whether creates pass the operator's webhooks, so that it must run.
func (k kind) isOperators() bool { return strings.HasPrefix(string(k), v1.GroupVersion.Group+"/") }

func (k kind) in(namespace string) string {
	return "/apis/" + string(k) + "/namespaces/" + namespace + "/cronjobs"
}

func (k kind) everywhere() string { return "/apis/" + string(k) + "/cronjobs" }

//go:embed jobtemplate.yaml
var jobTemplateYAML []byte

// jobTemplate is the template of all CronJobs and Jobs here. It is as large as usual ones.
var jobTemplate = func() (template batchv1.JobTemplateSpec) {
	utilruntime.Must(yaml.UnmarshalStrict(jobTemplateYAML, &template))
	return template
}()

// benchPrefix is the prefix of the names of CronJobs in most stages.
const benchPrefix = "bench"

// batch is a number of CronJobs that differ only in their names and, possibly, their schedules.
type batch struct {
	kind       kind
	prefix     string
	count      int
	schedules  []any          // which they have in turn
	more       map[string]any // other fields of the spec
	namespaces []string       // which they have in turn; all but the neighbour if empty
}

// notDue returns a batch that is not due for ten months.
func (o *options) notDue(k kind) batch {
	b := batch{kind: k, prefix: benchPrefix, count: o.objects}
	month := fmt.Sprint((int(time.Now().UTC().Month())+9)%12 + 1)
	b.schedules = []any{"0 0 1 " + month + " *"}
	if k == operatorV2 {
		b.schedules = []any{map[string]string{"minute": "0", "hour": "0", "dayOfMonth": "1", "month": month}}
	}
	return b
}

func (p *cluster) create(ctx context.Context, b batch) (time.Duration, error) {
	if len(b.namespaces) == 0 {
		b.namespaces = p.namespaces
	}
	begin := time.Now()
	err := inParallel(ctx, b.count, func(ctx context.Context, i int) error {
		spec := map[string]any{"schedule": b.schedules[i%len(b.schedules)], "jobTemplate": jobTemplate}
		maps.Copy(spec, b.more)
		return p.createOne(ctx, b.kind, b.namespaces[i%len(b.namespaces)], nameOf(b.prefix, i), spec)
	})
	took := time.Since(begin)
	p.creating[b.kind] = took / time.Duration(max(b.count, 1))
	return took, err
}

func (p *cluster) createOne(ctx context.Context, k kind, namespace, name string, spec map[string]any) error {
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": k, "kind": "CronJob", "spec": spec,
		"metadata": metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "bench"}},
	})
	if err != nil {
		return err
	}
	request := p.REST.Post().AbsPath(k.in(namespace)).SetHeader("Content-Type", "application/json").Body(manifest)
	if err := request.Do(ctx).Error(); err != nil {
		return fmt.Errorf("creating CronJob %s of %s: %w", name, k, err)
	}
	return nil
}

func (p *cluster) namespaceOf(i int) string { return p.namespaces[i%len(p.namespaces)] }

func nameOf(prefix string, i int) string { return fmt.Sprintf("%s-%05d", prefix, i) }

// inParallel calls a function for each number below count, with 32 workers, until one fails.
func inParallel(ctx context.Context, count int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := 0; i < count && ctx.Err() == nil; i++ {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// cronJob has the fields of a CronJob of any kind that the bench reads.
type cronJob struct {
	metav1.ObjectMeta `json:"metadata"`

	Status struct{ LastScheduleTime, NextStartTime time.Time }
}

func (p *cluster) cronJobs(ctx context.Context, k kind) ([]cronJob, error) {
	var list struct{ Items []cronJob }
	answer, err := p.REST.Get().AbsPath(k.everywhere()).DoRaw(ctx)
	if err == nil {
		err = json.Unmarshal(answer, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("listing the CronJobs of %s: %w", k, err)
	}
	return list.Items, nil
}
