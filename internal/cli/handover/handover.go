// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package handover lets one CronJob take over from another, the built-in from ours or the other way
// round, so that no tick runs twice.
//
// The two never run at the same time: the one is suspended, it is made sure that the controller
// that starts its Jobs knows, and then the other starts. An annotation on each says whether it was
// suspended before, so that the way back leaves it as it was, and a repeat after an interruption
// goes on where that stopped.
//
//	suspend ──► stopped? ──► its Jobs? ──► the other starts ──► which tick was missed?
//	   │                                        │
//	   └────────────── resume ◄──── refused ────┘
//
// The status of ours says which spec the manager has observed, so that one that has observed the
// suspension has stopped. The status of the built-in does not say that. Its controller hears of a
// suspension within milliseconds; to be safe, it gets a grace, and until that is over nobody runs a
// tick. The hand-over waits for a moment at which no tick falls into the grace, unless the schedule
// is too dense.
package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const (
	// pollInterval is the time between two looks at what is waited for.
	pollInterval = 200 * time.Millisecond

	// undoTimeout is how long undoing may take, after an interruption too.
	undoTimeout = 10 * time.Second
)

// Handover hands over.
type Handover struct {
	*Options
	Env    *env.Env
	Client client.Client

	// Say prints what takes time.
	Say func(text string)
}

// Start creates or resumes the participant that takes over. The other has stopped; up to the
// instant all ticks were its to run. If suspended is true, the one that takes over is to be
// suspended as well.
type Start func(ctx context.Context, stoppedAt time.Time, suspended bool) (*Participant, error)

// HandOver stops one participant and then starts the other. It returns the newest tick that neither
// has run and neither will; zero for none. On an error the first runs again, unless the other may
// have been started.
func (h *Handover) HandOver(ctx context.Context, from *Participant, start Start) (missed time.Time, err error) {
	suspended := from.SuspendedByOthers()
	if from.Suspended() && !from.SuspendedByUs() {
		_, err := start(ctx, h.Env.Clock.Now(), suspended)
		return time.Time{}, err
	}
	stopped, stoppedAt, err := h.stop(ctx, from)
	if err != nil {
		return time.Time{}, h.undo(ctx, stopped, err)
	}
	started, err := start(ctx, stoppedAt, suspended)
	switch {
	case err != nil && isRefusal(err):
		return time.Time{}, h.undo(ctx, stopped, err)
	case err != nil:
		return time.Time{}, fmt.Errorf("%w; %s stays suspended, as the other may run: repeat the command to go on", err, stopped)
	case suspended:
		return time.Time{}, nil
	}
	// The status may show only now what it ran at the last moment.
	if last, err := h.read(ctx, stopped); err == nil {
		stopped = last
	}
	return stopped.unrun(startOf(started, stoppedAt), stoppedAt), nil
}

// startOf is the instant up to which ticks are not those of the participant that has been started.
func startOf(started *Participant, stoppedAt time.Time) time.Time {
	if started.isBuiltIn() && started.GetGeneration() > 1 {
		return stoppedAt // it was resumed, and makes up for what it has not run
	}
	return newest(started.GetCreationTimestamp().Time, writtenAt(started), stoppedAt)
}

// stop suspends a participant and returns when it starts nothing any more, and since when. On an
// error it may be suspended or not.
func (h *Handover) stop(ctx context.Context, from *Participant) (*Participant, time.Time, error) {
	ahead, err := h.clockAhead(ctx, from)
	if err != nil {
		return from, time.Time{}, err
	}
	now := func() time.Time { return h.Env.Clock.Now().Add(ahead) }
	if from.isBuiltIn() {
		if from, err = h.awaitQuiet(ctx, from, now); err != nil {
			return from, time.Time{}, err
		}
	}
	if !h.Wait {
		if err := h.refuseJobs(ctx, from); err != nil {
			return from, time.Time{}, err
		}
	}
	stoppedAt := now()
	if !from.SuspendedByUs() {
		if from, err = h.suspend(ctx, from); err != nil {
			return from, time.Time{}, err
		}
	}
	if from, err = h.awaitStopped(ctx, from, now); err != nil {
		return from, time.Time{}, err
	}
	if from.observed { // so that its status has all that it has run
		stoppedAt = newest(stoppedAt, from.lastRun())
	} else {
		stoppedAt = now()
	}
	return from, stoppedAt, h.awaitJobs(ctx, from)
}

