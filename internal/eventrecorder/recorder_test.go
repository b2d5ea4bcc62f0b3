// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package eventrecorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

// These tests write to a real API server, with injected faults.

// fewPlaces is how many events may wait in the tests.
const fewPlaces = 5000

var cluster *localcluster.Cluster

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runTests runs the tests on a control plane.
func runTests(m *testing.M) (code int, err error) {
	ctrl.SetLogger(logr.Discard())
	cluster, err = localcluster.Start(context.Background(), localcluster.Options{})
	if errors.Is(err, localcluster.ErrNoBinaries) {
		fmt.Println("skipped:", err)
		return 0, nil
	}
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	return m.Run(), nil
}

// trouble injects faults into requests to the API server. Requests are numbered from 1.
type trouble func(next http.RoundTripper, request *http.Request, number int) (*http.Response, error)

func none(next http.RoundTripper, request *http.Request, _ int) (*http.Response, error) {
	return next.RoundTrip(request)
}

// answer is an answer of the API server's.
func answer(request *http.Request, code int) *http.Response {
	return &http.Response{
		StatusCode: code, Request: request, Header: http.Header{"Retry-After": {"1"}}, Body: io.NopCloser(strings.NewReader("no")),
	}
}

// newRecorder returns a recorder that is not started yet, and counts its requests.
func newRecorder(t *testing.T, way trouble, options ...Option) (*Recorder, *atomic.Int64) {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(cluster.Config)
	require.NoError(t, err)
	next, requests := httpClient.Transport, &atomic.Int64{}
	httpClient.Transport = roundTripper(func(request *http.Request) (*http.Response, error) {
		return way(next, request, int(requests.Add(1)))
	})
	recorder, err := New(cluster.Config, httpClient, cluster.Client.Scheme(), clock.RealClock{}, options...)
	require.NoError(t, err)
	recorder.places = fewPlaces
	return recorder, requests
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// newObject creates an object, in a namespace of its own, for events to be about.
func newObject(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	require.NoError(t, cluster.Client.Create(t.Context(), namespace))
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "c"}}
	require.NoError(t, cluster.Client.Create(t.Context(), object))
	return object
}

// eventAbout returns an event about an object. Another key makes another event.
func eventAbout(object client.Object, key string) Event {
	return Event{
		Regarding: object, Type: corev1.EventTypeNormal, Reason: "SuccessfulCreate", Action: "StartJob", Note: "Created job " + key, Key: key,
	}
}

// stored returns the events in an object's namespace.
func stored(t *testing.T, object client.Object) []eventsv1.Event {
	t.Helper()
	list := &eventsv1.EventList{}
	require.NoError(t, cluster.Client.List(t.Context(), list, client.InNamespace(object.GetNamespace())))
	return list.Items
}

// droppedFor returns how many events were dropped for a cause.
func droppedFor(t *testing.T, cause string) float64 {
	t.Helper()
	metric := &dto.Metric{}
	require.NoError(t, dropped.WithLabelValues(cause).Write(metric))
	return metric.GetCounter().GetValue()
}

