// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

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
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

const (
	pollInterval = 200 * time.Millisecond

	// undoTimeout limits the time to undo a suspension, also after an interrupt.
	undoTimeout = 10 * time.Second
)

// Start creates or resumes the CronJob that takes over, suspended or not. The other one has
// stopped: it runs all ticks up to stoppedAt.
type Start func(ctx context.Context, stoppedAt time.Time, suspended bool) (*Participant, error)

// HandOver stops one CronJob and then starts the other. It returns the newest tick that neither
// runs; zero for none. On an error it resumes the first, unless the other may have been started. In
// a dry run it only checks whether that is possible.
func (h *Handover) HandOver(ctx context.Context, from *Participant, start Start) (missed time.Time, err error) {
	isDryRun, suspended := h.DryRun != cronjobs.DryRunNone, from.SuspendedByOthers()
	if from.Suspended() && !from.SuspendedByUs() {
		if !isDryRun {
			_, err = start(ctx, h.Env.Clock.Now(), suspended)
		}
		return time.Time{}, err
	}
	if isDryRun {
		return time.Time{}, h.prepare(ctx, from)
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
	// The status may show a run of the last moment only now.
	if last, err := h.read(ctx, stopped); err == nil {
		stopped = last
	}
	return stopped.unrun(startOf(started, stoppedAt), stoppedAt), nil
}

// startOf returns the instant after which the started CronJob runs its ticks.
func startOf(started *Participant, stoppedAt time.Time) time.Time {
	if started.isBuiltIn() && started.GetGeneration() > 1 {
		return stoppedAt // it was resumed, and catches up on ticks that it has not run
	}
	return newest(started.GetCreationTimestamp().Time, writtenAt(started), stoppedAt)
}

// prepare checks whether a CronJob can be stopped, and measures how far the API server's clock is
// ahead.
func (h *Handover) prepare(ctx context.Context, from *Participant) (err error) {
	if err := from.refuseKeeper(); err != nil {
		return err
	}
	if h.DryRun != cronjobs.DryRunClient {
		if h.ahead, err = h.clockAhead(ctx, from); err != nil {
			return err
		}
	}
	if h.Wait {
		return nil
	}
	return h.awaitJobs(ctx, from)
}

// now returns the time by the API server's clock.
func (h *Handover) now() time.Time { return h.Env.Clock.Now().Add(h.ahead) }

// stop suspends a CronJob and waits until it starts nothing any more, which is since stoppedAt.
// After an error it may be suspended or not.
func (h *Handover) stop(ctx context.Context, from *Participant) (_ *Participant, stoppedAt time.Time, err error) {
	if err := h.prepare(ctx, from); err != nil {
		return from, time.Time{}, err
	}
	if from, err = h.awaitQuiet(ctx, from); err != nil {
		return from, time.Time{}, err
	}
	stoppedAt = h.now()
	if !from.SuspendedByUs() {
		if from, err = h.suspend(ctx, from); err != nil {
			return from, time.Time{}, err
		}
	}
	if from, err = h.awaitStopped(ctx, from); err != nil {
		return from, time.Time{}, err
	}
	if from.observed { // the status then has all runs
		stoppedAt = newest(stoppedAt, from.lastRun())
	} else {
		stoppedAt = h.now()
	}
	return from, stoppedAt, h.awaitJobs(ctx, from)
}

// awaitQuiet waits until the built-in CronJob has no tick during the grace.
func (h *Handover) awaitQuiet(ctx context.Context, from *Participant) (*Participant, error) {
	tick := from.next(h.now())
	if !from.isBuiltIn() || tick.IsZero() || tick.Sub(h.now()) > h.Grace {
		return from, nil
	}
	h.say(from, "waiting for the tick of "+tick.Format(time.RFC3339)+" to have run")
	return h.poll(ctx, from, func(p *Participant) bool {
		return !h.now().Before(tick.Add(h.Grace)) || !p.lastRun().Before(tick)
	})
}

// awaitStopped waits until the controller has observed the suspension, or the grace is over.
func (h *Handover) awaitStopped(ctx context.Context, from *Participant) (*Participant, error) {
	end := h.now().Add(h.Grace)
	if from.isBuiltIn() && !from.startsWithin(h.Grace, h.now()) {
		return from, nil
	}
	return h.poll(ctx, from, func(p *Participant) bool { return !h.now().Before(end) || p.observed })
}

// poll reads a CronJob in a loop until done. It returns the last state.
func (h *Handover) poll(ctx context.Context, p *Participant, done func(*Participant) bool) (*Participant, error) {
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		if done(p) {
			return true, nil
		}
		last, err := h.read(ctx, p)
		if err == nil {
			p = last
		}
		return false, err
	})
	return p, err
}

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

