// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"net/http"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"tutorial.kubebuilder.io/project/internal/webhook/logs"
)

// What an answer may have. The values of a request come back in its messages, and only the schema,
// which the API server checks, bounds them.
const (
	maxMessage = 16 << 10  // bytes of the message for all mistakes
	maxDetail  = 1 << 10   // bytes of the message for one, and of a warning
	maxDetails = 100       // mistakes, and warnings
	maxAnswer  = 256 << 10 // bytes of all
)

// serve makes an HTTP handler of a webhook. What the webhook answers and logs is bounded.
func serve(handler admission.Handler) http.Handler {
	return shortAnswers{&admission.Webhook{
		Handler: shortMessages{handler}, RecoverPanic: new(true),
		LogConstructor: func(base logr.Logger, req *admission.Request) logr.Logger {
			return admission.DefaultLogConstructor(logs.Bound(base), req)
		},
	}}
}

// shortMessages shortens the messages of a webhook.
type shortMessages struct{ admission.Handler }

// Handle answers as the webhook does.
func (h shortMessages) Handle(ctx context.Context, req admission.Request) admission.Response {
	resp := h.Handler.Handle(ctx, req)
	resp.Warnings = resp.Warnings[:min(len(resp.Warnings), maxDetails)]
	for i, warning := range resp.Warnings {
		resp.Warnings[i] = logs.Shorten(warning, maxDetail)
	}
	if resp.Result == nil {
		return resp
	}
	resp.Result.Message = logs.Shorten(resp.Result.Message, maxMessage)
	if details := resp.Result.Details; details != nil {
		details.Name = logs.Shorten(details.Name, maxDetail)
		details.Causes = details.Causes[:min(len(details.Causes), maxDetails)]
		for i := range details.Causes {
			cause := &details.Causes[i]
			cause.Message, cause.Field = logs.Shorten(cause.Message, maxDetail), logs.Shorten(cause.Field, maxDetail)
		}
	}
	return resp
}

// shortAnswers keeps a webhook from sending a long answer: one that says that a request can't be
// decoded repeats parts of it.
type shortAnswers struct{ http.Handler }

// ServeHTTP answers as the webhook does.
func (h shortAnswers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.Handler.ServeHTTP(shortWriter{w}, r)
}

// shortWriter refuses a request of which the answer, which is written at once, is long.
type shortWriter struct{ http.ResponseWriter }

// Write writes the answer.
func (w shortWriter) Write(answer []byte) (int, error) {
	if len(answer) > maxAnswer {
		http.Error(w.ResponseWriter, "the AdmissionReview has wrong or missing values that are too long to be repeated", http.StatusBadRequest)
		return len(answer), nil
	}
	return w.ResponseWriter.Write(answer)
}
