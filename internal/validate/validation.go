// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package validate has the errors and warnings about a CronJob that need no request to the API
// server. The webhooks and the plugin share it.
package validate

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/shorten"
)

// maxDetail is how many bytes of a value an error repeats.
const maxDetail = 1 << 10

// Name refuses a name that leaves no room in a Job's name for the tick.
func Name(c *v1.CronJob) field.ErrorList {
	if len(c.Name) <= v1.MaxNameLength {
		return nil
	}
	return field.ErrorList{field.TooLong(field.NewPath("metadata", "name"), c.Name, v1.MaxNameLength)}
}

// Spec checks what the schema can't. It also repeats the schema's checks, because another schema
// may be installed. An error in a schedule is reported where its form has it.
func Spec(spec *v1.CronJobSpec, form Form) field.ErrorList {
	path := field.NewPath("spec")
	errs := slices.Concat(validateSchedule(spec, path, form), validateTicks(spec, path), validatePolicies(spec, path))
	for _, limit := range []struct {
		name  string
		value *int32
		least int32
	}{
		{"successfulJobsHistoryLimit", spec.SuccessfulJobsHistoryLimit, 0},
		{"failedJobsHistoryLimit", spec.FailedJobsHistoryLimit, 0},
		{"maxConcurrency", spec.MaxConcurrency, 1},
		{"stopAfterFailures", spec.StopAfterFailures, 1},
	} {
		if limit.value != nil && *limit.value < limit.least {
			errs = append(errs, field.Invalid(path.Child(limit.name), *limit.value, fmt.Sprintf("must be %d or more", limit.least)))
		}
	}
	if ptr.Deref(spec.StartingDeadlineSeconds, 0) < 0 {
		errs = append(errs, field.Invalid(path.Child("startingDeadlineSeconds"), *spec.StartingDeadlineSeconds, "must be 0 or more"))
	}
	return append(errs, validateEnum(spec.ConcurrencyPolicy, path.Child("concurrencyPolicy"),
		v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent)...)
}

// validateEnum refuses a value that is set and not among the known ones.
func validateEnum[T ~string](value T, path *field.Path, known ...T) field.ErrorList {
	if value == "" || slices.Contains(known, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, T(shorten.Text(string(value), maxDetail)), known)}
}

// validateSchedule checks each schedule and the time zone separately: an error that one of them had
// before an edit must not hide an error that the edit adds to another.
func validateSchedule(spec *v1.CronJobSpec, path *field.Path, form Form) field.ErrorList {
	parse := schedule.Parser(schedule.ParseNew)
	if len(spec.AdditionalSchedules) > 0 {
		parse = schedule.ParseCombined
	}
	errs := append(validateExpression(spec.Schedule, parse, form.placeOf(0)),
		validateTimeZone(spec.TimeZone, path.Child("timeZone"))...)
	if count := len(spec.AdditionalSchedules); count > v1.MaxAdditionalSchedules {
		return append(errs, field.TooMany(path.Child("additionalSchedules"), count, v1.MaxAdditionalSchedules))
	}
	for i, text := range spec.AdditionalSchedules {
		errs = append(errs, validateExpression(text, schedule.ParseCombined, form.placeOf(i+1))...)
	}
	return errs
}

// validateExpression checks the text of a schedule, and each of the fields that a version has in
// its place. It needs no time zone: whether a schedule ever fires does not depend on it.
func validateExpression(text string, parse schedule.Parser, at place) field.ErrorList {
	var errs field.ErrorList
	for _, mistake := range schedule.CheckFields(at.fields) {
		errs = append(errs, at.invalid(mistake))
	}
	if len(errs) > 0 {
		return errs
	}
	_, err := parse(text, "")
	mistake := &schedule.Mistake{}
	switch isMistake := errors.As(err, &mistake); {
	case err == nil:
		return nil
	case isMistake && text == "":
		return field.ErrorList{field.Required(at.path, mistake.Reason)}
	case isMistake && at.fields[mistake.Field] != "":
		return field.ErrorList{at.invalid(mistake)}
	}
	return field.ErrorList{field.Invalid(at.path, shorten.Text(text, maxDetail), err.Error())}
}

// invalid returns the error for a mistake in one or several of the fields.
func (p place) invalid(mistake *schedule.Mistake) *field.Error {
	if mistake.Field == "" {
		return field.Invalid(p.path, field.OmitValueType{}, mistake.Reason)
	}
	return field.Invalid(p.path.Child(mistake.Field), shorten.Text(mistake.Value, maxDetail), mistake.Reason)
}

func validateTimeZone(zone *string, path *field.Path) field.ErrorList {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(path, "", "must be a name of the IANA database such as Europe/Paris; leave it out for UTC")}
	}
	name := shorten.Text(*zone, maxDetail)
	if _, err := schedule.LoadZone(name); err != nil {
		return field.ErrorList{field.Invalid(path, name, err.Error())}
	}
	return nil
}
