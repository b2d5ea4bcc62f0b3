// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

// Rule is what a field of v2's schedule has to match. v2's schema is generated from the rules, so
// that both versions accept the same fields and refuse the others in the same words.
type Rule struct {
	// Field is the field of v2's schedule, such as dayOfMonth.
	Field string

	// Pattern is a regular expression that matches what Parse accepts, in RE2's syntax and without
	// a backslash.
	Pattern string

	// Hints are tried in order on a text that does not match.
	Hints []Hint

	// Must is the error if no hint matches.
	Must string
}

// Hint says what to write instead of the syntax of another cron.
type Hint struct {
	// Pattern is the regular expression of that syntax, and Reason what is wrong with it.
	Pattern, Reason string
}

// Rules returns the rules of the five fields of a cron expression.
func Rules() []Rule {
	rules := make([]Rule, 0, len(parts))
	for _, p := range &parts {
		rule := Rule{Field: p.name, Pattern: p.pattern(), Must: p.must}
		for _, h := range p.hints {
			rule.Hints = append(rule.Hints, Hint{Pattern: h.pattern.String(), Reason: h.reason})
		}
		rules = append(rules, rule)
	}
	return rules
}

// pattern returns the regular expression of the field: a list of values, ranges and *, each with or
// without a step, and MonthDays or NthWeekdays. The cron library also accepts empty items of a
// list, and any text between *- and the step.
func (p *part) pattern() string {
	value := "(" + p.value + ")"
	item := `([*?](-[^,/ ]*)?|` + value + `(-` + value + `)?)(/[+]?0*[1-9][0-9]*)?`
	if p.day != "" {
		item = `(` + item + `|` + p.day + `)`
	}
	return `^(,*` + item + `(,+` + item + `)*,*|,+)$`
}
