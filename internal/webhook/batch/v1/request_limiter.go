// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"fmt"
	"hash/maphash"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Anyone who reaches the webhooks makes the manager send requests to the API server. One replica
// sends at most these for all clients, and the others wait. They are more than users need, because
// accepted templates are cached, and no burden for the API server.
const (
	maxInFlight       = 10  // at the same time
	maxOfLine         = 5   // of them, and of those that wait for one of them, in one line
	requestsPerSecond = 20  // on average
	requestBurst      = 100 // at once, as when a repository is applied

	// requestTimeout limits one request. It is far below the webhook's timeoutSeconds: when the API
	// server is overloaded, the request that waits for the webhook and the webhook's own request
	// may wait for each other.
	requestTimeout = 3 * time.Second
)

// requestLimiter limits the requests that the webhooks send to the API server.
type requestLimiter struct {
	// lines has the requests of each namespace wait in one of many lines, chosen by a hash. So a
	// namespace with many requests, or with slow ones, is before another one with maxOfLine of
	// them at most. A line for each namespace would need more code, and help no more: strangers may
	// name any number of namespaces.
	lines [256]*semaphore.Weighted
	seed  maphash.Seed // nobody can choose namespaces that share a line

	inFlight *semaphore.Weighted
	rate     flowcontrol.RateLimiter
}

func newRequestLimiter() *requestLimiter {
	l := &requestLimiter{
		seed: maphash.MakeSeed(), inFlight: semaphore.NewWeighted(maxInFlight),
		rate: flowcontrol.NewTokenBucketRateLimiter(requestsPerSecond, requestBurst),
	}
	for i := range l.lines {
		l.lines[i] = semaphore.NewWeighted(maxOfLine)
	}
	return l
}

// do sends a request about a namespace when it is its turn, and reports whether it was. It waits no
// longer than leaves time for the request until the context's deadline.
func (l *requestLimiter) do(ctx context.Context, namespace string, send func(context.Context)) bool {
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)
	waiting, stop := context.WithTimeout(ctx, max(left-requestTimeout, left/2))
	defer stop()
	line := l.lineOf(namespace)
	if line.Acquire(waiting, 1) != nil {
		return false
	}
	defer line.Release(1)
	if l.inFlight.Acquire(waiting, 1) != nil {
		return false
	}
	defer l.inFlight.Release(1)
	if l.rate.Wait(waiting) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	send(ctx)
	return true
}

func (l *requestLimiter) lineOf(namespace string) *semaphore.Weighted {
	return l.lines[maphash.String(l.seed, namespace)%uint64(len(l.lines))]
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
