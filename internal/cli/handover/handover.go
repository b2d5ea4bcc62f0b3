// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package handover lets one CronJob take over from another, the built-in from ours or the other way
// round, so that no tick runs twice.
//
// The two never run at the same time: the one is suspended, it is made sure that this is known where its
// Jobs are started, and then the other starts. Each remembers in an annotation whether it was suspended
// before, so that the way back leaves it as it was, and a repeat after an interruption goes on where that stopped.
//
//	suspend ──► stopped? ──► its Jobs? ──► the other starts ──► which tick was lost?
//	   │                                        │
//	   └────────────── resume ◄──── refused ────┘
//
// Ours says in its status which spec its manager follows, so that one that says it is suspended has
// stopped. The built-in says nothing of the kind. Its controller hears of the suspension within
// milliseconds; to be safe, it is given a grace: until it is over, nobody runs a tick. A moment is chosen
// at which no tick falls into it, so that none is lost either, unless the schedule is too dense for that.
package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const (
	// glance is how often it is looked whether what is waited for has come.
	glance = 200 * time.Millisecond

	// undoTimeout is how long undoing may take, after an interruption too.
	undoTimeout = 10 * time.Second
)

// Switch hands over. Its fields don't change while it does.
type Switch struct {
	Client client.Client
	Clock  clock.Clock

	// Grace is how long after its suspension a CronJob may still start a Job, as its controller has not
	// heard of it yet.
	Grace time.Duration

	// Wait has it wait, for no longer than Timeout, for Jobs that run when the concurrency policy minds them.
	Wait    bool
	Timeout time.Duration

	// Say is told what takes time.
	Say func(text string)
}

// Start creates or resumes the side that takes over. The other has stopped; up to the instant all ticks
// were its to run. When suspended, the one that takes over shall be suspended as well.
type Start func(ctx context.Context, stoppedAt time.Time, suspended bool) (*Side, error)

// HandOver stops one side and then starts the other. It returns the newest tick that neither has run and
// neither will; zero for none. On an error the first runs again, unless the other may have been started.
func (s *Switch) HandOver(ctx context.Context, from *Side, start Start) (missed time.Time, err error) {
	suspended := from.SuspendedByOthers()
	if from.Suspended() && !from.Held() {
		_, err := start(ctx, s.Clock.Now(), suspended)
		return time.Time{}, err
	}
	stopped, stoppedAt, err := s.stop(ctx, from)
	if err != nil {
		return time.Time{}, s.undo(ctx, stopped, notStarted{err})
	}
	started, err := start(ctx, stoppedAt, suspended)
	if err != nil {
		return time.Time{}, s.undo(ctx, stopped, err)
	}
	if suspended {
		return time.Time{}, nil
	}
	// What it ran at the last moment, its status says only now.
	if last, err := s.read(ctx, stopped); err == nil {
		stopped = last
	}
	return stopped.unrun(startOf(started, stoppedAt), stoppedAt), nil
}

// startOf is the instant up to which ticks are not those of the side that has been started.
func startOf(started *Side, stoppedAt time.Time) time.Time {
	if started.isBuiltIn() && started.GetGeneration() > 1 {
		return stoppedAt // it was resumed, and makes up for what it has not run
	}
	return newest(started.GetCreationTimestamp().Time, written(started), stoppedAt)
}

// stop suspends a side and returns when it starts nothing any more, and since when. On an error the side
// may be suspended or not.
func (s *Switch) stop(ctx context.Context, from *Side) (*Side, time.Time, error) {
	ahead, err := s.clockAhead(ctx, from)
	if err != nil {
		return from, time.Time{}, err
	}
	now := func() time.Time { return s.Clock.Now().Add(ahead) }
	if from.isBuiltIn() {
		if from, err = s.awaitQuiet(ctx, from, now); err != nil {
			return from, time.Time{}, err
		}
	}
	if !s.Wait {
		if err := s.refuseJobs(ctx, from); err != nil {
			return from, time.Time{}, err
		}
	}
	stoppedAt := now()
	if !from.Held() {
		if from, err = s.hold(ctx, from); err != nil {
			return from, time.Time{}, err
		}
	}
	if from, err = s.awaitStopped(ctx, from, now); err != nil {
		return from, time.Time{}, err
	}
	if from.followed { // so that its status has all that it has run
		stoppedAt = newest(stoppedAt, from.lastRun)
	} else {
		stoppedAt = now()
	}
	return from, stoppedAt, s.awaitJobs(ctx, from)
}

