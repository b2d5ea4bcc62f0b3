// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "tutorial.kubebuilder.io/project/apis/batch/spoke"

// Hub marks this version as the one that all others convert to and from (conversion.Hub of
// sigs.k8s.io/controller-runtime).
func (*CronJob) Hub() {}

// Conversion says what other versions write differently: the schedules, which are texts here. It is
// here because the conversion knows no CronJob, and every other version needs it.
var Conversion = spoke.Hub{
	APIVersion: GroupVersion.String(), Kind: "CronJob", Object: &CronJob{},
	Members:     spoke.Members{Value: "schedule", List: "additionalSchedules"},
	Annotations: spoke.Members{Value: GroupVersion.Group + "/schedule-", List: GroupVersion.Group + "/additional-schedules-"},
}
