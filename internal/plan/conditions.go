// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

const (
	messageScheduled = "Jobs start on schedule."

	// maxMessageLength limits a condition's message, in bytes. The API server would accept more,
	// but the message is stored again with each tick.
	maxMessageLength = 4096
)

// setReady sets the Ready condition, and reports whether it differs from the stored one: in its
// reason, message or generation. It drops an earlier condition of this plan, which was never
// stored.
func (p *Plan) setReady(in Input, status metav1.ConditionStatus, reason, message string) bool {
	p.Status.Conditions = in.CronJob.Status.Conditions
	return p.setCondition(in, metav1.Condition{Type: v1.ConditionReady, Status: status, Reason: reason, Message: message})
}

// setCondition sets a condition, and reports whether that changed it.
func (p *Plan) setCondition(in Input, condition metav1.Condition) bool {
	condition.ObservedGeneration = in.CronJob.Generation
	condition.LastTransitionTime = metav1.NewTime(in.Now)
	condition.Message = strings.ToValidUTF8(condition.Message[:min(len(condition.Message), maxMessageLength)], "")
	p.Status.Conditions = slices.Clone(p.Status.Conditions)
	return meta.SetStatusCondition(&p.Status.Conditions, condition)
}

// isReadyReason reports whether the stored Ready condition has a reason.
func isReadyReason(c *v1.CronJob, reason string) bool {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.Reason == reason
}
