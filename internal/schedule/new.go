// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"strings"
	"time"
)

// ErrNoInterval is the error for an interval of no time, or less.
var ErrNoInterval = errors.New("must be an interval above 0, such as @every 90m")

// ParseNew reads a schedule that somebody has just written: as Parse does, but it refuses an
// interval of no time, or less. The cron library takes it for a second, and so what is stored goes
// on; but nobody who writes it means that.
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
