// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

// Rule is what a field of v2's schedule has to match. The schema of v2 is made of it, so that both
// versions take the same fields and refuse the others in the same words.
type Rule struct {
	// Field is the field of v2's schedule, such as dayOfMonth.
	Field string

	// Pattern is the regular expression of all that Parse takes, in RE2's syntax and without a
	// backslash.
	Pattern string

	// Hints are tried in their order on what does not match, and Must is said if none of them
	// matches.
	Hints []Hint
	Must  string
}

// Hint is what to write instead of syntax that other kinds of cron have.
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
// without a step, and days with a type of their own. The cron library takes empty items of a list,
// and what follows *- up to the step.
func (p *part) pattern() string {
	value := "(" + p.value + ")"
	item := `([*?](-[^,/ ]*)?|` + value + `(-` + value + `)?)(/[+]?0*[1-9][0-9]*)?`
	if p.day != "" {
		item = `(` + item + `|` + p.day + `)`
	}
	return `^(,*` + item + `(,+` + item + `)*,*|,+)$`
}
