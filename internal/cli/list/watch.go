// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// changes prints a row for each CronJob that has changed since it was printed.
type changes struct {
	*command

	printRows func(...*v1.CronJob) error
	printed   map[client.ObjectKey]string // resourceVersions
}

// printChanges prints a row for each change until an interrupt. The API server ends each watch
// after some time. The next one begins with all objects, most of which are printed already.
func (c *command) printChanges(ctx context.Context, cluster client.WithWatch, found []*v1.CronJob,
	printRows func(...*v1.CronJob) error,
) error {
	p := changes{command: c, printRows: printRows, printed: map[client.ObjectKey]string{}}
	for _, cronJob := range found {
		p.printed[client.ObjectKeyFromObject(cronJob)] = cronJob.ResourceVersion
	}
	for ctx.Err() == nil {
		events, err := c.selection.Watch(ctx, c.Env, cluster, kind)
		if err == nil {
			err = p.printAll(events)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("watching the CronJobs: %w", err)
		}
		_ = c.Sleep(ctx, time.Second) // in case the server ends each watch at once
	}
	return &env.ExitError{Code: env.Interrupted}
}

func (p *changes) printAll(events watch.Interface) error {
	defer events.Stop()
	for event := range events.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if event.Type == watch.Error || !ok {
			return apierrors.FromObject(event.Object)
		}
		if event.Type == watch.Deleted {
			object.SetDeletionTimestamp(new(metav1.NewTime(p.Clock.Now())))
		}
		if err := p.print(object); err != nil {
			return err
		}
	}
	return nil
}

// print prints a CronJob if it has changed and the command line selects it.
func (p *changes) print(object *unstructured.Unstructured) error {
	key := client.ObjectKeyFromObject(object)
	if p.printed[key] == object.GetResourceVersion() || !p.isNamed(object) || !p.isInState(object) {
		return nil
	}
	p.printed[key] = object.GetResourceVersion()
	cronJob, err := cronjobs.DecodeV1(object)
	if err != nil {
		fmt.Fprintln(p.ErrOut, "error:", err)
		return nil
	}
	return p.printRows(cronJob)
}

// isNamed reports whether the command line names a CronJob, or none.
func (c *command) isNamed(object *unstructured.Unstructured) bool {
	return len(c.names) == 0 || slices.ContainsFunc(c.names, func(arg string) bool {
		name, err := cronjobs.ParseName(arg)
		return err == nil && name == object.GetName()
	})
}
