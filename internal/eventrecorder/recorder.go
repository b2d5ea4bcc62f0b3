// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package eventrecorder writes events in the background, each of them once.
//
// An event's name is a hash of what it is about. So the API server stores it once, however many
// processes record it: it answers a second one with AlreadyExists.
//
// It replaces client-go's broadcaster (tools/events), for these reasons:
//   - the broadcaster names each event by the time, so an event that is recorded again is a new one;
//   - it keeps each event for 6 to 12 minutes to detect series. Our events are none, as each is about
//     another tick or Job, and a few hundred CronJobs that run each second would take a gigabyte;
//   - it has a goroutine for each waiting event;
//   - it drops an event when the API server answers with a 500 or a 429.
package eventrecorder

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/reference"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// reportingController is the reportingController of all events.
	reportingController = "cronjob-controller"

	// maxNoteBytes is the API server's limit for an event's note.
	maxNoteBytes = 1024

	// maxRecorded is how many of the newest events are remembered, so that they are not sent again.
	maxRecorded = 16384
)

// Event is one event about an object. The UID of Regarding, Reason and Key identify it: recording
// it again has no effect.
type Event struct {
	// Regarding is the object that the event is about.
	Regarding client.Object

	// Related is another object that the event is about; nil if there is none.
	Related client.Object

	// Type, Reason, Action and Note are the fields of that name of an event in events.k8s.io/v1. A
	// note that is too long is cut.
	Type, Reason, Action, Note string

	// Key distinguishes events with the same reason and object: the UID of a Job, or a tick.
	Key string

	// MayExist says that another process has most likely written the event. There may be thousands
	// when a process begins to lead, so new warnings don't wait for it.
	MayExist bool
}

// Recorder writes events in the background. New returns one.
type Recorder struct {
	client   rest.Interface
	scheme   *runtime.Scheme
	clock    clock.PassiveClock
	versions map[schema.GroupKind]string
	instance string

	ctx     context.Context // of all requests; Stop cancels it
	cancel  context.CancelFunc
	workers sync.WaitGroup
	queues  [warning + 1]workqueue.TypedRateLimitingInterface[lane] // by class

	isUrgent func() bool // whether there are writes for which events wait, all but new warnings
	places   int         // how many events may wait

	mu       sync.Mutex
	waiting  map[lane][]*eventsv1.Event
	pending  int        // how many events wait in all lanes
	recorded *lru.Cache // by fingerprint
	logged   *lru.Cache // when each failure was last logged, by failure
}

// Option changes how a recorder writes events.
type Option func(*Recorder)

// PreferVersion makes events about objects of a kind refer to the version of it that the API server
// prefers, because kubectl events --for finds only those. New looks the version up once. If that
// fails, events refer to the version of the Go type.
func PreferVersion(mapper meta.RESTMapper, kind schema.GroupKind) Option {
	return func(r *Recorder) {
		mapping, err := mapper.RESTMapping(kind)
		if err != nil {
			ctrl.Log.Error(err, "Could not look up the preferred version: kubectl events may not find the events", "kind", kind.String())
			return
		}
		r.versions[kind] = mapping.GroupVersionKind.Version
	}
}

// YieldTo makes normal events wait while isUrgent reports that there are more urgent writes, each
// for a minute at most, and those that may exist for ten seconds. Other warnings don't wait: a
// process that is killed loses what waits.
func YieldTo(isUrgent func() bool) Option {
	return func(r *Recorder) { r.isUrgent = isUrgent }
}

