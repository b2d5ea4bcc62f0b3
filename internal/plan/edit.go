// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// No tick from before an edit of what says when Jobs may start runs after it. The mutating webhook
// sees each edit, so it writes down when that was, in an annotation. The controller believes the
// annotation only if it is about the generation and the fields that it sees: else the last edit
// passed the webhook by, as while the webhooks are off.

// stamp is the content of v1.EditedAnnotation, as JSON.
type stamp struct {
	// Generation is that of the spec before the edit, and At when it was made. The API server counts
	// generations in the version of the request: what is an edit in one may be none in another.
	Generation int64     `json:"generation"`
	At         time.Time `json:"at"`

	// StopAfterFailures is that of the spec before the edit: earlier failures count by it.
	StopAfterFailures *int32 `json:"stopAfterFailures,omitempty"`

	// RescheduledAt is when what says when Jobs may start was last edited, or a suspension ended
	// by itself that is no longer in the spec; zero if that is as it was created.
	RescheduledAt time.Time `json:"rescheduledAt,omitzero"`

	// Scheduling is what it was edited to, as Scheduling returns it; "" if it is unknown when, since
	// an earlier edit passed the webhook by.
	Scheduling string `json:"scheduling,omitempty"`
}

// Stamp returns the EditedAnnotation of a CronJob after an update, given it as it is stored before
// and as it will be, with its defaults; "" for none. The templates may be left out: isTemplateEdited
// is whether they differ. now is by the clock of the webhook.
func Stamp(before, after *v1.CronJob, isTemplateEdited bool, now time.Time) string {
	if !isTemplateEdited && apiequality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return before.Annotations[v1.EditedAnnotation]
	}
	made := stamp{Generation: before.Generation, At: now.UTC(), StopAfterFailures: before.Spec.StopAfterFailures}
	was, is, last := Scheduling(&before.Spec), Scheduling(&after.Spec), stampOf(before)
	isCleanUp := isCleanUp(&before.Spec, &after.Spec, now)
	switch {
	case was != is && !isCleanUp:
		made.RescheduledAt, made.Scheduling = made.At, is
	case was == last.Scheduling:
		made.RescheduledAt, made.Scheduling = last.RescheduledAt, is
		if isCleanUp { // the spec no longer says when the suspension ended
			made.RescheduledAt = latest(last.RescheduledAt, timeOf(before.Spec.SuspendUntil).Add(-time.Nanosecond))
		}
	}
	value, err := json.Marshal(made)
	if err != nil { // a year after 9999: the edit counts from when the controller sees it
		return ""
	}
	return string(value)
}

// stampOf returns what is known of the edit that made the generation of a CronJob; the zero stamp if
// that is unknown.
func stampOf(c *v1.CronJob) stamp {
	if c.Generation <= 1 {
		created := c.CreationTimestamp.Time
		return stamp{Generation: c.Generation, At: created, RescheduledAt: created, Scheduling: Scheduling(&c.Spec)}
	}
	made := stamp{}
	err := json.Unmarshal([]byte(c.Annotations[v1.EditedAnnotation]), &made)
	if err != nil || c.Generation != made.Generation && c.Generation != made.Generation+1 {
		return stamp{}
	}
	return made
}

// isCleanUp reports whether an edit only removes the end of a suspension that is over, of all that
// says when Jobs may start.
func isCleanUp(before, after *v1.CronJobSpec, now time.Time) bool {
	rest := *before
	rest.SuspendUntil = nil
	return timeOf(before.SuspendUntil).Before(now) && Scheduling(&rest) == Scheduling(after)
}

// Scheduling returns a hash of the fields that decide whether an instant is a tick that may run.
func Scheduling(spec *v1.CronJobSpec) string {
	text := fmt.Sprintf("%s %t %d", SpecOf(spec), spec.Suspend != nil && *spec.Suspend, timeOf(spec.SuspendUntil).Unix())
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16]
}

// editTimes returns when the spec of a CronJob was last edited, and when what says when Jobs may
// start was; zero if that is unknown.
func editTimes(c *v1.CronJob) (editedAt, rescheduledAt time.Time) {
	last := stampOf(c)
	if c.Generation <= 1 || last.Scheduling == Scheduling(&c.Spec) { // never edited, or as the stamp says
		rescheduledAt = latest(c.CreationTimestamp.Time, last.RescheduledAt)
	}
	return last.At, rescheduledAt
}

// editedAt returns when the spec was last edited; if that is unknown, or was by a clock that is
// ahead of ours, when it was first seen.
func editedAt(in Input) time.Time { return notAfter(in.EditedAt, in.SeenAt) }

// rescheduledAt is editedAt for what says when Jobs may start: a missed tick is better than an
// unexpected run. A CronJob that could not be decoded starts Jobs since any edit.
func rescheduledAt(in Input) time.Time {
	if isReadyReason(in.CronJob, v1.ReasonInvalidObject) {
		return editedAt(in)
	}
	return notAfter(in.RescheduledAt, in.ScheduleSeenAt)
}

// notAfter returns a time that is known and not after another one; else the other one.
func notAfter(t, limit time.Time) time.Time {
	if t.IsZero() || t.After(limit) {
		return limit
	}
	return t
}

// isReschedule reports whether ticks that the stored status does not know as handled must not run,
// because they lie before an edit: of the schedule or its time zone, or a resume. Of an edit that
// the webhook did not see it is known that it was a resume only if the status says Suspended; of
// more than one since the last status, any may have been.
func isReschedule(in Input) bool {
	c := in.CronJob
	switch {
	case !isScheduleObserved(c):
		return true
	case !isEditUnseen(c), isReadyReason(c, v1.ReasonCompleted): // no tick was left of the same schedule
		return false
	case in.RescheduledAt.IsZero():
		return isReadyReason(c, v1.ReasonSuspended) || isEditedMoreThanOnce(c)
	}
	return c.Status.NextScheduleTime == nil || !in.RescheduledAt.Before(c.Status.NextScheduleTime.Time)
}

// isScheduleObserved reports whether the stored status was computed from the schedule. If only its
// text differs, and the generation does not, it has the same ticks: an update in v2 that drops the
// annotation with the text of v1 does not change the spec of v2.
func isScheduleObserved(c *v1.CronJob) bool {
	observed := c.Status.ObservedSchedule
	return observed == observedSchedule(c) || observed != "" && !isEditUnseen(c)
}

// isEditUnseen reports whether the stored status was computed from an earlier spec.
func isEditUnseen(c *v1.CronJob) bool { return c.Status.ObservedGeneration != c.Generation }

// isEditedMoreThanOnce reports whether the spec was edited more than once since the status observed
// it.
func isEditedMoreThanOnce(c *v1.CronJob) bool {
	return c.Generation-max(c.Status.ObservedGeneration, 1) > 1
}
