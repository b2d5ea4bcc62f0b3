/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package v1

const (
	// DefaultSuccessfulJobsHistoryLimit is how many successful Jobs are kept when the spec does not say.
	DefaultSuccessfulJobsHistoryLimit int32 = 3

	// DefaultFailedJobsHistoryLimit is how many failed Jobs are kept when the spec does not say.
	DefaultFailedJobsHistoryLimit int32 = 1
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
