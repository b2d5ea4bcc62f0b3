// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
)

const renewDeadline = 10 * time.Second

// held is a Lease that somebody holds.
const held = `{"spec":{"holderIdentity":"a"}}`

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
		"it was renewed a while ago":             {"PUT " + leases, http.StatusOK, renewDeadline - 1, http.MethodPatch, false},
		"it was not renewed in time":             {"PUT " + leases, http.StatusOK, renewDeadline, http.MethodPost, true},
		"reading goes on":                        {"PUT " + leases, http.StatusOK, renewDeadline, http.MethodGet, false},
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
			fence := NewFence(renewDeadline, clock)
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

func TestTheHealthCheckFailsWhenALeaderNeitherRenewsNorEnds(t *testing.T) {
	const (
		maxAge = 35 * time.Second
		stuck  = "the lease was last renewed 36s ago, and the process has not ended"
	)
	for name, tc := range map[string]struct {
		requests []string // bodies of the election's writes
		since    time.Duration
		want     string
	}{
		"it never led":               {nil, time.Hour, ""},
		"it renews":                  {[]string{held}, 0, ""},
		"its lease has just run out": {[]string{held}, maxAge, ""},
		"it is stuck":                {[]string{held}, maxAge + time.Second, stuck},
		"it released its lease":      {[]string{held, `{"spec":{}}`}, time.Hour, ""},
		"it leads again":             {[]string{held, `{"spec":{}}`, held}, maxAge + time.Second, stuck},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			defer server.Close()
			clock := clocktesting.NewFakePassiveClock(time.Now())
			fence := NewFence(renewDeadline, clock)
			elector, err := rest.HTTPClientFor(fence.Renewals(&rest.Config{}))
			require.NoError(t, err)
			for _, body := range tc.requests {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
					server.URL+"/apis/coordination.k8s.io/v1/namespaces/n/leases/l", strings.NewReader(body))
				require.NoError(t, err)
				response, err := elector.Do(request)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
			}
			clock.SetTime(clock.Now().Add(tc.since))
			err = fence.HealthCheck(maxAge)(nil)
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, tc.want)
		})
	}
}

func TestARenewalCountsFromWhenItWasAskedFor(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { clock.SetTime(clock.Now().Add(renewDeadline)) }))
	defer server.Close()
	fence := NewFence(renewDeadline, clock)
	elector, err := rest.HTTPClientFor(fence.Renewals(&rest.Config{}))
	require.NoError(t, err)
	require.NoError(t, ask(t, elector, http.MethodPut, server.URL+"/apis/coordination.k8s.io/v1/namespaces/n/leases/l"))
	assert.ErrorIs(t, ask(t, &http.Client{Transport: fence.Writes(http.DefaultTransport)}, http.MethodPost, server.URL), ErrOver)
}

func TestALeaderThatWasStoppedForLongDoesNotReleaseTheLeaseOfTheNext(t *testing.T) {
	for name, tc := range map[string]struct {
		stopped    time.Duration
		wantHolder string
	}{
		"it ends while it leads":              {stopped: 0, wantHolder: ""},
		"it ends after another began to lead": {stopped: time.Minute, wantHolder: "the next"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &leaseStore{}
			server := httptest.NewServer(store)
			defer server.Close()
			clock := clocktesting.NewFakePassiveClock(time.Now())
			fence := NewFence(renewDeadline, clock)
			client, err := kubernetes.NewForConfig(fence.Renewals(&rest.Config{Host: server.URL}))
			require.NoError(t, err)
			led := make(chan struct{})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{
					LeaseMeta: metav1.ObjectMeta{Namespace: "n", Name: "l"}, Client: client.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: "a"},
				},
				LeaseDuration: 3 * time.Minute, RenewDeadline: 2 * time.Minute, RetryPeriod: time.Minute, ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) { close(led) }, OnStoppedLeading: func() {},
				},
			})
			require.NoError(t, err)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				elector.Run(ctx)
			}()
			<-led
			require.Eventually(t, func() bool { return store.writes() == 2 }, time.Minute, time.Millisecond, "it renews its lease at once")
			clock.SetTime(clock.Now().Add(tc.stopped))
			if tc.stopped > 0 {
				store.hold("the next")
			}
			stop()
			<-ended
			assert.Equal(t, tc.wantHolder, store.holder())
			leader := &http.Client{Transport: fence.Writes(http.DefaultTransport)}
			assert.ErrorIs(t, ask(t, leader, http.MethodPost, server.URL), ErrOver, "whoever has released the lease writes no more")
		})
	}
}

// leaseStore is an API server that has one Lease, and refuses updates of an earlier version of it.
type leaseStore struct {
	mu      sync.Mutex
	lease   *coordinationv1.Lease
	version int
}

func (s *leaseStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	sent := &coordinationv1.Lease{}
	_ = json.NewDecoder(r.Body).Decode(sent)
	switch {
	case r.Method == http.MethodGet && s.lease == nil:
		s.fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	case r.Method == http.MethodPut && sent.ResourceVersion != s.lease.ResourceVersion:
		s.fail(w, http.StatusConflict, metav1.StatusReasonConflict)
		return
	case r.Method != http.MethodGet:
		s.store(sent)
	}
	_ = json.NewEncoder(w).Encode(s.lease)
}

func (s *leaseStore) store(lease *coordinationv1.Lease) {
	s.version++
	lease.TypeMeta = metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	lease.ResourceVersion = strconv.Itoa(s.version)
	s.lease = lease
}

func (s *leaseStore) fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: reason, Code: int32(code),
	})
}

// hold gives the Lease to another.
func (s *leaseStore) hold(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease := s.lease.DeepCopy()
	lease.Spec.HolderIdentity = &holder
	s.store(lease)
}

// writes returns how often the Lease was written.
func (s *leaseStore) writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// holder returns who holds the Lease; empty for nobody.
func (s *leaseStore) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ptr.Deref(s.lease.Spec.HolderIdentity, "")
}

// ask makes a request, and passes its error on.
func ask(t *testing.T, by *http.Client, method, url string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(held))
	require.NoError(t, err)
	response, err := by.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
