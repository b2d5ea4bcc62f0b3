// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package conversion serves the conversion webhook.
package conversion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion/metrics"

	"tutorial.kubebuilder.io/project/internal/shorten"
	"tutorial.kubebuilder.io/project/internal/webhook/logs"
)

// Path is where the handler is served.
const Path = "/convert"

// Convert converts one object, as JSON, to an API version.
type Convert func(object []byte, apiVersion string) ([]byte, error)

// Handler answers ConversionReviews. It passes JSON to Convert. controller-runtime's handler
// decodes each object into its Go type and encodes another: that changes fields which have nothing
// to do with the conversion, and one object that can't be decoded fails a whole list.
//
// The API server requests a conversion for each write of a CronJob, because its watch caches hold
// each served version. So performance matters: a review is parsed once, and converted objects are
// written without parsing them again.
type Handler struct {
	Convert Convert
}

// review is a ConversionReview of apiextensions.k8s.io/v1 with a request.
type review struct {
	metav1.TypeMeta
	Request *request `json:"request"`
}

type request struct {
	UID               types.UID        `json:"uid"`
	DesiredAPIVersion string           `json:"desiredAPIVersion"`
	Objects           []jsontext.Value `json:"objects"`
}

// ServeHTTP answers one review. A body that is not a review gets a client error. A review always
// gets status 200, as the API server expects; the answer says whether the conversion failed.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, err := readReview(r)
	if err != nil {
		http.Error(w, shorten.Text(err.Error(), maxMessage), statusOf(err))
		return
	}
	objects, err := h.convert(r.Context(), asked.Request)
	if err != nil {
		logger(r).Info("Could not convert", "uid", asked.Request.UID, "reason", err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(answer(asked, objects, err)); err != nil {
		logger(r).V(1).Info("Could not answer a conversion request", "uid", asked.Request.UID, "reason", err.Error())
	}
}

// logger returns the logger of a request. Most need none.
func logger(r *http.Request) logr.Logger {
	return logs.Bound(ctrl.LoggerFrom(r.Context()).WithName("conversion"))
}

// maxMessage limits an error message, in bytes: it may repeat values of the request.
const maxMessage = 1 << 10

// maxPreallocation limits what is allocated for a body because of its Content-Length, in bytes. It
// is the longest body that the server accepts.
const maxPreallocation = 8 << 20

// lenient makes jsonv2 accept what encoding/json does, in less time.
var lenient = jsonv2.JoinOptions(
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsonv2.MatchCaseInsensitiveNames(true))

func readReview(r *http.Request) (*review, error) {
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), maxPreallocation)) + bytes.MinRead) // ReadFrom needs MinRead bytes to find the end
	if _, err := io.Copy(&body, r.Body); err != nil {
		return nil, fmt.Errorf("reading the ConversionReview: %w", err)
	}
	asked := &review{}
	if err := jsonv2.Unmarshal(body.Bytes(), asked, lenient); err != nil {
		return nil, fmt.Errorf("reading the ConversionReview: %w", err)
	}
	if asked.Request == nil {
		return nil, errors.New("the ConversionReview has no request")
	}
	return asked, nil
}

func statusOf(err error) int {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// errPanicked is the error of a conversion that panicked. Only the log has the panic's value, which
// may be long.
var errPanicked = errors.New("the conversion panicked: the log of the manager has the stack")

// convert converts the objects of a request, all or none. It counts, logs and recovers from a
// panic, as controller-runtime's handler does.
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

// success is the result of a conversion that has not failed.
var success = encode(metav1.Status{Status: metav1.StatusSuccess})

// answer returns the answer to a review: the converted objects, or the error. It joins bytes,
// because encoding/json would parse each object again.
func answer(asked *review, converted [][]byte, failure error) []byte {
	result := success
	if failure != nil {
		result = encode(metav1.Status{Status: metav1.StatusFailure, Message: shorten.Text(failure.Error(), maxMessage)})
	}
	parts := [][]byte{
		[]byte(`{"kind":`), encode(asked.Kind), []byte(`,"apiVersion":`), encode(asked.APIVersion),
		[]byte(`,"response":{"uid":`), encode(asked.Request.UID), []byte(`,"convertedObjects":[`),
	}
	for i, object := range converted {
		parts = append(parts, []byte(",")[:min(i, 1)], object)
	}
	return bytes.Join(append(parts, []byte(`],"result":`), result, []byte("}}\n")), nil)
}

// encode returns a value as JSON. It panics if JSON can't express the value.
func encode(value any) []byte {
	raw, err := json.Marshal(value)
	utilruntime.Must(err)
	return raw
}
