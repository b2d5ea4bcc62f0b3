// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"net/http"

	"golang.org/x/sync/semaphore"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Anyone who reaches the webhooks makes the manager send requests to the API server. One replica
// sends at most these for all clients. They are far more than users need, because accepted
// templates are cached, and no burden for the API server.
const (
	maxInFlight       = 10  // at the same time
	requestsPerSecond = 20  // on average
	requestBurst      = 100 // at once, as when a repository is applied
)

// requestLimiter limits the requests that the webhooks send to the API server.
type requestLimiter struct {
	inFlight *semaphore.Weighted
	rate     flowcontrol.PassiveRateLimiter
}

func newRequestLimiter() *requestLimiter {
	return &requestLimiter{
		inFlight: semaphore.NewWeighted(maxInFlight),
		rate:     flowcontrol.NewTokenBucketPassiveRateLimiter(requestsPerSecond, requestBurst),
	}
}

// begin reports whether a request may be sent now. If so, the caller has to call done when it is
// answered. begin never waits, because the API server waits for the webhook.
func (a *requestLimiter) begin() (done func(), ok bool) {
	if !a.inFlight.TryAcquire(1) {
		return nil, false
	}
	if !a.rate.TryAccept() {
		a.inFlight.Release(1)
		return nil, false
	}
	return func() { a.inFlight.Release(1) }, true
}

// newClient returns a client with the manager's credentials and separate connections, so that
// clients of the webhooks can't delay the reconciler's requests.
func newClient(mgr ctrl.Manager) (client.Client, error) {
	config := ownConnections(mgr.GetConfig())
	config.WarningHandlerWithContext = warningCollector{}
	own, err := client.New(config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("making the client that asks the API server for the webhooks: %w", err)
	}
	return own, nil
}

// ownConnections returns a configuration whose clients share no connections with those of config.
// client-go shares connections between equal configurations, unless they have a Proxy function. The
// one that is set here is the default.
func ownConnections(config *rest.Config) *rest.Config {
	own := rest.CopyConfig(config)
	if own.Proxy == nil {
		own.Proxy = http.ProxyFromEnvironment
	}
	return own
}
