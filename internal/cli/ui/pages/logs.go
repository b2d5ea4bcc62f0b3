// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/run"
)

// maxLogBytes limits the log on a page.
const maxLogBytes = 4 << 20

var errLogTooLong = errors.New("the page has no room for more of the log: kubectl logs shows all")

// logOf is the data of a log's page. Problem is why the log ends before the Job.
type logOf struct{ Namespace, Name, Problem string }

// logs serves the log of a Job's Pods. The page is sent as the Pods write, so it needs no script:
// its end is the end of the log.
func (s *Site) logs(w http.ResponseWriter, r *http.Request) {
	content := logOf{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	key, job := client.ObjectKey{Namespace: content.Namespace, Name: r.PathValue("job")}, &batchv1.Job{}
	page := s.build(r, func(r *http.Request) (view, error) {
		return view{Title: "Log of " + key.String(), Page: "logs", Content: content}, s.Cluster.Get(r.Context(), key, job)
	})
	if page.Page != "logs" {
		s.write(w, page, "layout")
		return
	}
	s.write(w, page, "logs-begin")
	ctx, stop := context.WithCancelCause(r.Context())
	defer stop(nil)
	log := &logWriter{to: w, control: http.NewResponseController(w), stop: stop}
	_ = log.control.Flush() // the log may come late
	e := *s.Env
	e.IOStreams = genericiooptions.IOStreams{In: s.Env.In, Out: log, ErrOut: log}
	err := run.Logs(ctx, &e, job, run.LogOptions{Follow: true})
	switch cause := context.Cause(ctx); {
	case r.Context().Err() != nil:
		return
	case cause != nil:
		err = cause
	}
	var exit *env.ExitError
	if err != nil && !errors.As(err, &exit) {
		content.Problem = err.Error()
	}
	page.Content = content
	if text, err := render(page, "logs-end"); err == nil {
		_, _ = w.Write(text) //nolint:gosec // html/template has escaped it
	}
}

const (
	// endLines is how many lines of each container the page of a CronJob shows, and maxEndBytes
	// limits them.
	endLines    = 20
	maxEndBytes = 16 << 10
)

// endOfLog returns the end of the log of a Job's Pods, or the error.
func (s *Site) endOfLog(ctx context.Context, key client.ObjectKey) string {
	job, text, e := &batchv1.Job{}, &strings.Builder{}, *s.Env
	err := s.Cluster.Get(ctx, key, job)
	if err == nil {
		e.IOStreams = genericiooptions.IOStreams{In: s.Env.In, Out: text, ErrOut: text}
		err = run.Logs(ctx, &e, job, run.LogOptions{Tail: new(int64(endLines))})
	}
	if text.Len() == 0 && err != nil {
		return err.Error()
	}
	return text.String()[max(0, text.Len()-maxEndBytes):]
}

// logWriter writes a log into a page, as text.
type logWriter struct {
	mu      sync.Mutex
	to      http.ResponseWriter
	control *http.ResponseController
	written int
	stop    context.CancelCauseFunc
}

// Write writes and flushes. It stops the log if the browser has gone or the log is too long.
func (l *logWriter) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written += len(text); l.written > maxLogBytes {
		l.stop(errLogTooLong)
		return 0, errLogTooLong
	}
	template.HTMLEscape(l.to, text)
	if err := l.control.Flush(); err != nil {
		l.stop(fmt.Errorf("sending the log: %w", err))
		return 0, err
	}
	return len(text), nil
}