// awaitQuiet waits until no tick will come during the grace. A tick that is about to come is left to run.
func (s *Switch) awaitQuiet(ctx context.Context, from *Side, now func() time.Time) (*Side, error) {
	tick := from.next(now())
	if tick.IsZero() || tick.Sub(now()) > s.Grace {
		return from, nil
	}
	s.Say(fmt.Sprintf("waiting for the tick of %s to have run", tick.Format(time.RFC3339)))
	for now().Before(tick.Add(s.Grace)) && from.lastRun.Before(tick) {
		if err := s.sleep(ctx, glance); err != nil {
			return from, err
		}
		last, err := s.read(ctx, from)
		if err != nil {
			return from, err
		}
		from = last
	}
	return from, nil
}

// awaitStopped waits until the controller of a side is known to follow the suspension, or must have heard of it.
func (s *Switch) awaitStopped(ctx context.Context, from *Side, now func() time.Time) (*Side, error) {
	end := now().Add(s.Grace)
	if from.isBuiltIn() && !from.unsettled(now(), s.Grace) {
		return from, nil
	}
	for now().Before(end) && !from.followed {
		if err := s.sleep(ctx, glance); err != nil {
			return from, err
		}
		last, err := s.read(ctx, from)
		if err != nil {
			return from, err
		}
		from = last
	}
	return from, nil
}

// unsettled reports whether a controller that has not heard of the suspension yet would start a Job
// during the grace.
func (s *Side) unsettled(now time.Time, grace time.Duration) bool {
	if !s.unrun(now, now).IsZero() {
		return true
	}
	tick := s.next(now)
	return !tick.IsZero() && !tick.After(now.Add(grace))
}

// hold suspends a side and has it remember whether it was suspended before.
func (s *Switch) hold(ctx context.Context, from *Side) (*Side, error) {
	held, err := s.patch(ctx, from, change{suspend: true, before: fmt.Sprint(from.Suspended())})
	if err != nil {
		return from, fmt.Errorf("suspending %s: %w", from, err)
	}
	if !held.Held() {
		return held, fmt.Errorf("suspending %s: it is not suspended after that, something else has changed it back", from)
	}
	return held, nil
}

// Resume is the Start for a side that is there already.
func (s *Switch) Resume(to *Side) Start {
	return func(ctx context.Context, _ time.Time, suspended bool) (*Side, error) {
		if !to.Held() {
			return to, nil
		}
		return s.Release(ctx, to, suspended || to.SuspendedByOthers())
	}
}

// Release ends the hold on a side. It is suspended afterwards only if it shall be.
func (s *Switch) Release(ctx context.Context, side *Side, suspended bool) (*Side, error) {
	released, err := s.patch(ctx, side, change{suspend: suspended})
	if err != nil {
		return nil, fmt.Errorf("resuming %s: %w", side, err)
	}
	return released, nil
}

// undo resumes a side that was suspended for nothing, and returns the error that made it so. It leaves
// the side alone when the other may have been started after all: they must not both run.
func (s *Switch) undo(ctx context.Context, stopped *Side, cause error) error {
	if !isFinal(cause) {
		return fmt.Errorf("%w; %s stays suspended, as the other may run: repeat the command to go on", cause, stopped)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	last, err := s.read(ctx, stopped)
	if err == nil && last.Held() {
		_, err = s.Release(ctx, last, last.SuspendedByOthers())
	}
	if err != nil {
		return fmt.Errorf("%w; and %s may have stayed suspended: %w", cause, stopped, err)
	}
	return fmt.Errorf("%w; %s is as it was", cause, stopped)
}

// errNothingStarted is in the chain of errors after which the other side is known not to run.
var errNothingStarted = errors.New("nothing was started")

// isFinal reports whether an error says that nothing was started: the API server has refused it. After a
// timeout or a lost connection, nobody knows.
func isFinal(err error) bool {
	if errors.Is(err, errNothingStarted) {
		return true
	}
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusConflict, http.StatusRequestTimeout: // somebody else may have started it
		return false
	default:
		return code >= 400 && code < 500
	}
}

// notStarted marks an error from before the other side could be started.
type notStarted struct{ error }

func (e notStarted) Unwrap() []error { return []error{e.error, errNothingStarted} }

// refuseJobs is an error when Jobs run that the policy minds.
func (s *Switch) refuseJobs(ctx context.Context, from *Side) error {
	running, err := s.runningJobs(ctx, from)
	if err != nil || len(running) == 0 {
		return err
	}
	return fmt.Errorf("%s runs, and spec.concurrencyPolicy is %s: the next Job would run beside it; --wait waits for it to end",
		strings.Join(running, ", "), from.spec.ConcurrencyPolicy)
}

