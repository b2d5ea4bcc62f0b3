// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package eventrecorder writes events in the background, each of them once.
//
// An event's name is made of what it says, so that the API server has it once, whoever records it
// and however often: a second one is answered with AlreadyExists.
//
// It is not client-go's broadcaster (tools/events), which names each event by the time, so that one
// that is recorded again is another; which keeps each for 6 to 12 minutes to see whether it begins
// a series, however many they are (a gigabyte, where a few hundred CronJobs run each second, and
// these are no series: each is about a tick or a Job of its own); which has a goroutine for each
// event that waits; and which gives an event up when the API server answers with a 500 or a 429.
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
	// reportingController names us in events.
	reportingController = "cronjob-controller"

	// maxNoteBytes is how many bytes the API server lets an event's note have.
	maxNoteBytes = 1024

	// maxRecorded is how many of the newest events are remembered, so as not to be sent again.
	maxRecorded = 16384
)

// Event is one event about an object. Recording the same event again is harmless: its name is made
// of the UID of the object that it regards, its reason and its key, so that the API server has it
// once.
type Event struct {
	// Regarding is what the event is about. Its UID and its name make the event's name.
	Regarding client.Object

	// Related is another object that the event is about; nil if there is none.
	Related client.Object

	// Type, Reason, Action and Note are what the fields of that name of an event in
	// events.k8s.io/v1 are. A note that is too long is cut.
	Type, Reason, Action, Note string

	// Key tells events of one reason and object apart: the UID of a Job, or a tick.
	Key string

	// IsRepeat says that another process has probably written the event: others go first.
	IsRepeat bool
}

// Recorder writes events in the background. New returns one.
type Recorder struct {
	client   rest.Interface
	scheme   *runtime.Scheme
	clock    clock.PassiveClock
	versions map[schema.GroupKind]string
	instance string

	ctx     context.Context // that of all requests: none has one of its own
	cancel  context.CancelFunc
	workers sync.WaitGroup
	queue   workqueue.TypedRateLimitingInterface[lane]

	mu       sync.Mutex
	waiting  map[lane][]entry
	pending  int        // how many events wait in all lanes
	recorded *lru.Cache // by fingerprint
	logged   *lru.Cache // when each failure was last logged, by failure
}

// Option changes how a recorder writes events.
type Option func(*Recorder)

// PreferVersion has the events about objects of a kind state the version that the API server
// prefers of those that it serves, whatever the version of the Go type: kubectl events --for finds
// only those that do. It is looked up once, by New. If that fails, they state the version of the Go
// type.
func PreferVersion(mapper meta.RESTMapper, kind schema.GroupKind) Option {
	return func(r *Recorder) {
		mapping, err := mapper.RESTMapping(kind)
		if err != nil {
			ctrl.Log.Error(err, "Could not look up which version kubectl prefers: its events command may not find ours", "kind", kind.String())
			return
		}
		r.versions[kind] = mapping.GroupVersionKind.Version
	}
}

// New returns a recorder that writes once it is started.
//
// A manager's own client writes JSON, as its configuration is also for custom resources. Events,
// one or two for each run, are a third of all that is written: in protobuf they cost half as much.
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
		queue:    workqueue.NewTypedRateLimitingQueue(newBackoff()),
		waiting:  map[lane][]entry{}, recorded: lru.New(maxRecorded), logged: lru.New(maxLogged),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for _, option := range options {
		option(r)
	}
	return r, nil
}

// Record queues an event to be written. It never blocks: when too many wait already, the event is
// dropped. It returns false if this process has recorded the same event before; then nothing is
// queued.
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
	r.enqueue(lane{event.Namespace, sum % lanesPerNamespace}, event, e.IsRepeat)
	return true
}

// remember reports whether an event was not recorded before.
func (r *Recorder) remember(sum uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.recorded.Get(sum); ok {
		return false
	}
	r.recorded.Add(sum, nil)
	return true
}

// fingerprint is a hash of what makes an event the same as another.
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

// eventName returns a valid name for an event: that of the object that it regards, cut if need be,
// and the event's fingerprint.
func eventName(regarding string, sum uint64) string {
	suffix := fmt.Sprintf(".%016x", sum)
	front := regarding[:min(len(regarding), validation.DNS1123SubdomainMaxLength-len(suffix))]
	return strings.TrimRight(front, "-.") + suffix
}

// Start starts to write what is recorded.
func (r *Recorder) Start() {
	for range workers {
		r.workers.Go(r.work)
	}
}

// Stop waits until all events are written, for flushTimeout at most. Nothing is to be recorded any
// more.
func (r *Recorder) Stop() {
	_ = wait.PollUntilContextTimeout(r.ctx, flushPoll, flushTimeout, true, func(context.Context) (bool, error) {
		return r.left() == 0, nil
	})
	if left := r.left(); left > 0 {
		ctrl.Log.Info("Dropped the events that could not be written before the end", "count", left)
	}
	r.cancel()
	r.queue.ShutDown()
	r.workers.Wait()
}

// left returns how many events wait.
func (r *Recorder) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending
}