// awaitQuiet waits until no tick will come during the grace.
func (h *Handover) awaitQuiet(ctx context.Context, from *Participant, now func() time.Time) (*Participant, error) {
	tick := from.next(now())
	if tick.IsZero() || tick.Sub(now()) > h.Grace {
		return from, nil
	}
	h.Say(fmt.Sprintf("waiting for the tick of %s to have run", tick.Format(time.RFC3339)))
	return h.poll(ctx, from, func(p *Participant) bool {
		return !now().Before(tick.Add(h.Grace)) || !p.lastRun().Before(tick)
	})
}

// awaitStopped waits until the controller of a participant says that it has observed the
// suspension, or must have heard of it.
func (h *Handover) awaitStopped(ctx context.Context, from *Participant, now func() time.Time) (*Participant, error) {
	end := now().Add(h.Grace)
	if from.isBuiltIn() && !from.startsWithin(h.Grace, now()) {
		return from, nil
	}
	return h.poll(ctx, from, func(p *Participant) bool { return !now().Before(end) || p.observed })
}

// poll reads a participant again and again until it is done. It returns it as it was read last.
func (h *Handover) poll(ctx context.Context, p *Participant, done func(*Participant) bool) (*Participant, error) {
	for !done(p) {
		if err := h.Env.Sleep(ctx, pollInterval); err != nil {
			return p, err
		}
		last, err := h.read(ctx, p)
		if err != nil {
			return p, err
		}
		p = last
	}
	return p, nil
}

// suspend suspends a participant and notes on it whether it was suspended before.
func (h *Handover) suspend(ctx context.Context, from *Participant) (*Participant, error) {
	suspended, err := h.patch(ctx, from, true, fmt.Sprint(from.Suspended()))
	if err != nil {
		return from, fmt.Errorf("suspending %s: %w", from, err)
	}
	if !suspended.SuspendedByUs() {
		return suspended, fmt.Errorf("suspending %s: it is not suspended after that, something else has changed it back", from)
	}
	return suspended, nil
}

// Resume is the Start for a participant that is there already.
func (h *Handover) Resume(to *Participant) Start {
	return func(ctx context.Context, _ time.Time, suspended bool) (*Participant, error) {
		if !to.SuspendedByUs() {
			return to, nil
		}
		return h.release(ctx, to, suspended || to.SuspendedByOthers())
	}
}

// release ends our suspension of a participant. It stays suspended only if it is to be.
func (h *Handover) release(ctx context.Context, p *Participant, suspended bool) (*Participant, error) {
	released, err := h.patch(ctx, p, suspended, "")
	if err != nil {
		return nil, fmt.Errorf("resuming %s: %w", p, err)
	}
	return released, nil
}

// undo resumes a participant that was suspended for nothing, and returns the error that made it so.
func (h *Handover) undo(ctx context.Context, stopped *Participant, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	last, err := h.read(ctx, stopped)
	if err == nil && last.SuspendedByUs() {
		_, err = h.release(ctx, last, last.SuspendedByOthers())
	}
	if err != nil {
		return fmt.Errorf("%w; and %s may have stayed suspended: %w", cause, stopped, err)
	}
	return fmt.Errorf("%w; %s is as it was", cause, stopped)
}

