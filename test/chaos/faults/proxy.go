// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

// How long a request waits that is not answered, and an answer that is late.
const (
	noAnswerFor = 4 * time.Second
	lateBy      = 3 * time.Second
)

// proxy stands between one manager and the API server. It ends the manager's TLS connections and
// asks the API server as the manager's user. It adds to the history what the manager tries, and
// answers some of it as a fault would.
type proxy struct {
	log      *history.Log
	bursts   *bursts
	standing *standing
	clock    *clock
	host     string // of the API server
	upstream http.RoundTripper
	server   *http.Server
	url      string

	authority  []byte        // the certificate to trust, PEM-encoded
	lagAllowed time.Duration // how long after an event the manager is taken to know it

	// lag is how late, in nanoseconds, watches are now. rejecting says that new ones are refused.
	lag       atomic.Int64
	rejecting atomic.Bool
	renewed   atomic.Int64 // when the Lease was last updated, in nanoseconds since 1970

	mu       sync.Mutex
	process  string // the process that asks
	progress *watchProgress
	rows     *rows
	conns    map[net.Conn]bool
	watches  map[int]context.CancelFunc
	nth      int
}

// newProxy starts a proxy of a site for a user of its API server.
func newProxy(user *rest.Config, s *Site) (*proxy, error) {
	certificate, key, err := newCertificate()
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	api, err := url.Parse(user.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(user)
	if err != nil {
		return nil, err
	}
	p := &proxy{
		log: s.log, bursts: &s.bursts, standing: &s.standing, clock: s.clock, host: api.Host, upstream: transport,
		authority: certificate, lagAllowed: time.Duration(float64(informerLag) * s.options.Slowness),
		conns: map[net.Conn]bool{}, watches: map[int]context.CancelFunc{},
	}
	p.serves("nobody")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.url = "https://" + listener.Addr().String()
	p.server = &http.Server{
		Handler:           p,
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // connections break all the time
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		ConnState:         p.track,
	}
	go func() { _ = p.server.ServeTLS(listener, "", "") }() // it ends with the proxy
	return p, nil
}

// serves says which process asks from now on: one that knows nothing yet.
func (p *proxy) serves(process string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process, p.progress, p.rows = process, &watchProgress{lag: p.lagAllowed}, newRows()
}

func (p *proxy) asking() (process string, progress *watchProgress, rows *rows) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process, p.progress, p.rows
}

// track keeps the connections there are.
func (p *proxy) track(conn net.Conn, state http.ConnState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch state {
	case http.StateNew:
		p.conns[conn] = true
	case http.StateClosed, http.StateHijacked:
		delete(p.conns, conn)
	}
}

// cutConnections closes all connections. What is under way is lost.
func (p *proxy) cutConnections() {
	p.mu.Lock()
	open := maps.Clone(p.conns)
	p.mu.Unlock()
	for conn := range open {
		_ = conn.Close()
	}
}

// cutWatches ends all watches.
func (p *proxy) cutWatches() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cancel := range p.watches {
		cancel()
	}
}

// ServeHTTP answers a request, or not.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, err := read(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	process, progress, rows := p.asking()
	e := &exchange{proxy: p, asked: q, process: process, progress: progress, w: w}
	e.begun = time.Now()
	if q.cronJob != "" {
		e.decided = rows.begin(q.cronJob, e.begun)
		defer func() { rows.end(q.cronJob, q.target, e.code) }()
	}
	if q.job != "" {
		e.knew, e.steps = progress.at(e.decided), p.clock.around(e.decided, e.begun)
	}
	defer e.note()
	e.serve()
}

// exchange is a request and what becomes of it.
type exchange struct {
	*proxy
	*asked
	w        http.ResponseWriter
	process  string
	progress *watchProgress

	begun, decided time.Time
	knew           int64
	steps          []time.Duration
	code           int // what the manager is told; 0 if nothing
	forwarded      bool
}

// serve answers, unless a fault strikes.
func (e *exchange) serve() {
	kind := e.bursts.strike(e.target)
	if kind != "" {
		e.log.Strike(string(kind), fmt.Sprintf("%s: %s %s", e.process, e.Method, e.URL.Path))
	}
	switch {
	case e.watch && e.rejecting.Load():
		e.refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, "no watches now")
		return
	case kind == Conflict:
		e.refuse(http.StatusConflict, metav1.StatusReasonConflict,
			"Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again")
		return
	case kind == Throttle:
		e.w.Header().Set("Retry-After", "1")
		e.refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "too many requests, please try again later")
		return
	case kind == Fail:
		e.refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, "an internal error occurred")
		return
	case kind == Timeout:
		plane.Sleep(e.Context(), noAnswerFor)
		panic(http.ErrAbortHandler)
	}
	if e.watch {
		e.stream()
		return
	}
	e.forward(kind)
}

