// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package checker decides whether a history keeps the operator's contract. It has its own, small
// implementation of schedules, and imports nothing of the operator. A verdict is a function of the
// history alone.
package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// Law is a part of the contract that the checker checks.
type Law string

// The laws.
const (
	Lost                Law = "S2 lost: each due tick has one Job, or one report of why not"
	Stuck               Law = "S2 stuck: the schedule goes on"
	Untold              Law = "S2 untold: a missed tick that the status tells of has its event"
	RunAndReported      Law = "S2 reported, but run"
	ReportedTwice       Law = "S2 reported twice"
	NotNewest           Law = "S2 only the newest tick runs"
	PastDeadline        Law = "S2 none runs past its deadline"
	Doubled             Law = "S4 doubled: a tick runs once"
	NoTick              Law = "S4 only ticks run"
	WentBack            Law = "S5 lastScheduleTime never goes back"
	ForbidOverlaps      Law = "S6 Forbid never overlaps"
	ReplaceLeavesOne    Law = "S6 Replace leaves one"
	DeletedWhileRunning Law = "S6 only Replace deletes a Job that runs"
	TooMany             Law = "S20 no more Jobs run than maxConcurrency allows"
	AfterFailures       Law = "S21 none after as many failures as stopAfterFailures, and not before"
	BeyondLimit         Law = "S23 only the newest catchUpLimit ticks run"
	Excluded            Law = "A8 none on excluded days and outside of the window"
	AfterEdit           Law = "S7 none from before an edit or a resume"
	AfterSuspend        Law = "S7 none while suspended"
	HistoryTooLong      Law = "S8 history limits hold in the end"
	PrunedTooMuch       Law = "S8 history keeps the newest"
	AfterDelete         Law = "S9 none after the deletion"
	Early               Law = "S11 early: no Job before its tick, delayed by the jitter"
	Unlabelled          Law = "S12 Jobs and Pods carry the tick"
	Unasked             Law = "S13 no Job but what a manager asked for"
	NotTried            Law = "S14 each tick is looked at on time, whatever is refused"
	RetriedLate         Law = "S10 what is refused is tried again, for each tick from a quarter of a second on"
	RetriedInvalid      Law = "S10 what is invalid is tried once a tick"
	WrongStatus         Law = "O the status is right in the end"
	WrongMetrics        Law = "O3 metrics equal the history"
)

// Excuse is why a tick needs neither a Job nor a report.
type Excuse string

// The excuses.
const (
	EndedBefore  Excuse = "edited, suspended or deleted before its turn"
	ClockStepped Excuse = "while the clock was stepped"
	StoppedThen  Excuse = "while it had stopped after failures"
	ReporterDied Excuse = "the manager that was to report it was killed in that moment"
)

// Violation is a broken law.
type Violation struct {
	Law    Law
	Object string    // namespace/name of the CronJob
	Tick   time.Time // zero if it is not about a tick
	Text   string
}

// String formats the violation as one line.
func (v Violation) String() string {
	text := string(v.Law)
	if v.Object != "" {
		text += ": " + v.Object
	}
	if !v.Tick.IsZero() {
		text += ", tick " + stamp(v.Tick)
	}
	return text + ": " + v.Text
}

// Verdict is the result of a check.
type Verdict struct {
	Violations []Violation

	// Due counts the ticks that were due, DueAndRun those of them that ran, and Reported those that
	// events report as missed, by reason. Excused counts the others, by excuse.
	Due, DueAndRun int
	Reported       map[string]int
	Excused        map[Excuse]int

	// Run counts the Jobs that were to be created. Raced counts those of them that an edit would
	// have prevented if the manager had received it before its decision. Forgotten counts ticks
	// that ran again, or were reported as missed, when no process could know of their run any more.
	Run, Raced, Forgotten int

	// Backfilled counts the Jobs by which users ran missed ticks.
	Backfilled int

	// CronJobs counts all CronJobs, Settled those that existed at the end, and Readings the
	// readings of a process's metrics.
	CronJobs, Settled, Readings int

	// Faults counts faults by kind, and Refused the requests that lasting refusals refused. Tried
	// counts the ticks that were reconciled on time during or shortly after a refusal in their
	// namespace.
	Faults         map[string]int
	Refused, Tried int

	late, lateInCalm []time.Duration
}

type check struct {
	*index
	*Verdict
	slowness  float64
	witnesses []try // the first request for each tick, of CronJobs without a refusal
}

// slow scales a time limit to the speed of this machine.
func (c *check) slow(d time.Duration) time.Duration { return time.Duration(float64(d) * c.slowness) }

// Check checks a history. Slowness is the factor by which the machine may be slower than one that
// keeps up. All time limits are multiplied by it.
func Check(records []history.Record, slowness float64) *Verdict {
	c := &check{
		index: gather(records), slowness: slowness,
		Verdict: &Verdict{Reported: map[string]int{}, Excused: map[Excuse]int{}},
	}
	c.Faults, c.Refused = c.faults, c.refused
	c.witness()
	for _, uid := range slices.Sorted(maps.Keys(c.timelines)) {
		s := c.timelines[uid]
		if len(s.versions) == 0 {
			continue
		}
		c.CronJobs++
		c.edits(s)
		c.starts(s)
		c.deletions(s)
		c.ticks(s)
		c.statuses(s)
		c.settled(s)
	}
	for _, m := range c.metrics {
		c.measured(m)
	}
	c.strangers()
	slices.SortStableFunc(c.Violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Law, b.Law), a.Tick.Compare(b.Tick), cmp.Compare(a.Object, b.Object))
	})
	return c.Verdict
}

func (c *check) strangers() {
	for _, uid := range slices.Sorted(maps.Keys(c.runs)) {
		run := c.runs[uid]
		if c.timelines[run.Owner] == nil {
			c.violate(Unasked, nil, run.Tick, "Job %s/%s belongs to no CronJob", run.Namespace, run.Name)
		}
	}
}

func (c *check) violate(law Law, s *timeline, tick time.Time, format string, args ...any) {
	object := ""
	if s != nil {
		object = s.name
	}
	c.Violations = append(c.Violations, Violation{law, object, tick, fmt.Sprintf(format, args...)})
}

// Count returns the number of violations.
func (v *Verdict) Count(laws ...Law) int {
	n := 0
	for _, violation := range v.Violations {
		if slices.Contains(laws, violation.Law) {
			n++
		}
	}
	return n
}
