// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package lease prevents writes by a leader whose process was paused for longer than its lease.
// Leader election alone does not: a timer tells the elector that its lease has expired, and until
// the timer fires, all other goroutines go on as if no time had passed
// (https://pkg.go.dev/k8s.io/client-go/tools/leaderelection: "does not guarantee that only one
// client is acting as a leader (a.k.a. fencing)").
package lease

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// ErrOver is the error of a request that the fence did not send.
var ErrOver = errors.New("not sent: the lease was not renewed in time, another replica may be the leader")

// Fence lets a leader write only while its lease was renewed recently. Only a pause between the
// check and the request's arrival can still make a write too late. The fence closes before the
// lease expires, to leave time for that.
type Fence struct {
	renewDeadline time.Duration
	clock         clock.PassiveClock
	renewed       atomic.Pointer[time.Time]
}

// NewFence makes a fence that closes when the lease was not renewed for renewDeadline, which must
// be shorter than the lease. The clock has to advance while the process is paused, and must not
// follow changes of the machine's clock. clock.RealClock does both, because its times have a
// monotonic part.
func NewFence(renewDeadline time.Duration, passiveClock clock.PassiveClock) *Fence {
	return &Fence{renewDeadline: renewDeadline, clock: passiveClock}
}

// Renewals returns a configuration for the leader election. Each renewal with it keeps the fence
// open.
//
// It also refuses to release a lease that has expired. An elector that was paused for longer than
// its lease still believes that it is the leader when it stops, and its release would overwrite the
// lease of the new leader (client-go's LeaderElector.tryRelease reads the lease, but does not check
// its holder). A third replica could then lead at once, beside the second.
func (f *Fence) Renewals(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeJSON // as isRelease reads it
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			begun := f.clock.Now() // other replicas count from the arrival, which is later
			releases := isRelease(request)
			if releases {
				if !f.isOpen() {
					return refuse(request)
				}
				f.renewed.Store(nil) // before the release arrives: nothing may be written after it
			}
			response, err := next.RoundTrip(request)
			if err == nil && response.StatusCode < http.StatusMultipleChoices && writes(request) && isOfLease(request) && !releases {
				f.renewed.Store(&begun)
			}
			return response, err
		})
	})
	return config
}

// Writes wraps a RoundTripper. It refuses requests that write while the fence is closed.
func (f *Fence) Writes(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if writes(request) && !f.isOpen() {
			return refuse(request)
		}
		return next.RoundTrip(request)
	})
}

// HealthCheck returns a check for a liveness probe. It fails if the leader has not renewed its
// lease for longer than maxAge and still runs: it is stuck. It passes if the process never led, or
// has released its lease.
func (f *Fence) HealthCheck(maxAge time.Duration) func(*http.Request) error {
	return func(*http.Request) error {
		renewed := f.renewed.Load()
		if renewed == nil {
			return nil
		}
		if age := f.clock.Since(*renewed); age > maxAge {
			return fmt.Errorf("the lease was last renewed %s ago, and the process has not ended", age.Round(time.Second))
		}
		return nil
	}
}

// refuse fails a request without sending it.
func refuse(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		_ = request.Body.Close() // as http.RoundTripper demands
	}
	return nil, ErrOver
}

func (f *Fence) isOpen() bool {
	renewed := f.renewed.Load()
	return renewed != nil && f.clock.Since(*renewed) < f.renewDeadline
}

// writes reports whether a request may change anything.
func writes(request *http.Request) bool {
	return request.Method != http.MethodGet && request.Method != http.MethodHead
}

// isOfLease reports whether a request is about a Lease. The leader election's other requests write
// events.
func isOfLease(request *http.Request) bool {
	return strings.Contains(request.URL.Path, "/coordination.k8s.io/")
}

// isRelease reports whether a request releases a Lease: it writes one without a holder.
func isRelease(request *http.Request) bool {
	if request.Method != http.MethodPut || !isOfLease(request) || request.GetBody == nil {
		return false
	}
	body, err := request.GetBody()
	if err != nil {
		return false
	}
	lease := coordinationv1.Lease{}
	return json.NewDecoder(body).Decode(&lease) == nil && ptr.Deref(lease.Spec.HolderIdentity, "") == ""
}

// roundTripper is a function that makes requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip makes a request.
func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
