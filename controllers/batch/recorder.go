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

package batch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/reference"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// reportingController names us in events.
	reportingController = "cronjob-controller"

	// longestNote is how many bytes the API server lets an event's note have.
	longestNote = 1024

	// mostUnwritten is how many events may wait for the API server. More are dropped: what is late for an event must
	// not make Jobs late, or the manager large.
	mostUnwritten = 5000

	// lastEvents is how long the events may take that are not written yet when the manager ends.
	lastEvents = 5 * time.Second
)

// eventRetry is how an event is tried again that the API server does not take for the time being.
var eventRetry = wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 8}

// Recorder writes events, each on its own, in the background. Its zero value is not ready for use.
//
// It is not client-go's, which keeps each event for 6 to 12 minutes to see whether it is one of a series, however many
// they are: a gigabyte, where a few hundred CronJobs run each second. Ours are of a tick or a Job each, and no series.
// Nor does it give up when the API server is out of order for a moment.
type Recorder struct {
	client eventsclient.EventsV1Interface
	scheme *runtime.Scheme
	clock  clock.PassiveClock
	ctx    context.Context // that of all writes: none has one of its own
	cancel context.CancelFunc

	instance string
	serial   atomic.Int64 // of the events: makes their names
	writing  sync.WaitGroup
	slots    chan struct{}
}

// NewRecorder returns a recorder. Stop has to be called when nobody records any more.
//
// A manager's own client writes JSON, as its configuration is also for custom resources. Events, one or two for each run,
// are a third of all that is written: in protobuf they cost half as much.
func NewRecorder(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme, now clock.PassiveClock) (*Recorder, error) {
	compact := rest.CopyConfig(config)
	compact.ContentType = runtime.ContentTypeProtobuf
	client, err := eventsclient.NewForConfigAndClient(compact, httpClient)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("asking for the host's name: %w", err)
	}
	r := &Recorder{
		client: client, scheme: scheme, clock: now,
		instance: reportingController + "-" + host, slots: make(chan struct{}, mostUnwritten),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.serial.Store(now.Now().UnixNano()) // so that they are not those of an earlier process
	return r, nil
}

// Eventf writes an event about an object in the background.
func (r *Recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	event, err := r.event(regarding, related, kind, reason, action, fmt.Sprintf(note, args...))
	if err != nil {
		ctrl.Log.Error(err, "Could not make an event", "reason", reason)
		return
	}
	select {
	case r.slots <- struct{}{}:
	default:
		ctrl.Log.Info("Dropped an event: too many wait for the API server",
			"event", event.Reason, "namespace", event.Namespace, "note", event.Note)
		return
	}
	r.writing.Go(func() {
		defer func() { <-r.slots }()
		if err := r.write(event); err != nil {
			ctrl.Log.Error(err, "Could not write an event", "event", event.Reason, "namespace", event.Namespace, "note", event.Note)
		}
	})
}

// event makes an event.
func (r *Recorder) event(regarding, related runtime.Object, kind, reason, action, note string) (*eventsv1.Event, error) {
	about, err := reference.GetReference(r.scheme, regarding)
	if err != nil {
		return nil, err
	}
	var other *corev1.ObjectReference
	if related != nil {
		if other, err = reference.GetReference(r.scheme, related); err != nil {
			return nil, err
		}
	}
	return &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: about.Namespace, Name: fmt.Sprintf("%s.%x", about.Name, r.serial.Add(1))},
		EventTime:           metav1.NewMicroTime(r.clock.Now()),
		ReportingController: reportingController, ReportingInstance: r.instance,
		Type: kind, Reason: reason, Action: action, Regarding: *about, Related: other,
		Note: strings.ToValidUTF8(note[:min(len(note), longestNote)], ""),
	}, nil
}

// write writes an event. What the API server refuses for good is not tried again.
func (r *Recorder) write(event *eventsv1.Event) error {
	var err error
	_ = wait.ExponentialBackoffWithContext(r.ctx, eventRetry, func(ctx context.Context) (bool, error) {
		_, err = r.client.Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
		return err == nil || !isPassing(err), nil
	})
	if apierrors.IsAlreadyExists(err) || isTerminating(err) {
		return nil // it was written, and the answer lost; or nobody can write or read any here
	}
	return err
}

// isPassing reports whether a request may succeed when it is made again.
func isPassing(err error) bool {
	var answer apierrors.APIStatus
	return !errors.As(err, &answer) || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
}

// Stop waits until all events are written, for a while at most.
func (r *Recorder) Stop() {
	defer time.AfterFunc(lastEvents, r.cancel).Stop()
	r.writing.Wait()
	r.cancel()
}
