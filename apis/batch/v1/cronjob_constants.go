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
	// ConditionReady is the type of the condition that says whether the CronJob does what its spec asks.
	ConditionReady = "Ready"

	// ReasonScheduled is the reason of a true Ready condition: the schedule is followed.
	ReasonScheduled = "Scheduled"

	// ReasonWaiting is the reason of a true Ready condition: the schedule is followed, and a tick that
	// is due waits for a Job, as concurrencyPolicy asks.
	ReasonWaiting = "Waiting"

	// ReasonSuspended is the reason of a true Ready condition: nothing is started, as the spec asks.
	// It is true rather than false so that tools that wait for Ready do not wait for a resume.
	ReasonSuspended = "Suspended"

	// ReasonInvalidSchedule is the reason of a false Ready condition: the schedule can't be parsed or never fires.
	ReasonInvalidSchedule = "InvalidSchedule"

	// ReasonInvalidTimeZone is the reason of a false Ready condition: there is no time zone of that name.
	ReasonInvalidTimeZone = "InvalidTimeZone"

	// ReasonInvalidObject is the reason of a false Ready condition: a stored field has a type that it
	// can't have.
	ReasonInvalidObject = "InvalidObject"

	// ReasonJobCreationFailed is the reason of a false Ready condition: the API server refuses the tick's Job.
	ReasonJobCreationFailed = "JobCreationFailed"
)

// ScheduledAtAnnotation is set on each Job and on its Pods: the tick they were started for, RFC 3339 in UTC.
const ScheduledAtAnnotation = "batch.tutorial.kubebuilder.io/scheduled-at"

// MaxNameLength is the longest name, in characters, that a CronJob may have: its Jobs append
// a hyphen and ten digits to it, and a Job's name, which labels its Pods, ends at 63.
const MaxNameLength = 52
