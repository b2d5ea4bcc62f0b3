// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package conversion serves the API server's requests to convert objects from one version to
// another.
package conversion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion/metrics"

	"tutorial.kubebuilder.io/project/internal/webhook/logs"
)

// Path is where the handler is served.
const Path = "/convert"

// Convert converts one object, as JSON, to an API version.
type Convert func(object []byte, apiVersion string) ([]byte, error)

// Handler answers ConversionReviews. In place of controller-runtime's handler, which decodes each
// object into its Go type and encodes another, it hands the JSON on as it is: objects keep all that
// a conversion has no business with, and one that would not decode does not fail a list of others.
//
// The API server asks for a conversion with each write of a CronJob, as it keeps all of them in
// each version that it serves. So a review is read once, and what was converted is not read again
// to be written.
type Handler struct {
	Convert Convert
}

// review is a ConversionReview of apiextensions.k8s.io/v1, as it is asked.
type review struct {
	metav1.TypeMeta
	Request *request `json:"request"`
}

// request is what it asks for.
type request struct {
	UID               types.UID         `json:"uid"`
	DesiredAPIVersion string            `json:"desiredAPIVersion"`
	Objects           []json.RawMessage `json:"objects"`
}

// ServeHTTP answers one review. What is no review gets a client error; a review always gets an
// answer of status 200, as the API server expects, that says whether it could be done.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	log := logs.Bound(ctrl.LoggerFrom(r.Context()).WithName("conversion"))
	asked, err := readReview(r)
	if err != nil {
		http.Error(w, logs.Shorten(err.Error(), maxMessage), statusOf(err))
		return
	}
	objects, err := h.convert(r.Context(), asked.Request)
	if err != nil {
		log.Info("Could not convert", "uid", asked.Request.UID, "reason", err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(answer(asked, objects, err)); err != nil {
		log.V(1).Info("Could not answer a conversion request", "uid", asked.Request.UID, "reason", err.Error())
	}
}

// maxMessage is how many bytes a message has at most: the values of a request come back in it.
const maxMessage = 1 << 10

// maxPreallocation is how many bytes are allocated for a body because its sender says that it is as
// long. It is all that a body may have: the server has counted them before.
const maxPreallocation = 8 << 20

// readReview reads what is asked.
func readReview(r *http.Request) (*review, error) {
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), maxPreallocation)) + bytes.MinRead) // so that it need not grow to find the end
	if _, err := io.Copy(&body, r.Body); err != nil {
		return nil, fmt.Errorf("reading the ConversionReview: %w", err)
	}
	asked := &review{}
	if err := json.Unmarshal(body.Bytes(), asked); err != nil {
		return nil, fmt.Errorf("reading the ConversionReview: %w", err)
	}
	if asked.Request == nil {
		return nil, errors.New("the ConversionReview has no request")
	}
	return asked, nil
}

// statusOf returns the HTTP status of what can't be read.
func statusOf(err error) int {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// errPanicked answers a conversion that panicked. The value of the panic is left to the log, as it
// may be long.
var errPanicked = errors.New("the conversion panicked: the log of the manager has the stack")

// convert converts the objects of a request, all or none. A panic is counted, logged and answered
// as controller-runtime's handler does it.
func (h Handler) convert(ctx context.Context, asked *request) (converted [][]byte, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			metrics.WebhookPanics.WithLabelValues().Inc()
			for _, handle := range utilruntime.PanicHandlers {
				handle(ctx, panicked)
			}
			converted, err = nil, errPanicked
		}
	}()
	converted = make([][]byte, 0, len(asked.Objects))
	for i, object := range asked.Objects {
		object, err := h.Convert(object, asked.DesiredAPIVersion)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i, err)
		}
		converted = append(converted, object)
	}
	return converted, nil
}

// answer returns the answer to a review: its objects converted, or why they could not be. It is put
// together, as encoding/json would go over each object once more.
func answer(asked *review, converted [][]byte, failure error) []byte {
	result := metav1.Status{Status: metav1.StatusSuccess}
	if failure != nil {
		result = metav1.Status{Status: metav1.StatusFailure, Message: logs.Shorten(failure.Error(), maxMessage)}
	}
	return bytes.Join([][]byte{
		[]byte(`{"kind":`), encode(asked.Kind), []byte(`,"apiVersion":`), encode(asked.APIVersion),
		[]byte(`,"response":{"uid":`), encode(asked.Request.UID),
		[]byte(`,"convertedObjects":[`), bytes.Join(converted, []byte(",")),
		[]byte(`],"result":`), encode(result), []byte("}}\n"),
	}, nil)
}

// encode returns a value, which JSON can tell, as JSON.
func encode(value any) []byte {
	raw, err := json.Marshal(value)
	utilruntime.Must(err)
	return raw
}
