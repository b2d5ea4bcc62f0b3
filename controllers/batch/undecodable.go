// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// A stored CronJob can't be decoded if one of its fields has a wrong type. The cache then holds its
// metadata and status only. It starts nothing until the field is corrected; its status, an event
// and a metric say so.

// reportUndecodable records in an event and in the status that a CronJob can't be decoded, and
// reports whether the status is written.
func (r *CronJobReconciler) reportUndecodable(ctx context.Context, look *lookup) (isWritten bool) {
	if r.record(look.stored, plan.InvalidObject(look.stored, look.undecodable)) {
		ctrl.LoggerFrom(ctx).Info("A CronJob can't be decoded", "why", look.undecodable)
	}
	return r.writeStatus(ctx, look, statusOfUndecodable(look.observed))
}

// statusOfUndecodable returns the status of a CronJob that can't be decoded. It drops the observed
// schedule, so that no tick from before the correction runs after it. It keeps the next tick, which
// is missed if it passes.
func statusOfUndecodable(seen *observed) v1.CronJobStatus {
	c := seen.stored
	status := *c.Status.DeepCopy()
	status.ObservedGeneration = c.Generation
	status.ObservedSchedule = ""
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonInvalidObject,
		Message: seen.undecodable, ObservedGeneration: c.Generation, LastTransitionTime: metav1.NewTime(seen.now),
	})
	return status
}
