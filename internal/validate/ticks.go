// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/shorten"
)

// validateTicks checks exclude, notBefore and notAfter. Errors of the schedule are reported
// elsewhere.
func validateTicks(spec *v1.CronJobSpec, path *field.Path) field.ErrorList {
	exclude := path.Child("exclude")
	if count := len(spec.Exclude); count > schedule.MaxExcluded {
		return field.ErrorList{field.TooMany(exclude, count, schedule.MaxExcluded)}
	}
	var errs field.ErrorList
	for i, days := range spec.Exclude {
		if err := schedule.CheckDays(string(days)); err != nil {
			errs = append(errs, field.Invalid(exclude.Index(i), shorten.Text(string(days), maxDetail), err.Error()))
		}
	}
	if spec.NotAfter.Before(spec.NotBefore) && spec.NotAfter != nil {
		return append(errs, field.Invalid(path.Child("notAfter"), rfc3339(spec.NotAfter.Time), "must not be before notBefore"))
	}
	switch _, err := plan.SpecOf(spec).Ticks(); {
	case errors.Is(err, schedule.ErrAllExcluded):
		errs = append(errs, field.Invalid(exclude, field.OmitValueType{}, err.Error()))
	case errors.Is(err, schedule.ErrEmptyWindow):
		errs = append(errs, field.Invalid(path.Child("notBefore"), rfc3339(spec.NotBefore.Time), err.Error()))
	}
	return errs
}

// warnCompleted warns of a new CronJob without a future tick.
func warnCompleted(spec *v1.CronJobSpec, now time.Time) []Warning {
	ticks, err := plan.SpecOf(spec).Ticks()
	if err != nil {
		return nil
	}
	if _, ok := ticks.Anchored(now).Next(now); ok {
		return nil
	}
	if spec.NotAfter != nil {
		return []Warning{{"spec.notAfter", "no tick comes from now on until " + rfc3339(spec.NotAfter.Time) + ", so that nothing starts"}}
	}
	return []Warning{{"spec.exclude", "has all days to come, so that nothing starts"}}
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
