// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
)

// auditLog is the API server's log of what the manager asked for. It is written before the answer
// is sent, so that it never lags behind what the answer caused.
type auditLog struct {
	dir string

	mu       sync.Mutex
	requests []request // as far as it was read
	offset   int64
}

func (l *auditLog) path() string { return filepath.Join(l.dir, "audit.log") }

// request is a request of the manager that was answered.
type request struct {
	Verb, Group, Resource, Namespace, Name string
	Code                                   int
	Message                                string
	Received                               time.Time

	// Admission says that it was asked by the webhooks, on behalf of whoever writes a CronJob:
	// whether a Job would be accepted, and whether there is a built-in CronJob of the same name.
	Admission bool
}

func (r request) String() string {
	return fmt.Sprintf("%s %s %s/%s: %d at %s", r.Verb, r.Resource, r.Namespace, r.Name, r.Code, r.Received.Format(time.StampMilli))
}

// auditEvent is what we read of a line of the log (audit.k8s.io/v1 Event).
type auditEvent struct {
	Stage      string `json:"stage"`
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	ObjectRef  struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
}

// read returns all requests so far, in the order of their answers. A watch counts when it begins.
func (l *auditLog) read() ([]request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := os.Open(l.path())
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.NewSectionReader(file, l.offset, math.MaxInt64-l.offset))
	if err != nil {
		return nil, err
	}
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1] // a line that is half written is another moment's
	l.offset += int64(len(raw))
	for line := range bytes.Lines(raw) {
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w: %s", err, line)
		}
		if isWatch := event.Verb == "watch"; isWatch == (event.Stage == "ResponseStarted") {
			l.requests = append(l.requests, event.request())
		}
	}
	return slices.Clip(l.requests), nil
}

// request returns what we want to know of the event.
func (e *auditEvent) request() request {
	r := request{
		Verb: e.Verb, Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, Message: e.ResponseStatus.Message, Received: e.RequestReceivedTimestamp,
		Admission: strings.Contains(e.RequestURI, "dryRun=") || e.ObjectRef.APIGroup == batchv1.GroupName && e.ObjectRef.Resource == "cronjobs",
	}
	if e.ObjectRef.Subresource != "" {
		r.Resource += "/" + e.ObjectRef.Subresource
	}
	return r
}

// in returns the requests about a namespace, or about no namespace when it is "", but for those of
// admission: they are the users' and not part of the budget of runs.
func (l *auditLog) in(t *testing.T, namespace string) []request {
	t.Helper()
	all, err := l.read()
	require.NoError(t, err)
	var found []request
	for _, r := range all {
		if r.Namespace == namespace && !r.Admission {
			found = append(found, r)
		}
	}
	return found
}

// count counts the requests about a namespace, by verb and resource.
func (l *auditLog) count(t *testing.T, namespace string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, r := range l.in(t, namespace) {
		counts[r.Verb+" "+r.Resource]++
	}
	return counts
}

// settle waits until the manager has had nothing to ask about a namespace for a while.
func (l *auditLog) settle(t *testing.T, namespace string) {
	t.Helper()
	const calm = 2 * time.Second
	last, since := len(l.in(t, namespace)), time.Now()
	require.Eventually(t, func() bool {
		if now := len(l.in(t, namespace)); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) >= calm
	}, patience, glance, "the manager goes on and on about namespace %s", namespace)
}

// requireSilence checks that the manager asks nothing about a namespace for some time.
func (l *auditLog) requireSilence(t *testing.T, namespace string, span time.Duration) {
	t.Helper()
	before := l.in(t, namespace)
	assert.Never(t, func() bool { return len(l.in(t, namespace)) > len(before) }, span, span/10)
	if after := l.in(t, namespace); len(after) > len(before) {
		require.Fail(t, "the manager was not silent", "%v", after[len(before):])
	}
}
