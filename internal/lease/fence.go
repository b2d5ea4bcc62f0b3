// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package lease keeps a leader that was stopped for a while from acting on what it knew before.
// Leader election alone does not: the elector notices that its lease has run out by a timer, beside
// everything else that goes on as if no time had passed
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

// ErrOver is why a request was not made: the lease was not renewed in time, and another may lead by
// now.
var ErrOver = errors.New("not written: the lease is over, and another may lead")

// Fence lets a leader write only as long as its lease was renewed lately. The time between its last
// look and the arrival of a request is all in which a leader can be stopped and still be too late;
// the part of a lease that is left when the fence closes is for that.
type Fence struct {
	renewDeadline time.Duration
	clock         clock.PassiveClock
	renewed       atomic.Pointer[time.Time]
}

// NewFence makes a fence that closes when the lease was not renewed for so long: the deadline for
// its renewal, which is shorter than the lease. The clock has to run on while the process is
// stopped, whatever is done to the machine's: the system's own does, as long as its times are not
// stripped of their monotonic part.
func NewFence(renewDeadline time.Duration, passiveClock clock.PassiveClock) *Fence {
	return &Fence{renewDeadline: renewDeadline, clock: passiveClock}
}

// Renewals returns a configuration for the leader election, whose renewals keep the fence open.
//
// It also refuses to release a lease that has run out. An elector that was stopped for longer than
// its lease still takes itself for the leader when it ends, and its release would overwrite the
// lease of whoever leads by then (client-go's LeaderElector.tryRelease reads the lease, but does
// not look whose it is). A third could then lead at once, beside the second.
func (f *Fence) Renewals(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeJSON // as isRelease reads it
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			begun := f.clock.Now() // others count from the arrival, which is later
			releases := isRelease(request)
			if releases {
				if !f.isOpen() {
					return refuse(request)
				}
				f.renewed.Store(nil) // before it arrives: nothing may be written after it
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

// Writes returns what makes requests by another, and none that write when the fence is closed.
func (f *Fence) Writes(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if writes(request) && !f.isOpen() {
			return refuse(request)
		}
		return next.RoundTrip(request)
	})
}

// HealthCheck returns a check for a liveness probe. It fails when the leader neither renewed its
// lease for longer than maxAge nor ended: something in it is stuck. It passes when the process
// never led, and when it released its lease.
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

// refuse answers a request that is not made.
func refuse(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		_ = request.Body.Close() // the duty of a RoundTripper
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

// isOfLease reports whether a request is about a Lease; the others of a leader election are its
// events.
func isOfLease(request *http.Request) bool {
	return strings.Contains(request.URL.Path, "/coordination.k8s.io/")
}

// isRelease reports whether a request gives up a Lease: it writes one that has no holder.
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