// Resume ends our suspension of a CronJob. It stays suspended if it was before, or if suspended is
// true.
func (h *Handover) Resume(ctx context.Context, to *Participant, suspended bool) (*Participant, error) {
	if !to.SuspendedByUs() {
		return to, nil
	}
	resumed, err := h.patch(ctx, to, suspended || to.SuspendedByOthers(), "")
	if err != nil {
		return nil, fmt.Errorf("resuming %s: %w", to, err)
	}
	return resumed, nil
}

// undo resumes a CronJob after a failed hand-over, and adds to the error whether that worked.
func (h *Handover) undo(ctx context.Context, stopped *Participant, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	last, err := h.read(ctx, stopped)
	if err == nil {
		_, err = h.Resume(ctx, last, false)
	}
	if err != nil {
		return fmt.Errorf("%w; and %s may have stayed suspended: %w", cause, stopped, err)
	}
	return fmt.Errorf("%w; %s is as it was", cause, stopped)
}

// isRefusal reports whether the API server refused a request, so that nothing was started. After a
// timeout or a lost connection that is unknown; after a conflict, another client may have started
// it.
func isRefusal(err error) bool {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && code != http.StatusConflict && code != http.StatusRequestTimeout
}

// awaitJobs waits for running Jobs if the concurrency policy forbids overlap. Without --wait, such
// a Job is an error.
func (h *Handover) awaitJobs(ctx context.Context, from *Participant) error {
	if !from.forbidsOverlap() {
		return nil
	}
	if h.Timeout > 0 {
		late := fmt.Errorf("a Job still runs after %s: --timeout allows for more", h.Timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, h.Timeout, late)
		defer cancel()
	}
	printed := false
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		jobs, err := cronjobs.JobsOf(ctx, h.Client, from)
		var running []string
		for _, job := range cronjobs.Active(jobs) {
			running = append(running, "job.batch/"+job.Name)
		}
		switch {
		case err != nil || len(running) == 0:
			return true, err
		case !h.Wait:
			return false, fmt.Errorf("%s runs, and spec.concurrencyPolicy is %s: the next Job would run beside it; --wait waits for it to end",
				strings.Join(running, ", "), from.view.Spec.ConcurrencyPolicy)
		case !printed:
			h.say(from, "waiting for "+strings.Join(running, ", ")+" to end")
			printed = true
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// clockAhead returns by how much the API server's clock is ahead of ours, as far as its timestamps,
// in whole seconds, show it. It makes a dry run of the suspension, which also shows whether that is
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

// patch sets spec.suspend and SuspendBeforeAnnotation; "" removes the annotation. It fails if the
// spec has changed since p was read. Changes of the status do not matter.
func (h *Handover) patch(ctx context.Context, p *Participant, suspend bool, before string, options ...client.PatchOption) (
	patched *Participant, err error,
) {
	annotations := map[string]any{SuspendBeforeAnnotation: nil}
	if before != "" {
		annotations[SuspendBeforeAnnotation] = before
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		last, err := h.read(ctx, p)
		if err != nil {
			return err
		}
		if last.GetGeneration() != p.GetGeneration() || last.suspendBefore() != p.suspendBefore() {
			return errors.New("it was changed meanwhile")
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": last.GetResourceVersion(), "annotations": annotations},
			"spec":     map[string]any{"suspend": suspend},
		})
		if err != nil {
			return err
		}
		object := p.empty()
		err = h.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), options...)
		patched = participantOf(object).since(last)
		return err
	})
	return patched, err
}

func (h *Handover) read(ctx context.Context, p *Participant) (*Participant, error) {
	last, err := h.get(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p, err)
	}
	if last.GetUID() != p.GetUID() {
		return nil, fmt.Errorf("reading %s: it was deleted and created again", p)
	}
	return last.since(p), nil
}

func (h *Handover) get(ctx context.Context, p *Participant) (*Participant, error) {
	object := p.empty()
	if err := h.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return nil, err
	}
	return participantOf(object), nil
}
