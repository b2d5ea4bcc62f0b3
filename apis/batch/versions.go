// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package batch has the versions of the CronJob API. No other package names all of them.
package batch

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// spokes are all versions but the hub. A further version is its package and a line here.
var spokes = []version{
	{v2.Spoke, v2.AddToScheme},
}

type version struct {
	spoke.Spoke

	addToScheme func(*runtime.Scheme) error
}

// Versions are all of them.
var Versions = func() spoke.Table {
	table := spoke.Table{Hub: v1.Conversion}
	for _, v := range spokes {
		table.Spokes = append(table.Spokes, v.Spoke)
	}
	return table
}()

// AddToScheme registers the types of all versions with a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	err := v1.AddToScheme(scheme)
	for _, v := range spokes {
		err = errors.Join(err, v.addToScheme(scheme))
	}
	return err
}

// DropStaleSchedules removes the annotations that keep the schedules of other versions from a hub
// object if they don't convert to its schedules, as after an edit.
func DropStaleSchedules(hub *v1.CronJob) {
	texts := append([]string{hub.Spec.Schedule}, hub.Spec.AdditionalSchedules...)
	hub.Annotations = Versions.DropStale(hub.Annotations, texts...)
}
