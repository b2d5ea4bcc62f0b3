// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 serves the admission webhooks of CronJobs, which see every version as the hub.
package v1

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/webhook/logs"
)

// SetupWebhookWithManager registers the defaulter and the validator with the manager's webhook
// server. The namespaces are those in which the manager starts Jobs; all when there are none.
func SetupWebhookWithManager(mgr ctrl.Manager, namespaces []string) error {
	apiServer, err := newClient(mgr)
	if err != nil {
		return err
	}
	asker := newAsker()
	builtinConflicts, err := newBuiltinConflicts(mgr, apiServer, asker)
	if err != nil {
		return err
	}
	validate := newMendable(mgr.GetScheme(),
		validator{templates: newTemplateChecker(apiServer, asker), builtinConflicts: builtinConflicts, namespaces: namespaces})
	server := mgr.GetWebhookServer()
	server.Register(defaulterPath, serve(defaulter{}))
	server.Register(validatorPath, serve(validate))
	return nil
}

// validatorPath is where the API server asks whether a CronJob is valid.
const validatorPath = "/validate-batch-tutorial-kubebuilder-io-v1-cronjob"

// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,matchPolicy=Equivalent,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=vcronjob-v1.kb.io,admissionReviewVersions=v1,timeoutSeconds=10

// validator refuses CronJobs that could never do what they say.
type validator struct {
	// templates checks templates, and builtinConflicts looks for built-in CronJobs; nil to ask
	// nobody.
	templates        *templateChecker
	builtinConflicts *builtinConflicts

	// namespaces are where the manager starts Jobs; all when empty. Elsewhere it may have no right
	// to ask.
	namespaces []string
}

var _ admission.Validator[*v1.CronJob] = validator{}

// ValidateCreate checks a new CronJob.
func (v validator) ValidateCreate(ctx context.Context, c *v1.CronJob) (admission.Warnings, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	inFields := isOfV2(ctx)
	found, errs := v.warnings(c, inFields), append(validateName(c), validateSpec(&c.Spec, inFields)...)
	if until := c.Spec.SuspendUntil; until != nil && until.Time.Before(time.Now()) {
		found = append(found, "spec.suspendUntil: is in the past, so that nothing is suspended")
	}
	if v.asksAbout(c) {
		tried, refused := v.templates.check(ctx, c)
		found, errs = slices.Concat(found, v.builtinConflicts.warn(ctx, c), tried), append(errs, refused...)
	}
	return verdict(c, found, errs)
}

// ValidateUpdate checks an edited CronJob. What was stored before, valid or not, may stay: only
// what the edit makes wrong is refused, so that labels and finalizers can always be changed, and a
// CronJob with a broken schedule or template suspended.
func (v validator) ValidateUpdate(ctx context.Context, before, after *v1.CronJob) (admission.Warnings, error) {
	if after.DeletionTimestamp != nil || equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	inFields := isOfV2(ctx)
	errs := newErrors(validateSpec(&before.Spec, inFields), validateSpec(&after.Spec, inFields))
	tried, refused := v.validateNewTemplate(ctx, before, after)
	return verdict(after, append(v.warnings(after, inFields), tried...), append(errs, refused...))
}

// validateNewTemplate checks an edited template, if it was edited.
func (v validator) validateNewTemplate(ctx context.Context, before, after *v1.CronJob) (admission.Warnings, field.ErrorList) {
	if !v.asksAbout(after) || equality.Semantic.DeepEqual(before.Spec.JobTemplate, after.Spec.JobTemplate) {
		return nil, nil
	}
	tried, refused := v.templates.check(ctx, after)
	if len(refused) == 0 {
		return tried, nil
	}
	_, known := v.templates.check(ctx, before)
	return tried, newErrors(known, refused)
}

// asksAbout reports whether the API server is asked about a CronJob.
func (v validator) asksAbout(c *v1.CronJob) bool {
	return v.templates != nil && v.watches(c)
}

// watches reports whether the manager starts the Jobs of a CronJob.
func (v validator) watches(c *v1.CronJob) bool {
	return len(v.namespaces) == 0 || slices.Contains(v.namespaces, c.Namespace)
}

