// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"encoding/json"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// defaulterPath is the path of the mutating webhook.
const defaulterPath = "/mutate-batch-tutorial-kubebuilder-io-v1-cronjob"

// Requests for v2 come here too: the API server converts them first (matchPolicy Equivalent).

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,matchPolicy=Equivalent,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=mcronjob-v1.kb.io,admissionReviewVersions=v1,timeoutSeconds=10

// defaulter sets the defaults of a CronJob, and drops annotations that keep a schedule from before
// an edit.
//
// controller-runtime's defaulter would also patch fields that Go encodes differently: it adds
// resources: {}, and writes "1" for "1000m". The stored CronJob would then differ from the one in
// Git. It would also decode, encode and compare the template, which is most of a CronJob.
//
// An update that leaves the spec as it is gets no defaults. The API server refuses mistakes in a
// stored spec only if the spec changes, so labels and finalizers of such a CronJob can be edited.
type defaulter struct{}

// Handle answers with a patch that sets the defaults. It allows fields of a wrong type: the API
// server checks the schema next, and names the field.
func (defaulter) Handle(_ context.Context, req admission.Request) admission.Response {
	if req.Operation == admissionv1.Delete {
		return admission.Allowed("")
	}
	c, old := &partialCronJob{}, &partialCronJob{}
	if err := kjson.Unmarshal(req.Object.Raw, c); err != nil {
		return admission.Allowed("")
	}
	_ = kjson.Unmarshal(req.OldObject.Raw, old) // fails if there is none
	before, err := json.Marshal(c)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	c.setDefaults(old)
	after, err := json.Marshal(c)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(before, after)
}

// partialCronJob has the fields of a CronJob that the defaulter changes.
type partialCronJob struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations,omitempty"`
	} `json:"metadata"`

	// Spec is nil if there is none: the patch then adds a whole spec.
	Spec *partialSpec `json:"spec,omitempty"`
}

// partialSpec is a spec without its template.
type partialSpec struct {
	v1.CronJobSpec `json:",inline"`

	// JobTemplate shadows that of the CronJobSpec.
	JobTemplate unread `json:"jobTemplate,omitzero"`
}

// unread accepts any JSON, and keeps nothing.
type unread struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*unread) UnmarshalJSON([]byte) error { return nil }

// setDefaults sets the defaults if the spec was edited, and drops the annotations of another
// schedule.
func (p *partialCronJob) setDefaults(old *partialCronJob) {
	if p.Spec == nil {
		p.Spec = &partialSpec{}
	}
	c := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{Annotations: p.Metadata.Annotations}, Spec: p.Spec.CronJobSpec}
	if !equality.Semantic.DeepEqual(old.Spec, p.Spec) {
		c.Default()
	}
	v2.DropStaleSchedule(c)
	p.Metadata.Annotations, p.Spec.CronJobSpec = c.Annotations, c.Spec
}
