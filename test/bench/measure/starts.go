// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Start is a Job that was started.
type Start struct {
	// Owner is the UID of the CronJob that controls it; empty if none does.
	Owner types.UID
	// Seen is when we heard of it.
	Seen time.Time
	// Created is when the API server says that it created it, in whole seconds, cut off.
	Created time.Time
	// ScheduledAt is the tick that it says it is for; zero if it does not say.
	ScheduledAt time.Time
}

// Starts watches Jobs from the API server as they come, all of them.
type Starts struct {
	mu     sync.Mutex
	starts []Start
	err    error
	owners map[types.UID]bool
	more   chan struct{} // has a token when there is news

	watcher *toolswatch.RetryWatcher
	ended   chan struct{}
	anchor  time.Time
}

// scheduledAt are the annotations by which Jobs tell their tick: the operator's and the built-in controller's.
var scheduledAt = []string{v1.ScheduledAtAnnotation, batchv1.CronJobScheduledTimestampAnnotation}

// WatchStarts watches from now until [Starts.Stop]. Its times are told by the monotonic clock, set by the
// wall clock now: a step of the latter, as of NTP, changes no delay.
func WatchStarts(ctx context.Context, client kubernetes.Interface) (*Starts, error) {
	list, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("listing the Jobs: %w", err)
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.BatchV1().Jobs("").Watch(ctx, options)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching the Jobs: %w", err)
	}
	s := &Starts{
		owners: map[types.UID]bool{}, more: make(chan struct{}, 1),
		watcher: watcher, ended: make(chan struct{}), anchor: time.Now(),
	}
	go s.follow()
	return s, nil
}

// Now returns the time by the clock of the watch.
func (s *Starts) Now() time.Time {
	return s.anchor.Round(0).Add(time.Since(s.anchor))
}

func (s *Starts) follow() {
	defer close(s.ended)
	for event := range s.watcher.ResultChan() {
		seen := s.Now()
		switch event.Type {
		case watch.Added:
			if job, ok := event.Object.(*batchv1.Job); ok {
				s.add(job, seen)
			}
		case watch.Error:
			s.fail(fmt.Errorf("watching the Jobs: %w", apierrors.FromObject(event.Object)))
			return
		}
	}
	s.fail(errors.New("the watch of the Jobs has ended"))
}

func (s *Starts) add(job *batchv1.Job, seen time.Time) {
	start := Start{Seen: seen, Created: job.CreationTimestamp.Time}
	if owner := metav1.GetControllerOfNoCopy(job); owner != nil {
		start.Owner = owner.UID
	}
	for _, annotation := range scheduledAt {
		if tick, err := time.Parse(time.RFC3339, job.Annotations[annotation]); err == nil {
			start.ScheduledAt = tick
		}
	}
	s.mu.Lock()
	s.starts = append(s.starts, start)
	s.owners[start.Owner] = true
	s.mu.Unlock()
	s.tell()
}

func (s *Starts) fail(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	s.tell()
}

func (s *Starts) tell() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// AwaitOwners waits until so many CronJobs have started a Job. It reports whether they have by the end of ctx.
func (s *Starts) AwaitOwners(ctx context.Context, count int) (bool, error) {
	for {
		s.mu.Lock()
		owners, err := len(s.owners), s.err
		s.mu.Unlock()
		if owners >= count || err != nil {
			return err == nil, err
		}
		select {
		case <-s.more:
		case <-ctx.Done():
			return false, nil
		}
	}
}

// Stop ends the watch and returns all that it saw, in the order of coming.
func (s *Starts) Stop() []Start {
	s.watcher.Stop()
	<-s.ended
	return s.starts
}
