// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Condition tells whether an object is what is waited for. An error ends the wait.
type Condition func(client.Object) (bool, error)

// Until lists, then watches, objects of the list's kind until one of them is what is waited for.
// It survives watches that end.
func (c *Cluster) Until(ctx context.Context, list client.ObjectList, isIt Condition, options ...client.ListOption) error {
	for {
		done, err := c.untilWatchEnds(ctx, list, isIt, options)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if done || err != nil {
			return err
		}
	}
}

func (c *Cluster) untilWatchEnds(
	ctx context.Context, list client.ObjectList, isIt Condition, options []client.ListOption,
) (bool, error) {
	if err := c.Client.List(ctx, list, options...); err != nil {
		return false, fmt.Errorf("listing: %w", err)
	}
	done, err := anyItem(list, isIt)
	if done || err != nil {
		return done, err
	}
	from := &client.ListOptions{}
	from.ApplyOptions(options)
	from.Raw = &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}
	watcher, err := c.Client.Watch(ctx, list, from)
	if err != nil {
		return false, fmt.Errorf("watching: %w", err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if event.Type != watch.Added && event.Type != watch.Modified {
			continue
		}
		if done, err := isIt(event.Object.(client.Object)); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

func anyItem(list client.ObjectList, isIt Condition) (done bool, err error) {
	err = meta.EachListItem(list, func(item runtime.Object) error {
		if done {
			return nil
		}
		var err error
		done, err = isIt(item.(client.Object))
		return err
	})
	return done, err
}
