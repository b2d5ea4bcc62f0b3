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
	// SuspendedByAnnotation holds the name of the user who suspended a CronJob, as the API server
	// knows it.
	SuspendedByAnnotation = "batch.tutorial.kubebuilder.io/suspended-by"

	// SuspendReasonAnnotation holds the reason that the user gave.
	SuspendReasonAnnotation = "batch.tutorial.kubebuilder.io/suspend-reason"

	// BulkSuspensionAnnotation marks a CronJob that suspend --all or -l suspended. It holds the
	// field of the spec that was set and its value, such as suspendUntil=2026-12-24T18:00:00Z.
	// resume --all or -l clears that field if it still has this value, and nothing else.
	BulkSuspensionAnnotation = "batch.tutorial.kubebuilder.io/bulk-suspension"
)

// The fields of the spec that suspend a CronJob.
const (
	suspendField = "suspend"
	untilField   = "suspendUntil"
)

// isBulk reports whether the CronJobs are selected rather than named. CronJobs that other users
// have suspended are then left as they are.
func (c *command) isBulk() bool { return c.all || c.selection.Selector != "" }

// ByWhom returns who suspended a CronJob and why, according to its annotations; "" if it has none.
func ByWhom(object client.Object) string {
	by, reason := object.GetAnnotations()[SuspendedByAnnotation], object.GetAnnotations()[SuspendReasonAnnotation]
	if by != "" && reason != "" {
		return by + " (" + reason + ")"
	}
	return by
}

// identify asks the API server for the name of the user, if it is to be recorded. A failure does
// not prevent the suspension.
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

// setField suspends an object by the field that the flags ask for, records who did it and why, and
// returns the field.
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

// changeBulk suspends an object that is not suspended, or undoes an earlier changeBulk. It skips a
// CronJob that has stopped after failures, since any edit of its spec would restart it, and one
// that was handed over since, since it would run beside the built-in CronJob.
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

// valueOf returns the value of a field in the format of BulkSuspensionAnnotation.
func valueOf(object *unstructured.Unstructured, field string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", field)
	return fmt.Sprintf("%s=%v", field, value)
}

func forget(object *unstructured.Unstructured) {
	for _, key := range []string{SuspendedByAnnotation, SuspendReasonAnnotation, BulkSuspensionAnnotation} {
		annotate(object, key, "")
	}
}

func annotate(object *unstructured.Unstructured, key, value string) {
	if value == "" {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", key)
		return
	}
	_ = unstructured.SetNestedField(object.Object, value, "metadata", "annotations", key) // nothing else can be there
}
