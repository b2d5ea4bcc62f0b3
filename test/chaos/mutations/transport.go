// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutations breaks laws on purpose, to show that the checker can fail. It does not change
// the operator's code: a mutation changes the manager's requests on their way to the API server,
// what it reads of CronJobs, or its clock.
package mutations

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/plane"
)

// Mutation is a way to break a law.
type Mutation struct {
	Name      string
	Law       checker.Law   // that the checker must report
	Flags     []string      // further flags of the storm that shows it
	ClockStep time.Duration // an error of the managers' clocks that is not in the history

	// One of these is set, unless the clock is wrong. They handle the creation of a Job or of an
	// event, change the patch of a status, or change or drop a line of what is read of CronJobs.
	createJob   func(*exchange, *batchv1.Job) (*http.Response, error)
	createEvent func(*exchange, *eventsv1.Event) (*http.Response, error)
	patchStatus func(status map[string]any)
	read        func(line []byte) []byte
}

// Mutate wraps a transport.
func (m *Mutation) Mutate(upstream http.RoundTripper) http.RoundTripper {
	return &transport{Mutation: m, upstream: upstream}
}

type transport struct {
	*Mutation
	upstream http.RoundTripper
	refused  sync.Map // the CronJobs that had a Job refused
}

// RoundTrip sends a request, as the mutation changes it.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case t.createJob != nil && isOf(r, http.MethodPost, "/jobs"):
		return carryOut(t, r, t.createJob)
	case t.createEvent != nil && isOf(r, http.MethodPost, "/events"):
		return carryOut(t, r, t.createEvent)
	case t.patchStatus != nil && isOf(r, http.MethodPatch, "/status"):
		return t.patch(r)
	}
	response, err := t.upstream.RoundTrip(r)
	if err == nil && t.read != nil && isOf(r, http.MethodGet, "/cronjobs") {
		response.Body = changed(response.Body, t.read)
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
	return response, err
}

// isOf reports whether a request is for a collection or a member of it, by the end of its path.
func isOf(r *http.Request, method, suffix string) bool {
	return r.Method == method && strings.HasSuffix(r.URL.Path, suffix) && !r.URL.Query().Has("dryRun")
}

func (t *transport) patch(r *http.Request) (*http.Response, error) {
	var patch map[string]any
	if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
		return nil, err
	}
	if status, ok := patch["status"].(map[string]any); ok {
		t.patchStatus(status)
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	e := &exchange{r, t, body}
	return e.send()
}

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

type exchange struct {
	*http.Request
	*transport
	body []byte
}

// carryOut decodes the object of a request for a mutation.
func carryOut[T runtime.Object](t *transport, r *http.Request, do func(*exchange, T) (*http.Response, error)) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	object, err := plane.Decode[T](body)
	if err != nil {
		return nil, fmt.Errorf("the body for %s: %w", r.URL.Path, err)
	}
	return do(&exchange{r, t, body}, object)
}

func (e *exchange) send() (*http.Response, error) {
	r := e.Clone(e.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(e.body)), int64(len(e.body))
	return e.upstream.RoundTrip(r)
}

func (e *exchange) sendObject(object any) (*http.Response, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	other := &exchange{e.Clone(e.Context()), e.transport, body}
	other.Header.Set("Content-Type", "application/json")
	return other.send()
}

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

func discard(response *http.Response, err error) {
	if err == nil {
		_ = response.Body.Close()
	}
}
