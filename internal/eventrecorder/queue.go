// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	workers           = 8 // how many events of each class are written at once
	lanesPerNamespace = 4 // how many of these may be of one namespace

	// maxPending is how many events may wait, to limit the memory that they take: about a kilobyte
	// each. For each event beyond it, the longest lane loses its last one. So a namespace always
	// finds room for as many as an equal share of the places, however many the others record.
	maxPending = 50_000

	// yieldPoll is how often it is checked whether there are more urgent writes.
	yieldPoll = 50 * time.Millisecond

	// requestTimeout limits one request.
	requestTimeout = 10 * time.Second

	// flushTimeout is how long Stop waits for the pending events, and flushPoll how often it
	// checks.
	flushTimeout = 5 * time.Second
	flushPoll    = 5 * time.Millisecond

	// maxRetries is how often an event is retried after a transient error: for about a minute.
	maxRetries = 11

	// logInterval is for how long the same failure is not logged again, and maxLogged how many
	// failures are remembered for that.
	logInterval = 10 * time.Minute
	maxLogged   = 1024
)

// lane is a queue of events of one namespace, which are written one after another. After a
// transient error the whole lane waits for the retry, and its worker serves other lanes.
type lane struct {
	namespace string
	number    uint64
	class     class
}

// class says how urgent an event is. Each class has workers of its own, so none waits for another.
type class int

const (
	normal   class = iota
	repeated       // another process has most likely written it
	warning
)

// maxYield is how long an event of each class waits at most for more urgent writes. A process may
// not lead for long: then nobody writes a repeated event that has to wait.
var maxYield = [...]time.Duration{normal: time.Minute, repeated: 10 * time.Second, warning: 0}

func classOf(e Event) class {
	switch {
	case e.MayExist:
		return repeated
	case e.Type == corev1.EventTypeWarning:
		return warning
	}
	return normal
}

// newBackoff returns the backoff of the lanes.
func newBackoff() workqueue.TypedRateLimiter[lane] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[lane](250*time.Millisecond, 10*time.Second)
}

// enqueue appends an event to a lane. If too many events wait, it drops one.
func (r *Recorder) enqueue(l lane, event *eventsv1.Event) {
	r.mu.Lock()
	waiting := r.waiting[l]
	r.waiting[l] = append(waiting, event)
	r.pending++
	var excess *eventsv1.Event
	if r.pending > r.places {
		excess = r.removeExcess(l)
	}
	r.mu.Unlock()
	if len(waiting) == 0 && excess != event { // otherwise the lane is in the queue, with a worker, or in backoff
		r.queues[l.class].Add(l)
	}
	if excess != nil {
		r.drop(excess, causeQueueFull, errors.New("too many events wait for the API server"))
	}
}

// removeExcess removes and returns the last event of the longest lane. If none is longer than the
// lane of the newest event, it is that lane: another may be writing its only event. The caller holds
// the lock.
func (r *Recorder) removeExcess(longest lane) *eventsv1.Event {
	for l, waiting := range r.waiting {
		if len(waiting) > len(r.waiting[longest]) {
			longest = l
		}
	}
	last := len(r.waiting[longest]) - 1
	excess := r.waiting[longest][last]
	r.waiting[longest] = slices.Delete(r.waiting[longest], last, last+1)
	if last == 0 {
		delete(r.waiting, longest)
	}
	r.pending--
	return excess
}

// first returns the first event of a lane.
func (r *Recorder) first(l lane) *eventsv1.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting[l][0]
}

// removeFirst removes the first event of a lane, and reports whether others wait there.
func (r *Recorder) removeFirst(l lane) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending--
	if len(r.waiting[l]) == 1 {
		delete(r.waiting, l)
		return false
	}
	r.waiting[l][0] = nil
	r.waiting[l] = r.waiting[l][1:]
	return true
}

// work writes the events of a queue until it is shut down.
func (r *Recorder) work(queue workqueue.TypedRateLimitingInterface[lane]) {
	for {
		l, isShutDown := queue.Get()
		if isShutDown {
			return
		}
		r.writeFirst(l)
		queue.Done(l)
	}
}

// writeFirst writes the first event of a lane, and requeues the lane: at once, or with backoff
// after a transient error.
func (r *Recorder) writeFirst(l lane) {
	event, queue := r.first(l), r.queues[l.class]
	r.yield(event, maxYield[l.class])
	err := r.create(event)
	switch {
	case err == nil:
	case !isTransient(err):
		r.drop(event, causeRefused, err)
	case queue.NumRequeues(l) < maxRetries:
		queue.AddRateLimited(l)
		return
	default:
		r.drop(event, causeUnavailable, err)
	}
	queue.Forget(l)
	if r.removeFirst(l) {
		queue.Add(l)
	}
}

// yield waits before an event is written while there are more urgent writes, until it is so old.
func (r *Recorder) yield(event *eventsv1.Event, atMost time.Duration) {
	for r.clock.Since(event.EventTime.Time) < atMost && r.isUrgent() && r.ctx.Err() == nil {
		time.Sleep(yieldPoll)
	}
}

// create creates an event. It returns nil if the event exists, or if its namespace is terminating.
func (r *Recorder) create(event *eventsv1.Event) error {
	ctx, cancel := context.WithTimeout(r.ctx, requestTimeout)
	defer cancel()
	err := r.client.Post().Namespace(event.Namespace).Resource("events").Body(event).
		MaxRetries(0). // otherwise the worker would sleep for the Retry-After of an answer
		Do(ctx).Error()
	if apierrors.IsAlreadyExists(err) || isTerminating(err) {
		return nil
	}
	return err
}

// isTransient reports whether a retry may succeed.
func isTransient(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return true
	}
	code := answer.Status().Code
	return code >= http.StatusInternalServerError || code == http.StatusTooManyRequests || isUnauthorized(answer.Status())
}

// isUnauthorized reports whether the authorizer refused an event, which does not know its name. An
// API server that starts refuses all requests until it has read the roles. What an admission plugin
// refuses names the event, and what a webhook refuses has no details.
func isUnauthorized(answer metav1.Status) bool {
	return answer.Code == http.StatusForbidden && answer.Details != nil && answer.Details.Kind == "events" && answer.Details.Name == ""
}

// isTerminating reports whether an event could not be written because its namespace is being
// deleted or is gone.
func isTerminating(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	details := answer.Status().Details
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) ||
		apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces"
}

// failure identifies what is logged at most once in logInterval.
type failure struct{ namespace, reason, cause string }

// drop counts an event that will not be written, and logs it unless the same failure was logged
// recently.
func (r *Recorder) drop(event *eventsv1.Event, cause string, err error) {
	dropped.WithLabelValues(cause).Inc()
	if r.shouldLog(failure{event.Namespace, event.Reason, cause}) {
		ctrl.Log.Error(err, "Dropped an event", "event", event.Reason, "namespace", event.Namespace, "note", event.Note,
			"silentFor", logInterval.String())
	}
}

// shouldLog reports whether a failure was not logged within logInterval.
func (r *Recorder) shouldLog(f failure) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	if last, ok := r.logged.Get(f); ok && now.Sub(last.(time.Time)) < logInterval {
		return false
	}
	r.logged.Add(f, now)
	return true
}
