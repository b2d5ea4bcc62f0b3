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

// Package v1 serves the admission webhooks of CronJobs, which see every version as the hub.
package v1

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// SetupWebhookWithManager registers the defaulter and the validator with the manager's webhook server.
func SetupWebhookWithManager(mgr ctrl.Manager) error {
	handler := &admission.Webhook{Handler: defaulter{decoder: admission.NewDecoder(mgr.GetScheme())}, RecoverPanic: new(true)}
	mgr.GetWebhookServer().Register(defaulterPath, handler)
	return ctrl.NewWebhookManagedBy(mgr, &v1.CronJob{}).
		WithValidator(validator{}).
		Complete()
}

// defaulterPath is where the API server asks for the defaults.
const defaulterPath = "/mutate-batch-tutorial-kubebuilder-io-v1-cronjob"

// Requests for v2 come here too: the API server converts them first (matchPolicy Equivalent).

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,matchPolicy=Equivalent,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=mcronjob-v1.kb.io,admissionReviewVersions=v1,timeoutSeconds=10

// defaulter fills in what a CronJob leaves out, and drops the annotations that keep a schedule the CronJob
// no longer has.
//
// controller-runtime's own would also write what Go makes of the rest: resources: {} for none, and "1" for
// "1000m". What is in Git would then differ from what is stored.
type defaulter struct{ decoder admission.Decoder }

// Handle answers with the changes of the defaults alone.
func (d defaulter) Handle(_ context.Context, req admission.Request) admission.Response {
	if req.Operation == admissionv1.Delete {
		return admission.Allowed("")
	}
	c := &v1.CronJob{}
	if err := d.decoder.Decode(req, c); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	before, err := json.Marshal(c)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	setDefaults(c)
	after, err := json.Marshal(c)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(before, after)
}

// setDefaults sets the defaults, and drops the annotations of another schedule.
func setDefaults(c *v1.CronJob) {
	c.Default()
	v2.DropStaleSchedule(c)
}

// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,matchPolicy=Equivalent,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=vcronjob-v1.kb.io,admissionReviewVersions=v1,timeoutSeconds=10

// validator refuses CronJobs that could never do what they say.
type validator struct{}

var _ admission.Validator[*v1.CronJob] = validator{}

// ValidateCreate checks a new CronJob.
func (validator) ValidateCreate(_ context.Context, c *v1.CronJob) (admission.Warnings, error) {
	errs := append(validateName(c), validateSpec(&c.Spec)...)
	return warnings(&c.Spec), invalid(c, errs)
}

// ValidateUpdate checks an edited CronJob. What was stored before, valid or not, may stay: only what
// the edit makes wrong is refused, so that labels and finalizers can always be changed, and a CronJob
// with a broken schedule suspended.
func (validator) ValidateUpdate(_ context.Context, before, after *v1.CronJob) (admission.Warnings, error) {
	if after.DeletionTimestamp != nil {
		return nil, nil
	}
	known := map[string]bool{}
	for _, err := range validateSpec(&before.Spec) {
		known[err.Error()] = true
	}
	errs := slices.DeleteFunc(validateSpec(&after.Spec), func(err *field.Error) bool { return known[err.Error()] })
	return warnings(&after.Spec), invalid(after, errs)
}

// ValidateDelete lets every CronJob be deleted.
func (validator) ValidateDelete(context.Context, *v1.CronJob) (admission.Warnings, error) {
	return nil, nil
}

// invalid makes the API error of some field errors; nil for none.
func invalid(c *v1.CronJob, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(v1.GroupVersion.WithKind("CronJob").GroupKind(), c.Name, errs)
}

// validateName leaves room in a Job's name for the tick.
func validateName(c *v1.CronJob) field.ErrorList {
	if len(c.Name) <= v1.MaxNameLength {
		return nil
	}
	return field.ErrorList{field.TooLong(field.NewPath("metadata", "name"), c.Name, v1.MaxNameLength)}
}

// validateSpec checks what the schema can't, and again what it can, for API servers that were given another.
func validateSpec(spec *v1.CronJobSpec) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateSchedule(spec, path)
	for _, limit := range []struct {
		name  string
		value *int32
	}{
		{"successfulJobsHistoryLimit", spec.SuccessfulJobsHistoryLimit},
		{"failedJobsHistoryLimit", spec.FailedJobsHistoryLimit},
	} {
		if ptr.Deref(limit.value, 0) < 0 {
			errs = append(errs, field.Invalid(path.Child(limit.name), *limit.value, "must be 0 or more"))
		}
	}
	if ptr.Deref(spec.StartingDeadlineSeconds, 0) < 0 {
		errs = append(errs, field.Invalid(path.Child("startingDeadlineSeconds"), *spec.StartingDeadlineSeconds, "must be 0 or more"))
	}
	switch spec.ConcurrencyPolicy {
	case "", v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent:
	default:
		errs = append(errs, field.NotSupported(path.Child("concurrencyPolicy"), spec.ConcurrencyPolicy,
			[]v1.ConcurrencyPolicy{v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent}))
	}
	return errs
}

// validateSchedule checks the schedule and its time zone.
func validateSchedule(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	if spec.Schedule == "" {
		return field.ErrorList{field.Required(path.Child("schedule"), "such as \"0 9 * * 1-5\", \"@daily\" or \"@every 90m\"")}
	}
	if spec.TimeZone != nil && *spec.TimeZone == "" {
		return field.ErrorList{field.Invalid(path.Child("timeZone"), "",
			"must be a name of the IANA database such as Europe/Paris; leave it out for UTC")}
	}
	_, err := schedule.Parse(spec.Schedule, ptr.Deref(spec.TimeZone, ""))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, schedule.ErrTimeZone):
		return field.ErrorList{field.Invalid(path.Child("timeZone"), *spec.TimeZone, err.Error())}
	}
	return field.ErrorList{field.Invalid(path.Child("schedule"), spec.Schedule, err.Error())}
}

// shortDeadline is the starting deadline, in seconds, below which a busy moment of the control plane
// is enough to miss ticks.
const shortDeadline = 10

// warnings says what is legal and probably not meant.
func warnings(spec *v1.CronJobSpec) admission.Warnings {
	var found admission.Warnings
	if deadline := spec.StartingDeadlineSeconds; deadline != nil && *deadline >= 0 && *deadline < shortDeadline {
		found = append(found, "spec.startingDeadlineSeconds: below 10, a tick may be missed in any busy moment of the control plane")
	}
	return found
}
