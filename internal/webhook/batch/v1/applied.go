// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/shorten"
)

// warnMerged warns of a client-side kubectl apply that merged the fields of a schedule with those
// that were stored: what was applied means one thing, and the object now says another. kubectl
// writes what it applies into an annotation.
func warnMerged(before, after *v1.CronJob) admission.Warnings {
	manifest := after.Annotations[corev1.LastAppliedConfigAnnotation]
	if manifest == "" || manifest == before.Annotations[corev1.LastAppliedConfigAnnotation] {
		return nil
	}
	hub, err := batch.Versions.ConvertJSON([]byte(manifest), batch.Versions.Hub.APIVersion)
	if err != nil {
		return nil
	}
	var applied struct{ Spec struct{ Schedule string } }
	if json.Unmarshal(hub, &applied) != nil {
		return nil
	}
	want, errWant := schedule.Parse(applied.Spec.Schedule, "")
	got, errGot := schedule.Parse(after.Spec.Schedule, "")
	if errWant != nil || errGot != nil || reflect.DeepEqual(want, got) {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("spec.schedule: what was applied means %q, but the object now says %q: kubectl apply has merged "+
		"the fields with those that were stored; set all fields, or use kubectl apply --server-side",
		shorten.Text(applied.Spec.Schedule, maxDetail), shorten.Text(after.Spec.Schedule, maxDetail))}
}