// awaitJobs waits until no Jobs run that the policy minds.
func (s *Switch) awaitJobs(ctx context.Context, from *Side) error {
	if !s.Wait {
		return s.refuseJobs(ctx, from)
	}
	end := s.Clock.Now().Add(s.Timeout)
	for said := false; ; said = true {
		running, err := s.runningJobs(ctx, from)
		if err != nil || len(running) == 0 {
			return err
		}
		if s.Timeout > 0 && s.Clock.Now().After(end) {
			return fmt.Errorf("%s still runs after %s: --timeout allows for more", strings.Join(running, ", "), s.Timeout)
		}
		if !said {
			s.Say("waiting for " + strings.Join(running, ", ") + " to end")
		}
		if err := s.sleep(ctx, glance); err != nil {
			return err
		}
	}
}

// runningJobs names the Jobs of a side that have not ended, if its policy minds them.
func (s *Switch) runningJobs(ctx context.Context, from *Side) ([]string, error) {
	if !from.overlaps() {
		return nil, nil
	}
	jobs := &batchv1.JobList{}
	if err := s.Client.List(ctx, jobs, client.InNamespace(from.GetNamespace())); err != nil {
		return nil, fmt.Errorf("listing the Jobs of %s: %w", from, err)
	}
	var running []string
	for i := range jobs.Items {
		if job := &jobs.Items[i]; metav1.IsControlledBy(job, from) && !hasEnded(job) {
			running = append(running, "job.batch/"+job.Name)
		}
	}
	return running, nil
}

func hasEnded(job *batchv1.Job) bool {
	for _, condition := range job.Status.Conditions {
		if condition.Status == "True" && (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) {
			return true
		}
	}
	return false
}

// clockAhead is how far the API server's clock is ahead of ours, if by more than the second to which it
// tells it. It asks for the suspension without having it done, so that it is known as well that it will be allowed.
func (s *Switch) clockAhead(ctx context.Context, from *Side) (time.Duration, error) {
	asked := s.Clock.Now()
	tried, err := s.patch(ctx, from, change{suspend: true, before: "asked at " + asked.String()}, client.DryRunAll)
	if err != nil {
		return 0, fmt.Errorf("suspending %s: %w", from, err)
	}
	answered, at := s.Clock.Now(), written(tried)
	switch {
	case at.After(answered):
		return at.Sub(answered), nil
	case !at.IsZero() && at.Add(time.Second).Before(asked):
		return at.Add(time.Second).Sub(asked), nil
	default:
		return 0, nil
	}
}

// written is when this program wrote an object last, by the API server's clock, in whole seconds rounded down.
func written(object client.Object) time.Time {
	last := time.Time{}
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == env.FieldManager && entry.Subresource == "" {
			last = newest(last, timeOf(entry.Time))
		}
	}
	return last
}

// change is what is written to a side. An empty annotation is removed.
type change struct {
	suspend bool
	before  string
}

// patch writes to a side, if its spec is still as we know it. That its status changes is nobody's business.
func (s *Switch) patch(ctx context.Context, side *Side, to change, options ...client.PatchOption) (*Side, error) {
	var patched *Side
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var err error
		if patched, err = s.tryPatch(ctx, side, to, options...); !apierrors.IsConflict(err) {
			return err
		}
		last, readErr := s.read(ctx, side)
		if readErr != nil {
			return readErr
		}
		if last.GetGeneration() != side.GetGeneration() || last.before() != side.before() {
			return fmt.Errorf("it was changed meanwhile: %s", err) //nolint:errorlint // not to be repeated
		}
		side = last
		return err
	})
	return patched, err
}

func (s *Switch) tryPatch(ctx context.Context, side *Side, to change, options ...client.PatchOption) (*Side, error) {
	annotations := map[string]any{SuspendBeforeAnnotation: nil}
	if to.before != "" {
		annotations[SuspendBeforeAnnotation] = to.before
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": side.GetResourceVersion(), "annotations": annotations},
		"spec":     map[string]any{"suspend": to.suspend},
	})
	if err != nil {
		return nil, err
	}
	object := side.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of the same type
	if err := s.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), options...); err != nil {
		return nil, err
	}
	return sideOf(object).since(side), nil
}

// read reads a side again.
func (s *Switch) read(ctx context.Context, side *Side) (*Side, error) {
	object := side.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of the same type
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(side), object); err != nil {
		return nil, fmt.Errorf("reading %s: %w", side, err)
	}
	if object.GetUID() != side.GetUID() {
		return nil, fmt.Errorf("reading %s: it was deleted and created again", side)
	}
	return sideOf(object).since(side), nil
}

// sleep waits.
func (s *Switch) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.Clock.After(d):
		return nil
	}
}

func newest(times ...time.Time) time.Time {
	last := time.Time{}
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
