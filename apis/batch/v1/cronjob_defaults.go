// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

const (
	// DefaultSuccessfulJobsHistoryLimit is how many successful Jobs are kept when the spec does not
	// say.
	DefaultSuccessfulJobsHistoryLimit int32 = 3

	// DefaultFailedJobsHistoryLimit is how many failed Jobs are kept when the spec does not say.
	DefaultFailedJobsHistoryLimit int32 = 1

	// DefaultCatchUpLimit is how many ticks may wait to run with catchUpPolicy All when the spec does
	// not say. Default leaves it out: a manifest without catchUpPolicy, applied later, would leave
	// the limit alone, and be refused.
	DefaultCatchUpLimit int32 = 10

	// MaxCatchUpLimit is the most that it may say.
	MaxCatchUpLimit int32 = 100
)

// Default fills in what the spec leaves out. It is the one place for defaults: the defaulting
// webhook calls it when a CronJob is written and the reconciler when it is read, so that they
// hold for objects stored while webhooks were off too.
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
