// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

func convert(from, to runtime.Object) error {
	return spoke.Table{Hub: v1.Conversion, Spokes: []spoke.Spoke{Spoke}}.Convert(from, to)
}

// form is a CronSchedule as JSON may have it: an empty interval is not left out.
type form struct {
	Minute     *string `json:"minute,omitempty"`
	Hour       *string `json:"hour,omitempty"`
	DayOfMonth *string `json:"dayOfMonth,omitempty"`
	Month      *string `json:"month,omitempty"`
	DayOfWeek  *string `json:"dayOfWeek,omitempty"`
	Every      *string `json:"every,omitempty"`
}

// fields returns the five parts of the cron expression, in its order. Nil means "*".
func (f *form) fields() [5]**string {
	return [5]**string{&f.Minute, &f.Hour, &f.DayOfMonth, &f.Month, &f.DayOfWeek}
}

// everyPrefix starts a schedule text that is an interval.
const everyPrefix = "@every "

// maxLength is how many characters a schedule text may have.
const maxLength = 1024

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

// split converts a schedule text to fields. It leaves out "*" if another field is set, and converts
// a macro to its fields. It never fails: a text without the form of a schedule becomes the zero
// value, which is invalid too, and so does a text that is too long because of its blanks. It does
// not check the fields: the schema and the validator do, and name the field.
func split(text string) form {
	if interval, ok := strings.CutPrefix(text, everyPrefix); ok && interval != "" {
		return form{Every: &interval}
	}
	parts := strings.Fields(text)
	if expression, ok := macros[text]; ok {
		parts = strings.Fields(expression)
	}
	f, isSet := form{}, false
	fields := f.fields()
	if len(parts) != len(fields) || utf8.RuneCountInString(text) > maxLength && strings.Join(parts, " ") != text {
		return form{}
	}
	for i, part := range parts {
		if part != "*" {
			*fields[i], isSet = &part, true
		}
	}
	if !isSet {
		f.Minute = new("*")
	}
	return f
}

// join converts fields to a schedule text. It never fails: a schedule that no text can express,
// such as one with nothing set, an empty field, or an interval and other fields, becomes the empty
// text, which is invalid too.
func join(f form) string {
	parts, isSet := make([]string, 0, 5), false
	for _, field := range f.fields() {
		part := "*"
		if *field != nil {
			part, isSet = **field, true
		}
		if words := strings.Fields(part); len(words) != 1 || words[0] != part {
			return ""
		}
		parts = append(parts, part)
	}
	switch {
	case f.Every != nil && *f.Every != "" && !isSet:
		return everyPrefix + *f.Every
	case f.Every != nil || !isSet:
		return ""
	}
	return strings.Join(parts, " ")
}
