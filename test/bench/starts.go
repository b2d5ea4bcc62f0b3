// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

type start struct {
	// owner is the UID of the CronJob that controls it; "" for none.
	owner     types.UID
	namespace string
	// seen is when the watch received it.
	seen time.Time
	// created is its creation timestamp, in whole seconds.
	created time.Time
	// scheduledAt is the tick in its annotation; zero for none.
	scheduledAt time.Time
}

type startWatch struct {
	mu     sync.Mutex
	all    []start
	owners map[types.UID]bool

	cancel context.CancelFunc
	ended  chan struct{}
}

// tickAnnotations are those of the operator and of the built-in controller.
var tickAnnotations = []string{v1.ScheduledAtAnnotation, batchv1.CronJobScheduledTimestampAnnotation}

// watchStarts watches from now until [startWatch.stop].
func (p *cluster) watchStarts(ctx context.Context) (*startWatch, error) {
	list := &batchv1.JobList{}
	if err := p.Client.List(ctx, list, client.Limit(1)); err != nil {
		return nil, fmt.Errorf("listing the Jobs: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return p.Client.Watch(ctx, list, &client.ListOptions{Raw: &options})
		},
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watching the Jobs: %w", err)
	}
	s := &startWatch{owners: map[types.UID]bool{}, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for event := range watcher.ResultChan() {
			if event.Type == watch.Added {
				s.add(event.Object.(*batchv1.Job))
			}
		}
	}()
	return s, nil
}

func (s *startWatch) add(job *batchv1.Job) {
	added := start{namespace: job.Namespace, seen: time.Now(), created: job.CreationTimestamp.Time}
	if owner := metav1.GetControllerOfNoCopy(job); owner != nil {
		added.owner = owner.UID
	}
	for _, annotation := range tickAnnotations {
		if tick, err := time.Parse(time.RFC3339, job.Annotations[annotation]); err == nil {
			added.scheduledAt = tick
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, added)
	s.owners[added.owner] = true
}

// await waits until this many CronJobs have started a Job; it returns false if they have not by the
// end. It fails when the contender ends.
func (s *startWatch) await(ctx context.Context, r *running, count int, end time.Time) (bool, error) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		select {
		case <-s.ended:
			return false, errors.New("the watch of the Jobs has ended")
		default:
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.owners) >= count, r.Err()
	})
	if wait.Interrupted(err) {
		return false, nil
	}
	return err == nil, err
}

// stop ends the watch and returns everything that it received, in order.
func (s *startWatch) stop() []start {
	s.cancel()
	<-s.ended
	return s.all
}