func TestO1AnEventIsWrittenOnceWhateverBecomesOfTheRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		way          trouble
		wantRequests int
	}{
		"nothing": {way: none, wantRequests: 1},
		"the API server can't be reached": {
			way: func(next http.RoundTripper, request *http.Request, number int) (*http.Response, error) {
				if number < 3 {
					return nil, errors.New("connection refused")
				}
				return next.RoundTrip(request)
			},
			wantRequests: 3,
		},
		"the API server fails": {
			way: func(next http.RoundTripper, request *http.Request, number int) (*http.Response, error) {
				if number < 3 {
					return answer(request, http.StatusInternalServerError), nil
				}
				return next.RoundTrip(request)
			},
			wantRequests: 3,
		},
		"the API server has too much to do": {
			way: func(next http.RoundTripper, request *http.Request, number int) (*http.Response, error) {
				if number < 3 {
					return answer(request, http.StatusTooManyRequests), nil
				}
				return next.RoundTrip(request)
			},
			wantRequests: 3,
		},
		"the authorizer has not read the roles yet": {
			way: func(next http.RoundTripper, request *http.Request, number int) (*http.Response, error) {
				if number < 3 {
					request.Header.Set("Impersonate-User", "nobody")
				}
				return next.RoundTrip(request)
			},
			wantRequests: 3,
		},
		"the answer is lost": {
			way: func(next http.RoundTripper, request *http.Request, number int) (*http.Response, error) {
				given, err := next.RoundTrip(request)
				if err == nil && number == 1 {
					return nil, errors.Join(given.Body.Close(), errors.New("connection reset"))
				}
				return given, err
			},
			wantRequests: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := newObject(t)
			recorder, requests := newRecorder(t, tc.way)
			recorder.Start()
			assert.True(t, recorder.Record(eventAbout(object, "1")))
			recorder.Stop()
			assert.EqualValues(t, tc.wantRequests, requests.Load())
			found := stored(t, object)
			require.Len(t, found, 1)
			assert.Equal(t, "Created job 1", found[0].Note)
			assert.Equal(t, "SuccessfulCreate", found[0].Reason)
			assert.Equal(t, "StartJob", found[0].Action)
			assert.Equal(t, reportingController, found[0].ReportingController)
			assert.Equal(t, object.UID, found[0].Regarding.UID)
			assert.Equal(t, "v1", found[0].Regarding.APIVersion)
		})
	}
}

func TestO1TheSameEventTwiceIsOne(t *testing.T) {
	object := newObject(t)
	recorder, requests := newRecorder(t, none)
	recorder.Start()
	assert.True(t, recorder.Record(eventAbout(object, "1")))
	assert.False(t, recorder.Record(eventAbout(object, "1")), "recorded before")
	assert.True(t, recorder.Record(eventAbout(object, "2")), "another key")
	other := eventAbout(object, "1")
	other.Reason = "SawCompletedJob"
	assert.True(t, recorder.Record(other), "another reason")
	again := object.DeepCopy()
	again.UID = "of-the-same-name"
	assert.True(t, recorder.Record(eventAbout(again, "1")), "another object")
	recorder.Stop()
	assert.EqualValues(t, 4, requests.Load())
	assert.Len(t, stored(t, object), 4)
}

func TestO1AnEventThatAnotherManagerHasWrittenIsASuccess(t *testing.T) {
	object := newObject(t)
	refusedBefore := droppedFor(t, causeRefused)
	for range 2 {
		recorder, requests := newRecorder(t, none)
		recorder.Start()
		assert.True(t, recorder.Record(eventAbout(object, "1")), "the first of this process")
		recorder.Stop()
		assert.EqualValues(t, 1, requests.Load())
	}
	assert.Len(t, stored(t, object), 1)
	assert.InDelta(t, refusedBefore, droppedFor(t, causeRefused), 0)
}

func TestO1AnEventWithALongNoteIsCutAndWritten(t *testing.T) {
	object := newObject(t)
	recorder, _ := newRecorder(t, none)
	recorder.Start()
	event := eventAbout(object, "1")
	event.Note = "a" + strings.Repeat("é", maxNoteBytes)
	recorder.Record(event)
	recorder.Stop()
	found := stored(t, object)
	require.Len(t, found, 1)
	assert.Equal(t, "a"+strings.Repeat("é", (maxNoteBytes-1)/2), found[0].Note)
}

