// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"encoding/json"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// defaulterPath is where the API server asks for the defaults.
const defaulterPath = "/mutate-batch-tutorial-kubebuilder-io-v1-cronjob"

// Requests for v2 come here too: the API server converts them first (matchPolicy Equivalent).

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,matchPolicy=Equivalent,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=mcronjob-v1.kb.io,admissionReviewVersions=v1,timeoutSeconds=10

// defaulter fills in what a CronJob leaves out, and drops the annotations that keep a schedule the
// CronJob no longer has.
//
// controller-runtime's own would also write what Go makes of the rest: resources: {} for none, and
// "1" for "1000m". What is in Git would then differ from what is stored. And it would read, write
// and compare the template, which is most of a CronJob.
type defaulter struct{}

// Handle answers with the changes of the defaults alone. What has the wrong type is for the schema
// to refuse, at its field: the API server asks it next.
func (defaulter) Handle(_ context.Context, req admission.Request) admission.Response {
	if req.Operation == admissionv1.Delete {
		return admission.Allowed("")
	}
	c := &partialCronJob{}
	if err := kjson.Unmarshal(req.Object.Raw, c); err != nil {
		return admission.Allowed("")
	}
	before, err := json.Marshal(c)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	c.setDefaults()
	after, err := json.Marshal(c)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(before, after)
}

// partialCronJob is what the defaults are about.
type partialCronJob struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations,omitempty"`
	} `json:"metadata"`

	// Spec is nil if there is none: then all of it is to be added, and otherwise only what it
	// leaves out.
	Spec *partialSpec `json:"spec,omitempty"`
}

// partialSpec is a spec without its template.
type partialSpec struct {
	v1.CronJobSpec `json:",inline"`

	// JobTemplate hides that of the CronJobSpec.
	JobTemplate unread `json:"jobTemplate,omitzero"`
}

// unread takes any JSON, and keeps nothing.
type unread struct{}

// UnmarshalJSON takes it.
func (*unread) UnmarshalJSON([]byte) error { return nil }

// setDefaults sets those of the CronJob of which this is a part.
func (p *partialCronJob) setDefaults() {
	if p.Spec == nil {
		p.Spec = &partialSpec{}
	}
	c := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{Annotations: p.Metadata.Annotations}, Spec: p.Spec.CronJobSpec}
	setDefaults(c)
	p.Metadata.Annotations, p.Spec.CronJobSpec = c.Annotations, c.Spec
}

// setDefaults sets the defaults, and drops the annotations of another schedule.
func setDefaults(c *v1.CronJob) {
	c.Default()
	v2.DropStaleSchedule(c)
}
