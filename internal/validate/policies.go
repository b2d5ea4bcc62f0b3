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
	"tutorial.kubebuilder.io/project/internal/webhook/logs"
)

// validatePolicies checks what fields say together.
func validatePolicies(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateMaxConcurrency(spec, path.Child("maxConcurrency")),
		validateJitter(spec, path.Child("jitterSeconds")),
		validateCatchUp(spec, path),
	)
}

// validateCatchUp refuses a limit beside the policy that has another. The schema says the same.
func validateCatchUp(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch spec.CatchUpPolicy {
	case "", v1.CatchUpLatest, v1.CatchUpAll:
	default:
		policy := v1.CatchUpPolicy(logs.Shorten(string(spec.CatchUpPolicy), maxDetail))
		errs = append(errs, field.NotSupported(path.Child("catchUpPolicy"), policy, []v1.CatchUpPolicy{v1.CatchUpLatest, v1.CatchUpAll}))
	}
	limit := ptr.Deref(spec.CatchUpLimit, 1)
	if limit < 1 || limit > v1.MaxCatchUpLimit {
		errs = append(errs, field.Invalid(path.Child("catchUpLimit"), limit, fmt.Sprintf("must be from 1 to %d", v1.MaxCatchUpLimit)))
	}
	if spec.CatchUpLimit != nil && spec.CatchUpPolicy != v1.CatchUpAll {
		errs = append(errs, field.Forbidden(path.Child("catchUpLimit"), "catchUpLimit goes with catchUpPolicy All: Latest runs 1"))
	}
	return errs
}

// validateJitter refuses a delay by which a start may come after the next tick. What is wrong with
// the schedule is refused elsewhere.
func validateJitter(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	most := ptr.Deref(spec.JitterSeconds, 0)
	if most < 0 {
		return field.ErrorList{field.Invalid(path, most, "must be 0 or more")}
	}
	if most == 0 {
		return nil
	}
	ticks, err := schedule.Parse(spec.Schedule, ptr.Deref(spec.TimeZone, ""))
	if err == nil {
		ticks, err = ticks.With(spec.AdditionalSchedules)
	}
	if err != nil {
		return nil
	}
	if gap := int64(ticks.ShortestGap() / time.Second); int64(most) >= gap {
		return field.ErrorList{field.Invalid(path, most, fmt.Sprintf("must be less than %d, the shortest time in seconds "+
			"from a tick to the next, days on which clocks shift included", gap))}
	}
	return nil
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
