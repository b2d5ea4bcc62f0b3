// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package drain shuts a webhook server down with hardly a request lost.
//
// The API server reuses its connections to a webhook, and does not retry a request that it had sent
// when the webhook closed the connection. So for some time before the shutdown, each answer has the
// header "Connection: close" (RFC 9112, section 9.6): the API server then opens its next connection
// to another replica. Connections that are idle for all that time are closed by the shutdown. The
// API server takes the connection that it used last, so some are used only when many requests come
// together. HTTP/2 would not help: the API server speaks HTTP/1.1 with webhooks.
package drain

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Server is a webhook server that can be drained.
type Server struct {
	webhook.Server

	draining atomic.Bool
}

// NewServer makes a server drainable. Handlers have to be registered with the returned Server.
func NewServer(server webhook.Server) *Server { return &Server{Server: server} }

// Register serves a handler at a path.
func (s *Server) Register(path string, handler http.Handler) {
	s.Server.Register(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	}))
}

// DrainAfter starts to drain the server when ctx ends. It returns a context that ends a duration
// later, when the server may be stopped.
func (s *Server) DrainAfter(ctx context.Context, duration time.Duration) context.Context {
	drained, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		s.draining.Store(true)
		time.AfterFunc(duration, cancel)
	})
	return drained
}
