/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/lease"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// conflictRetry is how long after somebody else's edit came first a reconcile is tried again.
const conflictRetry = 50 * time.Millisecond

// writeStatus writes the status if it changed: the one status write of a reconcile. It reports
// whether what is stored now is this status.
//
// The patch holds what changed alone, and for the object as it was read: had it been edited since,
// the status would be that of another spec.
func (r *CronJobReconciler) writeStatus(ctx context.Context, seen *observed, p *plan.Plan) (bool, error) {
	status := p.Status
	r.active.set(seen.key, len(status.Active))
	if apiequality.Semantic.DeepEqual(seen.stored.Status, status) {
		return true, nil
	}
	patch, err := statusPatch(seen.stored, status)
	if err != nil {
		return false, err
	}
	// Of the answer, the metadata is enough, and much less to read than all of the CronJob.
	answer := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: seen.key.Namespace, Name: seen.key.Name}}
	answer.SetGroupVersionKind(v1.GroupVersion.WithKind("CronJob"))
	if err := r.Status().Patch(ctx, answer, client.RawPatch(types.MergePatchType, patch)); err != nil {
		r.doubt(seen, p, err)
		if apierrors.IsNotFound(err) {
			return false, nil // deleted meanwhile; its status is nobody's concern any more
		}
		return false, fmt.Errorf("writing the status: %w", err)
	}
	updated := *seen.stored // what it points to is shared, and nobody changes it
	updated.ObjectMeta = answer.ObjectMeta
	updated.Status = status
	r.keepWritten(ctx, seen.key, &updated)
	return true, nil
}

// statusPatch returns the merge patch from the status that is stored to another.
func statusPatch(stored *v1.CronJob, status v1.CronJobStatus) ([]byte, error) {
	before, err := members(stored.Status)
	if err != nil {
		return nil, err
	}
	changed, err := members(status)
	if err != nil {
		return nil, err
	}
	for name, was := range before {
		switch is, ok := changed[name]; {
		case !ok:
			changed[name] = json.RawMessage("null")
		case bytes.Equal(was, is):
			delete(changed, name)
		}
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]string{"resourceVersion": stored.ResourceVersion},
		"status":   changed,
	})
}

// members returns the members of a status as JSON.
func members(status v1.CronJobStatus) (map[string]json.RawMessage, error) {
	raw, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	parts := map[string]json.RawMessage{}
	return parts, json.Unmarshal(raw, &parts)
}

// doubt is a CronJob of which it is not known what is stored, as a status could not be written: the cache lags,
// or the status is written and the answer was lost. The next reconcile reads it from the API server; if it is gone
// there, so do all until the cache knows that it is.
type doubt struct {
	owner types.UID

	// plan is the one whose status may be written; nil if it is certain that it is not.
	plan *plan.Plan
}

// doubt notes that a status could not be written.
func (r *CronJobReconciler) doubt(seen *observed, p *plan.Plan, err error) {
	d := &doubt{owner: seen.stored.UID}
	if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !errors.Is(err, lease.ErrOver) {
		d.plan = p
	}
	r.doubts.remember(seen.key, d)
}

// settle ends a doubt by what is stored: a status that was written after all is reported now.
func (r *CronJobReconciler) settle(ctx context.Context, key types.NamespacedName, stored *v1.CronJob, d *doubt) {
	r.doubts.forget(key)
	r.keepWritten(ctx, key, stored)
	if d.plan == nil || d.owner != stored.UID {
		return
	}
	// Compared as it is stored: in whole seconds.
	wanted, err := json.Marshal(d.plan.Status)
	if err != nil {
		return
	}
	if is, err := json.Marshal(stored.Status); err == nil && bytes.Equal(is, wanted) {
		r.reportStatus(stored, *d.plan)
	}
}

// retryIfConflict makes a conflict what it is, a cache that lags, and not an error.
func retryIfConflict(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	return ctrl.Result{}, err
}

// keepWritten keeps what is known to be stored of a CronJob until the cache has it. It may have it by now, as a watch may
// be faster than an answer; else cachedWrites drops it.
func (r *CronJobReconciler) keepWritten(ctx context.Context, key types.NamespacedName, stored *v1.CronJob) {
	r.written.remember(key, stored)
	cached := &v1.CronJob{}
	if err := r.Get(ctx, key, cached, client.UnsafeDisableDeepCopy); err == nil {
		r.newest(key, cached)
	}
}

// newest returns the newer of what the cache has of a CronJob and what was written of it, so that a reconcile
// never decides from less than what an earlier one has written. Once the cache has caught up, the written
// one is dropped.
func (r *CronJobReconciler) newest(key types.NamespacedName, cached *v1.CronJob) *v1.CronJob {
	written := r.written.recall(key)
	if written == nil {
		return cached
	}
	order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, written.ResourceVersion)
	if err == nil && order < 0 && cached.UID == written.UID {
		return written
	}
	r.written.forget(key)
	return cached
}
