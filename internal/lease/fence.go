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

// Package lease keeps a leader that was stopped for a while from acting on what it knew before. Leader election
// alone does not: the elector notices that its lease has run out by a timer, beside everything else that goes on as if
// no time had passed (https://pkg.go.dev/k8s.io/client-go/tools/leaderelection: "does not guarantee that only one client
// is acting as a leader (a.k.a. fencing)").
package lease

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// ErrOver is why a request was not made: the lease was not renewed in time, and another may lead by now.
var ErrOver = errors.New("not written: the lease is over, and another may lead")

// Fence lets a leader write only as long as its lease was renewed lately. The time between its last look and the
// arrival of a request is all in which a leader can be stopped and still be too late; the part of a lease that is left
// when the fence closes is for that.
type Fence struct {
	lasts   time.Duration
	clock   clock.PassiveClock
	renewed atomic.Pointer[time.Time]
}

// NewFence makes a fence that closes when the lease was not renewed for so long: the deadline for its renewal, which is
// shorter than the lease. The clock has to run on while the process is stopped, whatever is done to the machine's:
// the system's own does, as long as its times are not stripped of their monotonic part.
func NewFence(lasts time.Duration, passing clock.PassiveClock) *Fence {
	return &Fence{lasts: lasts, clock: passing}
}

// Renewals returns a configuration for the leader election, whose renewals keep the fence open.
func (f *Fence) Renewals(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			begun := f.clock.Now() // others count from the arrival, which is later
			response, err := next.RoundTrip(request)
			if err == nil && response.StatusCode < http.StatusMultipleChoices && writes(request) && isOfLease(request) {
				f.renewed.Store(&begun)
			}
			return response, err
		})
	})
	return config
}

// Writes returns what makes requests by another, and none that write when the fence is closed.
func (f *Fence) Writes(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if writes(request) && !f.isOpen() {
			if request.Body != nil {
				_ = request.Body.Close() // as it is the duty of a RoundTripper
			}
			return nil, ErrOver
		}
		return next.RoundTrip(request)
	})
}

func (f *Fence) isOpen() bool {
	renewed := f.renewed.Load()
	return renewed != nil && f.clock.Since(*renewed) < f.lasts
}

// writes reports whether a request may change anything.
func writes(request *http.Request) bool {
	return request.Method != http.MethodGet && request.Method != http.MethodHead
}

// isOfLease reports whether a request is about a Lease; the others of a leader election are its events.
func isOfLease(request *http.Request) bool {
	return strings.Contains(request.URL.Path, "/coordination.k8s.io/")
}

// roundTripper is a function that makes requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip makes a request.
func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