// isRefusal reports whether an error says that the API server has refused, so that nothing was
// started. After a timeout or a lost connection, nobody knows.
func isRefusal(err error) bool {
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

// refuseJobs is an error when Jobs run that the concurrency policy does not let overlap.
func (h *Handover) refuseJobs(ctx context.Context, from *Participant) error {
	running, err := h.runningJobs(ctx, from)
	if err != nil || running == "" {
		return err
	}
	return fmt.Errorf("%s runs, and spec.concurrencyPolicy is %s: the next Job would run beside it; --wait waits for it to end",
		running, from.view.Spec.ConcurrencyPolicy)
}

// awaitJobs waits until no Jobs run that the concurrency policy does not let overlap.
func (h *Handover) awaitJobs(ctx context.Context, from *Participant) error {
	if !h.Wait {
		return h.refuseJobs(ctx, from)
	}
	end := h.Env.Clock.Now().Add(h.Timeout)
	for said := false; ; said = true {
		running, err := h.runningJobs(ctx, from)
		if err != nil || running == "" {
			return err
		}
		if h.Timeout > 0 && h.Env.Clock.Now().After(end) {
			return fmt.Errorf("%s still runs after %s: --timeout allows for more", running, h.Timeout)
		}
		if !said {
			h.Say("waiting for " + running + " to end")
		}
		if err := h.Env.Sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// runningJobs names the Jobs that have not ended, if the policy does not let them overlap.
func (h *Handover) runningJobs(ctx context.Context, from *Participant) (string, error) {
	if !from.forbidsOverlap() {
		return "", nil
	}
	jobs, err := cronjobs.JobsOf(ctx, h.Client, from)
	if err != nil {
		return "", err
	}
	var running []string
	for _, job := range cronjobs.Active(jobs) {
		running = append(running, "job.batch/"+job.Name)
	}
	return strings.Join(running, ", "), nil
}

// clockAhead is how far the API server's clock is ahead of ours, if by more than the second to
// which it tells it. It asks for the suspension in a dry run, which also shows that it will be
// allowed.
func (h *Handover) clockAhead(ctx context.Context, from *Participant) (time.Duration, error) {
	asked := h.Env.Clock.Now()
	tried, err := h.patch(ctx, from, true, "asked at "+asked.String(), client.DryRunAll)
	if err != nil {
		return 0, fmt.Errorf("suspending %s: %w", from, err)
	}
	answered, at := h.Env.Clock.Now(), writtenAt(tried)
	switch {
	case at.After(answered):
		return at.Sub(answered), nil
	case !at.IsZero() && at.Add(time.Second).Before(asked):
		return at.Add(time.Second).Sub(asked), nil
	default:
		return 0, nil
	}
}

// writtenAt is when this program wrote an object last, by the API server's clock, in whole seconds.
func writtenAt(object client.Object) time.Time {
	last := time.Time{}
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == env.FieldManager && entry.Subresource == "" {
			last = newest(last, timeOf(entry.Time))
		}
	}
	return last
}

// patch sets whether a participant is suspended, and what SuspendBeforeAnnotation says; "" removes
// it. It fails if the spec is not as we know it any more. A status that has changed does not
// matter.
func (h *Handover) patch(ctx context.Context, p *Participant, suspend bool, before string, options ...client.PatchOption) (
	*Participant, error,
) {
	annotations := map[string]any{SuspendBeforeAnnotation: nil}
	if before != "" {
		annotations[SuspendBeforeAnnotation] = before
	}
	var patched *Participant
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": p.GetResourceVersion(), "annotations": annotations},
			"spec":     map[string]any{"suspend": suspend},
		})
		if err != nil {
			return err
		}
		object := p.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of the same type
		err = h.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), options...)
		if !apierrors.IsConflict(err) {
			patched = participantOf(object).since(p)
			return err
		}
		last, readErr := h.read(ctx, p)
		if readErr != nil {
			return readErr
		}
		if last.GetGeneration() != p.GetGeneration() || last.suspendBefore() != p.suspendBefore() {
			return fmt.Errorf("it was changed meanwhile: %s", err) //nolint:errorlint // not to be repeated
		}
		p = last
		return err
	})
	return patched, err
}

// read reads a participant again.
func (h *Handover) read(ctx context.Context, p *Participant) (*Participant, error) {
	object := p.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of the same type
	if err := h.Client.Get(ctx, client.ObjectKeyFromObject(p), object); err != nil {
		return nil, fmt.Errorf("reading %s: %w", p, err)
	}
	if object.GetUID() != p.GetUID() {
		return nil, fmt.Errorf("reading %s: it was deleted and created again", p)
	}
	return participantOf(object).since(p), nil
}

// since returns the participant as it is now, with what an older state says of it: the status of
// one of ours that is suspended no longer says up to when its ticks were handled.
func (p *Participant) since(older *Participant) *Participant {
	p.handledUntil = newest(p.handledUntil, older.handledUntil)
	return p
}
