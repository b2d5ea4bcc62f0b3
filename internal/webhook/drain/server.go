// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package drain ends a webhook server without losing a request.
//
// The API server keeps its connections to a webhook and does not repeat a call that it had sent
// when the other end closed the connection: a request that crosses with the shutdown of the server
// fails. So for a while before the shutdown, each answer says that the connection closes after it,
// as RFC 9112, section 9.6, has it: the API server then opens the next one, to a replica that
// stays.
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

// NewServer makes a server drainable. Handlers have to be registered with what it returns.
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

// DrainAfter drains the server when a context ends, and returns one that ends so much later: it is
// for what is to be stopped when the server has been drained.
func (s *Server) DrainAfter(ctx context.Context, duration time.Duration) context.Context {
	drained, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		s.draining.Store(true)
		time.AfterFunc(duration, cancel)
	})
	return drained
}
