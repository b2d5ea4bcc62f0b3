// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package batch has the versions of the CronJob API. No other package names all of them.
package batch

import (
	"k8s.io/apimachinery/pkg/runtime"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// Versions are all of them. A further version is its package, and its Spoke and AddToScheme here.
var Versions = spoke.Table{Hub: v1.Conversion, Spokes: []spoke.Spoke{v2.Spoke}}

// AddToScheme registers the types of all versions with a scheme.
var AddToScheme = new(runtime.NewSchemeBuilder(v1.AddToScheme, v2.AddToScheme)).AddToScheme

// DropStaleSchedules removes the annotations that keep the schedules of other versions from a hub
// object if they don't convert to its schedules, as after an edit.
func DropStaleSchedules(hub *v1.CronJob) {
	texts := append([]string{hub.Spec.Schedule}, hub.Spec.AdditionalSchedules...)
	hub.Annotations = Versions.DropStale(hub.Annotations, texts...)
}
