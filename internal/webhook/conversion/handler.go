/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Package conversion serves the API server's requests to convert objects from one version to another.
package conversion

import (
	"encoding/json"
	"fmt"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Path is where the handler is served.
const Path = "/convert"

// Convert converts one object, as JSON, to an API version.
type Convert func(object []byte, apiVersion string) ([]byte, error)

// Handler answers ConversionReviews. In place of controller-runtime's handler, which decodes each
// object into its Go type and encodes another, it hands the JSON on as it is: objects keep all that
// a conversion has no business with, and one that would not decode does not fail a list of others.
type Handler struct {
	Convert Convert
}

// ServeHTTP answers one review. What is no review gets a client error; a review always gets an
// answer of status 200, as the API server expects, that says whether it could be done.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	log := ctrl.LoggerFrom(r.Context()).WithName("conversion")
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, fmt.Sprintf("reading the ConversionReview: %v", err), http.StatusBadRequest)
		return
	}
	if review.Request == nil {
		http.Error(w, "the ConversionReview has no request", http.StatusBadRequest)
		return
	}
	review.Response = h.answer(review.Request)
	if review.Response.Result.Status != metav1.StatusSuccess {
		log.Info("Could not convert", "uid", review.Request.UID, "reason", review.Response.Result.Message)
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		log.V(1).Info("Could not answer a conversion request", "uid", review.Response.UID, "reason", err.Error())
	}
}

// answer converts the objects of a request, all or none.
func (h Handler) answer(request *apiextensionsv1.ConversionRequest) *apiextensionsv1.ConversionResponse {
	response := &apiextensionsv1.ConversionResponse{
		UID:              request.UID,
		ConvertedObjects: make([]runtime.RawExtension, 0, len(request.Objects)),
		Result:           metav1.Status{Status: metav1.StatusSuccess},
	}
	for i, object := range request.Objects {
		converted, err := h.Convert(object.Raw, request.DesiredAPIVersion)
		if err != nil {
			response.ConvertedObjects = nil
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: fmt.Sprintf("object %d: %v", i, err)}
			return response
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: converted})
	}
	return response
}
