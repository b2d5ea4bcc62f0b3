// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

const (
	// DefaultSuccessfulJobsHistoryLimit is the default of spec.successfulJobsHistoryLimit.
	DefaultSuccessfulJobsHistoryLimit int32 = 3

	// DefaultFailedJobsHistoryLimit is the default of spec.failedJobsHistoryLimit.
	DefaultFailedJobsHistoryLimit int32 = 1

	// DefaultCatchUpLimit is the default of spec.catchUpLimit. Default does not set it: if a
	// manifest without catchUpPolicy were applied later, it would remove the policy but not the
	// limit, and be refused.
	DefaultCatchUpLimit int32 = 10

	// MaxCatchUpLimit is the highest spec.catchUpLimit.
	MaxCatchUpLimit int32 = 100
)

// Default sets all defaults. The defaulting webhook calls it when a CronJob is written, and the
// reconciler when it is read, so that defaults also hold for CronJobs that were stored without
// webhooks.
func (c *CronJob) Default() {
	spec := &c.Spec
	if spec.ConcurrencyPolicy == "" {
		spec.ConcurrencyPolicy = AllowConcurrent
	}
	if spec.Suspend == nil {
		spec.Suspend = new(bool)
	}
	if spec.SuccessfulJobsHistoryLimit == nil {
		spec.SuccessfulJobsHistoryLimit = new(DefaultSuccessfulJobsHistoryLimit)
	}
	if spec.FailedJobsHistoryLimit == nil {
		spec.FailedJobsHistoryLimit = new(DefaultFailedJobsHistoryLimit)
	}
}
