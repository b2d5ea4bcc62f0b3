// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutation breaks the operator's laws on purpose, to show that the checker can fail. The
// operator's code stays as it is: a mutation changes what the manager asks for on its way to the
// API server, what it reads of CronJobs, or its clock.
package mutation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"tutorial.kubebuilder.io/project/test/chaos/checker"
)

// Mutation is one way to break a law.
type Mutation struct {
	Name string

	// Laws are those of which the checker has to find at least one broken.
	Laws []checker.Law

	// Flags are those of the storm that shows it, beside those that all have.
	Flags []string

	// ClockStep is by how much the managers' clocks are wrong, without the history knowing it.
	ClockStep time.Duration

	// One of these is set, unless the clock is wrong. They carry out the creation of a Job or of an
	// event; change the patch of a status; change a line of what is read of CronJobs, or drop it.
	createJob   func(*exchange, *batchv1.Job) (*http.Response, error)
	createEvent func(*exchange, *eventsv1.Event) (*http.Response, error)
	patchStatus func(status map[string]any)
	read        func(line []byte) []byte
}

// Proxy returns a handler that carries out requests to an API server as the mutation has it.
func (m *Mutation) Proxy(config *rest.Config) (http.Handler, error) {
	api, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	upstream, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(api) },
		Transport:     &transport{m, upstream},
		FlushInterval: -1,
		// A connection that breaks is to break for the manager too.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}, nil
}

// transport carries out requests.
type transport struct {
	*Mutation
	upstream http.RoundTripper
}

// RoundTrip carries out a request, or what the mutation makes of it.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Accept-Encoding", "identity") // what is compressed could not be read on the way
	switch {
	case t.createJob != nil && isOf(r, http.MethodPost, "/jobs"):
		return carryOut(t.upstream, r, t.createJob)
	case t.createEvent != nil && isOf(r, http.MethodPost, "/events"):
		return carryOut(t.upstream, r, t.createEvent)
	case t.patchStatus != nil && isOf(r, http.MethodPatch, "/status"):
		e, err := newExchange(t.upstream, r)
		if err != nil {
			return nil, err
		}
		body, err := mutated(e.body, t.patchStatus)
		if err != nil {
			return nil, err
		}
		return e.sendBody(body, r.Header.Get("Content-Type"))
	}
	response, err := t.upstream.RoundTrip(r)
	if err == nil && t.read != nil && isOf(r, http.MethodGet, "/cronjobs") {
		response.Body = changed(response.Body, t.read)
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
	return response, err
}

// changed returns a body each line of which was changed.
func changed(body io.ReadCloser, change func([]byte) []byte) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		defer func() { _ = body.Close() }()
		for lines := bufio.NewReader(body); ; {
			line, err := lines.ReadBytes('\n')
			if _, writeErr := in.Write(change(line)); err == nil {
				err = writeErr
			}
			if err != nil {
				_ = in.CloseWithError(err)
				return
			}
		}
	}()
	return out
}

// exchange is a request that a mutation carries out.
type exchange struct {
	*http.Request
	upstream http.RoundTripper
	body     []byte
}

func newExchange(upstream http.RoundTripper, r *http.Request) (*exchange, error) {
	body, err := io.ReadAll(r.Body)
	return &exchange{r, upstream, body}, err
}

// carryOut decodes the object of a request for a mutation.
func carryOut[T any](upstream http.RoundTripper, r *http.Request, do func(*exchange, T) (*http.Response, error)) (*http.Response, error) {
	e, err := newExchange(upstream, r)
	if err != nil {
		return nil, err
	}
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(e.body, nil, nil)
	if err != nil {
		return nil, err
	}
	object, ok := decoded.(T)
	if !ok {
		return nil, errors.New("the body of " + r.URL.Path + " is something else")
	}
	return do(e, object)
}

// send sends the request as it is.
func (e *exchange) send() (*http.Response, error) {
	return e.sendBody(e.body, e.Header.Get("Content-Type"))
}

// sendObject sends the request with another object.
func (e *exchange) sendObject(object any) (*http.Response, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return e.sendBody(body, "application/json")
}

func (e *exchange) sendBody(body []byte, contentType string) (*http.Response, error) {
	r := e.Clone(e.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Type", contentType)
	return e.upstream.RoundTrip(r)
}

// deleteJob deletes a Job of the collection that the request is for.
func (e *exchange) deleteJob(name string) (*http.Response, error) {
	target := *e.URL
	target.Path += "/" + name
	target.RawQuery = "propagationPolicy=Background"
	r, err := http.NewRequest(http.MethodDelete, target.String(), http.NoBody) //nolint:noctx // it outlives the request
	if err != nil {
		return nil, err
	}
	return e.upstream.RoundTrip(r)
}

// discard closes a response that nobody reads.
func (e *exchange) discard(response *http.Response, err error) {
	if err == nil {
		_ = response.Body.Close()
	}
}

// fail answers in the place of the API server that something is refused.
func (e *exchange) fail(code int) (*http.Response, error) {
	return e.reply(code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), //nolint:gosec // an HTTP status
		Reason: metav1.StatusReasonForbidden, Message: strings.ToLower(http.StatusText(code)),
	})
}

// reply answers in the place of the API server.
func (e *exchange) reply(code int, object any) (*http.Response, error) {
	body, err := json.Marshal(object)
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: e.Request,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
	}, err
}
