// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// store collects what the watches tell. It holds the cache's own objects, which nobody changes.
type store struct {
	mu       sync.Mutex
	cronJobs map[types.NamespacedName]*v1.CronJob

	// jobs has those of each owner. A slice is replaced and never changed: snapshots share it.
	jobs map[types.UID][]*batchv1.Job

	health Health
	dirty  chan struct{} // has an element if a snapshot would differ from the last
}

func newStore() *store {
	return &store{
		cronJobs: map[types.NamespacedName]*v1.CronJob{}, jobs: map[types.UID][]*batchv1.Job{},
		dirty: make(chan struct{}, 1),
	}
}

// change changes what is known.
func (s *store) change(change func()) {
	s.mu.Lock()
	change()
	s.mu.Unlock()
	select {
	case s.dirty <- struct{}{}:
	default: // it is known already
	}
}

func (s *store) putCronJob(c *v1.CronJob) {
	s.change(func() { s.cronJobs[client.ObjectKeyFromObject(c)] = c })
}

func (s *store) deleteCronJob(c *v1.CronJob) {
	s.change(func() { delete(s.cronJobs, client.ObjectKeyFromObject(c)) })
}

func (s *store) putJob(job *batchv1.Job) { s.replaceJob(job, job) }

func (s *store) deleteJob(job *batchv1.Job) { s.replaceJob(job) }

// replaceJob puts Jobs, or none, in the place of one. That of nobody is not kept.
func (s *store) replaceJob(old *batchv1.Job, by ...*batchv1.Job) {
	controller := metav1.GetControllerOfNoCopy(old)
	if controller == nil {
		return
	}
	s.change(func() {
		others := slices.DeleteFunc(slices.Clone(s.jobs[controller.UID]), func(job *batchv1.Job) bool { return job.UID == old.UID })
		if s.jobs[controller.UID] = append(others, by...); len(s.jobs[controller.UID]) == 0 {
			delete(s.jobs, controller.UID)
		}
	})
}

// handlerOf returns a handler that passes on what a watch tells of objects of one type.
func handlerOf[T client.Object](put, del func(T)) toolscache.ResourceEventHandler {
	pass := func(to func(T), object any) {
		if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		if typed, ok := object.(T); ok {
			to(typed)
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { pass(put, object) },
		UpdateFunc: func(_, object any) { pass(put, object) },
		DeleteFunc: func(object any) { pass(del, object) },
	}
}

// snapshot returns what is known now.
func (s *store) snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Snapshot{
		CronJobs: slices.SortedFunc(maps.Values(s.cronJobs), func(a, b *v1.CronJob) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		}),
		Health: s.health, jobs: maps.Clone(s.jobs),
	}
}

// trimCronJob drops what is most of a CronJob, and what no page shows of all of them.
func trimCronJob(object any) (any, error) {
	if c, ok := object.(*v1.CronJob); ok {
		c.ManagedFields = nil
		delete(c.Annotations, corev1.LastAppliedConfigAnnotation)
		c.Spec.JobTemplate = batchv1.JobTemplateSpec{}
	}
	return object, nil // else a tombstone
}

// trimJob drops what no page shows of a Job, and of those of others all but their names.
func trimJob(object any) (any, error) {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil // a tombstone
	}
	rest := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
	}}
	controller := metav1.GetControllerOfNoCopy(job)
	if controller == nil || controller.Kind != "CronJob" {
		return rest, nil
	}
	rest.CreationTimestamp, rest.DeletionTimestamp = job.CreationTimestamp, job.DeletionTimestamp
	rest.OwnerReferences, rest.Annotations, rest.Status = job.OwnerReferences, job.Annotations, job.Status
	return rest, nil
}
