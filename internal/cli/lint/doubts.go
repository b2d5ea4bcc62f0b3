// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/internal/validate"
)

// doubts returns what admission accepts without a word and is probably wrong. Admission warns of
// what can't be meant; this may be, and is worth a look when it is written.
func doubts(spec *v1.CronJobSpec, form validate.Form) []problem {
	var problems []problem
	doubt := func(rule *rule, i int, found []schedule.Warning) {
		for _, warning := range found {
			at := form.Warning(i, warning)
			problems = append(problems, problem{rule, at.Path, at.Reason})
		}
	}
	for i, text := range append([]string{spec.Schedule}, spec.AdditionalSchedules...) {
		if words := strings.Fields(text); len(words) == len(cycles) {
			doubt(&unevenStep, i, unevenSteps(words))
			doubt(&skippedMonth, i, skippedMonths(words))
		}
	}
	return append(problems, waiting(&v1.CronJob{Spec: *spec})...)
}

// cycle is what a field of a schedule goes through again and again.
type cycle struct {
	field, name string

	// length is how many values it has, and 0 if that is not always the same.
	length int

	// A step of one is so many units as an interval; 0 for months, which have no length.
	count int
	unit  string
}

var cycles = [5]cycle{
	{"minute", "hour", 60, 1, "m"},
	{"hour", "day", 24, 1, "h"},
	{"dayOfMonth", "month", 0, 24, "h"},
	{"month", "year", 12, 0, ""},
	{"dayOfWeek", "week", 7, 24, "h"},
}

// unevenSteps warns of steps that do not divide what they go through: */45 is at 0 and 45 of each
// hour, and not every 45 minutes. Admission warns of those that lead beyond it.
func unevenSteps(words []string) []schedule.Warning {
	const longest = 31 // days of a month
	var found []schedule.Warning
	for i, c := range cycles {
		text, isStep := strings.CutPrefix(words[i], "*/")
		step, err := strconv.Atoi(text)
		if !isStep || err != nil || step < 2 || c.length > 0 && (step >= c.length || c.length%step == 0) || step >= longest && c.length == 0 {
			continue
		}
		reason := fmt.Sprintf("the step of %s begins anew with each %s, so that the last one is shorter", words[i], c.name)
		if c.length > 0 {
			last := (c.length - 1) / step * step
			reason += fmt.Sprintf(" (%d, not %d)", c.length-last, step)
		}
		var instead []string
		if c.length > 0 && c.field != "dayOfWeek" { // 7 has no divisor
			instead = append(instead, fmt.Sprintf("a step that divides %d", c.length))
		}
		if c.count > 0 {
			instead = append(instead, fmt.Sprintf("the interval @every %[1]d%[2]s (every: %[1]d%[2]s in v2)", step*c.count, c.unit))
		}
		reason += "; if they are to be equal, write " + strings.Join(instead, " or ")
		found = append(found, schedule.Warning{Field: c.field, Value: words[i], Reason: reason})
	}
	return found
}

// skippedMonths warns of a day that not all of the schedule's months have.
func skippedMonths(words []string) []schedule.Warning {
	wanted, err := schedule.Parse(strings.Join([]string{words[0], words[1], "1", words[3], "*"}, " "), "")
	if err != nil {
		return nil
	}
	ticks, err := schedule.Parse(strings.Join(words, " "), "")
	if err != nil {
		return nil
	}
	const common, leap = 2001, 2004
	var skipped []string
	for month := time.January; month <= time.December; month++ {
		switch {
		case !firesIn(wanted, common, month) || firesIn(ticks, common, month):
		case firesIn(ticks, leap, month):
			skipped = append(skipped, month.String()+" but in leap years")
		default:
			skipped = append(skipped, month.String())
		}
	}
	if len(skipped) == 0 {
		return nil
	}
	return []schedule.Warning{{Field: "dayOfMonth", Value: words[2],
		Reason: "nothing runs in " + strings.Join(skipped, ", ") + ", as there is no such day; " +
			"for the last day of every month write L"}}
}

// firesIn reports whether a schedule fires in a month.
func firesIn(ticks schedule.Schedule, year int, month time.Month) bool {
	start := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	tick, ok := ticks.Next(start.Add(-time.Second))
	return ok && tick.Before(start.AddDate(0, 1, 0))
}

// waiting returns what makes a CronJob stop, or lose ticks, as a tick waits for Jobs under Forbid or
// maxConcurrency.
func waiting(c *v1.CronJob) []problem {
	atOnce := int64(plan.MaxConcurrency(c))
	if atOnce == 0 {
		return nil
	}
	job := &c.Spec.JobTemplate.Spec
	limit := job.ActiveDeadlineSeconds
	var problems []problem
	if limit == nil && job.Template.Spec.ActiveDeadlineSeconds == nil {
		problems = append(problems, problem{&noTimeLimit, "spec.jobTemplate.spec.activeDeadlineSeconds", fmt.Sprintf(
			"not set: as %s, Jobs that hang stop the schedule until somebody deletes them; "+
				"set the seconds after which a Job has failed", plan.ConcurrencyRule(c))})
	}
	ticks, err := schedule.ParseAll(c.Spec.Schedule, c.Spec.AdditionalSchedules, "")
	if err != nil || c.Spec.StartingDeadlineSeconds == nil {
		return problems
	}
	gap := ticks.ShortestGap()
	seconds, deadline := int64(gap/time.Second), *c.Spec.StartingDeadlineSeconds
	inTime := atOnce*seconds + deadline
	if deadline >= seconds || limit != nil && *limit <= inTime {
		return problems
	}
	return append(problems, problem{&shortDeadline, "spec.startingDeadlineSeconds", fmt.Sprintf(
		"%d is shorter than the %v from a tick to the next: as %s, "+
			"a tick is missed if it waits longer than that for a Job; set %d, or leave it out, "+
			"to have it run when the Job has ended, or have the Job end in time by an activeDeadlineSeconds of at most %d",
		deadline, gap, plan.ConcurrencyRule(c), seconds, inTime)})
}
