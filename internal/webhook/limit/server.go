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

// Package limit bounds what a request to a webhook server may cost: how many bytes are read of it, and
// how long it may take. Whoever reaches the port can send requests, as the API server is not asked who it is.
//
// The rest are controller-runtime's bounds: 32 s for the handshake and again for the header of a request,
// of at most 1 MiB, and 90 s between two requests.
package limit

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	// MaxBody is how many bytes a request may have. The API server sends one object to be converted at a
	// time, even of a list, and to be admitted an object and what it was before; each has at most 3 MiB. What
	// is made of a body takes four times as much memory.
	MaxBody = 8 << 20

	// MaxTime is how long a request may take, from its header to the end of its body. The API server
	// waits 30 s at most.
	MaxTime = 32 * time.Second

	// AnswerTime is how much longer the answer may take, so that whoever was too slow is told.
	AnswerTime = 2 * time.Second
)

// Server is a webhook server with bounds.
type Server struct {
	webhook.Server
}

// NewServer bounds the requests to a server. Handlers have to be registered with what it returns.
func NewServer(server webhook.Server) *Server { return &Server{Server: server} }

// Register serves a handler at a path. To the handler a body that is too large ends in a
// [http.MaxBytesError], one that is too slow in [os.ErrDeadlineExceeded]; then the connection closes.
func (s *Server) Register(path string, handler http.Handler) {
	s.Server.Register(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection, deadline := http.NewResponseController(w), time.Now().Add(MaxTime)
		if err := errors.Join(connection.SetReadDeadline(deadline), connection.SetWriteDeadline(deadline.Add(AnswerTime))); err != nil {
			http.Error(w, fmt.Sprintf("bounding the time of the request: %v", err), http.StatusInternalServerError)
			return
		}
		if r.ContentLength > MaxBody {
			w.Header().Set("Connection", "close")
			http.Error(w, fmt.Sprintf("the body has %d bytes, and may have %d", r.ContentLength, MaxBody), http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
		handler.ServeHTTP(w, r)
	}))
}
