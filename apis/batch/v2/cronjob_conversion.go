// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

var (
	_ conversion.Hub         = &v1.CronJob{}
	_ conversion.Convertible = &CronJob{}
)

// Spoke is how this version converts to the hub and back.
var Spoke = spoke.NewSpoke(spoke.Spoke{
	APIVersion: GroupVersion.String(), Object: &CronJob{}, Members: v1.Conversion.Members, Shown: "schedule",
}, spoke.Each(split, join))

// ConvertTo converts this CronJob to the hub version. An annotation keeps what the hub's fields
// can't express. Only status.schedule is lost, which ConvertFrom sets again. It fails only if the
// hub is of another kind.
func (c *CronJob) ConvertTo(hub conversion.Hub) error { return convert(c, hub) }

// ConvertFrom sets this CronJob from the hub version. An annotation keeps what its fields can't
// express, so nothing is lost. It fails only if the hub is of another kind.
func (c *CronJob) ConvertFrom(hub conversion.Hub) error { return convert(hub, c) }
