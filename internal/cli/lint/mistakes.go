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

// likelyMistakes returns findings about what admission accepts without a warning but is probably
// wrong. Admission warns only of what can't be meant.
func likelyMistakes(spec *v1.CronJobSpec, form validate.Form) []finding {
	var findings []finding
	add := func(rule rule, i int, found []schedule.Warning) {
		for _, warning := range found {
			at := form.Warning(i, warning)
			findings = append(findings, rule.about(at.Path, at.Reason))
		}
	}
	for i, text := range append([]string{spec.Schedule}, spec.AdditionalSchedules...) {
		if words := strings.Fields(text); len(words) == len(cycles) {
			add(unevenStep, i, unevenSteps(words))
			add(skippedMonth, i, skippedMonths(words))
		}
	}
	return append(findings, waiting(&v1.CronJob{Spec: *spec})...)
}

// cycles has what the values of each field of a schedule repeat in, and the most values it has.
var cycles = [5]struct {
	field, name string
	length      int
}{{"minute", "hour", 60}, {"hour", "day", 24}, {"dayOfMonth", "month", 31}, {"month", "year", 12}, {"dayOfWeek", "week", 7}}

// unevenSteps warns of steps that do not divide their cycle: */45 is at 0 and 45 of each hour, and
// not every 45 minutes. Admission warns of steps that are longer than the cycle.
func unevenSteps(words []string) []schedule.Warning {
	var found []schedule.Warning
	for i, c := range cycles {
		text, isStep := strings.CutPrefix(words[i], "*/")
		step, err := strconv.Atoi(text)
		if isStep && err == nil && 1 < step && step < c.length && c.length%step != 0 {
			found = append(found, schedule.Warning{Field: c.field, Value: words[i], Reason: fmt.Sprintf(
				"the step of %s begins anew with each %s, which it does not divide, so that the last one is shorter; "+
					"for equal ones write another step, or an interval with @every (every in v2)", words[i], c.name)})
		}
	}
	return found
}

// skippedMonths warns of a day that some months of the schedule do not have.
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

func firesIn(ticks schedule.Schedule, year int, month time.Month) bool {
	start := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	tick, ok := ticks.Next(start.Add(-time.Second))
	return ok && tick.Before(start.AddDate(0, 1, 0))
}

// waiting returns findings about ticks that wait for Jobs, by Forbid or maxConcurrency: Jobs that
// may stop the schedule, and deadlines that are too short to wait.
func waiting(c *v1.CronJob) []finding {
	atOnce := int64(plan.MaxConcurrency(c))
	if atOnce == 0 {
		return nil
	}
	job := &c.Spec.JobTemplate.Spec
	limit := job.ActiveDeadlineSeconds
	var findings []finding
	if limit == nil && job.Template.Spec.ActiveDeadlineSeconds == nil {
		findings = append(findings, noTimeLimit.about("spec.jobTemplate.spec.activeDeadlineSeconds", fmt.Sprintf(
			"not set: as %s, Jobs that hang stop the schedule until somebody deletes them; "+
				"set the seconds after which a Job has failed", plan.ConcurrencyRule(c))))
	}
	ticks, err := schedule.ParseAll(c.Spec.Schedule, c.Spec.AdditionalSchedules, "")
	if err != nil || c.Spec.StartingDeadlineSeconds == nil {
		return findings
	}
	gap := ticks.ShortestGap()
	seconds, deadline := int64(gap/time.Second), *c.Spec.StartingDeadlineSeconds
	inTime := atOnce*seconds + deadline
	if deadline >= seconds || limit != nil && *limit <= inTime {
		return findings
	}
	return append(findings, shortDeadline.about("spec.startingDeadlineSeconds", fmt.Sprintf(
		"%d is shorter than the %v from a tick to the next: as %s, "+
			"a tick is missed if it waits longer than that for a Job; set %d, or leave it out, "+
			"to have it run when the Job has ended, or have the Job end in time by an activeDeadlineSeconds of at most %d",
		deadline, gap, plan.ConcurrencyRule(c), seconds, inTime)))
}
