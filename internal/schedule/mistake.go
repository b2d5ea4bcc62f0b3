// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/robfig/cron/v3"
)

// Mistake is the error for a text that is not a schedule. It says what is wrong and what to write
// instead, so that all API versions and programs use the same words. Its message is for versions in
// which the schedule is one text. Where each part is a field, Reason is reported at Field.
type Mistake struct {
	// Field is the part that is wrong, such as dayOfMonth; "" for the whole text.
	Field string

	// Value is the text of the field.
	Value string

	// Reason says what is wrong, and what to write instead.
	Reason string

	// kind is the wrapped error: ErrSyntax, ErrNoInterval or ErrCombined.
	kind error
}

func (m *Mistake) Error() string {
	switch {
	case !errors.Is(m.kind, ErrSyntax):
		return m.kind.Error()
	case m.Field == "":
		return fmt.Sprintf("%v: %s", m.kind, m.Reason)
	}
	return fmt.Sprintf("%v: %s: %s", m.kind, inText(m.Field, m.Value), m.Reason)
}

// Unwrap returns ErrSyntax, ErrNoInterval or ErrCombined.
func (m *Mistake) Unwrap() error { return m.kind }

// inText returns the name of a field in prose, and its text in quotes.
func inText(name, value string) string {
	words := "interval"
	for _, p := range &parts {
		if p.name == name {
			words = p.words
		}
	}
	return fmt.Sprintf("%s %q", words, shorten(value))
}

// maxQuoted is how many characters of a field are quoted.
const maxQuoted = 40

func shorten(value string) string {
	if chars := []rune(value); len(chars) > maxQuoted {
		return string(chars[:maxQuoted]) + "…"
	}
	return value
}

const (
	// everyField is the field for an interval, and everyPrefix the prefix of one in a text.
	everyField  = "every"
	everyPrefix = "@every "
)

// part describes one of the five fields of a cron expression.
type part struct {
	// name is the field's name in versions that have fields, and words its name in prose.
	name, words string

	// first and last are the first and the last value, as numbers and, if the field has them,
	// names.
	first, last         string
	firstName, lastName string

	// must says what the field takes. The first hint whose pattern matches the text replaces it.
	must  string
	hints []hint
}

// hint says what to write instead of the syntax of another cron.
type hint struct {
	pattern *regexp.Regexp
	reason  string
}

func mustBe(value, span, step, days string) string {
	return "must be " + value + ", a range (" + span + "), *, any of these with a step (" + step + "), " +
		days + "or a comma-separated list of these"
}

const (
	mustBeDuration  = "must be a duration such as 45s, 90m or 1h30m; a day is 24h"
	mustNotHaveBoth = "every can't be combined with minute, hour, dayOfMonth, month or dayOfWeek"
)

var (
	hashed = hint{regexp.MustCompile(`(^|,)[hH]([(/,]|$)`),
		"H, a value that Jenkins chooses, is not supported: choose one, such as 5, or 5/10 for H/10"}
	lastOfNone = hint{regexp.MustCompile(`(^|,)[lL](,|$)`),
		"L alone is not a day of the week: 5L is the last Friday of the month, 6 is each Saturday, " +
			"and the last day of the month is L as day of month"}
	seventhDay = hint{regexp.MustCompile(`(^|[,-])7([,/#lL-]|$)`),
		"Sunday is 0 or sun, not 7; a range to 7 is two, such as 5-6,0 for 5-7"}
)

// The indexes of the day fields in parts.
const dayOfMonth, dayOfWeek = 2, 4

