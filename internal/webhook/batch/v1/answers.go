// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"tutorial.kubebuilder.io/project/internal/shorten"
	"tutorial.kubebuilder.io/project/internal/webhook/logs"
)

// Limits of an answer. Its messages repeat values of the request, which may be long: only the API
// server checks the schema, and others may send requests too.
const (
	maxMessage = 16 << 10  // bytes of the message with all errors
	maxDetail  = 1 << 10   // bytes of one error or warning
	maxDetails = 100       // errors, and warnings
	maxAnswer  = 256 << 10 // bytes of the answer
)

// serve makes an HTTP handler of a webhook, with limits on what it answers and logs.
func serve(handler admission.Handler) http.Handler {
	return inTime(shortAnswers{&admission.Webhook{
		Handler: shortMessages{handler}, RecoverPanic: new(true),
		LogConstructor: func(base logr.Logger, req *admission.Request) logr.Logger {
			return admission.DefaultLogConstructor(logs.Bound(base), req)
		},
	}})
}

// inTime ends the work on a request before the API server stops waiting for the answer. The API
// server says in the URL how long it waits: the webhook's timeoutSeconds, or less.
func inTime(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if timeout, err := time.ParseDuration(r.URL.Query().Get("timeout")); err == nil {
			ctx, cancel := context.WithTimeout(r.Context(), timeout/5*4)
			defer cancel()
			r = r.WithContext(ctx)
		}
		handler.ServeHTTP(w, r)
	})
}

// shortMessages shortens the messages of a webhook.
type shortMessages struct{ admission.Handler }

// Handle implements admission.Handler.
func (h shortMessages) Handle(ctx context.Context, req admission.Request) admission.Response {
	resp := h.Handler.Handle(ctx, req)
	resp.Warnings = resp.Warnings[:min(len(resp.Warnings), maxDetails)]
	for i, warning := range resp.Warnings {
		resp.Warnings[i] = shorten.Text(warning, maxDetail)
	}
	if resp.Result == nil {
		return resp
	}
	resp.Result.Message = shorten.Text(resp.Result.Message, maxMessage)
	if details := resp.Result.Details; details != nil {
		details.Name = shorten.Text(details.Name, maxDetail)
		details.Causes = details.Causes[:min(len(details.Causes), maxDetails)]
		for i := range details.Causes {
			cause := &details.Causes[i]
			cause.Message, cause.Field = shorten.Text(cause.Message, maxDetail), shorten.Text(cause.Field, maxDetail)
		}
	}
	return resp
}

// shortAnswers prevents long answers of a webhook: an answer that says that a request can't be
// decoded repeats parts of the request.
type shortAnswers struct{ http.Handler }

// ServeHTTP implements http.Handler.
func (h shortAnswers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.Handler.ServeHTTP(shortWriter{w}, r)
}

// shortWriter replaces a long answer by an error. It relies on the answer being one Write.
type shortWriter struct{ http.ResponseWriter }

// Write implements io.Writer.
func (w shortWriter) Write(answer []byte) (int, error) {
	if len(answer) > maxAnswer {
		http.Error(w.ResponseWriter, "the AdmissionReview has wrong or missing values that are too long to be repeated", http.StatusBadRequest)
		return len(answer), nil
	}
	return w.ResponseWriter.Write(answer)
}
