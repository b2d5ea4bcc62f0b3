// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// start is a Job that was started.
type start struct {
	// owner is the UID of the CronJob that controls it; empty if none does.
	owner types.UID
	// seen is when we heard of it.
	seen time.Time
	// created is when the API server says that it created it, in whole seconds, cut off.
	created time.Time
	// scheduledAt is the tick that it says it is for; zero if it does not say.
	scheduledAt time.Time
}

// startWatch watches Jobs from the API server as they come, all of them.
type startWatch struct {
	mu     sync.Mutex
	all    []start
	err    error
	owners map[types.UID]bool

	cancel context.CancelFunc
	ended  chan struct{}
}

// tickAnnotations are those by which Jobs tell their tick: the operator's and the built-in
// controller's.
var tickAnnotations = []string{v1.ScheduledAtAnnotation, batchv1.CronJobScheduledTimestampAnnotation}

// watchStarts watches from now until [startWatch.stop].
func (p *cluster) watchStarts(ctx context.Context) (*startWatch, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &startWatch{owners: map[types.UID]bool{}, cancel: cancel, ended: make(chan struct{})}
	list := &batchv1.JobList{}
	if err := p.Client.List(ctx, list, client.Limit(1)); err != nil {
		cancel()
		return nil, fmt.Errorf("listing the Jobs: %w", err)
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return p.Client.Watch(ctx, list, &client.ListOptions{Raw: &options})
		},
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("watching the Jobs: %w", err)
	}
	go func() {
		defer close(s.ended)
		for event := range watcher.ResultChan() {
			switch event.Type {
			case watch.Added:
				s.add(event.Object.(*batchv1.Job))
			case watch.Error:
				s.fail(apierrors.FromObject(event.Object))
			}
		}
		s.fail(errors.New("it has ended"))
	}()
	return s, nil
}

// fail notes why the watch ends.
func (s *startWatch) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = cmp.Or(s.err, fmt.Errorf("watching the Jobs: %w", err))
}

func (s *startWatch) add(job *batchv1.Job) {
	added := start{seen: time.Now(), created: job.CreationTimestamp.Time}
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

// awaitOwners waits until so many CronJobs have started a Job. It reports whether they have by the
// end of ctx.
func (s *startWatch) awaitOwners(ctx context.Context, count int) (bool, error) {
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.owners) >= count, s.err
	})
	if wait.Interrupted(err) {
		return false, nil
	}
	return err == nil, err
}

// stop ends the watch and returns all that it saw, in the order of coming.
func (s *startWatch) stop() []start {
	s.cancel()
	<-s.ended
	return s.all
}