// parts describes the fields, in the order of an expression.
var parts = [5]part{
	{name: "minute", words: "minute", first: "0", last: "59",
		must: mustBe("a minute from 0 to 59", "0-30", "*/15", ""), hints: []hint{hashed}},
	{name: "hour", words: "hour", first: "0", last: "23",
		must: mustBe("an hour from 0 to 23", "9-17", "*/6", ""), hints: []hint{hashed}},
	{name: "dayOfMonth", words: "day of month", first: "1", last: "31",
		must: mustBe("a day from 1 to 31", "1-15", "*/10",
			"L for the last day, L-3 for three days before it, 15W for the weekday nearest to the 15th, LW for the last weekday, "),
		hints: []hint{hashed}},
	{name: "month", words: "month", first: "1", last: "12", firstName: "jan", lastName: "dec",
		must: mustBe("a month from 1 to 12 or jan to dec", "jan-mar", "*/3", ""), hints: []hint{hashed}},
	{name: "dayOfWeek", words: "day of week", first: "0", last: "6", firstName: "sun", lastName: "sat",
		must: mustBe("a day from 0 (Sunday) to 6 or sun to sat", "mon-fri", "*/2",
			"5#3 for the third Friday of the month, 5L for its last Friday, "),
		hints: []hint{hashed, lastOfNone, seventhDay}},
}

// explain returns what is wrong with a text that parseText refuses. The library's own errors don't
// name the field, and mention Go functions.
func explain(text string) *Mistake {
	words := strings.Fields(text)
	switch {
	case len(words) > 0 && strings.HasPrefix(words[0], "@"):
		return explainMacro(text, words[0])
	case len(words) != len(parts):
		return &Mistake{Reason: explainCount(len(words)), kind: ErrSyntax}
	}
	wrong := 0 // the first field that is refused, or the last field
	for wrong < len(parts)-1 && accepts(wrong, words[wrong]) {
		wrong++
	}
	return &Mistake{Field: parts[wrong].name, Value: words[wrong], Reason: explainField(wrong, words[wrong]), kind: ErrSyntax}
}

// CheckFields returns all that is wrong with the fields of a schedule. It ignores other names.
func CheckFields(fields map[string]string) []*Mistake {
	var mistakes []*Mistake
	names, isBeside := []string{everyField}, false
	for i := range parts {
		_, isSet := fields[parts[i].name]
		names, isBeside = append(names, parts[i].name), isBeside || isSet
	}
	if _, isInterval := fields[everyField]; isInterval && isBeside {
		mistakes = append(mistakes, &Mistake{Reason: mustNotHaveBoth, kind: ErrSyntax})
	}
	for _, name := range names {
		if value, isSet := fields[name]; isSet {
			if mistake := CheckField(name, value); mistake != nil {
				mistakes = append(mistakes, mistake)
			}
		}
	}
	return mistakes
}

// CheckField returns what is wrong with a field of a schedule; nil if nothing is.
func CheckField(name, value string) *Mistake {
	if name == everyField {
		mistake := &Mistake{}
		if _, err := ParseNew(everyPrefix+value, ""); !errors.As(err, &mistake) {
			return nil
		}
		return mistake
	}
	for i, p := range &parts {
		if p.name == name && !accepts(i, value) {
			return &Mistake{Field: name, Value: value, Reason: explainField(i, value), kind: ErrSyntax}
		}
	}
	return nil
}

// explainCount says what is wrong with a text that does not have five fields.
func explainCount(count int) string {
	names := make([]string, len(parts))
	for i, p := range &parts {
		names[i] = p.words
	}
	want := "want 5: " + strings.Join(names, ", ")
	switch {
	case count == 0:
		return "must not be empty: write five fields such as 0 9 * * 1-5, a macro such as @daily, or @every 90m"
	case count == 1:
		return "found 1 field, " + want + ", such as 0 9 * * 1-5; or a macro such as @daily, or @every 90m"
	case count < len(parts):
		return fmt.Sprintf("found %d fields, %s; write * for any", count, want)
	}
	return fmt.Sprintf("found %d fields, %s; is the first one seconds? Leave seconds and years out; "+
		"every 30 seconds is @every 30s", count, want)
}

// durationPattern is what time.ParseDuration reads, but for values that are too long.
var durationPattern = regexp.MustCompile(`^[-+]?(0|(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`)

