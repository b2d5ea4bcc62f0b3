// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// validatePolicies checks fields that depend on each other.
func validatePolicies(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateMaxConcurrency(spec, path.Child("maxConcurrency")),
		validateJitter(spec, path.Child("jitterSeconds")),
		validateCatchUp(spec, path),
	)
}

// validateCatchUp refuses catchUpLimit with the policy Latest, as the schema does.
func validateCatchUp(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	errs := validateEnum(spec.CatchUpPolicy, path.Child("catchUpPolicy"), v1.CatchUpLatest, v1.CatchUpAll)
	limit := ptr.Deref(spec.CatchUpLimit, 1)
	if limit < 1 || limit > v1.MaxCatchUpLimit {
		errs = append(errs, field.Invalid(path.Child("catchUpLimit"), limit, fmt.Sprintf("must be from 1 to %d", v1.MaxCatchUpLimit)))
	}
	if spec.CatchUpLimit != nil && spec.CatchUpPolicy != v1.CatchUpAll {
		errs = append(errs, field.Forbidden(path.Child("catchUpLimit"), "catchUpLimit goes with catchUpPolicy All: Latest runs 1"))
	}
	return errs
}

// validateJitter refuses a jitter that may delay a start beyond the next tick. Errors of the
// schedule are reported elsewhere.
func validateJitter(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	jitter := ptr.Deref(spec.JitterSeconds, 0)
	if jitter < 0 {
		return field.ErrorList{field.Invalid(path, jitter, "must be 0 or more")}
	}
	if jitter == 0 {
		return nil
	}
	ticks, err := schedule.ParseAll(spec.Schedule, spec.AdditionalSchedules, ptr.Deref(spec.TimeZone, ""))
	if err != nil {
		return nil
	}
	if gap := int64(ticks.ShortestGap() / time.Second); int64(jitter) >= gap {
		return field.ErrorList{field.Invalid(path, jitter, fmt.Sprintf("must be less than %d, the shortest time in seconds "+
			"from a tick to the next, days on which clocks shift included", gap))}
	}
	return nil
}

// validateMaxConcurrency refuses maxConcurrency with another policy than Allow, as the schema does.
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
