// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

const (
	// ImportedFromAnnotation is on one of ours: the UID of the built-in CronJob that it was made from.
	ImportedFromAnnotation = "batch.tutorial.kubebuilder.io/imported-from"

	// ExportedFromAnnotation is on a built-in CronJob: the UID of the one of ours that it was made from.
	ExportedFromAnnotation = "batch.tutorial.kubebuilder.io/exported-from"

	// SuspendBeforeAnnotation is on a CronJob of either kind while it is suspended in favour of the other:
	// whether it was suspended before, "true" or "false".
	SuspendBeforeAnnotation = "batch.tutorial.kubebuilder.io/suspend-before"
)

// Side is one of the two CronJobs of a pair: the built-in or ours.
type Side struct {
	client.Object

	// spec is what it asks for, as ours says it.
	spec v1.CronJobSpec

	// lastRun is the last tick that it has run; zero for none.
	lastRun time.Time

	// floor is the instant up to which all ticks have had their turn: they were run, or will not be by this side.
	floor time.Time

	// followed reports whether its controller says that it knows the spec as it is. The built-in's never does.
	followed bool
}

// BuiltIn is the side of a built-in CronJob.
func BuiltIn(c *batchv1.CronJob) *Side {
	ours, _ := builtin.Import(c)
	s := &Side{Object: c, spec: ours.Spec, lastRun: timeOf(c.Status.LastScheduleTime)}
	s.floor = s.anchor()
	return s
}

// Ours is the side of one of ours.
func Ours(c *v1.CronJob) *Side {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady)
	s := &Side{
		Object:   c,
		spec:     *c.Spec.DeepCopy(),
		lastRun:  timeOf(c.Status.LastScheduleTime),
		followed: c.Status.ObservedGeneration == c.Generation && ready != nil && ready.ObservedGeneration == c.Generation,
	}
	s.floor = s.anchor()
	switch next := c.Status.NextScheduleTime; {
	case next != nil:
		s.floor = newest(s.floor, next.Add(-time.Second))
	case !s.followed: // it may just have been resumed, and runs nothing from before that
		s.floor = newest(s.floor, written(c))
	}
	return s
}

// since returns the side as it is now, with what an older state told of it: the status of one of ours
// that is suspended no longer says which ticks have had their turn.
func (s *Side) since(older *Side) *Side {
	s.floor = newest(s.floor, older.floor)
	return s
}

// sideOf is the side of a CronJob of either kind.
func sideOf(object client.Object) *Side {
	switch c := object.(type) {
	case *batchv1.CronJob:
		return BuiltIn(c)
	case *v1.CronJob:
		return Ours(c)
	default:
		panic(fmt.Sprintf("a %T is no CronJob", object))
	}
}

// String names the side as kubectl does.
func (s *Side) String() string {
	if s.isBuiltIn() {
		return "cronjob.batch/" + s.GetName()
	}
	return "cronjob.batch.tutorial.kubebuilder.io/" + s.GetName()
}

func (s *Side) isBuiltIn() bool {
	_, ok := s.Object.(*batchv1.CronJob)
	return ok
}

// Suspended reports whether it starts nothing.
func (s *Side) Suspended() bool { return s.spec.Suspend != nil && *s.spec.Suspend }

// Held reports whether it is suspended in favour of the other.
func (s *Side) Held() bool {
	_, ok := s.GetAnnotations()[SuspendBeforeAnnotation]
	return ok && s.Suspended()
}

func (s *Side) before() string { return s.GetAnnotations()[SuspendBeforeAnnotation] }

// SuspendedByOthers reports whether it is suspended, or was before it was held.
func (s *Side) SuspendedByOthers() bool {
	if s.Held() {
		before, err := strconv.ParseBool(s.before())
		return err != nil || before // what can't be read is not resumed
	}
	return s.Suspended()
}

// keeper names what would undo a suspension, as it keeps the CronJob as it wants it; "" for none that is known.
func (s *Side) keeper() string {
	if owner := metav1.GetControllerOf(s); owner != nil {
		return owner.Kind + " " + owner.Name
	}
	tool := ""
	for _, keys := range []map[string]string{s.GetAnnotations(), s.GetLabels()} {
		for key := range keys {
			tool = cmp.Or(tool, builtin.Owner(key))
		}
	}
	return tool
}

// RefuseKeeper refuses to suspend what something else would resume.
func (s *Side) RefuseKeeper() error {
	if keeper := s.keeper(); keeper != "" && !s.Suspended() {
		return fmt.Errorf("%s keeps %s as it wants it, and would resume it: suspend it there", keeper, s)
	}
	return nil
}

// ArePair reports whether one of the two was made from the other.
func ArePair(original *batchv1.CronJob, ours *v1.CronJob) bool {
	return original.Annotations[ExportedFromAnnotation] == string(ours.UID) ||
		ours.Annotations[ImportedFromAnnotation] == string(original.UID)
}

// overlaps reports whether the policy minds a Job that still runs.
func (s *Side) overlaps() bool {
	return s.spec.ConcurrencyPolicy == v1.ForbidConcurrent || s.spec.ConcurrencyPolicy == v1.ReplaceConcurrent
}

// ticks is its schedule; ok is false when that can't be followed.
func (s *Side) ticks() (ticks schedule.Schedule, ok bool) {
	zone := ""
	if s.spec.TimeZone != nil {
		zone = *s.spec.TimeZone
	}
	parsed, err := schedule.Parse(s.spec.Schedule, zone)
	if err != nil {
		return schedule.Schedule{}, false
	}
	return parsed.Anchored(s.anchor()), true
}

// anchor is what intervals count from: the last run, or the creation.
func (s *Side) anchor() time.Time {
	if !s.lastRun.IsZero() {
		return s.lastRun
	}
	return s.GetCreationTimestamp().Time
}

// next is the first tick after an instant; zero if there is none.
func (s *Side) next(after time.Time) time.Time {
	ticks, ok := s.ticks()
	if !ok {
		return time.Time{}
	}
	tick, _ := ticks.Next(after)
	return tick
}

// LastTick is the newest tick, not later than an instant, since the last that it has run, or since its
// creation; zero if there is none.
func (s *Side) LastTick(until time.Time) time.Time {
	ticks, ok := s.ticks()
	if !ok {
		return time.Time{}
	}
	tick, _ := ticks.Last(s.anchor(), until)
	return tick
}

// unrun is the newest tick, not later than an instant, that it has not run but was still to run at
// another; zero if there is none.
func (s *Side) unrun(until, stoppedAt time.Time) time.Time {
	ticks, ok := s.ticks()
	if !ok {
		return time.Time{}
	}
	tick, ok := ticks.Last(newest(s.floor, s.anchor()), until)
	if !ok {
		return time.Time{}
	}
	deadline := s.spec.StartingDeadlineSeconds
	if deadline != nil && tick.Add(time.Duration(*deadline)*time.Second).Before(stoppedAt) {
		return time.Time{} // it has missed that one itself
	}
	return tick
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
