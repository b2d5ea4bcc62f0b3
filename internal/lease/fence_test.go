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

package lease

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

const lasts = 10 * time.Second

func TestALeaderWritesOnlyWhileItsLeaseLasts(t *testing.T) {
	const leases, events = "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", "/api/v1/namespaces/n/events"
	for name, tc := range map[string]struct {
		renewal    string // method and path of the last request of the leader election; empty for none
		answer     int
		since      time.Duration
		method     string
		wantClosed bool
	}{
		"it is renewed":                          {"PUT " + leases, http.StatusOK, 0, http.MethodPost, false},
		"it was taken":                           {"POST " + leases, http.StatusCreated, 0, http.MethodDelete, false},
		"it was renewed a while ago":             {"PUT " + leases, http.StatusOK, lasts - 1, http.MethodPatch, false},
		"it was not renewed in time":             {"PUT " + leases, http.StatusOK, lasts, http.MethodPost, true},
		"reading goes on":                        {"PUT " + leases, http.StatusOK, lasts, http.MethodGet, false},
		"it never led":                           {"", 0, 0, http.MethodPost, true},
		"it was seen, and not renewed":           {"GET " + leases, http.StatusOK, 0, http.MethodPost, true},
		"the renewal was refused":                {"PUT " + leases, http.StatusConflict, 0, http.MethodPost, true},
		"an event of the election is no renewal": {"POST " + events, http.StatusCreated, 0, http.MethodPost, true},
	} {
		t.Run(name, func(t *testing.T) {
			answer := http.StatusOK
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(answer) }))
			defer server.Close()
			clock := clocktesting.NewFakePassiveClock(time.Now())
			fence := NewFence(lasts, clock)
			if method, path, ok := strings.Cut(tc.renewal, " "); ok {
				elector, err := rest.HTTPClientFor(fence.Renewals(&rest.Config{}))
				require.NoError(t, err)
				answer = tc.answer
				require.NoError(t, ask(t, elector, method, server.URL+path))
				answer = http.StatusOK
			}
			clock.SetTime(clock.Now().Add(tc.since))
			leader := &http.Client{Transport: fence.Writes(http.DefaultTransport)}
			err := ask(t, leader, tc.method, server.URL)
			if tc.wantClosed {
				assert.ErrorIs(t, err, ErrOver)
				return
			}
			assert.NoError(t, err)
		})
	}
}

func TestARenewalCountsFromWhenItWasAskedFor(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { clock.SetTime(clock.Now().Add(lasts)) }))
	defer server.Close()
	fence := NewFence(lasts, clock)
	elector, err := rest.HTTPClientFor(fence.Renewals(&rest.Config{}))
	require.NoError(t, err)
	require.NoError(t, ask(t, elector, http.MethodPut, server.URL+"/apis/coordination.k8s.io/v1/namespaces/n/leases/l"))
	assert.ErrorIs(t, ask(t, &http.Client{Transport: fence.Writes(http.DefaultTransport)}, http.MethodPost, server.URL), ErrOver)
}

// ask makes a request, and passes its error on.
func ask(t *testing.T, by *http.Client, method, url string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
	require.NoError(t, err)
	response, err := by.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
