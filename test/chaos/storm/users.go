// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/jobs"
	"tutorial.kubebuilder.io/project/test/plane"
)

// ActsAtOnce limits the users' acts at once, whose requests priority and fairness do not limit, as
// the users are administrators. After an outage, all that have waited would keep the API server
// busy for longer than each waits for its answer, so that all are repeated, without an end.
const ActsAtOnce = 16

// Users carries out a plan. It retries each act until it has worked.
type Users struct {
	Client client.Client
	Log    *history.Log
	Jobs   *jobs.Controller
	AtOnce *semaphore.Weighted // of ActsAtOnce

	// Plugin is the file of the kubectl plugin, and Kubeconfig the file that it uses.
	Plugin, Kubeconfig string
}

// Run carries out a plan, and returns when it is done.
func (u *Users) Run(ctx context.Context, begin time.Time, plan []CronJob) error {
	var wait sync.WaitGroup
	for i := range plan {
		wait.Go(func() {
			for _, act := range plan[i].Acts {
				if plane.Sleep(ctx, time.Until(begin.Add(act.At))) {
					u.insist(ctx, &plan[i], act)
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// suspendAtOnce limits how many CronJobs are suspended or resumed at once. Each edit calls the
// webhooks: all at once would delay ticks for longer than the checker allows.
const suspendAtOnce = 4

// SuspendAll suspends or resumes all CronJobs.
func (u *Users) SuspendAll(ctx context.Context, suspend bool, plan []CronJob) error {
	verb := Resume
	if suspend {
		verb = Suspend
	}
	workqueue.ParallelizeUntil(ctx, suspendAtOnce, len(plan), func(i int) {
		if plan[i].exists() {
			u.insist(ctx, &plan[i], Act{Verb: verb, V2: i%2 == 0, Spec: suspended(suspend)})
		}
	})
	return context.Cause(ctx)
}

// exists reports whether the CronJob exists at the end of its plan.
func (c *CronJob) exists() bool {
	return len(c.Acts) > 0 && c.Acts[len(c.Acts)-1].Verb != Delete
}

func (u *Users) insist(ctx context.Context, c *CronJob, act Act) {
	// Before the tries, so that none has its time used up by waiting.
	if u.AtOnce.Acquire(ctx, 1) != nil {
		return
	}
	defer u.AtOnce.Release(1)
	u.Log.Add(history.Record{Act: &history.Act{Kind: string(act.Verb), Name: c.Namespace + "/" + c.Name}})
	_ = plane.Insist(ctx, func(ctx context.Context) error { return u.try(ctx, c, act) })
}

// try tries an act once. It succeeds if an earlier try, whose answer was lost, has done it.
func (u *Users) try(ctx context.Context, c *CronJob, act Act) error {
	object := act.object(c.Namespace, c.Name)
	switch act.Verb {
	case DeleteJob:
		u.Jobs.DeleteOne(c.Namespace, c.Name)
		return nil
	case Backfill:
		u.backfill(ctx, c)
		return nil
	case Delete:
		return client.IgnoreNotFound(u.Client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	case Create:
		if err := u.Client.Create(ctx, object); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	}
	patch, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return u.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))
}

// The range of ticks to backfill, and how long the plugin may take.
const (
	backfillFrom = -2 * time.Minute
	backfillTo   = -5 * time.Second
	backfillTime = 20 * time.Second
)

// backfill runs the plugin for recently missed ticks. It may fail, as under Replace, or take too
// long: then a later call continues.
func (u *Users) backfill(ctx context.Context, c *CronJob) {
	ctx, cancel := context.WithTimeout(ctx, backfillTime)
	defer cancel()
	now := time.Now().UTC()
	//nolint:gosec // its own build
	command := exec.CommandContext(ctx, u.Plugin, "backfill", c.Name, "-n", c.Namespace, "--kubeconfig="+u.Kubeconfig,
		"--only=missed", "--from="+now.Add(backfillFrom).Format(time.RFC3339), "--to="+now.Add(backfillTo).Format(time.RFC3339))
	_ = command.Run()
}

// object returns the object to send: a whole CronJob to create it, and for an edit the fields to
// set or remove.
func (a Act) object(namespace, name string) *unstructured.Unstructured {
	version, spec := "v1", map[string]any{}
	if a.Verb == Create {
		maps.Copy(spec, a.Spec.Fields)
		spec["jobTemplate"] = map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never",
			"containers":    []any{map[string]any{"name": "main", "image": "registry.example/chaos:v1"}},
		}}}}
	}
	for _, field := range a.Verb.fields() {
		spec[field] = a.Spec.Fields[field] // null removes the field
	}
	if a.V2 {
		version = "v2"
		a.inV2(spec)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "batch.tutorial.kubebuilder.io", Version: version, Kind: "CronJob"})
	object.SetNamespace(namespace)
	object.SetName(name)
	if a.Verb == Create || a.Verb == Label {
		object.SetLabels(map[string]string{"chaos": a.Spec.Label})
		object.SetAnnotations(map[string]string{v1.ResumedAtAnnotation: time.Now().UTC().Format(time.RFC3339)})
	}
	return object
}

func (a Act) inV2(spec map[string]any) {
	if schedule, isSet := spec["schedule"].(string); isSet {
		fields := map[string]any{}
		if a.Verb != Create {
			fields["minute"], fields["every"] = nil, nil
		}
		maps.Copy(fields, scheduleInV2(schedule))
		spec["schedule"] = fields
	}
	if schedules, isSet := spec["additionalSchedules"].([]any); isSet {
		var all []any
		for _, schedule := range schedules {
			all = append(all, scheduleInV2(schedule.(string)))
		}
		spec["additionalSchedules"] = all
	}
}

// scheduleInV2 converts a schedule of v1, an interval or a minute, to v2.
func scheduleInV2(schedule string) map[string]any {
	if every, isInterval := strings.CutPrefix(schedule, "@every "); isInterval {
		return map[string]any{"every": every}
	}
	minute, _, _ := strings.Cut(schedule, " ")
	return map[string]any{"minute": minute}
}

// Await waits until a dry run can create a CronJob of each version: then the webhooks answer.
func (u *Users) Await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	spec := Spec{Fields: map[string]any{"schedule": "* * * * *"}}
	for _, v2 := range []bool{false, true} {
		err := plane.Insist(ctx, func(ctx context.Context) error {
			probe := Act{Verb: Create, V2: v2, Spec: spec}.object(Namespaces[0], "probe")
			return u.Client.Create(ctx, probe, client.DryRunAll)
		})
		if err != nil {
			return fmt.Errorf("waiting for the webhooks: %w", err)
		}
	}
	return nil
}