func TestO1AnEventAboutAnObjectWithALongNameHasAValidName(t *testing.T) {
	for name, regarding := range map[string]string{
		"as long as a name may be": strings.Repeat("a", 253),
		"cut at a dot":             strings.Repeat("a", 235) + "." + strings.Repeat("b", 17),
		"cut at hyphens":           strings.Repeat("a", 233) + "---" + strings.Repeat("b", 17),
		"short":                    "c",
	} {
		t.Run(name, func(t *testing.T) {
			got := eventName(regarding, 0xab)
			assert.Empty(t, validation.IsDNS1123Subdomain(got))
			assert.True(t, strings.HasSuffix(got, ".00000000000000ab"), got)
			assert.True(t, strings.HasPrefix(got, regarding[:min(len(regarding), 233)]), got)
		})
	}
}

func TestAnEventThatIsRefusedIsNotTriedAgain(t *testing.T) {
	object := newObject(t)
	recorder, requests := newRecorder(t, none)
	before := droppedFor(t, causeRefused)
	recorder.Start()
	event := eventAbout(object, "1")
	event.Type = "NoTypeOfEvents"
	recorder.Record(event)
	recorder.Stop()
	assert.EqualValues(t, 1, requests.Load())
	assert.Empty(t, stored(t, object))
	assert.InDelta(t, before+1, droppedFor(t, causeRefused), 0)
}

func TestEventsInANamespaceThatIsGoneAreNoFailure(t *testing.T) {
	recorder, requests := newRecorder(t, none)
	before := droppedFor(t, causeRefused)
	recorder.Start()
	recorder.Record(eventAbout(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "gone", Name: "c", UID: "1"}}, "1"))
	recorder.Stop()
	assert.EqualValues(t, 1, requests.Load())
	assert.InDelta(t, before, droppedFor(t, causeRefused), 0)
}

func TestAFullQueueDropsEventsAndNeverBlocks(t *testing.T) {
	recorder, _ := newRecorder(t, none) // not started: nothing is taken out of the queue
	before := droppedFor(t, causeQueueFull)
	for i := range 2 * fewPlaces {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("n-%d", i%10), Name: "c", UID: "1"}}
		require.True(t, recorder.Record(eventAbout(object, fmt.Sprint(i))))
	}
	assert.Equal(t, fewPlaces, recorder.left())
	assert.InDelta(t, before+fewPlaces, droppedFor(t, causeQueueFull), 0)
}

// recordIn records events about an object in a namespace that does not exist.
func recordIn(recorder *Recorder, namespace string, count int) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c", UID: types.UID(namespace)}}
	for i := range count {
		recorder.Record(eventAbout(object, fmt.Sprint(i)))
	}
}

// waitingIn returns how many events of a namespace wait.
func (r *Recorder) waitingIn(namespace string) int {
	count := 0
	for l, waiting := range r.waiting {
		if l.namespace == namespace {
			count += len(waiting)
		}
	}
	return count
}

func TestS15NamespacesThatFillTheQueueLeaveTheOthersAnEqualShare(t *testing.T) {
	recorder, _ := newRecorder(t, none) // not started: all of them wait
	recordIn(recorder, "alone", 2*fewPlaces)
	assert.Equal(t, fewPlaces, recorder.waitingIn("alone"), "nobody else needs the room")
	recordIn(recorder, "greedy", 2*fewPlaces)
	recordIn(recorder, "late", 1000)
	for i := range 100 {
		recordIn(recorder, fmt.Sprintf("small-%d", i), 4)
		assert.Equal(t, 4, recorder.waitingIn(fmt.Sprintf("small-%d", i)))
	}
	assert.Equal(t, 1000, recorder.waitingIn("late"))
	assert.InDelta(t, recorder.waitingIn("alone"), recorder.waitingIn("greedy"), lanesPerNamespace)
	assert.Equal(t, fewPlaces, recorder.left())
}