// explainMacro returns what is wrong with a text whose first word starts with @.
func explainMacro(text, first string) *Mistake {
	every, isInterval := strings.CutPrefix(strings.TrimSpace(text), everyPrefix)
	rest := strings.Fields(text)[1:]
	likely := strings.Join(append([]string{strings.ToLower(first)}, rest...), " ")
	switch _, err := cron.ParseStandard(likely); {
	case err == nil:
		return &Mistake{Reason: "macros are in lower case, without further blanks: write " + likely, kind: ErrSyntax}
	case strings.EqualFold(first, "@reboot"):
		return &Mistake{Reason: "@reboot is not supported, as a cluster does not boot: create a Job for what runs once", kind: ErrSyntax}
	case isInterval && durationPattern.MatchString(every):
		return &Mistake{Field: everyField, Value: every, Reason: "must be shorter: the longest duration is 2562047h", kind: ErrSyntax}
	case isInterval:
		return &Mistake{Field: everyField, Value: every, Reason: mustBeDuration, kind: ErrSyntax}
	case likely == "@every":
		return &Mistake{Field: everyField, Reason: mustBeDuration, kind: ErrSyntax}
	}
	return &Mistake{Reason: "must be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, " +
		"or @every and a duration, such as @every 90m", kind: ErrSyntax}
}

func explainField(i int, value string) string {
	wraps := ""
	for piece := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' }) {
		if accepts(i, piece) {
			continue
		}
		instead, ok := splitRange(i, piece)
		if !ok {
			return explainPiece(parts[i], value)
		}
		if wraps == "" {
			wraps = "the range " + shorten(piece) + " ends before it begins: write " + shorten(instead)
		}
	}
	if wraps == "" { // the field is empty
		return parts[i].must
	}
	return wraps
}

func explainPiece(p part, value string) string {
	for _, h := range p.hints {
		if h.pattern.MatchString(value) {
			return h.reason
		}
	}
	return p.must
}

// splitRange returns how to write a range that wraps around, such as fri-mon, as two; false if
// something else is wrong.
func splitRange(i int, piece string) (string, bool) {
	span, step, hasStep := strings.Cut(piece, "/")
	low, high, _ := strings.Cut(span, "-")
	if strings.ContainsAny(low+high, "*?-") || !isPlain(i, low) || !isPlain(i, high) || hasStep && !isPlain(i, low+"/"+step) {
		return "", false
	}
	p := parts[i]
	first, last := p.first, p.last
	if isName := strings.Trim(low, "+0123456789") != ""; isName {
		first, last = p.firstName, p.lastName
	}
	instead := []string{spanOf(i, low, last), spanOf(i, first, high)}
	if hasStep {
		instead[0] += "/" + step
		instead[1] += "/" + step
	}
	return strings.Join(instead, ","), true
}

// spanOf writes a range, or a single value if the range begins and ends with it.
func spanOf(i int, low, high string) string {
	from, _ := valuesOf(i, low)
	if to, _ := valuesOf(i, high); from == to {
		return low
	}
	return low + "-" + high
}

// accepts reports whether Parse accepts a text as a field.
func accepts(i int, value string) bool {
	return isPlain(i, (&Fields{}).takeDays(i, value))
}

// isPlain reports whether the cron library accepts a text as a field.
func isPlain(i int, value string) bool {
	_, ok := valuesOf(i, value)
	return ok
}

// fieldParser reads an expression that starts with seconds, so that it never takes the first field
// of a user for a macro or the prefix of a time zone.
var fieldParser = cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// valuesOf returns the values of a field as bits; false if the cron library does not accept it.
func valuesOf(i int, value string) (uint64, bool) {
	if strings.Join(strings.Fields(value), "") != value {
		return 0, false
	}
	words := [len(parts)]string{"*", "*", "*", "*", "*"}
	words[i] = value
	parsed, err := fieldParser.Parse("0 " + strings.Join(words[:], " "))
	if err != nil {
		return 0, false
	}
	s, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return 0, false
	}
	return [len(parts)]uint64{s.Minute, s.Hour, s.Dom, s.Month, s.Dow}[i], true
}
