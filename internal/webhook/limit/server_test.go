// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package limit_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"tutorial.kubebuilder.io/project/internal/webhook/limit"
)

// connect serves a handler at /hook, with the limits of this package alone, and returns the
// client's end of a connection.
func connect(t *testing.T, handler http.HandlerFunc) net.Conn {
	t.Helper()
	return serve(t, handler)()
}

// serve does so too, and returns a function that makes connections.
func serve(t *testing.T, handler http.HandlerFunc) (dial func() net.Conn) {
	t.Helper()
	server := limit.NewServer(webhook.Options{})
	server.Register("/hook", handler)
	listener := &listener{connections: make(chan net.Conn, 1), closed: make(chan struct{})}
	serving := &http.Server{Handler: server.WebhookMux()}
	go func() { _ = serving.Serve(listener) }()
	t.Cleanup(func() { _ = serving.Shutdown(context.Background()) }) // it waits for the connections
	return func() net.Conn {
		ours, theirs := net.Pipe()
		listener.connections <- theirs
		t.Cleanup(func() { _ = ours.Close() })
		return ours
	}
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
			wantStatus: http.StatusRequestEntityTooLarge, wantBody: "the body has more than 8388608 bytes", wantClosing: true,
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

// zeros is a reader without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// begin sends a request with half of a body of size bytes.
func begin(t *testing.T, connection net.Conn, size int) {
	t.Helper()
	_, err := fmt.Fprintf(connection, "POST /hook HTTP/1.1\r\nHost: webhook\r\nContent-Length: %d\r\n\r\n", size)
	require.NoError(t, err)
	go func() { _, _ = io.CopyN(connection, zeros{}, int64(size/2)) }() // fails when the server gives up
}

// requireRetry reads an answer that asks to try again, until the server closes the connection. The
// API server takes any other answer for a fault of the object.
func requireRetry(t *testing.T, connection net.Conn) {
	t.Helper()
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Equal(t, "1", response.Header.Get("Retry-After"))
	assert.Equal(t, "the body came too slowly", strings.TrimSpace(string(text)))
	_, err = reader.ReadByte()
	require.ErrorIs(t, err, io.EOF, "the server closes the connection")
}

func TestABodyThatDoesNotComeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connection := connect(t, readAll)
		started := time.Now()
		begin(t, connection, 100)
		requireRetry(t, connection)
		assert.Equal(t, limit.StallTime, time.Since(started))
	})
}

func TestABodyThatComesInDropsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connection := connect(t, readAll)
		started := time.Now()
		begin(t, connection, 100)
		var dripping sync.WaitGroup
		dripping.Go(func() {
			for err := error(nil); err == nil; time.Sleep(limit.StallTime / 2) {
				_, err = io.WriteString(connection, "x")
			}
		})
		requireRetry(t, connection)
		assert.Equal(t, limit.BodyTime, time.Since(started))
		dripping.Wait()
	})
}

func TestARequestThatTakesLongIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connection := connect(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
			case <-time.After(limit.BodyTime + limit.AnswerTime + limit.StallTime):
				_, _ = io.WriteString(w, "done")
			}
		})
		_, err := io.WriteString(connection, "POST /hook HTTP/1.1\r\nHost: webhook\r\nContent-Length: 2\r\n\r\n{}")
		require.NoError(t, err)
		status, closes, body := answer(t, bufio.NewReader(connection))
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, "done", body)
		assert.False(t, closes)
	})
}

func TestAnAnswerThatNobodyReadsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := make(chan error, 1)
		connection := connect(t, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(limit.AnswerTime)
			_, err := io.Copy(w, zeros{})
			written <- err
		})
		started := time.Now()
		_, err := io.WriteString(connection, "POST /hook HTTP/1.1\r\nHost: webhook\r\nContent-Length: 0\r\n\r\n")
		require.NoError(t, err)
		require.Error(t, <-written)
		assert.Equal(t, 2*limit.AnswerTime, time.Since(started), "the time counts from the begin of the answer")
	})
}

func TestTheAPIServerClosesIdleConnectionsFirst(t *testing.T) {
	transport := utilnet.SetTransportDefaults(&http.Transport{}) // as the API server has it for webhooks
	assert.Greater(t, limit.IdleTime, transport.IdleConnTimeout)
}

// requireAnswered sends a whole request and requires an answer of a status within a time.
func requireAnswered(t *testing.T, connection net.Conn, size, wantStatus int, within time.Duration) *http.Response {
	t.Helper()
	started := time.Now()
	go func() {
		_, _ = fmt.Fprintf(connection, "POST /hook HTTP/1.1\r\nHost: webhook\r\nContent-Length: %d\r\n\r\n", size)
		_, _ = io.CopyN(connection, zeros{}, int64(size)) // fails when the request is refused
	}()
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	assert.Equal(t, wantStatus, response.StatusCode)
	assert.LessOrEqual(t, time.Since(started), within)
	return response
}

func TestLargeBodiesWaitForOneAnotherAndSmallOnesPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := make(chan struct{}) // the room is taken until the answer is written
		dial := serve(t, func(w http.ResponseWriter, r *http.Request) {
			readAll(w, r)
			if r.ContentLength > limit.SmallBody {
				<-handled
			}
		})
		for range 2 {
			connection := dial()
			go func() { _, _ = io.WriteString(connection, largest()) }()
		}
		synctest.Wait()
		requireAnswered(t, dial(), limit.SmallBody, http.StatusOK, 0)
		refused := requireAnswered(t, dial(), limit.SmallBody+1, http.StatusServiceUnavailable, limit.WaitTime)
		assert.Equal(t, "1", refused.Header.Get("Retry-After"), "the API server repeats its request")
		assert.True(t, refused.Close, "nobody reads the rest")
		close(handled)
		requireAnswered(t, dial(), limit.MaxBody, http.StatusOK, 0)
	})
}

// largest is a request of the largest size.
func largest() string {
	return fmt.Sprintf("POST /hook HTTP/1.1\r\nHost: webhook\r\nContent-Length: %d\r\n\r\n", limit.MaxBody) + strings.Repeat("x", limit.MaxBody)
}

func TestStalledBodiesMakeRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := serve(t, readAll)
		begin(t, dial(), limit.MaxBody)
		begin(t, dial(), limit.MaxBody)
		synctest.Wait()
		requireAnswered(t, dial(), limit.MaxBody, http.StatusOK, limit.StallTime)
	})
}

func TestABodyOfUnknownLengthCountsAsOneOfTheLargest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := serve(t, readAll)
		for range 2 {
			_, err := io.WriteString(dial(), "POST /hook HTTP/1.1\r\nHost: webhook\r\nTransfer-Encoding: chunked\r\n\r\n")
			require.NoError(t, err)
		}
		synctest.Wait()
		requireAnswered(t, dial(), limit.SmallBody, http.StatusOK, 0)
		requireAnswered(t, dial(), limit.SmallBody+1, http.StatusOK, limit.StallTime)
		time.Sleep(limit.BodyTime)
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
