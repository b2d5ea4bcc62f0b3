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
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// transport is a function that makes requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func TestO1AnEventIsWrittenOnceWhateverBecomesOfTheRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		fail         func(next http.RoundTripper, request *http.Request, attempt int) (*http.Response, error)
		wantAttempts int
	}{
		"nothing": {
			fail:         func(next http.RoundTripper, r *http.Request, _ int) (*http.Response, error) { return next.RoundTrip(r) },
			wantAttempts: 1,
		},
		"the API server can't be reached": {
			fail: func(next http.RoundTripper, r *http.Request, attempt int) (*http.Response, error) {
				if attempt < 3 {
					return nil, errors.New("connection refused")
				}
				return next.RoundTrip(r)
			},
			wantAttempts: 3,
		},
		"the answer is lost": {
			fail: func(next http.RoundTripper, r *http.Request, attempt int) (*http.Response, error) {
				answer, err := next.RoundTrip(r)
				if err == nil && attempt == 1 {
					return nil, errors.Join(answer.Body.Close(), errors.New("connection reset"))
				}
				return answer, err
			},
			wantAttempts: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every())
			attempts := 0
			httpClient := *mgr.GetHTTPClient()
			next := httpClient.Transport
			httpClient.Transport = transport(func(r *http.Request) (*http.Response, error) {
				attempts++
				return tc.fail(next, r, attempts)
			})
			recorder, err := NewRecorder(mgr.GetConfig(), &httpClient, mgr.GetScheme(), clock.RealClock{})
			require.NoError(t, err)
			recorder.Eventf(s.stored(), nil, corev1.EventTypeNormal, EventSuccessfulCreate, actionStart, "%s", "Created job c-1")
			recorder.Stop()
			assert.Equal(t, tc.wantAttempts, attempts)
			found := s.storedEvents()
			require.Len(t, found, 1)
			assert.Equal(t, "Created job c-1", found[0].Note)
			assert.Equal(t, reportingController, found[0].ReportingController)
			assert.Equal(t, v1.GroupVersion.String(), found[0].Regarding.APIVersion)
		})
	}
}

func TestO1AnEventWithALongNoteIsCutAndWritten(t *testing.T) {
	s := newStage(t, every())
	recorder, err := NewRecorder(mgr.GetConfig(), mgr.GetHTTPClient(), mgr.GetScheme(), clock.RealClock{})
	require.NoError(t, err)
	recorder.Eventf(s.stored(), nil, corev1.EventTypeWarning, EventFailedCreate, actionStart, "%s", "a"+strings.Repeat("é", longestNote))
	recorder.Stop()
	found := s.storedEvents()
	require.Len(t, found, 1)
	assert.Equal(t, "a"+strings.Repeat("é", (longestNote-1)/2), found[0].Note)
}

func TestAnEventThatIsRefusedIsNotTriedAgain(t *testing.T) {
	s := newStage(t, every())
	attempts := 0
	httpClient := *mgr.GetHTTPClient()
	next := httpClient.Transport
	httpClient.Transport = transport(func(r *http.Request) (*http.Response, error) {
		attempts++
		return next.RoundTrip(r)
	})
	recorder, err := NewRecorder(mgr.GetConfig(), &httpClient, mgr.GetScheme(), clock.RealClock{})
	require.NoError(t, err)
	recorder.Eventf(s.stored(), nil, "NoTypeOfEvents", EventSuccessfulCreate, actionStart, "%s", "Created job c-1")
	recorder.Stop()
	assert.Equal(t, 1, attempts)
	assert.Empty(t, s.storedEvents())
}

// storedEvents returns the events in the namespace.
func (s *stage) storedEvents() []eventsv1.Event {
	s.Helper()
	list := &eventsv1.EventList{}
	require.NoError(s, mgr.GetAPIReader().List(s.Context(), list, client.InNamespace(s.key.Namespace)))
	return list.Items
}
