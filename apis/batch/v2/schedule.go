// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import "strings"

// everyPrefix starts a schedule text that is an interval.
const everyPrefix = "@every "

// macros maps each named schedule to the five fields that fire at the same instants
// (https://pkg.go.dev/github.com/robfig/cron/v3#hdr-Predefined_schedules).
var macros = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// fields returns the five parts of the cron expression, in its order. Nil means "*".
func (s *CronSchedule) fields() [5]**CronField {
	return [5]**CronField{&s.Minute, &s.Hour, &s.DayOfMonth, &s.Month, &s.DayOfWeek}
}

// isZero reports whether nothing is set: no schedule at all.
func (s CronSchedule) isZero() bool { return s == CronSchedule{} }

// equal reports whether both schedules have the same text in each field.
func (s CronSchedule) equal(other CronSchedule) bool {
	if s.Every != other.Every {
		return false
	}
	theirs := other.fields()
	for i, mine := range s.fields() {
		if (*mine == nil) != (*theirs[i] == nil) || *mine != nil && **mine != **theirs[i] {
			return false
		}
	}
	return true
}

// splitSchedule converts a schedule text to fields. It leaves out "*" if another field is set, and
// converts a macro to its fields. It never fails: a text without the form of a schedule becomes the
// zero value, which is invalid too. It does not check the fields: the schema and the validator do,
// and name the field.
func splitSchedule(text string) CronSchedule {
	if interval, ok := strings.CutPrefix(text, everyPrefix); ok {
		return CronSchedule{Every: interval}
	}
	if expression, ok := macros[text]; ok {
		text = expression
	}
	parts := strings.Fields(text)
	schedule := CronSchedule{}
	fields := schedule.fields()
	if len(parts) != len(fields) {
		return CronSchedule{}
	}
	for i, part := range parts {
		if part != "*" {
			*fields[i] = new(CronField(part))
		}
	}
	if schedule.isZero() {
		schedule.Minute = new(CronField("*"))
	}
	return schedule
}

// joinSchedule converts fields to a schedule text. It never fails: a schedule that no text can
// express, such as one with nothing set, an empty field, or an interval and other fields, becomes
// the empty text, which is invalid too.
func joinSchedule(schedule CronSchedule) string {
	parts := make([]string, 0, 5)
	set := 0
	for _, field := range schedule.fields() {
		part := "*"
		if *field != nil {
			part = string(**field)
			set++
		}
		if !isOneWord(part) {
			return ""
		}
		parts = append(parts, part)
	}
	switch {
	case schedule.Every != "" && set == 0:
		return everyPrefix + schedule.Every
	case schedule.Every != "" || set == 0:
		return ""
	}
	return strings.Join(parts, " ")
}

// isOneWord reports whether splitting a schedule text would return the part unchanged.
func isOneWord(part string) bool {
	words := strings.Fields(part)
	return len(words) == 1 && words[0] == part
}