// refuse answers in the place of the API server.
func (e *exchange) refuse(code int, reason metav1.StatusReason, message string) {
	e.say(&metav1.Status{Code: int32(code), Reason: reason, Message: message}) //nolint:gosec // an HTTP status
}

// say answers with a failure.
func (e *exchange) say(status *metav1.Status) {
	e.code = int(status.Code)
	status.TypeMeta, status.Status = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, metav1.StatusFailure
	body, err := json.Marshal(status)
	if err != nil {
		panic(err)
	}
	e.w.Header().Set("Content-Type", "application/json")
	e.w.WriteHeader(e.code)
	_, _ = e.w.Write(body)
}

// forward asks the API server, and gives its answer to the manager as the fault lets it. What a
// webhook refuses is not asked for.
func (e *exchange) forward(kind Kind) {
	if refused := e.standing.answer(e.namespace, e.target); refused != nil {
		e.late(kind)
		e.say(refused)
		return
	}
	q := e.again(e.host)
	if e.Method != http.MethodGet {
		// What was sent arrives, whatever becomes of the sender.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(e.Context()), time.Minute)
		defer cancel()
		q = q.WithContext(ctx)
	}
	e.forwarded = true
	response, err := e.upstream.RoundTrip(q)
	if err != nil {
		panic(http.ErrAbortHandler) // the API server is gone, and so is its answer
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	e.late(kind)
	e.answer(response, body)
}

// late loses an answer, or has it wait, as the fault is.
func (e *exchange) late(kind Kind) {
	if kind == Delay {
		plane.Sleep(e.Context(), lateBy)
	}
	if kind == Lose || e.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
}

// answer gives the API server's answer to the manager.
func (e *exchange) answer(response *http.Response, body []byte) {
	e.code = response.StatusCode
	copyHeaders(e.w.Header(), response.Header)
	e.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	e.w.WriteHeader(e.code)
	_, _ = e.w.Write(body)
	if e.target == Leases && e.code < 300 {
		e.renewed.Store(time.Now().UnixNano())
	}
	if e.ofCronJobs && e.code == http.StatusOK {
		e.progress.list(body)
	}
}

func copyHeaders(to, from http.Header) {
	for name, values := range from {
		switch name {
		case "Content-Length", "Connection", "Transfer-Encoding", "Keep-Alive":
		default:
			to[name] = values
		}
	}
}

// stream passes a watch on, late by as much as watches are now.
func (e *exchange) stream() {
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	e.mu.Lock()
	e.nth++
	nth := e.nth
	e.watches[nth] = cancel
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.watches, nth)
	}()
	response, err := e.upstream.RoundTrip(e.again(e.host).WithContext(ctx))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = response.Body.Close() }()
	copyHeaders(e.w.Header(), response.Header)
	e.w.WriteHeader(response.StatusCode)
	flush(e.w)
	hear := func([]byte) {}
	if e.ofCronJobs && response.StatusCode == http.StatusOK {
		hear = (&listener{watchProgress: e.progress, initial: e.initial}).hear
	}
	e.relay(ctx, response.Body, hear)
	panic(http.ErrAbortHandler) // a watch that ends in order would not be a broken one
}

// chunk is a part of a stream.
type chunk struct {
	data []byte
	at   time.Time
}

// relay writes what it reads, each part late by as much as watches are at the time.
func (e *exchange) relay(ctx context.Context, from io.Reader, hear func([]byte)) {
	chunks := make(chan chunk, 10000)
	go func() {
		defer close(chunks)
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				select {
				case chunks <- chunk{bytes.Clone(buffer[:n]), time.Now()}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	for chunk := range chunks {
		for due := time.Until(chunk.at.Add(time.Duration(e.lag.Load()))); due > 0; due = time.Until(chunk.at.Add(time.Duration(e.lag.Load()))) {
			plane.Sleep(ctx, min(due, 50*time.Millisecond))
		}
		if _, err := e.w.Write(chunk.data); err != nil || ctx.Err() != nil {
			return
		}
		flush(e.w)
		hear(chunk.data)
	}
}

func flush(w http.ResponseWriter) {
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
}

// note adds to the history what the manager tried and what it was told.
func (e *exchange) note() {
	e.standing.note(e.namespace, e.target, e.code)
	switch {
	case e.job != "":
		e.log.Add(history.Record{Create: &history.Create{
			Manager: e.process, Job: e.job, Decided: e.decided, Knew: e.knew, Steps: e.steps, Asked: e.begun,
			Code: e.code, Forwarded: e.forwarded,
		}})
	case e.event != nil:
		e.log.Add(history.Record{Report: &history.Report{Manager: e.process, Code: e.code, Event: *e.event}})
	}
}
