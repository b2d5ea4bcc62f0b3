// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrCombined is the error for an interval among several schedules: an interval counts from the
// last run, which may be one of another schedule.
var ErrCombined = errors.New("an interval can't be combined with other schedules: " +
	"write cron fields, such as */15 as the minute for every 15 minutes, or create another CronJob for it")

// Parser reads a schedule. It is Parse, or ParseNew or ParseCombined, which refuse more.
type Parser func(text, zone string) (Schedule, error)

// AdditionalError says which of the additional schedules is wrong, and why.
type AdditionalError struct {
	// Index counts from 0.
	Index int
	Err   error
}

// Error names the schedule by its path in the spec.
func (e *AdditionalError) Error() string {
	return fmt.Sprintf("additionalSchedules[%d]: %v", e.Index, e.Err)
}

func (e *AdditionalError) Unwrap() error { return e.Err }

// ParseCombined reads one of several schedules. It is Parse, but refuses an interval with an error
// that wraps ErrCombined.
func ParseCombined(text, zone string) (Schedule, error) {
	s, err := Parse(text, zone)
	if err != nil || s.interval == 0 {
		return s, err
	}
	return Schedule{}, &Mistake{
		Field: everyField, Value: strings.TrimPrefix(text, everyPrefix), Reason: ErrCombined.Error(), kind: ErrCombined,
	}
}

// ParseAll parses a schedule and additional ones in the same time zone. Errors are those of Parse or
// With.
func ParseAll(text string, additional []string, zone string) (Schedule, error) {
	parsed, err := Parse(text, zone)
	if err != nil {
		return Schedule{}, err
	}
	return parsed.With(additional)
}

// With returns the union of this schedule and additional ones in the same time zone. A tick that
// several share is one tick. An error is an AdditionalError, or ErrCombined if this schedule is an
// interval.
func (s Schedule) With(additional []string) (Schedule, error) {
	if len(additional) > 0 && s.interval != 0 {
		return Schedule{}, ErrCombined
	}
	s.expressions = slices.Clone(s.expressions)
	for i, text := range additional {
		other, err := ParseCombined(text, s.zone.String())
		if err != nil {
			return Schedule{}, &AdditionalError{i, err}
		}
		s.expressions = append(s.expressions, other.expressions...)
	}
	return s, nil
}
