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
	// askTimeout is how long the API server may take over all that one request has us ask. It is
	// far below the webhook's timeoutSeconds, as a CronJob must not be refused for our asking: when
	// the API server is at its limits, the request that waits for us and the one that we make may
	// wait for each other.
	askTimeout = 3 * time.Second

	// A template is tried again a minute after it was accepted, and so many are remembered.
	acceptedFor = time.Minute
	maxAccepted = 4096

	// dryRunPrefix begins the names of the Jobs that are tried. It is not the CronJob's name, so
	// that what the API server says is about the template alone.
	dryRunPrefix = "cronjob-trial-"
)

// templateChecker tells what the API server would say to the Jobs of a template, by creating one
// for which nothing is stored: a dry run. So whatever the API server checks is checked, whichever
// version it has, and nothing is checked here.
type templateChecker struct {
	client client.Writer
	asker  *asker

	// accepted has the warnings about the templates that were accepted lately, by templateKey. A
	// Git repository or a chart with many CronJobs has few templates or brings many CronJobs at
	// once: then to try each would double the writes that the API server has to check. That what is
	// accepted now is refused in a minute, by another version of the API server, is told by the
	// CronJob's condition, as is all that changes between its creation and its tick.
	accepted *cache.LRUExpireCache
}

// newTemplateChecker makes a templateChecker.
func newTemplateChecker(writer client.Writer, asker *asker) *templateChecker {
	return &templateChecker{client: writer, asker: asker, accepted: cache.NewLRUExpireCache(maxAccepted)}
}

// check tells what is wrong with a CronJob's template and what the API server warns of. That no Job
// can be created just now, for whatever reason but the template itself, is a warning.
func (t *templateChecker) check(ctx context.Context, c *v1.CronJob) (admission.Warnings, field.ErrorList) {
	key, err := templateKey(c)
	if err != nil {
		return admission.Warnings{"spec.jobTemplate: not checked: " + err.Error()}, nil
	}
	if known, ok := t.accepted.Get(key); ok {
		return known.(admission.Warnings), nil
	}
	done, ok := t.asker.begin()
	if !ok {
		return admission.Warnings{"spec.jobTemplate: not checked, as too many templates were to be checked at the same time"}, nil
	}
	defer done()
	warned, err := t.dryRun(ctx, c)
	if err == nil {
		t.accepted.Add(key, warned, acceptedFor)
		return warned, nil
	}
	if errs := templateErrors(err); len(errs) > 0 {
		return warned, errs
	}
	return append(warned, doubts(ctx, err)...), nil
}

// templateKey tells templates and namespaces apart.
func templateKey(c *v1.CronJob) ([sha256.Size]byte, error) {
	template, err := json.Marshal(&c.Spec.JobTemplate)
	return sha256.Sum256(append([]byte(c.Namespace+"/"), template...)), err
}

// dryRun has the API server check a Job as the controller would create it, and returns what it
// warns of. The Job has no owner: before the CronJob is created it has no UID, and whether the
// manager may set it is nothing that a user can do anything about.
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

// templateErrors returns what the validation of Jobs has against a template, at the template's
// fields. Whatever else refuses a Job returns none: quotas, policies and other webhooks, even if
// they say that it is invalid, as what they think of it may change without the CronJob.
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

// templateError says of the template what was said of a Job, in the same words.
func templateError(cause metav1.StatusCause) *field.Error {
	kind := field.ErrorType(cause.Type)
	if !strings.HasPrefix(cause.Message, kind.String()) { // one that came after the library we have
		kind = field.ErrorTypeInvalid
	}
	return &field.Error{
		Type:     kind,
		Field:    templatePath + cause.Field,
		BadValue: field.OmitValueType{}, // it is in the words
		Detail:   strings.TrimPrefix(strings.TrimPrefix(cause.Message, kind.String()), ": "),
	}
}

// templatePath is what a field of a Job has before it in a CronJob, metadata.labels like
// spec.template.
const templatePath = "spec.jobTemplate."

// aboutTemplate says of the template what was said of a Job.
func aboutTemplate(text string) string {
	if strings.HasPrefix(text, "spec.") || strings.HasPrefix(text, "metadata.") {
		return templatePath + text
	}
	return strings.TrimSuffix(templatePath, ".") + ": " + text
}

// doubts are warnings that say why no Job can be created at present. There are none if a webhook
// for Jobs can't be asked in a dry run: then nothing is known, nothing can be done, and it would be
// said of every CronJob.
func doubts(ctx context.Context, err error) admission.Warnings {
	var answer apierrors.APIStatus
	switch {
	case apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run"):
		ctrl.LoggerFrom(ctx).V(1).Info("A webhook for Jobs keeps templates from being checked", "answer", err.Error())
		return nil
	case errors.As(err, &answer):
		return admission.Warnings{"spec.jobTemplate: at present no Job can be created from it: " + err.Error()}
	}
	// The error names the API server's address, which is nothing to users.
	ctrl.LoggerFrom(ctx).Info("The API server did not answer whether it takes the Jobs of a template", "error", err.Error())
	return admission.Warnings{"spec.jobTemplate: not checked, as the API server did not answer in time"}
}

// warningCollector gives the API server's warnings to whoever waits for them.
type warningCollector struct{}

// warningsKey is the key of the admission.Warnings that a context has room for.
type warningsKey struct{}

// HandleWarningHeaderWithContext takes one warning.
func (warningCollector) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	const miscellaneous = 299 // the only code that the API server uses
	if found, ok := ctx.Value(warningsKey{}).(*admission.Warnings); ok && code == miscellaneous && text != "" {
		*found = append(*found, text)
	}
}
