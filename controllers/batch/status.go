// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// writeStatus writes the status if it changed: the one status write of a reconcile. It reports
// whether this status is stored now. An edit since the CronJob was read makes the write a conflict,
// because the status was computed from another spec.
func (r *CronJobReconciler) writeStatus(ctx context.Context, look *lookup, status v1.CronJobStatus) bool {
	c, known := look.current, look.known
	if apiequality.Semantic.DeepEqual(c.Status, status) {
		known.statusErr = nil
		return true
	}
	answer, err := r.patchStatus(ctx, c, status)
	known.isStale, known.statusErr = err != nil, err
	if err != nil {
		r.failed(ctx, look, requestStatus, fmt.Errorf("writing the status: %w", err))
		return false
	}
	updated := *c // a shallow copy: what it points to is never changed
	updated.ObjectMeta = *answer
	updated.Status = status
	r.keepWritten(ctx, look.key, &updated)
	return true
}

// patchStatus writes a status. The patch has only the fields that differ, and the resourceVersion
// of the CronJob that the status was computed from. The answer is the metadata alone, which is much
// smaller than the CronJob.
func (r *CronJobReconciler) patchStatus(ctx context.Context, c *v1.CronJob, status v1.CronJobStatus) (*metav1.ObjectMeta, error) {
	version := metav1.ObjectMeta{ResourceVersion: c.ResourceVersion}
	before := client.MergeFromWithOptions(&v1.CronJob{ObjectMeta: version, Status: c.Status}, client.MergeFromWithOptimisticLock{})
	patch, err := before.Data(&v1.CronJob{ObjectMeta: version, Status: status})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}}
	answer.SetGroupVersionKind(v1.GroupVersion.WithKind("CronJob"))
	err = r.Client.Status().Patch(ctx, answer, client.RawPatch(types.MergePatchType, patch))
	return &answer.ObjectMeta, err
}

// keepWritten keeps a CronJob as it is stored until the cache has it. The cache may have it
// already, because a watch may be faster than an answer; else sawCronJob drops it later.
func (r *CronJobReconciler) keepWritten(ctx context.Context, key types.NamespacedName, stored *v1.CronJob) {
	r.memory.setWritten(key, stored)
	cached := &v1.CronJob{}
	if err := r.Client.Get(ctx, key, cached, client.UnsafeDisableDeepCopy); err == nil {
		r.memory.newest(key, cached)
	}
}
