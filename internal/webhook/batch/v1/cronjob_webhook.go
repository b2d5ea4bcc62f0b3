// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 serves the admission webhooks of CronJobs. The API server converts requests for other
// versions to the hub before it calls them.
package v1

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/shorten"
	"tutorial.kubebuilder.io/project/internal/validate"
)

// SetupWebhookWithManager registers the defaulter and the validator with the manager's webhook
// server. The manager starts Jobs in the given namespaces; in all if there are none.
func SetupWebhookWithManager(mgr ctrl.Manager, namespaces []string) error {
	apiServer, err := newClient(mgr)
	if err != nil {
		return err
	}
	limiter := newRequestLimiter()
	builtinConflicts, err := newBuiltinConflicts(mgr, apiServer, limiter)
	if err != nil {
		return err
	}
	validating := newMendable(mgr.GetScheme(),
		validator{templates: newTemplateChecker(apiServer, limiter), builtinConflicts: builtinConflicts, namespaces: namespaces})
	server := mgr.GetWebhookServer()
	server.Register(defaulterPath, serve(defaulter{clock.RealClock{}}))
	server.Register(validatorPath, serve(validating))
	return nil
}

const validatorPath = "/validate-batch-tutorial-kubebuilder-io-v1-cronjob"

// Both webhooks have a condition: the API server doesn't ask about an object that is being deleted,
// so that its finalizers can be removed while no replica answers. The condition reads the stored
// object, because a request may set a deletionTimestamp. A create has no stored object, and the API
// server clears its deletionTimestamp, so that no create is left out.

// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,matchPolicy=Equivalent,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=vcronjob-v1.kb.io,admissionReviewVersions=v1,timeoutSeconds=10,patch=`{"matchConditions":[{"name":"not-being-deleted","expression":"oldObject == null || !has(oldObject.metadata.deletionTimestamp)"}]}`

// checkTimeout limits the requests to the API server for one admission request, with the time for
// which they wait. It is below the webhook's timeoutSeconds, because no CronJob must be refused for
// them, and no request may wait here for long: it holds memory.
const checkTimeout = 8 * time.Second

// validator refuses CronJobs that can never run as their spec says.
type validator struct {
	// templates checks templates; nil to send no requests.
	templates *templateChecker

	// builtinConflicts looks for built-in CronJobs; nil to skip that.
	builtinConflicts *builtinConflicts

	// namespaces are those in which the manager starts Jobs; all when empty. It may lack the right
	// to send requests about others.
	namespaces []string
}

var _ admission.Validator[*v1.CronJob] = validator{}

// ValidateCreate checks a new CronJob.
func (v validator) ValidateCreate(ctx context.Context, c *v1.CronJob) (admission.Warnings, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	form := formFor(ctx, c)
	found, errs := v.warnings(c, form), append(validate.Name(c), validate.Spec(&c.Spec, form)...)
	found = append(found, texts(validate.NewWarnings(&c.Spec, time.Now()))...)
	if v.mayAskAPIServer(c) {
		tried, refused, _ := v.templates.check(ctx, c)
		found, errs = slices.Concat(found, v.builtinConflicts.warn(ctx, c), tried), append(errs, refused...)
	}
	return verdict(c, found, errs)
}

// ValidateUpdate checks an edited CronJob. It refuses only errors that the edit adds. So labels and
// finalizers can always be changed, and a CronJob with an invalid schedule or template can be
// suspended.
func (v validator) ValidateUpdate(ctx context.Context, before, after *v1.CronJob) (admission.Warnings, error) {
	merged := warnMerged(before, after)
	if after.DeletionTimestamp != nil || equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return merged, nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	form := formFor(ctx, after)
	errs := newErrors(validate.Spec(&before.Spec, formFor(ctx, before)), validate.Spec(&after.Spec, form))
	tried, refused := v.validateNewTemplate(ctx, before, after)
	return verdict(after, slices.Concat(merged, v.warnings(after, form), tried), append(errs, refused...))
}

