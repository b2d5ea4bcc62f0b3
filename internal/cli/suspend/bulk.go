// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package suspend

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

const (
	// SuspendedByAnnotation is the user who has suspended a CronJob, as the API server names them.
	SuspendedByAnnotation = "batch.tutorial.kubebuilder.io/suspended-by"

	// SuspendReasonAnnotation is why, as they said it.
	SuspendReasonAnnotation = "batch.tutorial.kubebuilder.io/suspend-reason"

	// BulkSuspensionAnnotation is on a CronJob that suspend --all or -l has suspended: the field of
	// the spec that it has set, and to what, such as suspendUntil=2026-12-24T18:00:00Z. resume
	// --all or -l takes back that field, if it is still so, and nothing else.
	BulkSuspensionAnnotation = "batch.tutorial.kubebuilder.io/bulk-suspension"
)

// The fields that suspend.
const (
	suspendField = "suspend"
	untilField   = "suspendUntil"
)

// isBulk reports whether the CronJobs are not named one by one. Then those that others have
// suspended stay as they are.
func (c *command) isBulk() bool { return c.all || c.selection.Selector != "" }

// ByWhom says who has suspended a CronJob and why, as far as its annotations tell; "" if they
// don't.
func ByWhom(object client.Object) string {
	by, reason := object.GetAnnotations()[SuspendedByAnnotation], object.GetAnnotations()[SuspendReasonAnnotation]
	if by != "" && reason != "" {
		return by + " (" + reason + ")"
	}
	return by
}

// identify finds out who runs the command, if that is to be recorded. That nobody tells it must not
// keep anything from being suspended.
func (c *command) identify(ctx context.Context, cluster client.Writer) {
	if !c.suspend || !c.isBulk() && c.reason == "" {
		return
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := cluster.Create(ctx, review); err != nil {
		fmt.Fprintf(c.ErrOut, "Warning: the API server does not say who you are: %v\n", err)
	}
	c.user = cmp.Or(review.Status.UserInfo.Username, "unknown")
}

// setField suspends an object by the field that the flags ask for, which it returns, and notes who
// has done it and why.
func (c *command) setField(object *unstructured.Unstructured) (field string, err error) {
	if c.user != "" {
		annotate(object, SuspendedByAnnotation, c.user)
		annotate(object, SuspendReasonAnnotation, c.reason)
	}
	if c.until.IsZero() {
		return suspendField, unstructured.SetNestedField(object.Object, true, "spec", suspendField)
	}
	return untilField, unstructured.SetNestedField(object.Object, c.until.UTC().Format(time.RFC3339), "spec", untilField)
}

// changeBulk suspends an object that is not suspended, or takes back what changeBulk has done. One
// that has stopped after failures is left alone: any edit of its spec would start it again. So is
// one that was handed over since: it would run beside the built-in CronJob.
func (c *command) changeBulk(object *unstructured.Unstructured) error {
	if c.suspend {
		if cronjobs.IsSuspended(object, c.Clock.Now()) || decodeStopped(object) != nil {
			return nil
		}
		field, err := c.setField(object)
		annotate(object, BulkSuspensionAnnotation, valueOf(object, field))
		return err
	}
	was := object.GetAnnotations()[BulkSuspensionAnnotation]
	field, _, _ := strings.Cut(was, "=")
	switch {
	case was == "" || isHandedOver(object) || valueOf(object, field) != was: // it was edited since
		return nil
	case field == suspendField:
		forget(object)
		return unstructured.SetNestedField(object.Object, false, "spec", suspendField)
	}
	forget(object)
	unstructured.RemoveNestedField(object.Object, "spec", untilField)
	return nil
}

// valueOf is what a field says, as BulkSuspensionAnnotation has it.
func valueOf(object *unstructured.Unstructured, field string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", field)
	return fmt.Sprintf("%s=%v", field, value)
}

// forget removes what stands on an object about its suspension.
func forget(object *unstructured.Unstructured) {
	for _, key := range []string{SuspendedByAnnotation, SuspendReasonAnnotation, BulkSuspensionAnnotation} {
		annotate(object, key, "")
	}
}

// annotate sets an annotation, or removes it if there is nothing to say.
func annotate(object *unstructured.Unstructured, key, value string) {
	if value == "" {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", key)
		return
	}
	_ = unstructured.SetNestedField(object.Object, value, "metadata", "annotations", key) // nothing else can be there
}
