// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// mendable allows updates of a stored CronJob that can't be decoded because a field has a wrong
// type. While the field is wrong, it allows all that the schema does, such as new labels. An update
// that corrects the field is validated like one of a CronJob with an empty spec.
type mendable struct{ admission.Handler }

func newMendable(scheme *runtime.Scheme, v validator) mendable {
	return mendable{admission.WithValidator[*v1.CronJob](scheme, v).Handler}
}

// Handle answers a request.
func (m mendable) Handle(ctx context.Context, req admission.Request) admission.Response {
	response := m.Handler.Handle(ctx, req)
	isUndecoded := !response.Allowed && response.Result != nil && response.Result.Code == http.StatusBadRequest
	if !isUndecoded || req.Operation != admissionv1.Update || decode(req.OldObject.Raw) == nil {
		return response
	}
	if err := decode(req.Object.Raw); err != nil {
		return admission.Allowed("").WithWarnings("starts no Job until this is corrected: " + err.Error())
	}
	req.OldObject.Raw = []byte(`{}`)
	return m.Handler.Handle(ctx, req)
}

// decode returns why a CronJob can't be decoded; nil if it can be.
func decode(raw []byte) error {
	return json.Unmarshal(raw, &v1.CronJob{})
}
