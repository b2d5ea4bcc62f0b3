// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const defaulterPath = "/mutate-batch-tutorial-kubebuilder-io-v1-cronjob"

// Requests for v2 come here too: the API server converts them first (matchPolicy Equivalent).

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,matchPolicy=Equivalent,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=mcronjob-v1.kb.io,admissionReviewVersions=v1,timeoutSeconds=10,patch=`{"matchConditions":[{"name":"not-being-deleted","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp)"}]}`

// defaulter sets the defaults of a CronJob, drops annotations that keep a schedule from before an
// edit, and writes down when the spec was edited.
//
// controller-runtime's defaulter would also patch fields that Go encodes differently: it adds
// resources: {}, and writes "1" for "1000m". The stored CronJob would then differ from the one in
// Git. It would also decode, encode and compare the template, which is most of a CronJob.
//
// An update that leaves the spec as it is gets no defaults. The API server refuses mistakes in a
// stored spec only if the spec changes, so labels and finalizers of such a CronJob can be edited.
type defaulter struct{ clock clock.PassiveClock }

// Handle answers with a patch that sets the defaults. It allows fields of a wrong type: the API
// server checks the schema next, and names the field.
func (d defaulter) Handle(_ context.Context, req admission.Request) admission.Response {
	if req.Operation == admissionv1.Delete {
		return admission.Allowed("")
	}
	c, old := &partialCronJob{}, &partialCronJob{}
	if err := kjson.Unmarshal(req.Object.Raw, c); err != nil {
		return admission.Allowed("")
	}
	if err := kjson.Unmarshal(req.OldObject.Raw, old); err != nil && req.Operation == admissionv1.Update {
		// Nothing ran, so all that it says is new: also a template that is left out.
		old.Spec, old.Metadata.Annotations = &partialSpec{JobTemplate: undecoded{req.OldObject.Raw}}, nil
	}
	before, err := json.Marshal(c)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	c.setDefaults(old)
	if req.Operation == admissionv1.Update {
		c.stamp(old, d.clock.Now())
	} else {
		delete(c.Metadata.Annotations, v1.EditedAnnotation)
	}
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
		Generation  int64             `json:"generation,omitempty"`
	} `json:"metadata"`

	// Spec is nil if there is none: the patch then adds a whole spec.
	Spec *partialSpec `json:"spec,omitempty"`
}

// partialSpec is a spec whose template is not decoded.
type partialSpec struct {
	v1.CronJobSpec `json:",inline"`

	// JobTemplate shadows that of the CronJobSpec.
	JobTemplate undecoded `json:"jobTemplate,omitzero"`
}

// undecoded is any JSON. It is never encoded.
type undecoded struct{ Raw []byte }

// UnmarshalJSON implements json.Unmarshaler.
func (u *undecoded) UnmarshalJSON(raw []byte) error {
	u.Raw = bytes.Clone(raw)
	return nil
}

// IsZero leaves it out of the encoding.
func (undecoded) IsZero() bool { return true }

// cronJob returns a CronJob with these fields.
func (p *partialCronJob) cronJob() *v1.CronJob {
	if p.Spec == nil {
		p.Spec = &partialSpec{}
	}
	return &v1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Annotations: p.Metadata.Annotations, Generation: p.Metadata.Generation}, Spec: p.Spec.CronJobSpec,
	}
}

// setDefaults sets the defaults if the spec was edited, and drops the annotations of another
// schedule.
func (p *partialCronJob) setDefaults(old *partialCronJob) {
	c := p.cronJob()
	if old.Spec == nil || !equality.Semantic.DeepEqual(old.Spec.CronJobSpec, p.Spec.CronJobSpec) {
		c.Default()
	}
	batch.DropStaleSchedules(c)
	p.Metadata.Annotations, p.Spec.CronJobSpec = c.Annotations, c.Spec
}

// stamp writes down when the spec was edited. Nobody else can: what the request has in that place
// does not count, so a manifest that was read from a cluster makes no difference. Where the
// annotations have no room for it, the edit counts from when the controller sees it.
func (p *partialCronJob) stamp(old *partialCronJob, now time.Time) {
	before := old.cronJob()
	value := plan.Stamp(before, p.cronJob(), !bytes.Equal(old.Spec.JobTemplate.Raw, p.Spec.JobTemplate.Raw), now)
	delete(p.Metadata.Annotations, v1.EditedAnnotation)
	stamped := map[string]string{v1.EditedAnnotation: value}
	maps.Copy(stamped, p.Metadata.Annotations)
	if value != "" && apivalidation.ValidateAnnotationsSize(stamped) == nil {
		p.Metadata.Annotations = stamped
	}
}
