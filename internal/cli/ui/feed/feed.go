// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package feed has the data of the pages: the CronJobs that the user may see and their Jobs, kept
// up to date by watches.
package feed

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/history"
)

// Snapshot is the state of the cluster at some time. It is immutable.
type Snapshot struct {
	// CronJobs are sorted by namespace and name. They lack the managed fields and the template.
	CronJobs []*v1.CronJob

	Health

	jobs map[types.UID][]*batchv1.Job
}

// Health is how complete and how recent the data is.
type Health struct {
	// Complete is whether all CronJobs are known, and JobsComplete whether all Jobs are.
	Complete, JobsComplete bool

	// Problem is why the CronJobs are unknown or may be outdated; "" for no problem. JobsProblem is
	// the same for Jobs; the status of the CronJobs is known nevertheless.
	Problem, JobsProblem string

	// IsForbidden is whether the user lacks a right to read CronJobs.
	IsForbidden bool
}

// NewSnapshot returns a snapshot of objects, which must not be changed afterwards.
func NewSnapshot(health Health, cronJobs []v1.CronJob, jobs []batchv1.Job) *Snapshot {
	s := &Snapshot{Health: health, jobs: map[types.UID][]*batchv1.Job{}}
	for i := range cronJobs {
		s.CronJobs = append(s.CronJobs, &cronJobs[i])
	}
	slices.SortFunc(s.CronJobs, func(a, b *v1.CronJob) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i := range jobs {
		if controller := metav1.GetControllerOfNoCopy(&jobs[i]); controller != nil {
			s.jobs[controller.UID] = append(s.jobs[controller.UID], &jobs[i])
		}
	}
	return s
}

// Find returns a CronJob; false if it does not exist.
func (s *Snapshot) Find(namespace, name string) (*v1.CronJob, bool) {
	i, ok := slices.BinarySearchFunc(s.CronJobs, types.NamespacedName{Namespace: namespace, Name: name},
		func(c *v1.CronJob, key types.NamespacedName) int {
			return cmp.Or(cmp.Compare(c.Namespace, key.Namespace), cmp.Compare(c.Name, key.Name))
		})
	if !ok {
		return nil, false
	}
	return s.CronJobs[i], true
}

// IsQueued reports whether a CronJob has Jobs that have not ended, and all of them are queued.
func (s *Snapshot) IsQueued(c *v1.CronJob) bool {
	active := cronjobs.Active(s.jobs[c.UID])
	return len(active) > 0 && !slices.ContainsFunc(active, func(job *batchv1.Job) bool { return !history.IsQueued(job) })
}

// JobsOf returns the Jobs that a CronJob controls, oldest first. Of their specs, only suspend is
// set.
func (s *Snapshot) JobsOf(c *v1.CronJob) []*batchv1.Job {
	return slices.SortedFunc(slices.Values(s.jobs[c.UID]), cronjobs.CompareAge)
}

// HistoryOf returns the history of a CronJob, as far as it is known, with this many ticks to come.
func (s *Snapshot) HistoryOf(c *v1.CronJob, now time.Time, coming int) history.History {
	if !s.JobsComplete {
		return history.FromStatus(c, now, coming)
	}
	return history.New(c, s.JobsOf(c), now, coming)
}

// Namespaces returns the sorted names of the namespaces that have CronJobs.
func (s *Snapshot) Namespaces() []string {
	var names []string
	for _, c := range s.CronJobs {
		names = append(names, c.Namespace)
	}
	return slices.Compact(names)
}

// Signal wakes goroutines that wait for a change.
type Signal struct {
	mu      sync.Mutex
	changed chan struct{}
}

// Wait returns a channel that is closed at the next change.
func (s *Signal) Wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// Raise wakes all that wait.
func (s *Signal) Raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Feed has the newest snapshot. The zero value has an empty snapshot.
type Feed struct {
	Signal

	current atomic.Pointer[Snapshot]
}

// Set replaces the snapshot.
func (f *Feed) Set(s *Snapshot) {
	f.current.Store(s)
	f.Raise()
}

// Snapshot returns the newest snapshot.
func (f *Feed) Snapshot() *Snapshot { return cmp.Or(f.current.Load(), &Snapshot{}) }
