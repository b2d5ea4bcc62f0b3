/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package schedule

import (
	"errors"
	"strings"
	"time"
)

// ErrNoInterval is the error for an interval of no time, or less.
var ErrNoInterval = errors.New("must be an interval above 0, such as @every 90m")

// ParseNew reads a schedule that somebody has just written: as Parse does, but it refuses an interval
// of no time, or less. The cron library takes it for a second, and so what is stored goes on; but
// nobody who writes it means that.
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
