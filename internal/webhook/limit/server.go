// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package limit limits the memory and the time that requests to a webhook server may take: the
// bytes of each and of all together, and the time of each. Clients are not authenticated, so anyone
// who reaches the port can send requests.
package limit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	// MaxBody limits the body of a request, in bytes. A conversion request has one object, even for
	// a list, and an admission request has the object before and after; each object has at most 3
	// MiB. Handling a body takes five times its size in memory.
	MaxBody = 8 << 20

	// SmallBody limits a small request, in bytes. Nearly all CronJobs are smaller. Small requests
	// don't wait for large ones.
	SmallBody = 64 << 10

	// smallBodies limits the bytes of all small requests in progress. It allows more connections
	// than stall by accident.
	smallBodies = 512 * SmallBody

	// largeBodies limits the bytes of all large requests in progress.
	largeBodies = 2 * MaxBody

	// WaitTime is how long a request waits for others to end before it is refused. It is longer
	// than StallTime.
	WaitTime = StallTime + 500*time.Millisecond

	// StallTime is how long a body may pause. On a busy machine, the sender or this process may get
	// no CPU for a second.
	StallTime = 2 * time.Second

	// BodyTime is how long a body may take.
	BodyTime = 5 * time.Second

	// AnswerTime is how long the client may take to read the answer.
	AnswerTime = 5 * time.Second

	// MaxTime is how long a request may take, from its header to the end of the answer. The API
	// server waits 30 s at most.
	MaxTime = 32 * time.Second
)

// Server is a webhook server with limits.
type Server struct {
	webhook.Server

	options webhook.Options
	started atomic.Bool

	// small and large count the bytes of the requests in progress.
	small, large *semaphore.Weighted
}

// NewServer returns a server.
func NewServer(options webhook.Options) *Server {
	return &Server{
		Server: webhook.NewServer(options), options: options,
		small: semaphore.NewWeighted(smallBodies), large: semaphore.NewWeighted(largeBodies),
	}
}

// Register serves a handler at a path. The handler gets a request when its body is read. A body that
// can't be read is answered here: to an error of reading, the handlers of controller-runtime answer
// without the request's UID, and the API server blames the webhook.
func (s *Server) Register(path string, handler http.Handler) {
	s.Server.Register(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > MaxBody {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has %d bytes, and may have %d", r.ContentLength, MaxBody))
			return
		}
		release, ok := s.acquire(r)
		if !ok {
			refuse(w, http.StatusServiceUnavailable, "too many requests of this size at the same time")
			return
		}
		defer release()
		serve(w, r, handler)
	}))
}

// acquire waits until there is room for the body of a request, for WaitTime at most, and reports
// whether there is.
func (s *Server) acquire(r *http.Request) (release func(), ok bool) {
	bodies, size := s.small, r.ContentLength
	switch {
	case size < 0: // unknown
		bodies, size = s.large, MaxBody
	case size > SmallBody:
		bodies = s.large
	}
	ctx, cancel := context.WithTimeout(r.Context(), WaitTime)
	defer cancel()
	return func() { bodies.Release(size) }, bodies.Acquire(ctx, size) == nil
}

// refuse answers a request without reading its body, and closes the connection.
func refuse(w http.ResponseWriter, code int, why string) {
	now := time.Now()
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(now) // otherwise the server waits for a small body before it closes
	_ = connection.SetWriteDeadline(now.Add(AnswerTime))
	w.Header().Set("Connection", "close")
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1") // makes the API server retry
	}
	http.Error(w, why, code)
}

// serve handles a request, with time limits.
func serve(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	connection, now := http.NewResponseController(w), time.Now()
	if err := connection.SetWriteDeadline(now.Add(MaxTime)); err != nil {
		refuse(w, http.StatusInternalServerError, fmt.Sprintf("bounding the time of the request: %v", err))
		return
	}
	text, err := io.ReadAll(&body{Reader: http.MaxBytesReader(w, r.Body, MaxBody), connection: connection, end: now.Add(BodyTime)})
	if err != nil {
		refuseBody(w, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	handler.ServeHTTP(&answer{ResponseWriter: w, connection: connection}, r)
}

// refuseBody answers a request whose body could not be read.
func refuseBody(w http.ResponseWriter, err error) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", tooLarge.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusServiceUnavailable, "the body came too slowly")
	default:
		refuse(w, http.StatusBadRequest, fmt.Sprintf("reading the body: %v", err))
	}
}
