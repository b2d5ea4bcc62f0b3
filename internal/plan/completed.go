// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// complete sets the status when no tick is left. Nothing happens until somebody edits the spec.
func (p *Plan) complete(in Input) {
	p.setNext(in, time.Time{})
	message := "No tick is left: the spec excludes all days to come."
	if until := in.CronJob.Spec.NotAfter; until != nil {
		message = fmt.Sprintf("No tick is left: spec.notAfter is %s.", until.UTC().Format(time.RFC3339))
	}
	p.setReady(in, metav1.ConditionTrue, v1.ReasonCompleted, message)
}
