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

package limit_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"tutorial.kubebuilder.io/project/internal/webhook/limit"
)

// connect serves a handler at /hook, with no bounds but ours, and returns the client's end of a connection.
func connect(t *testing.T, handler http.HandlerFunc) net.Conn {
	t.Helper()
	server := limit.NewServer(webhook.NewServer(webhook.Options{}))
	server.Register("/hook", handler)
	listener := &listener{connections: make(chan net.Conn, 1), closed: make(chan struct{})}
	serving := &http.Server{Handler: server.WebhookMux()}
	go func() { _ = serving.Serve(listener) }()
	t.Cleanup(func() { _ = serving.Close() })
	ours, theirs := net.Pipe()
	listener.connections <- theirs
	t.Cleanup(func() { _ = ours.Close() })
	return ours
}

// listener accepts the connections that it is given.
type listener struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case connection := <-l.connections:
		return connection, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { close(l.closed); return nil }
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// readAll answers with the number of bytes in the body, or says why it could not be read.
func readAll(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprint(w, n)
}

// answer reads an answer.
func answer(t *testing.T, reader *bufio.Reader) (status int, closes bool, body string) {
	t.Helper()
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Close, strings.TrimSpace(string(text))
}

func TestABodyMayHaveSoManyBytesAndNotOneMore(t *testing.T) {
	tests := map[string]struct {
		size        int
		chunked     bool
		wantStatus  int
		wantBody    string
		wantClosing bool
	}{
		"the largest":                  {size: limit.MaxBody, wantStatus: http.StatusOK, wantBody: "8388608"},
		"the largest, length not told": {size: limit.MaxBody, chunked: true, wantStatus: http.StatusOK, wantBody: "8388608"},
		"too large": {
			size:       limit.MaxBody + 1,
			wantStatus: http.StatusRequestEntityTooLarge, wantBody: "the body has 8388609 bytes, and may have 8388608", wantClosing: true,
		},
		"too large, length not told": {
			size: 8 * limit.MaxBody, chunked: true,
			wantStatus: http.StatusBadRequest, wantBody: "http: request body too large", wantClosing: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			connection := connect(t, readAll)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://webhook/hook", io.LimitReader(zeros{}, int64(test.size)))
			require.NoError(t, err)
			if !test.chunked {
				request.ContentLength = int64(test.size)
			}
			go func() { _ = request.Write(connection) }() // fails where the answer comes before the end
			status, closes, body := answer(t, bufio.NewReader(connection))
			assert.Equal(t, test.wantStatus, status)
			assert.Equal(t, test.wantBody, body)
			assert.Equal(t, test.wantClosing, closes, "nobody reads the rest")
		})
	}
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestABodyThatDoesNotComeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connection := connect(t, readAll)
		begin := time.Now()
		_, err := io.WriteString(connection, "POST /hook HTTP/1.1\r\nHost: webhook\r\nContent-Length: 100\r\n\r\n{")
		require.NoError(t, err)
		_, err = io.ReadAll(connection)
		require.NoError(t, err, "the server closes the connection")
		assert.Equal(t, limit.MaxTime, time.Since(begin))
	})
}

func TestAnAnswerThatNobodyReadsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := make(chan error, 1)
		connection := connect(t, func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.Copy(w, zeros{})
			written <- err
		})
		begin := time.Now()
		_, err := io.WriteString(connection, "POST /hook HTTP/1.1\r\nHost: webhook\r\nContent-Length: 0\r\n\r\n")
		require.NoError(t, err)
		require.Error(t, <-written)
		assert.Equal(t, limit.MaxTime+limit.AnswerTime, time.Since(begin))
	})
}

func TestEachRequestOfAConnectionHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connection := connect(t, readAll)
		reader := bufio.NewReader(connection)
		for range 3 {
			_, err := io.WriteString(connection, "POST /hook HTTP/1.1\r\nHost: webhook\r\nContent-Length: 2\r\n\r\n{}")
			require.NoError(t, err)
			status, closes, body := answer(t, reader)
			assert.Equal(t, http.StatusOK, status)
			assert.Equal(t, "2", body)
			assert.False(t, closes)
			time.Sleep(2 * limit.MaxTime)
		}
	})
}