func TestR2WhenTheQueueWasFullEachEventIsWrittenOrCountedAndNothingIsKept(t *testing.T) {
	open, before := make(chan struct{}), droppedFor(t, causeQueueFull)
	recorder, requests := newRecorder(t, func(_ http.RoundTripper, request *http.Request, _ int) (*http.Response, error) {
		<-open
		return answer(request, http.StatusCreated), nil
	})
	recorder.Start()
	var recording sync.WaitGroup
	for i := range 10 {
		recording.Go(func() { recordIn(recorder, fmt.Sprintf("large-%d", i), fewPlaces/5) })
		recording.Go(func() {
			for j := range fewPlaces / 25 {
				recordIn(recorder, fmt.Sprintf("small-%d-%d", i, j), 5)
			}
		})
	}
	recording.Wait()
	assert.Equal(t, fewPlaces, recorder.left())
	close(open)
	recorder.Stop()
	assert.EqualValues(t, fewPlaces, requests.Load())
	assert.InDelta(t, before+3*fewPlaces, droppedFor(t, causeQueueFull), 0)
	assert.Zero(t, recorder.left())
	assert.Empty(t, recorder.waiting)
}

func TestAFailureThatStaysInOneNamespaceDoesNotDelayTheEventsOfAnother(t *testing.T) {
	for name, fail := range map[string]func(*http.Request) (*http.Response, error){
		"refused": func(request *http.Request) (*http.Response, error) { return answer(request, http.StatusForbidden), nil },
		"too many requests": func(request *http.Request) (*http.Response, error) {
			return answer(request, http.StatusTooManyRequests), nil
		},
		"a webhook fails": func(request *http.Request) (*http.Response, error) {
			return answer(request, http.StatusInternalServerError), nil
		},
		"never answered": func(request *http.Request) (*http.Response, error) {
			<-request.Context().Done()
			return nil, request.Context().Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := newObject(t), newObject(t)
			recorder, _ := newRecorder(t, func(next http.RoundTripper, request *http.Request, _ int) (*http.Response, error) {
				if strings.Contains(request.URL.Path, "/namespaces/"+bad.Namespace+"/") {
					return fail(request)
				}
				return next.RoundTrip(request)
			})
			const count = 100
			for i := range count {
				recorder.Record(eventAbout(bad, fmt.Sprint(i)))
				recorder.Record(eventAbout(good, fmt.Sprint(i)))
			}
			recorder.Start()
			assert.Eventually(t, func() bool { return len(stored(t, good)) == count }, requestTimeout/2, 10*time.Millisecond)
			recorder.cancel()
			recorder.Stop()
			assert.Empty(t, stored(t, bad))
		})
	}
}

func TestARefusalIsLoggedOnceForManyEvents(t *testing.T) {
	recorder, _ := newRecorder(t, none)
	forbidden := failure{"a", "SuccessfulCreate", causeRefused}
	assert.True(t, recorder.shouldLog(forbidden))
	assert.False(t, recorder.shouldLog(forbidden))
	assert.True(t, recorder.shouldLog(failure{"b", "SuccessfulCreate", causeRefused}), "another namespace")
	assert.True(t, recorder.shouldLog(failure{"a", "SawCompletedJob", causeRefused}), "another reason")
}

func TestStopWaitsForTheEventsOnlySoLong(t *testing.T) {
	object := newObject(t)
	recorder, _ := newRecorder(t, func(_ http.RoundTripper, request *http.Request, _ int) (*http.Response, error) {
		<-request.Context().Done()
		return nil, request.Context().Err()
	})
	recorder.Start()
	recorder.Record(eventAbout(object, "1"))
	begin := time.Now()
	recorder.Stop()
	assert.GreaterOrEqual(t, time.Since(begin), flushTimeout)
	assert.Less(t, time.Since(begin), requestTimeout)
}

// served is a mapper of what an API server serves.
type served struct {
	meta.RESTMapper
	version string
	err     error
}

func (s served) RESTMapping(kind schema.GroupKind, _ ...string) (*meta.RESTMapping, error) {
	return &meta.RESTMapping{GroupVersionKind: kind.WithVersion(s.version)}, s.err
}

