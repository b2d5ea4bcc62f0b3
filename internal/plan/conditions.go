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

package plan

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

const (
	messageScheduled = "Jobs start on schedule."

	// maxMessageLength is how long, in bytes, a condition's message may be. The API server would
	// take more, and it is stored with each tick.
	maxMessageLength = 4096
)

// setReady sets the Ready condition, and reports whether it says something new: another reason,
// another message, or the same of another generation. What the plan has said before is not stored,
// and so neither new nor a transition.
func (p *Plan) setReady(in Input, status metav1.ConditionStatus, reason, message string) bool {
	p.Status.Conditions = slices.Clone(in.CronJob.Status.Conditions)
	return meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
		Type:               v1.ConditionReady,
		Status:             status,
		ObservedGeneration: in.CronJob.Generation,
		LastTransitionTime: metav1.NewTime(in.Now),
		Reason:             reason,
		Message:            strings.ToValidUTF8(message[:min(len(message), maxMessageLength)], ""),
	})
}

// isReadyReason reports whether the stored status gives this reason in its Ready condition.
func isReadyReason(c *v1.CronJob, reason string) bool {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.Reason == reason
}

// isHeld reports whether the stored status says that a tick waits for a Job to end.
func isHeld(c *v1.CronJob) bool {
	return c.Spec.ConcurrencyPolicy == v1.ForbidConcurrent && isReadyReason(c, v1.ReasonWaiting)
}

// Started makes the status after the Job of the tick was created, or was found to be there already,
// be it that it runs or that it has ended.
func (p *Plan) Started(in Input, job *batchv1.Job) {
	running := slices.DeleteFunc(slices.Clone(p.running), func(other jobState) bool { return other.UID == job.UID })
	if state := stateOf(in, job); state.result == "" {
		i, _ := slices.BinarySearchFunc(running, state, compareAge)
		running = slices.Insert(running, i, state)
	} else if !slices.ContainsFunc(p.Ended, func(ended Ended) bool { return ended.Job.UID == job.UID }) {
		p.Ended = append(p.Ended, Ended{Job: job, Result: state.result})
		p.noteSuccess(job)
	}
	p.setActive(running)
	p.Status.LastScheduleTime = maxTime(p.Status.LastScheduleTime, p.Start.Tick)
	p.await(in, p.Start.Next)
}

// Replaced makes the status after these of the Jobs to replace were deleted to make room for the
// tick's. The tick waits for those that could not be.
func (p *Plan) Replaced(in Input, jobs []*batchv1.Job) {
	gone := make(sets.Set[types.UID], len(jobs))
	for _, job := range jobs {
		gone.Insert(job.UID)
	}
	p.setActive(slices.DeleteFunc(slices.Clone(p.running), func(job jobState) bool { return gone.Has(job.UID) }))
	p.Supplanted += len(jobs)
	left := slices.IndexFunc(p.Replace, func(job *batchv1.Job) bool { return !gone.Has(job.UID) })
	if left >= 0 {
		p.waitFor(in, p.Replace[left], "be deleted")
		p.WakeBy(p.Start.GiveUpAt)
	}
}

// NameTaken makes the status after a stranger was found to have the name of the tick's Job: the
// tick is missed, and the schedule goes on.
func (p *Plan) NameTaken(in Input) {
	p.miss(in, Missed{MissedNameTaken, p.Start.Tick, p.Start.Tick, 1})
	p.await(in, p.Start.Next)
}

// StartFailed makes the status after the Job of the tick could not be created, and reports whether
// it says something new. The tick waits to be tried again until its time is over.
func (p *Plan) StartFailed(in Input, message string) bool {
	p.WakeBy(p.Start.GiveUpAt)
	return p.setReady(in, metav1.ConditionFalse, v1.ReasonJobCreationFailed, message)
}
