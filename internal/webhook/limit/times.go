// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// body is the body of a request, with time limits.
type body struct {
	io.Reader

	connection *http.ResponseController
	end        time.Time
}

// Read waits for the next bytes for StallTime at most, and not beyond end.
func (b *body) Read(into []byte) (int, error) {
	deadline := time.Now().Add(StallTime)
	if deadline.After(b.end) {
		deadline = b.end
	}
	if err := b.connection.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := b.Reader.Read(into)
	if errors.Is(err, io.EOF) {
		// The server reads on while the request is handled, to notice when the client disconnects.
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// answer writes an answer, with a time limit.
type answer struct {
	http.ResponseWriter

	connection *http.ResponseController
	begun      bool
}

// Write allows the client AnswerTime to read the answer, from its first bytes on.
func (a *answer) Write(text []byte) (int, error) {
	if !a.begun {
		a.begun = true
		if err := a.connection.SetWriteDeadline(time.Now().Add(AnswerTime)); err != nil {
			return 0, err
		}
	}
	return a.ResponseWriter.Write(text)
}