// warnings returns what is probably wrong with a CronJob, as far as nobody has to be asked.
func (v validator) warnings(c *v1.CronJob, inFields bool) admission.Warnings {
	found := warnings(&c.Spec, inFields)
	if !v.watches(c) {
		found = append(found, unwatched(c.Namespace))
	}
	return found
}

// newErrors returns the errors that were not there before.
func newErrors(before, after field.ErrorList) field.ErrorList {
	known := map[string]bool{}
	for _, err := range before {
		known[err.Error()] = true
	}
	return slices.DeleteFunc(after, func(err *field.Error) bool { return known[err.Error()] })
}

// ValidateDelete lets every CronJob be deleted.
func (validator) ValidateDelete(context.Context, *v1.CronJob) (admission.Warnings, error) {
	return nil, nil
}

// verdict returns the error of a CronJob that is refused, and else the warnings. One that is
// refused is not warned of: what a warning says that it does, it never will.
func verdict(c *v1.CronJob, found admission.Warnings, errs field.ErrorList) (admission.Warnings, error) {
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(v1.GroupVersion.WithKind("CronJob").GroupKind(), logs.Shorten(c.Name, maxDetail), errs)
	}
	return found, nil
}

// validateName leaves room in a Job's name for the tick.
func validateName(c *v1.CronJob) field.ErrorList {
	if len(c.Name) <= v1.MaxNameLength {
		return nil
	}
	return field.ErrorList{field.TooLong(field.NewPath("metadata", "name"), c.Name, v1.MaxNameLength)}
}

// isOfV2 reports whether the client sent v2, where the schedule has fields. Errors and warnings
// then name the field. The object itself is always v1: the API server has converted it.
func isOfV2(ctx context.Context) bool {
	req, err := admission.RequestFromContext(ctx)
	return err == nil && req.RequestKind != nil && req.RequestKind.Version == v2.GroupVersion.Version
}

// validateSpec checks what the schema can't, and again what it can, for API servers that were given
// another.
func validateSpec(spec *v1.CronJobSpec, inFields bool) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateSchedule(spec, path, inFields)
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
		policy := v1.ConcurrencyPolicy(logs.Shorten(string(spec.ConcurrencyPolicy), maxDetail))
		errs = append(errs, field.NotSupported(path.Child("concurrencyPolicy"), policy,
			[]v1.ConcurrencyPolicy{v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent}))
	}
	return errs
}

// validateSchedule checks the schedule and its time zone, each by itself: what was wrong with the
// one before an edit must not hide what the edit makes wrong with the other.
func validateSchedule(spec *v1.CronJobSpec, path *field.Path, inFields bool) field.ErrorList {
	return append(validateExpression(spec.Schedule, path.Child("schedule"), inFields),
		validateTimeZone(spec.TimeZone, path.Child("timeZone"))...)
}

// validateExpression checks the text of a schedule. Whether it ever fires does not depend on the
// zone.
func validateExpression(text string, path *field.Path, inFields bool) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(path, "such as \"0 9 * * 1-5\", \"@daily\" or \"@every 90m\"")}
	}
	_, err := schedule.ParseNew(text, "")
	mistake := &schedule.Mistake{}
	switch isMistake := errors.As(err, &mistake); {
	case err == nil:
		return nil
	case isMistake && inFields && mistake.Field != "":
		return field.ErrorList{field.Invalid(path.Child(mistake.Field), logs.Shorten(mistake.Value, maxDetail), mistake.Reason)}
	}
	return field.ErrorList{field.Invalid(path, logs.Shorten(text, maxDetail), err.Error())}
}

// validateTimeZone checks the name of a time zone.
func validateTimeZone(zone *string, path *field.Path) field.ErrorList {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(path, "", "must be a name of the IANA database such as Europe/Paris; leave it out for UTC")}
	}
	name := logs.Shorten(*zone, maxDetail)
	if _, err := schedule.LoadZone(name); err != nil {
		return field.ErrorList{field.Invalid(path, name, err.Error())}
	}
	return nil
}