// validateNewTemplate checks the template if it was edited. If it is refused, the stored one is
// checked too. If that can't be done in time, which nothing can ensure, the mistakes are warnings:
// otherwise a CronJob with an old mistake could not be edited while the API server is slow.
func (v validator) validateNewTemplate(ctx context.Context, before, after *v1.CronJob) (admission.Warnings, field.ErrorList) {
	if !v.mayAskAPIServer(after) || equality.Semantic.DeepEqual(before.Spec.JobTemplate, after.Spec.JobTemplate) {
		return nil, nil
	}
	tried, refused, _ := v.templates.check(ctx, after)
	if len(refused) == 0 {
		return tried, nil
	}
	_, stored, isTold := v.templates.check(ctx, before)
	if isTold {
		return tried, newErrors(stored, refused)
	}
	for _, err := range refused {
		tried = append(tried, err.Error()+": not refused, as the stored template could not be checked, and may have the same mistake")
	}
	return tried, nil
}

// mayAskAPIServer reports whether to send requests to the API server to check a CronJob.
func (v validator) mayAskAPIServer(c *v1.CronJob) bool {
	return v.templates != nil && v.watches(c)
}

// watches reports whether the manager starts the Jobs of a CronJob.
func (v validator) watches(c *v1.CronJob) bool {
	return len(v.namespaces) == 0 || slices.Contains(v.namespaces, c.Namespace)
}

// warnings returns the warnings that need no request to the API server.
func (v validator) warnings(c *v1.CronJob, form validate.Form) admission.Warnings {
	found := texts(validate.Warnings(&c.Spec, form))
	if !v.watches(c) {
		found = append(found, unwatched(c.Namespace))
	}
	return found
}

// texts returns warnings as kubectl shows them.
func texts(found []validate.Warning) admission.Warnings {
	var all admission.Warnings
	for _, warning := range found {
		all = append(all, warning.String())
	}
	return all
}

// unwatched returns the warning about a namespace in which the manager starts no Jobs. Another
// manager may start them; the webhooks can't know.
func unwatched(namespace string) string {
	return fmt.Sprintf("metadata.namespace: %q is not among the namespaces in which this operator starts Jobs (--namespaces): "+
		"nothing runs unless another manager watches this one", shorten.Text(namespace, maxDetail))
}

// newErrors returns the errors after an edit that did not exist before it. An error of an element
// of a list is the same one if the element has moved.
func newErrors(before, after field.ErrorList) field.ErrorList {
	stored := map[string]int{}
	for _, err := range before {
		stored[withoutIndex(err)]++
	}
	return slices.DeleteFunc(after, func(err *field.Error) bool {
		text := withoutIndex(err)
		stored[text]--
		return stored[text] >= 0
	})
}

var index = regexp.MustCompile(`\[\d+]`)

// withoutIndex returns the text of an error, with no index in its path.
func withoutIndex(err *field.Error) string {
	return index.ReplaceAllString(err.Field, "[]") + ": " + err.ErrorBody()
}

// ValidateDelete lets every CronJob be deleted.
func (validator) ValidateDelete(context.Context, *v1.CronJob) (admission.Warnings, error) {
	return nil, nil
}

// verdict returns an error if there are errors, and otherwise the warnings. A refused CronJob gets
// no warnings: they describe what it would do.
func verdict(c *v1.CronJob, found admission.Warnings, errs field.ErrorList) (admission.Warnings, error) {
	if len(errs) > 0 {
		return nil, apierrors.NewInvalid(v1.GroupVersion.WithKind("CronJob").GroupKind(), shorten.Text(c.Name, maxDetail), errs)
	}
	return found, nil
}

// formFor returns the form of a CronJob in the version of the request. The object itself is always
// of the hub: the API server has converted it.
func formFor(ctx context.Context, c *v1.CronJob) validate.Form {
	req, err := admission.RequestFromContext(ctx)
	if err != nil || req.RequestKind == nil {
		return validate.Form{}
	}
	return validate.FormIn(schema.GroupVersion{Group: req.RequestKind.Group, Version: req.RequestKind.Version}.String(), c)
}
