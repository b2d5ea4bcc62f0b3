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
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
	"tutorial.kubebuilder.io/project/internal/informer"
)

// A stored CronJob of which some field has a type that it can't have is cached by its metadata and
// its status. It starts nothing until it is mended: that is said in its status, an event and a
// metric.

// specEvents lets those events of CronJobs through after which there may be something to do:
// another spec, or one that can be decoded now and could not before.
var specEvents = predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*v1.CronJob)
	after, okAfter := e.ObjectNew.(*v1.CronJob)
	return ok && okAfter && informer.DecodingError(before) != informer.DecodingError(after)
}})

// undecodable returns the cached CronJob if it can't be decoded; nil if it can, or is gone.
func (r *CronJobReconciler) undecodable(ctx context.Context, key types.NamespacedName) *v1.CronJob {
	c := &v1.CronJob{}
	err := r.Get(ctx, key, c, client.UnsafeDisableDeepCopy)
	isBroken := err == nil && informer.DecodingError(c) != ""
	r.broken.set(key, isBroken)
	if !isBroken {
		return nil
	}
	return c
}

// reportUndecodable says in an event and in the status that a CronJob can't be decoded.
func (r *CronJobReconciler) reportUndecodable(ctx context.Context, c *v1.CronJob) (ctrl.Result, error) {
	message := informer.DecodingError(c)
	isNew := r.Recorder.Record(eventrecorder.Event{
		Regarding: c, Type: corev1.EventTypeWarning, Reason: EventInvalidObject, Action: actionSchedule, Note: message,
		Key: fmt.Sprintf("%d %s", c.Generation, message),
	})
	if isNew {
		ctrl.LoggerFrom(ctx).Info("A CronJob can't be decoded", "why", message)
	}
	status := r.statusOfUndecodable(c, message)
	if apiequality.Semantic.DeepEqual(c.Status, status) {
		return ctrl.Result{}, nil
	}
	_, err := r.patchStatus(ctx, &observed{key: client.ObjectKeyFromObject(c), stored: c}, status)
	switch {
	case apierrors.IsConflict(err): // the cache is stale
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
		if isNew {
			ctrl.LoggerFrom(ctx).Info("The status of a CronJob that can't be decoded can't be written", "why", err.Error())
		}
		return ctrl.Result{}, nil // an edit is what it takes
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// statusOfUndecodable returns the status of a CronJob that can't be decoded. The schedule counts as
// unobserved, so that no tick from before it is mended runs after it; the next tick stays, so that
// it is missed if it passes.
func (r *CronJobReconciler) statusOfUndecodable(c *v1.CronJob, message string) v1.CronJobStatus {
	status := *c.Status.DeepCopy()
	if edited := specEditedAt(c); status.ObservedGeneration != c.Generation && !edited.IsZero() {
		status.ObservedEditTime = &metav1.Time{Time: edited}
	}
	status.ObservedGeneration = c.Generation
	status.ObservedSchedule = ""
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonInvalidObject,
		Message: message, ObservedGeneration: c.Generation, LastTransitionTime: metav1.NewTime(r.Clock.Now()),
	})
	return status
}

// brokenCronJobs has the CronJobs that can't be decoded. The zero value is ready for use.
type brokenCronJobs struct {
	mu   sync.Mutex
	keys map[types.NamespacedName]bool
}

// set notes whether a CronJob can't be decoded.
func (b *brokenCronJobs) set(key types.NamespacedName, isBroken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if isBroken == b.keys[key] {
		return
	}
	if b.keys == nil {
		b.keys = map[types.NamespacedName]bool{}
	}
	b.keys[key] = isBroken
	if !isBroken {
		delete(b.keys, key)
	}
	undecodableCronJobs.Set(float64(len(b.keys)))
}
