// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// validatePolicies checks what fields say together.
func validatePolicies(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	return validateMaxConcurrency(spec, path.Child("maxConcurrency"))
}

// validateMaxConcurrency refuses a limit beside a policy that has another. The schema says the same.
func validateMaxConcurrency(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	isOne := ptr.Deref(spec.MaxConcurrency, 1) == 1
	switch {
	case spec.MaxConcurrency == nil, spec.ConcurrencyPolicy == "", spec.ConcurrencyPolicy == v1.AllowConcurrent,
		spec.ConcurrencyPolicy == v1.ForbidConcurrent && isOne:
		return nil
	}
	return field.ErrorList{field.Forbidden(path,
		"maxConcurrency goes with concurrencyPolicy Allow: Forbid runs 1 at a time, and Replace the newest alone")}
}
