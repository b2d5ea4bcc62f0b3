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
	"k8s.io/apimachinery/pkg/util/wait"
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

	cancel context.CancelFunc
	ended  chan struct{}
	anchor time.Time
}

// scheduledAt are the annotations by which Jobs tell their tick: the operator's and the built-in
// controller's.
var scheduledAt = []string{v1.ScheduledAtAnnotation, batchv1.CronJobScheduledTimestampAnnotation}

// WatchStarts watches from now until [Starts.Stop]. Its times are told by the monotonic clock, set
// by the wall clock now: a step of the latter, as of NTP, changes no delay.
func WatchStarts(ctx context.Context, client kubernetes.Interface) (*Starts, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Starts{owners: map[types.UID]bool{}, cancel: cancel, ended: make(chan struct{}), anchor: time.Now()}
	watcher, err := watchFromNow(ctx, client)
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(s.ended)
		err := follow(watcher, func(event watch.EventType, job *batchv1.Job) {
			if event == watch.Added {
				s.add(job)
			}
		})
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
	}()
	return s, nil
}

// WatchJobs calls back for each change of a Job from now until the context ends.
func WatchJobs(ctx context.Context, client kubernetes.Interface, changed func(watch.EventType, *batchv1.Job)) error {
	watcher, err := watchFromNow(ctx, client)
	if err != nil {
		return err
	}
	if err := follow(watcher, changed); ctx.Err() == nil {
		return err
	}
	return nil
}

func watchFromNow(ctx context.Context, client kubernetes.Interface) (*toolswatch.RetryWatcher, error) {
	jobs := client.BatchV1().Jobs("")
	list, err := jobs.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("listing the Jobs: %w", err)
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return jobs.Watch(ctx, options)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching the Jobs: %w", err)
	}
	return watcher, nil
}

func follow(watcher *toolswatch.RetryWatcher, changed func(watch.EventType, *batchv1.Job)) error {
	for event := range watcher.ResultChan() {
		if job, ok := event.Object.(*batchv1.Job); ok {
			changed(event.Type, job)
		}
		if event.Type == watch.Error {
			return fmt.Errorf("watching the Jobs: %w", apierrors.FromObject(event.Object))
		}
	}
	return errors.New("the watch of the Jobs has ended")
}

// Now returns the time by the clock of the watch.
func (s *Starts) Now() time.Time {
	return s.anchor.Round(0).Add(time.Since(s.anchor))
}

func (s *Starts) add(job *batchv1.Job) {
	start := Start{Seen: s.Now(), Created: job.CreationTimestamp.Time}
	if owner := metav1.GetControllerOfNoCopy(job); owner != nil {
		start.Owner = owner.UID
	}
	for _, annotation := range scheduledAt {
		if tick, err := time.Parse(time.RFC3339, job.Annotations[annotation]); err == nil {
			start.ScheduledAt = tick
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts = append(s.starts, start)
	s.owners[start.Owner] = true
}

// AwaitOwners waits until so many CronJobs have started a Job. It reports whether they have by the
// end of ctx.
func (s *Starts) AwaitOwners(ctx context.Context, count int) (bool, error) {
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

// Stop ends the watch and returns all that it saw, in the order of coming.
func (s *Starts) Stop() []Start {
	s.cancel()
	<-s.ended
	return s.starts
}
