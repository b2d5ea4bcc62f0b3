// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

// How long a request waits without an answer, and for a late one.
const (
	noAnswerFor = 4 * time.Second
	lateBy      = 3 * time.Second
)

// errLost makes a connection break instead of an answer.
var errLost = errors.New("the answer is lost")

// errEdited is the API server's reason for a conflict.
var errEdited = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// answers has the answers of faults that replace the API server's.
var answers = map[Kind]*apierrors.StatusError{
	Conflict: apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, "this", errEdited),
	Throttle: apierrors.NewTooManyRequests("too many requests, please try again later", 1),
	Fail:     apierrors.NewInternalError(errors.New("a fault")),
}

// proxy is between one manager and the API server. It adds the manager's requests to the history,
// and answers some of them as faults require.
type proxy struct {
	*Site
	server   *httptest.Server
	upstream http.RoundTripper

	// lag is the current delay of watches, in nanoseconds. rejecting is whether new ones are
	// refused.
	lag       atomic.Int64
	rejecting atomic.Bool
	renewed   atomic.Int64             // the last update of the Lease, in nanoseconds since 1970
	process   atomic.Pointer[progress] // of the process that sends the requests

	mu  sync.Mutex
	cut chan struct{} // closed when watches are cut
}

func (s *Site) newProxy(user *rest.Config) (*proxy, error) {
	api, err := url.Parse(user.Host)
	if err != nil {
		return nil, err
	}
	p := &proxy{Site: s, cut: make(chan struct{})}
	if p.upstream, err = rest.TransportFor(user); err != nil {
		return nil, err
	}
	p.serves("nobody")
	var carrier http.RoundTripper = p
	if s.options.Mutate != nil {
		carrier = s.options.Mutate(p)
	}
	silent := log.New(io.Discard, "", 0) // connections break all the time
	p.server = httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(api)
			r.Out.Header.Set("Accept-Encoding", "identity") // the proxy can't read compressed bodies
		},
		Transport:     carrier,
		FlushInterval: -1,
		ErrorLog:      silent,
		// A broken connection must break for the manager too.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	p.server.Config.ErrorLog = silent
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	return p, nil
}

// serves sets the process that sends the requests from now on. It knows nothing yet.
func (p *proxy) serves(process string) {
	p.process.Store(&progress{name: process, lag: p.slow(informerLag), rows: map[string]*row{}})
}

func (p *proxy) cutWatches() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.cut)
	p.cut = make(chan struct{})
}

// untilCut returns a channel that is closed when watches are cut.
func (p *proxy) untilCut() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

// RoundTrip sends a request, subject to faults, and adds it and its answer to the history.
func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	q, err := read(r)
	if err != nil {
		return nil, err
	}
	process, asked := p.process.Load(), time.Now()
	decided := process.begin(q.cronJob, asked)
	knew := process.knew(decided)
	response, err := p.answer(q, process)
	code := 0
	if err == nil {
		code = response.StatusCode
	}
	process.end(q.cronJob, q.target, code)
	p.live.note(q.what.Namespace, q.target, code)
	switch {
	case q.job != "":
		p.log.Add(history.Record{Create: &history.Create{
			Manager: process.name, Job: q.job, Decided: decided, Knew: knew, Asked: asked, Code: code, Forwarded: q.forwarded,
		}})
	case q.event != nil:
		p.log.Add(history.Record{Report: &history.Report{Manager: process.name, Code: code, Event: *q.event}})
	}
	return response, err
}

func (p *proxy) answer(q *asked, process *progress) (*http.Response, error) {
	kind := p.live.strike(q.target)
	if kind != "" {
		p.log.Strike(string(kind), fmt.Sprintf("%s: %s %s", process.name, q.Method, q.URL.Path))
	}
	switch {
	case q.isWatch() && p.rejecting.Load():
		return plane.Refuse(q.Request, answers[Fail])
	case answers[kind] != nil:
		return plane.Refuse(q.Request, answers[kind])
	case kind == Timeout:
		plane.Sleep(q.Context(), noAnswerFor)
		return nil, errLost
	case q.isWatch():
		return p.watch(q, process)
	}
	response, err := p.forward(q)
	if kind == Delay {
		plane.Sleep(q.Context(), lateBy)
	}
	switch {
	case err != nil:
		return nil, err
	case kind == Lose || q.Context().Err() != nil:
		return nil, errLost
	case q.target == Leases && response.StatusCode < http.StatusMultipleChoices:
		p.renewed.Store(time.Now().UnixNano())
	case q.isOfCronJobs() && response.StatusCode == http.StatusOK:
		process.learn(revisionIn(q.answer))
	}
	return response, nil
}

func (p *proxy) forward(q *asked) (*http.Response, error) {
	if refused := p.live.refused(q.what.Namespace, q.target); refused != nil {
		return plane.Refuse(q.Request, refused)
	}
	r := q.Request
	if r.Method != http.MethodGet {
		// A request that was sent arrives, even if the sender ends.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
		defer cancel()
		r = r.WithContext(ctx)
	}
	q.forwarded = true
	response, err := p.upstream.RoundTrip(r)
	if err != nil {
		return nil, err // the API server has ended
	}
	defer func(body io.Closer) { _ = body.Close() }(response.Body)
	if q.answer, err = io.ReadAll(response.Body); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(q.answer))
	return response, nil
}

// watch forwards a watch until watches are cut.
func (p *proxy) watch(q *asked, process *progress) (*http.Response, error) {
	ctx, cancel := context.WithCancel(q.Context())
	cut := p.untilCut()
	go func() {
		defer cancel()
		select {
		case <-cut:
		case <-ctx.Done():
		}
	}()
	response, err := p.upstream.RoundTrip(q.WithContext(ctx))
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	sent := func([]byte) {}
	if q.isOfCronJobs() {
		sent = (&listener{progress: process, initial: q.URL.Query().Get("sendInitialEvents") == "true"}).hear
	}
	response.Body = p.late(ctx, response.Body, sent)
	return response, nil
}

// late returns a body that delays each part by the current lag, and calls back when a part was
// sent. At its end it returns the error of a broken connection, since a watch that ends normally is
// no fault.
func (p *proxy) late(ctx context.Context, body io.ReadCloser, sent func([]byte)) io.ReadCloser {
	type part struct {
		data []byte
		at   time.Time
	}
	parts := make(chan part, 10000)
	go func() {
		defer close(parts)
		defer func() { _ = body.Close() }()
		for buffer := make([]byte, 64<<10); ; {
			n, err := body.Read(buffer)
			if err != nil {
				return
			}
			parts <- part{bytes.Clone(buffer[:n]), time.Now()}
		}
	}()
	out, in := io.Pipe()
	go func() {
		for part := range parts {
			for ctx.Err() == nil && time.Since(part.at) < time.Duration(p.lag.Load()) {
				plane.Sleep(ctx, 50*time.Millisecond)
			}
			if _, err := in.Write(part.data); err == nil {
				sent(part.data)
			}
		}
		_ = in.CloseWithError(errLost)
	}()
	return out
}
