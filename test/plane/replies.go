// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Reply returns an answer to a request, in place of the API server's.
func Reply(r *http.Request, code int, object any) (*http.Response, error) {
	body, err := json.Marshal(object)
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
	}, err
}

// Refuse returns an error as the answer to a request, in place of the API server's.
func Refuse(r *http.Request, refused apierrors.APIStatus) (*http.Response, error) {
	status := refused.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	response, err := Reply(r, int(status.Code), status)
	if details := status.Details; details != nil && details.RetryAfterSeconds > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(int(details.RetryAfterSeconds)))
	}
	return response, err
}

// Decode decodes an object of a built-in type from JSON or protobuf.
func Decode[T runtime.Object](body []byte) (object T, err error) {
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return object, err
	}
	object, ok := decoded.(T)
	if !ok {
		return object, fmt.Errorf("decoded a %T: want a %T", decoded, object)
	}
	return object, nil
}
