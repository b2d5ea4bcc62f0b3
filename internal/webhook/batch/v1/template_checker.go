// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const (
	acceptedFor = time.Minute // for how long an accepted template is not checked again
	maxAccepted = 4096        // how many accepted templates are cached

	// dryRunPrefix is the generateName of the Jobs of dry runs. It is not the CronJob's name, so
	// that the API server's errors are about the template alone.
	dryRunPrefix = "cronjob-trial-"
)

// templateChecker validates a template by a dry-run create of a Job. So the API server's own checks
// count, in every version.
type templateChecker struct {
	client  client.Writer
	limiter *requestLimiter

	// accepted has the warnings about recently accepted templates, by templateKey. A Git repository
	// or a chart may apply many CronJobs with few templates at once: a dry run for each would
	// double the API server's work. If the API server would no longer accept a cached template, the
	// CronJob's condition says so at the next tick.
	accepted *cache.LRUExpireCache
}

func newTemplateChecker(writer client.Writer, limiter *requestLimiter) *templateChecker {
	return &templateChecker{client: writer, limiter: limiter, accepted: cache.NewLRUExpireCache(maxAccepted)}
}

// check returns the API server's warnings and errors about a CronJob's template. It is a warning if
// no Job can be created at present for any other reason than the template. isTold is false if it is
// unknown whether there are errors.
func (t *templateChecker) check(ctx context.Context, c *v1.CronJob) (found admission.Warnings, errs field.ErrorList, isTold bool) {
	key, err := templateKey(c)
	if err != nil {
		return admission.Warnings{"spec.jobTemplate: not checked: " + err.Error()}, nil, false
	}
	if known, ok := t.accepted.Get(key); ok {
		return known.(admission.Warnings), nil, true
	}
	if !t.limiter.do(ctx, c.Namespace, func(ctx context.Context) { found, err = t.dryRun(ctx, c) }) {
		return admission.Warnings{"spec.jobTemplate: not checked, as too many templates were to be checked at the same time"}, nil, false
	}
	if err == nil {
		t.accepted.Add(key, found, acceptedFor)
		return found, nil, true
	}
	if errs = templateErrors(err); len(errs) > 0 {
		return found, errs, true
	}
	return append(found, refusalWarnings(ctx, err)...), nil, isRefusal(err)
}

// isRefusal reports whether the API server refused a Job for another reason than the template. It
// has validated the Job before: only mutating webhooks and policies come earlier.
func isRefusal(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Code/100 == 4 && !apierrors.IsTooManyRequests(err)
}

// templateKey returns a hash of a template and its namespace.
func templateKey(c *v1.CronJob) ([sha256.Size]byte, error) {
	template, err := json.Marshal(&c.Spec.JobTemplate)
	return sha256.Sum256(append([]byte(c.Namespace+"/"), template...)), err
}

// dryRun creates, in a dry run, the Job that the controller would create, and returns the API
// server's warnings. The Job has no owner reference: a new CronJob has no UID yet, and a user can't
// do anything about the manager's right to set one.
func (t *templateChecker) dryRun(ctx context.Context, c *v1.CronJob) (admission.Warnings, error) {
	var found admission.Warnings
	ctx = context.WithValue(ctx, warningsKey{}, &found)
	job := plan.NewJob(c, time.Time{})
	job.Name, job.GenerateName, job.OwnerReferences = "", dryRunPrefix, nil
	err := t.client.Create(ctx, job, client.DryRunAll)
	for i, text := range found {
		found[i] = aboutTemplate(text)
	}
	return found, err
}

// templateErrors returns the errors of the API server's validation of Jobs, at the template's
// fields. It returns none for refusals by quotas, policies and other webhooks, even if those say
// that the Job is invalid: such a refusal may end without an edit of the CronJob.
func templateErrors(err error) field.ErrorList {
	var refused apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &refused) {
		return nil
	}
	status := refused.Status()
	if status.Details == nil || !strings.HasPrefix(status.Message, "Job."+batchv1.GroupName+" ") {
		return nil
	}
	var errs field.ErrorList
	for _, cause := range status.Details.Causes {
		if cause.Field == "" {
			return nil
		}
		errs = append(errs, templateError(cause))
	}
	return errs
}

// templateError converts an error about a Job to one about the template, with the same text.
func templateError(cause metav1.StatusCause) *field.Error {
	kind := field.ErrorType(cause.Type)
	if !strings.HasPrefix(cause.Message, kind.String()) { // a type that this library version does not know
		kind = field.ErrorTypeInvalid
	}
	return &field.Error{
		Type:     kind,
		Field:    templatePath + cause.Field,
		BadValue: field.OmitValueType{}, // Detail has the value
		Detail:   strings.TrimPrefix(strings.TrimPrefix(cause.Message, kind.String()), ": "),
	}
}

const templatePath = "spec.jobTemplate."

// aboutTemplate converts a warning about a Job to one about the template.
func aboutTemplate(text string) string {
	if strings.HasPrefix(text, "spec.") || strings.HasPrefix(text, "metadata.") {
		return templatePath + text
	}
	return strings.TrimSuffix(templatePath, ".") + ": " + text
}

// refusalWarnings returns warnings that say why no Job can be created at present. There are none if
// a webhook for Jobs does not support dry runs: users can't do anything about that, and every
// CronJob would get the warning.
func refusalWarnings(ctx context.Context, err error) admission.Warnings {
	var answer apierrors.APIStatus
	switch {
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run"):
		ctrl.LoggerFrom(ctx).V(1).Info("Could not check a template: a webhook for Jobs does not support dry runs", "answer", err.Error())
		return nil
	case errors.As(err, &answer):
		return admission.Warnings{"spec.jobTemplate: at present no Job can be created from it: " + err.Error()}
	}
	// Only the log has the error: it contains the API server's address, which users need not know.
	ctrl.LoggerFrom(ctx).Info("Could not check a template: the API server did not answer", "error", err.Error())
	return admission.Warnings{"spec.jobTemplate: not checked, as the API server did not answer in time"}
}

// warningCollector adds the API server's warnings to the admission.Warnings in a request's context.
type warningCollector struct{}

// warningsKey is the context key of those admission.Warnings.
type warningsKey struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (warningCollector) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	const miscellaneous = 299 // the only code that the API server uses
	if found, ok := ctx.Value(warningsKey{}).(*admission.Warnings); ok && code == miscellaneous && text != "" {
		*found = append(*found, text)
	}
}