// New returns a recorder. Start makes it write.
//
// It writes protobuf. A manager's own client writes JSON, because of custom resources. Events, one
// or two for each run, are a third of all writes, and cost half as much in protobuf.
func New(
	config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme, now clock.PassiveClock, options ...Option,
) (*Recorder, error) {
	compact := rest.CopyConfig(config)
	compact.ContentType = runtime.ContentTypeProtobuf
	events, err := eventsclient.NewForConfigAndClient(compact, httpClient)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("asking for the host's name: %w", err)
	}
	r := &Recorder{
		client: events.RESTClient(), scheme: scheme, clock: now, versions: map[schema.GroupKind]string{},
		instance: reportingController + "-" + host,
		isUrgent: func() bool { return false }, places: maxPending,
		waiting: map[lane][]*eventsv1.Event{}, recorded: lru.New(maxRecorded), logged: lru.New(maxLogged),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for class := range r.queues {
		r.queues[class] = workqueue.NewTypedRateLimitingQueue(newBackoff())
	}
	for _, option := range options {
		option(r)
	}
	return r, nil
}

// Record queues an event to be written. It never blocks: if too many events wait, it drops the
// event. It returns false, and queues nothing, if this process has recorded the same event before.
func (r *Recorder) Record(e Event) bool {
	sum := fingerprint(e)
	if !r.remember(sum) {
		return false
	}
	event, err := r.build(e, sum)
	if err != nil {
		ctrl.Log.Error(err, "Could not make an event", "reason", e.Reason)
		return true
	}
	r.enqueue(lane{event.Namespace, sum % lanesPerNamespace, classOf(e)}, event)
	return true
}

// remember remembers an event, and reports whether it is new.
func (r *Recorder) remember(sum uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.recorded.Get(sum); ok {
		return false
	}
	r.recorded.Add(sum, nil)
	return true
}

// fingerprint returns a hash of what identifies an event.
func fingerprint(e Event) uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(e.Regarding.GetUID()), e.Reason, e.Key}, "\x00")))
	return binary.BigEndian.Uint64(sum[:])
}

// build makes the object that is written.
func (r *Recorder) build(e Event, sum uint64) (*eventsv1.Event, error) {
	regarding, err := reference.GetReference(r.scheme, e.Regarding)
	if err != nil {
		return nil, err
	}
	kind := regarding.GroupVersionKind()
	if version, ok := r.versions[kind.GroupKind()]; ok {
		kind.Version = version
		regarding.APIVersion = kind.GroupVersion().String()
	}
	var related *corev1.ObjectReference
	if e.Related != nil {
		if related, err = reference.GetReference(r.scheme, e.Related); err != nil {
			return nil, err
		}
	}
	return &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: regarding.Namespace, Name: eventName(regarding.Name, sum)},
		EventTime:           metav1.NewMicroTime(r.clock.Now()),
		ReportingController: reportingController, ReportingInstance: r.instance,
		Type: e.Type, Reason: e.Reason, Action: e.Action, Regarding: *regarding, Related: related,
		Note: strings.ToValidUTF8(e.Note[:min(len(e.Note), maxNoteBytes)], ""),
	}, nil
}

// eventName returns a valid name for an event: the name of the object that it is about, cut if
// necessary, and the fingerprint.
func eventName(regarding string, sum uint64) string {
	suffix := fmt.Sprintf(".%016x", sum)
	front := regarding[:min(len(regarding), validation.DNS1123SubdomainMaxLength-len(suffix))]
	return strings.TrimRight(front, "-.") + suffix
}

// Start starts to write the recorded events.
func (r *Recorder) Start() {
	for _, queue := range r.queues {
		for range workers {
			r.workers.Go(func() { r.work(queue) })
		}
	}
}

// Stop waits until all events are written, for flushTimeout at most. Record must not be called any
// more.
func (r *Recorder) Stop() {
	_ = wait.PollUntilContextTimeout(r.ctx, flushPoll, flushTimeout, true, func(context.Context) (bool, error) {
		return r.left() == 0, nil
	})
	if left := r.left(); left > 0 {
		ctrl.Log.Info("Dropped the events that could not be written during shutdown", "count", left)
	}
	r.cancel()
	for _, queue := range r.queues {
		queue.ShutDown()
	}
	r.workers.Wait()
}

// left returns how many events are not written yet.
func (r *Recorder) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending
}
