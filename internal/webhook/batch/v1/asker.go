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

// Whoever reaches the webhooks has the manager send requests to the API server. These bounds are on
// the requests that one replica sends for all: far more than users need, as templates that were
// accepted are remembered, and so few that the API server does not notice.
const (
	maxAsking    = 10  // at the same time
	askPerSecond = 20  // on average
	askBurst     = 100 // at once, as when a repository is applied
)

// asker bounds the requests that the webhooks send to the API server.
type asker struct {
	asking *semaphore.Weighted
	rate   flowcontrol.PassiveRateLimiter
}

// newAsker makes an asker.
func newAsker() *asker {
	return &asker{
		asking: semaphore.NewWeighted(maxAsking),
		rate:   flowcontrol.NewTokenBucketPassiveRateLimiter(askPerSecond, askBurst),
	}
}

// begin reports whether a request may be sent now. If so, done has to be called when it is
// answered. It does not wait: the API server waits for the webhook.
func (a *asker) begin() (done func(), ok bool) {
	if !a.asking.TryAcquire(1) {
		return nil, false
	}
	if !a.rate.TryAccept() {
		a.asking.Release(1)
		return nil, false
	}
	return func() { a.asking.Release(1) }, true
}

// newClient makes a client by the rights of the manager, with connections of its own: those who
// reach the webhooks can't delay what the reconciler reads and writes.
func newClient(mgr ctrl.Manager) (client.Client, error) {
	config := ownConnections(mgr.GetConfig())
	config.WarningHandlerWithContext = warningCollector{}
	own, err := client.New(config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("making the client that asks the API server for the webhooks: %w", err)
	}
	return own, nil
}

// ownConnections returns a configuration whose clients share no connections with those of the given
// one. client-go shares them among equal configurations, but never if there is a function for the
// proxy; this one is the default.
func ownConnections(config *rest.Config) *rest.Config {
	own := rest.CopyConfig(config)
	if own.Proxy == nil {
		own.Proxy = http.ProxyFromEnvironment
	}
	return own
}
