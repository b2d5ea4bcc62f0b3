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
	"tutorial.kubebuilder.io/project/internal/webhook/logs"
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
// may be installed. For v2, inFields is true: an error in the schedule is reported at one of its
// fields.
func Spec(spec *v1.CronJobSpec, inFields bool) field.ErrorList {
	path := field.NewPath("spec")
	errs := slices.Concat(validateSchedule(spec, path, inFields), validateTicks(spec, path), validatePolicies(spec, path))
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
	return field.ErrorList{field.NotSupported(path, T(logs.Shorten(string(value), maxDetail)), known)}
}

// validateSchedule checks each schedule and the time zone separately: an error that one of them had
// before an edit must not hide an error that the edit adds to another.
func validateSchedule(spec *v1.CronJobSpec, path *field.Path, inFields bool) field.ErrorList {
	parse := schedule.Parser(schedule.ParseNew)
	if len(spec.AdditionalSchedules) > 0 {
		parse = schedule.ParseCombined
	}
	errs := append(validateExpression(spec.Schedule, parse, path.Child("schedule"), inFields),
		validateTimeZone(spec.TimeZone, path.Child("timeZone"))...)
	additional := path.Child("additionalSchedules")
	if count := len(spec.AdditionalSchedules); count > v1.MaxAdditionalSchedules {
		return append(errs, field.TooMany(additional, count, v1.MaxAdditionalSchedules))
	}
	for i, text := range spec.AdditionalSchedules {
		errs = append(errs, validateExpression(text, schedule.ParseCombined, additional.Index(i), inFields)...)
	}
	return errs
}

// validateExpression checks the text of a schedule. It needs no time zone: whether a schedule ever
// fires does not depend on it.
func validateExpression(text string, parse schedule.Parser, path *field.Path, inFields bool) field.ErrorList {
	_, err := parse(text, "")
	mistake := &schedule.Mistake{}
	switch isMistake := errors.As(err, &mistake); {
	case err == nil:
		return nil
	case isMistake && text == "":
		return field.ErrorList{field.Required(path, mistake.Reason)}
	case isMistake && inFields && mistake.Field != "":
		return field.ErrorList{field.Invalid(path.Child(mistake.Field), logs.Shorten(mistake.Value, maxDetail), mistake.Reason)}
	}
	return field.ErrorList{field.Invalid(path, logs.Shorten(text, maxDetail), err.Error())}
}

func validateTimeZone(zone *string, path *field.Path) field.ErrorList {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(path, "", "must be a name of the IANA database such as Europe/Paris; leave it out for UTC")}
	}
	name := logs.Shorten(*zone, maxDetail)
	if _, err := schedule.LoadZone(name); err != nil {
		return field.ErrorList{field.Invalid(path, name, err.Error())}
	}
	return nil
}
