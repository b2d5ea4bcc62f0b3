// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package limit bounds what the requests to a webhook server may cost: how many bytes are held of
// each and of all together, and how long each may take. Whoever reaches the port can send requests,
// as the API server is not asked who it is.
package limit

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	// MaxBody is how many bytes a request may have. The API server sends one object to be converted
	// at a time, even of a list, and to be admitted an object and what it was before; each has at
	// most 3 MiB. What is made of a body takes four times as much memory.
	MaxBody = 8 << 20

	// SmallBody is how many bytes a small request has at most. Nearly all CronJobs need less. Small
	// requests do not wait for large ones.
	SmallBody = 64 << 10

	// smallBodies and largeBodies are how many bytes the small and the large requests may have that
	// are read or answered at the same time. The small ones have room for more connections than
	// stall by mistake, and the large ones for a few of the largest.
	smallBodies = 512 * SmallBody
	largeBodies = 2 * MaxBody

	// WaitTime is how long a request waits for others to end before it is refused.
	WaitTime = time.Second

	// StallTime is how long a body may pause. A request waits longer than another may stall.
	StallTime = 750 * time.Millisecond

	// BodyTime is how long a body may take.
	BodyTime = 5 * time.Second

	// AnswerTime is how long the client may take to read the answer.
	AnswerTime = 5 * time.Second

	// MaxTime is how long a request may take, from its header to the end of the answer. The API
	// server waits 30 s at most.
	MaxTime = 32 * time.Second
)

// Server is a webhook server with bounds.
type Server struct {
	webhook.Server

	options webhook.Options
	started atomic.Bool

	// small and large count the bytes of the requests that are read or answered.
	small, large *semaphore.Weighted
}

// NewServer makes a server.
func NewServer(options webhook.Options) *Server {
	return &Server{
		Server: webhook.NewServer(options), options: options,
		small: semaphore.NewWeighted(smallBodies), large: semaphore.NewWeighted(largeBodies),
	}
}

// Register serves a handler at a path. To the handler a body that is too large ends in a
// [http.MaxBytesError], one that is too slow in [os.ErrDeadlineExceeded]; then the connection
// closes.
func (s *Server) Register(path string, handler http.Handler) {
	s.Server.Register(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > MaxBody {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has %d bytes, and may have %d", r.ContentLength, MaxBody))
			return
		}
		release, ok := s.acquire(r)
		if !ok {
			w.Header().Set("Retry-After", "1") // the API server repeats its request then
			refuse(w, http.StatusServiceUnavailable, "too many requests of this size at the same time")
			return
		}
		defer release()
		serve(w, r, handler)
	}))
}

// acquire waits until there is room for the body of a request, and reports whether there is.
func (s *Server) acquire(r *http.Request) (release func(), ok bool) {
	bodies, size := s.small, r.ContentLength
	switch {
	case size < 0: // it is not known before the end
		bodies, size = s.large, MaxBody
	case size > SmallBody:
		bodies = s.large
	}
	ctx, cancel := context.WithTimeout(r.Context(), WaitTime)
	defer cancel()
	return func() { bodies.Release(size) }, bodies.Acquire(ctx, size) == nil
}

// refuse answers a request of which the body is not read, and closes the connection.
func refuse(w http.ResponseWriter, code int, why string) {
	now := time.Now()
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(now) // else the server waits for a small body before it closes
	_ = connection.SetWriteDeadline(now.Add(AnswerTime))
	w.Header().Set("Connection", "close")
	http.Error(w, why, code)
}

// serve bounds the time of a request.
func serve(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	connection, now := http.NewResponseController(w), time.Now()
	if err := connection.SetWriteDeadline(now.Add(MaxTime)); err != nil {
		refuse(w, http.StatusInternalServerError, fmt.Sprintf("bounding the time of the request: %v", err))
		return
	}
	r.Body = &body{ReadCloser: http.MaxBytesReader(w, r.Body, MaxBody), connection: connection, end: now.Add(BodyTime)}
	handler.ServeHTTP(&answer{ResponseWriter: w, connection: connection}, r)
}
