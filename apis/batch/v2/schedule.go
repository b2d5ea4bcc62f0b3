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

// equal reports whether both schedules say the same in the same words.
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

// splitSchedule reads a schedule text into fields, as naturally as they go: "*" is left out where
// another field is set, and a macro becomes its fields. It is total: a text that has the form of no
// schedule gives the zero value, which is as invalid as the text. It judges the form alone; whether
// each field is valid is for the schema and the validator to say, at that field.
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

// joinSchedule writes fields as one schedule text. It is total: a schedule that no text can say,
// such as one with nothing set, an empty field, or an interval beside fields, gives the empty
// text, which is as invalid as the schedule.
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

// isOneWord reports whether splitting a schedule text would give the part back as it is.
func isOneWord(part string) bool {
	words := strings.Fields(part)
	return len(words) == 1 && words[0] == part
}
