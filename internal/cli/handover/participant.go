// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const (
	// ImportedFromAnnotation is set on our CronJob: the UID of the built-in one it was made from.
	ImportedFromAnnotation = "batch.tutorial.kubebuilder.io/imported-from"

	// ExportedFromAnnotation is set on a built-in CronJob: the UID of ours it was made from.
	ExportedFromAnnotation = "batch.tutorial.kubebuilder.io/exported-from"

	// SuspendBeforeAnnotation is set on a CronJob while it is suspended in favour of the other one:
	// whether it was suspended before, "true" or "false".
	SuspendBeforeAnnotation = "batch.tutorial.kubebuilder.io/suspend-before"
)

// Participant is one of the two CronJobs of a hand-over: the built-in or ours.
type Participant struct {
	client.Object

	// view is the CronJob, or for the built-in one of ours with the same content.
	view *v1.CronJob

	// handledUntil is the instant up to which all ticks have run, or will not be run by this
	// CronJob.
	handledUntil time.Time

	// observed is whether the status says that the controller has observed the current spec.
	observed bool
}

// BuiltIn returns a built-in CronJob as a participant.
func BuiltIn(c *batchv1.CronJob) *Participant {
	p := &Participant{Object: c, view: builtin.View(c)}
	p.handledUntil = plan.Anchor(p.view, p.view.Status)
	return p
}

// Ours returns a CronJob of ours as a participant.
func Ours(c *v1.CronJob) *Participant {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady)
	p := &Participant{
		Object: c, view: c, handledUntil: plan.Anchor(c, c.Status),
		observed: c.Status.ObservedGeneration == c.Generation && ready != nil && ready.ObservedGeneration == c.Generation,
	}
	switch next := c.Status.NextScheduleTime; {
	case next != nil:
		p.handledUntil = newest(p.handledUntil, next.Add(-time.Second))
	case ready != nil && ready.Reason == v1.ReasonCompleted && c.Spec.NotAfter != nil:
		p.handledUntil = newest(p.handledUntil, c.Spec.NotAfter.Time)
	case !p.observed: // it may have just been resumed, and then runs no tick from before
		p.handledUntil = newest(p.handledUntil, writtenAt(c))
	}
	return p
}

func participantOf(object client.Object) *Participant {
	if c, isBuiltIn := object.(*batchv1.CronJob); isBuiltIn {
		return BuiltIn(c)
	}
	return Ours(object.(*v1.CronJob)) //nolint:forcetypeassert // there is no third kind
}

// String returns the name as kubectl prints it.
func (p *Participant) String() string {
	if p.isBuiltIn() {
		return "cronjob.batch/" + p.GetName()
	}
	return "cronjob.batch.tutorial.kubebuilder.io/" + p.GetName()
}

func (p *Participant) isBuiltIn() bool {
	_, ok := p.Object.(*batchv1.CronJob)
	return ok
}

// empty returns an object with just the kind and the name of the participant. Decoding into any
// other would keep fields that were removed.
func (p *Participant) empty() client.Object {
	name := metav1.ObjectMeta{Namespace: p.GetNamespace(), Name: p.GetName()}
	if p.isBuiltIn() {
		return &batchv1.CronJob{ObjectMeta: name}
	}
	return &v1.CronJob{ObjectMeta: name}
}

// since keeps handledUntil from an older state: the status of a suspended CronJob of ours does not
// have it any more.
func (p *Participant) since(older *Participant) *Participant {
	p.handledUntil = newest(p.handledUntil, older.handledUntil)
	return p
}

// Suspended reports whether spec.suspend is true.
func (p *Participant) Suspended() bool { return ptr.Deref(p.view.Spec.Suspend, false) }

// SuspendedByUs reports whether a hand-over suspended it.
func (p *Participant) SuspendedByUs() bool {
	_, ok := p.GetAnnotations()[SuspendBeforeAnnotation]
	return ok && p.Suspended()
}