func TestO1AnEventStatesTheVersionThatTheAPIServerPrefers(t *testing.T) {
	object := newObject(t)
	for name, tc := range map[string]struct {
		mapper meta.RESTMapper
		want   string
	}{
		"the API server prefers another": {mapper: served{version: "v2"}, want: "v2"},
		"it can't be asked":              {mapper: served{err: errors.New("trouble")}, want: "v1"},
	} {
		t.Run(name, func(t *testing.T) {
			recorder, _ := newRecorder(t, none, PreferVersion(tc.mapper, schema.GroupKind{Kind: "ConfigMap"}))
			event, err := recorder.build(eventAbout(object, "1"), 1)
			require.NoError(t, err)
			assert.Equal(t, tc.want, event.Regarding.APIVersion)
		})
	}
}

func TestEventsWaitForMoreUrgentWritesButNotForever(t *testing.T) {
	var isUrgent atomic.Bool
	isUrgent.Store(true)
	now := clocktesting.NewFakePassiveClock(time.Now())
	recorder, requests := newRecorder(t, none, YieldTo(isUrgent.Load), withClock(now))
	object := newObject(t)
	recorder.Record(eventAbout(object, "waits too long"))
	recorder.Start()
	defer recorder.Stop()
	now.SetTime(now.Now().Add(maxYield[normal]))
	require.Eventually(t, func() bool { return recorder.left() == 0 }, time.Minute, time.Millisecond)

	recorder.Record(eventAbout(object, "waits"))
	assert.Never(t, func() bool { return requests.Load() > 1 }, 5*yieldPoll, yieldPoll)
	isUrgent.Store(false)
	require.Eventually(t, func() bool { return recorder.left() == 0 }, time.Minute, time.Millisecond)
	assert.Len(t, stored(t, object), 2)
}

func TestNewWarningsWaitForNothing(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Now())
	recorder, _ := newRecorder(t, none, YieldTo(func() bool { return true }), withClock(now))
	object := newObject(t)
	warning := eventAbout(object, "is told")
	warning.Type = corev1.EventTypeWarning
	for i := range workers * lanesPerNamespace {
		recorder.Record(eventAbout(object, fmt.Sprint("waits ", i)))
		old := eventAbout(object, fmt.Sprint("of others ", i))
		old.Type, old.MayExist = corev1.EventTypeWarning, true
		recorder.Record(old)
	}
	recorder.Start()
	recorder.Record(warning)
	require.Eventually(t, func() bool { return len(stored(t, object)) > 0 }, time.Minute, time.Millisecond)
	assert.Len(t, stored(t, object), 1)
	assert.Equal(t, warning.Note, stored(t, object)[0].Note)
	recorder.cancel() // the others would wait for a minute
	recorder.Stop()
}

func TestWhatMayExistDoesNotWaitForNormalEvents(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Now())
	recorder, requests := newRecorder(t, none, YieldTo(func() bool { return true }), withClock(now))
	object := newObject(t)
	for i := range workers * lanesPerNamespace {
		recorder.Record(eventAbout(object, fmt.Sprint("waits ", i)))
	}
	old := eventAbout(object, "of others")
	old.Type, old.MayExist = corev1.EventTypeWarning, true
	recorder.Record(old)
	recorder.Start()
	assert.Never(t, func() bool { return requests.Load() > 0 }, 5*yieldPoll, yieldPoll)
	now.SetTime(now.Now().Add(maxYield[repeated]))
	require.Eventually(t, func() bool { return len(stored(t, object)) > 0 }, time.Minute, time.Millisecond)
	assert.Len(t, stored(t, object), 1)
	assert.Equal(t, old.Note, stored(t, object)[0].Note)
	recorder.cancel() // the others would wait for a minute
	recorder.Stop()
}

// withClock gives a recorder another clock.
func withClock(now clock.PassiveClock) Option { return func(r *Recorder) { r.clock = now } }
