// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/informer"
)

// observed is what a reconcile starts from. It never changes.
type observed struct {
	key types.NamespacedName
	now time.Time

	// stored is the CronJob without defaults: from the cache, or as this process last wrote or read
	// it. It may be shared with the cache, so it must not be changed.
	stored *v1.CronJob

	// undecodable is why the CronJob can't be decoded; "" if it can be. Only its metadata and
	// status are known then.
	undecodable string

	// jobs are those in the cache that the CronJob controls.
	jobs []*batchv1.Job
}

// observe reads the cache and the clock. It returns nil if the CronJob is gone.
func (r *CronJobReconciler) observe(ctx context.Context, key types.NamespacedName) (*observed, error) {
	cached := &v1.CronJob{}
	// A plan only reads, so the cached objects need not be copied.
	err := r.Client.Get(ctx, key, cached, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // it is gone
	case err != nil:
		return nil, fmt.Errorf("reading the CronJob: %w", err)
	}
	seen := &observed{key: key, now: r.Clock.Now(), stored: cached, undecodable: informer.DecodingError(cached)}
	if seen.undecodable != "" {
		return seen, nil
	}
	seen.stored = r.memory.newest(key, cached)
	list := &batchv1.JobList{}
	if err := r.Client.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{ownerIndex: string(cached.UID)},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the Jobs: %w", err)
	}
	seen.jobs = make([]*batchv1.Job, len(list.Items))
	for i := range list.Items {
		seen.jobs[i] = &list.Items[i]
	}
	return seen, nil
}