// SuspendedByOthers reports whether it is suspended, or was before a hand-over suspended it.
func (p *Participant) SuspendedByOthers() bool {
	if p.SuspendedByUs() {
		before, err := strconv.ParseBool(p.suspendBefore())
		return err != nil || before // do not resume it if the value is unreadable
	}
	return p.Suspended()
}

func (p *Participant) suspendBefore() string { return p.GetAnnotations()[SuspendBeforeAnnotation] }

func (p *Participant) setSuspend(suspend bool) {
	p.view.Spec.Suspend = &suspend
	if c, isBuiltIn := p.Object.(*batchv1.CronJob); isBuiltIn {
		c.Spec.Suspend = &suspend
	}
}

// refuseKeeper returns an error if an owner or a tool would undo the suspension.
func (p *Participant) refuseKeeper() error {
	keeper := ""
	for _, keys := range []map[string]string{p.GetAnnotations(), p.GetLabels()} {
		for key := range keys {
			keeper = cmp.Or(keeper, builtin.Owner(key))
		}
	}
	if owner := metav1.GetControllerOf(p); owner != nil {
		keeper = owner.Kind + " " + owner.Name
	}
	if keeper != "" && !p.Suspended() {
		return fmt.Errorf("%s keeps %s as it wants it, and would resume it: suspend it there", keeper, p)
	}
	return nil
}

// origin returns the UID of the CronJob that this one was made from; "" for none.
func (p *Participant) origin() string {
	return cmp.Or(p.GetAnnotations()[ImportedFromAnnotation], p.GetAnnotations()[ExportedFromAnnotation])
}

func (p *Participant) forbidsOverlap() bool {
	policy := p.view.Spec.ConcurrencyPolicy
	return policy == v1.ForbidConcurrent || policy == v1.ReplaceConcurrent
}

func (p *Participant) lastRun() time.Time { return timeOf(p.view.Status.LastScheduleTime) }

// next returns the first tick after an instant; zero for none or an invalid schedule.
func (p *Participant) next(after time.Time) time.Time {
	ticks, _ := cronjobs.Schedule(p.view)
	tick, _ := ticks.Next(after)
	return tick
}

// last returns the newest tick after one instant and up to another; zero for none.
func (p *Participant) last(after, until time.Time) time.Time {
	ticks, _ := cronjobs.Schedule(p.view)
	tick, _ := ticks.Last(after, until)
	return tick
}

// LastTick returns the newest tick up to an instant that is after the last run, or after the
// creation; zero for none.
func (p *Participant) LastTick(until time.Time) time.Time {
	return p.last(plan.Anchor(p.view, p.view.Status), until)
}

// unrun returns the newest tick up to an instant that it has not run, and could still have run at
// stoppedAt; zero for none.
func (p *Participant) unrun(until, stoppedAt time.Time) time.Time {
	tick := p.last(p.handledUntil, until)
	deadline, start := p.view.Spec.StartingDeadlineSeconds, plan.StartOf(p.view, tick)
	if deadline != nil && stoppedAt.Sub(start).Seconds() > float64(*deadline) { // it may be too long for a time.Duration
		return time.Time{} // it has missed that tick itself
	}
	return tick
}

// startsWithin reports whether a controller that has not heard of the suspension would start a Job
// now or during the grace.
func (p *Participant) startsWithin(grace time.Duration, now time.Time) bool {
	next := p.next(now)
	return !p.unrun(now, now).IsZero() || !next.IsZero() && !next.After(now.Add(grace))
}

// writtenAt returns when this program last wrote an object, by the API server's clock, in whole
// seconds.
func writtenAt(object client.Object) time.Time {
	last := time.Time{}
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == env.FieldManager && entry.Subresource == "" {
			last = newest(last, timeOf(entry.Time))
		}
	}
	return last
}

func timeOf(t *metav1.Time) time.Time { return ptr.Deref(t, metav1.Time{}).Time }

func newest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
