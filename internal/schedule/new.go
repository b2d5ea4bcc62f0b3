// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"strings"
	"time"
)

// ErrNoInterval is the error for an interval of 0 or less.
var ErrNoInterval = errors.New("must be an interval above 0, such as @every 90m")

// ParseNew reads a new schedule. It is Parse, but refuses an interval of 0 or less. The cron
// library takes such an interval for a second, so Parse accepts stored ones; but it is a mistake in
// a new one.
func ParseNew(text, zone string) (Schedule, error) {
	s, err := Parse(text, zone)
	if err != nil || s.interval == 0 {
		return s, err
	}
	value := strings.TrimPrefix(text, everyPrefix)
	every, err := time.ParseDuration(value)
	if err == nil && every <= 0 {
		return Schedule{}, &Mistake{Field: everyField, Value: value, Reason: "must be an interval above 0, such as 90m", kind: ErrNoInterval}
	}
	return s, nil
}
