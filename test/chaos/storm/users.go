// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

// Users carry out a plan, each act until it has worked.
type Users struct {
	Client client.Client
	Log    *history.Log
	Jobs   *Jobs
}

// MakeNamespaces makes the namespaces.
func (u *Users) MakeNamespaces(ctx context.Context) error {
	for _, name := range Namespaces() {
		if err := u.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	return nil
}

// Run carries out a plan, and returns when it is done.
func (u *Users) Run(ctx context.Context, begin time.Time, plan []CronJob) error {
	var wait sync.WaitGroup
	for i := range plan {
		wait.Go(func() {
			for _, act := range plan[i].Acts {
				plane.Sleep(ctx, time.Until(begin.Add(act.At)))
				u.insist(ctx, &plan[i], act)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// suspendAtOnce is how many CronJobs are suspended or resumed at once. Each edit calls the webhooks:
// all at once would keep the API server busy for longer than the checker lets ticks wait.
const suspendAtOnce = 4

// SuspendAll suspends or resumes all CronJobs there are.
func (u *Users) SuspendAll(ctx context.Context, suspend bool, plan []CronJob) error {
	verb := Resume
	if suspend {
		verb = Suspend
	}
	workqueue.ParallelizeUntil(ctx, suspendAtOnce, len(plan), func(i int) {
		if plan[i].exists() {
			u.insist(ctx, &plan[i], Act{Verb: verb, V2: i%2 == 0, Spec: Spec{Suspend: suspend}})
		}
	})
	return context.Cause(ctx)
}

// exists reports whether the CronJob is there when its life's plan is done.
func (c *CronJob) exists() bool {
	return len(c.Acts) > 0 && c.Acts[len(c.Acts)-1].Verb != Delete
}

// insist tries until it works or the context ends.
func (u *Users) insist(ctx context.Context, c *CronJob, act Act) {
	if ctx.Err() != nil {
		return
	}
	u.Log.Add(history.Record{Act: &history.Act{Kind: string(act.Verb), Name: c.Namespace + "/" + c.Name}})
	_ = plane.Insist(ctx, func(ctx context.Context) error { return u.try(ctx, c, act) })
}

// try tries once. That it was done before, by a try whose answer was lost, is fine.
func (u *Users) try(ctx context.Context, c *CronJob, act Act) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kindIn(act.V2))
	object.SetNamespace(c.Namespace)
	object.SetName(c.Name)
	switch act.Verb {
	case DeleteJob:
		u.Jobs.DeleteOne(c.Namespace, c.Name)
		return nil
	case Delete:
		return client.IgnoreNotFound(u.Client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	case Create:
		object.Object["spec"] = act.Spec.full(act.V2)
		object.SetLabels(map[string]string{"chaos": act.Spec.Label})
		err := u.Client.Create(ctx, object)
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	patch, err := json.Marshal(act.patch())
	if err != nil {
		return err
	}
	return u.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))
}

func kindIn(v2 bool) schema.GroupVersionKind {
	version := "v1"
	if v2 {
		version = "v2"
	}
	return schema.GroupVersionKind{Group: "batch.tutorial.kubebuilder.io", Version: version, Kind: "CronJob"}
}

// patch returns the merge patch of an edit.
func (a Act) patch() map[string]any {
	spec := map[string]any{}
	switch a.Verb {
	case Label:
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{"chaos": a.Spec.Label}}}
	case Suspend, Resume:
		spec["suspend"] = a.Spec.Suspend
	case Reschedule:
		spec["schedule"], spec["timeZone"] = a.Spec.Schedule.in(a.V2, true), orNull(a.Spec.TimeZone)
	case Edit:
		a.Spec.policies(spec)
	}
	return map[string]any{"spec": spec}
}

// full returns a whole spec.
func (s Spec) full(v2 bool) map[string]any {
	spec := map[string]any{
		"schedule": s.Schedule.in(v2, false), "suspend": s.Suspend,
		"jobTemplate": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never",
			"containers":    []any{map[string]any{"name": "main", "image": "registry.example/chaos:v1"}},
		}}}},
	}
	if s.TimeZone != "" {
		spec["timeZone"] = s.TimeZone
	}
	s.policies(spec)
	if s.Deadline == 0 {
		delete(spec, "startingDeadlineSeconds")
	}
	return spec
}

// policies sets what beside the schedule varies.
func (s Spec) policies(spec map[string]any) {
	spec["concurrencyPolicy"] = s.Policy
	spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"] = int64(s.Succeeded), int64(s.Failed)
	spec["startingDeadlineSeconds"] = nil
	if s.Deadline > 0 {
		spec["startingDeadlineSeconds"] = s.Deadline
	}
}

// in returns the schedule as a version has it. A patch also says what is to go.
func (s Schedule) in(v2, patch bool) any {
	if !v2 {
		return s.Text
	}
	fields := map[string]any{}
	if patch {
		for _, name := range []string{"minute", "hour", "dayOfMonth", "month", "dayOfWeek", "every"} {
			fields[name] = nil
		}
	}
	for name, value := range maps.All(s.Fields) {
		fields[name] = value
	}
	return fields
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Await waits until a CronJob of each version can be created, without creating one: then the
// webhooks are there.
func (u *Users) Await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	for _, v2 := range []bool{false, true} {
		err := plane.Insist(ctx, func(ctx context.Context) error {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": Spec{
				Policy: "Allow", Schedule: Schedule{"* * * * *", map[string]string{"minute": "*"}},
			}.full(v2)}}
			object.SetGroupVersionKind(kindIn(v2))
			object.SetNamespace(Namespace(0))
			object.SetName("probe")
			return u.Client.Create(ctx, object, client.DryRunAll)
		})
		if err != nil {
			return fmt.Errorf("waiting for the webhooks: %w", err)
		}
	}
	return nil
}
