// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/test/history"
)

// refuses has a kind of requests be refused from now on.
func (t *scenario) refuses(second float64, of string) {
	t.add(second, history.Record{Refusal: &history.Refusal{Kind: of + "-denied", Of: of, Namespace: "ns"}})
}

// allows has it be allowed again.
func (t *scenario) allows(second float64, of string) {
	t.add(second, history.Record{Refusal: &history.Refusal{Kind: of + "-denied", Of: of, Namespace: "ns", Ended: true, Refused: 9}})
}

// others says how a CronJob of another namespace runs, each second.
type others struct {
	late                 float64 // by so many seconds
	lateTicks            []int   // these, by 2.5 seconds
	nobodyFrom, nobodyTo int     // from when to when nobody does anything
}

// run has that CronJob run during the scenario, by a manager that knew of a revision.
func (o others) run(t *scenario, knew int64) {
	for tick := range int(t.last()) {
		if tick >= o.nobodyFrom && tick < o.nobodyTo {
			continue
		}
		late := max(o.late, 0.1)
		if slices.Contains(o.lateTicks, tick) {
			late = 2.5
		}
		create := &history.Create{
			Manager: "a-1", Job: fmt.Sprintf("others/o-%d", at(float64(tick)).Unix()), Asked: at(float64(tick) + late),
			Decided: at(float64(tick) + late), Knew: knew, Code: 201,
		}
		t.add(float64(tick)+late, history.Record{Create: create})
	}
}

// startsJobs has some ticks run, without a word in the status.
func (t *scenario) startsJobs(ticks ...int) {
	for _, tick := range ticks {
		t.asks(float64(tick)+0.1, tick)
		t.job(float64(tick)+0.1, tick)
		t.endsJob(float64(tick)+1, tick)
	}
}

// endsJob has a Job end, without a word in the status.
func (t *scenario) endsJob(second float64, tick int) {
	job := *t.jobs[tick]
	job.Result = history.Succeeded
	t.jobs[tick] = &job
	t.stored(second, history.Record{Job: &job})
}

// isRefused has requests for the Job of a tick be answered with a code.
func (t *scenario) isRefused(code, tick int, after ...float64) {
	for _, late := range after {
		t.asks(float64(tick)+late, tick, func(c *history.Create) { c.Code = code })
	}
}

// triesAgainAfter has a refused tick be tried again for the first time after so many seconds.
func triesAgainAfter(seconds float64) func(t *scenario) {
	return func(t *scenario) {
		t.refuses(5, history.Creates)
		t.isRefused(403, 10, 0.1, 0.4, 1, 2, 4, 8)
		t.isRefused(403, 20, 0.1, seconds)
		t.status(30, -1, 30)
		t.reports(30, manyMissed(2, 10, 20))
		t.startsJobs(30)
		t.status(31, 30, 40)
	}
}

func TestTheCheckerJudgesWithRefusals(t *testing.T) {
	tests := map[string]struct {
		play         func(t *scenario)
		others       others
		knowsNothing bool // whether the manager knows of no CronJob
		want         []Law
	}{
		"S14: no status can be written, and each tick runs": {play: func(t *scenario) {
			t.refuses(5, history.Statuses)
			t.startsJobs(10, 20, 30, 40, 50, 60)
			t.allows(62, history.Statuses)
			t.status(62.5, 60, 70)
		}},
		"S14: no status can be written, and ticks are not looked at": {want: []Law{NotTried, NotTried}, play: func(t *scenario) {
			t.refuses(5, history.Statuses)
			t.startsJobs(10, 20, 50)
			t.allows(52, history.Statuses)
			t.status(52.5, 50, 60)
			t.reports(52.6, manyMissed(2, 30, 40))
		}},
		"S14: ticks are not looked at by one who was not told of the CronJob": {knowsNothing: true, play: func(t *scenario) {
			t.refuses(5, history.Statuses)
			t.startsJobs(10, 20, 50)
			t.allows(52, history.Statuses)
			t.status(52.5, 50, 60)
			t.reports(52.6, manyMissed(2, 30, 40))
		}},
		"S14: after a refusal ticks are not looked at for a while": {want: []Law{NotTried}, play: func(t *scenario) {
			t.refuses(5, history.Events)
			t.startsJobs(10, 20)
			t.allows(25, history.Events)
			t.startsJobs(30, 50)
			t.status(51, 50, 60)
			t.reports(51.1, oneMissed(40))
		}},
		"S14: ticks of others are late as well": {others: others{late: 6}, play: func(t *scenario) {
			t.refuses(5, history.Statuses)
			t.startsJobs(10, 20, 50)
			t.allows(52, history.Statuses)
			t.status(52.5, 50, 60)
			t.reports(52.6, manyMissed(2, 30, 40))
		}},
		"S14: nobody leads for a while": {others: others{nobodyFrom: 31, nobodyTo: 45}, play: func(t *scenario) {
			t.refuses(5, history.Statuses)
			t.startsJobs(10, 20, 50)
			t.allows(52, history.Statuses)
			t.status(52.5, 50, 60)
			t.reports(52.6, manyMissed(2, 30, 40))
		}},
		"S14: the leader is told to stop, and ends what it has begun": {play: func(t *scenario) {
			t.refuses(5, history.Statuses)
			t.startsJobs(10, 20)
			t.add(32, history.Record{Fault: &history.Fault{Kind: "term-leader", Detail: "a-1"}})
			t.startsJobs(40, 50)
			t.allows(52, history.Statuses)
			t.status(52.5, 50, 60)
			t.reports(52.6, oneMissed(30))
		}},
		"S14: a fault has struck a request of this one": {play: func(t *scenario) {
			t.refuses(5, history.Deletes)
			t.startsJobs(10, 20)
			t.add(20.2, history.Record{Fault: &history.Fault{
				Kind: "no-answer", Detail: "a-1: PATCH /apis/batch.tutorial.kubebuilder.io/v1/namespaces/ns/cronjobs/c/status",
			}})
			t.startsJobs(40, 50)
			t.status(51, 50, 60)
			t.reports(51.1, oneMissed(30))
			t.allows(52, history.Deletes)
		}},
		"S14: nothing is refused here": {play: func(t *scenario) {
			t.add(5, history.Record{Refusal: &history.Refusal{Kind: "x", Of: history.Reads, Namespace: "elsewhere"}})
			t.startsJobs(10, 30)
			t.status(31, 30, 40)
			t.reports(31.1, oneMissed(20))
		}},
		"S14: it is edited just before a tick": {play: func(t *scenario) {
			t.refuses(5, history.Events)
			t.startsJobs(10, 20)
			t.status(20.2, 20, 30)
			t.edit(29.9, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.startsJobs(40)
			t.status(41, 40, 50)
			t.reports(41.1, oneMissed(30))
		}},
		"S14: under Forbid a tick waits for a Job": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Forbid" })
			t.refuses(5, history.Statuses)
			t.asks(20.1, 20)
			t.job(20.1, 20)
			t.allows(36, history.Statuses)
			t.status(38, 20, 40)
			t.reports(38.1, oneMissed(10))
			t.reports(38.2, oneMissed(30))
		}},
		"S14: under Forbid a tick waits for a Job that was backfilled": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Forbid" })
			t.refuses(5, history.Deletes)
			t.startsJobs(20)
			t.reports(21.1, oneMissed(10))
			t.backfills(25, 10)
			t.endsJob(45, 10)
			t.startsJobs(50)
			t.status(51, 50, 60)
			t.reports(51.1, manyMissed(2, 30, 40))
		}},
		"S14: under Forbid a tick waits for no Job": {want: []Law{NotTried}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Forbid" })
			t.refuses(5, history.Deletes)
			t.startsJobs(10, 20)
			t.startsJobs(50)
			t.status(51, 50, 60)
			t.reports(51.1, manyMissed(2, 30, 40))
		}},
		"S14: under Replace a tick waits for a Job that may exist, as that can't be read": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Replace" })
			t.refuses(5, history.Reads)
			t.startsJobs(10, 20, 50)
			t.status(51, 50, 60)
			t.reports(51.1, manyMissed(2, 30, 40))
		}},
		"S14: under Replace a tick waits for a Job that can't be deleted": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Replace" })
			t.refuses(5, history.Deletes)
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.edit(45, suspended)
			t.status(45.1, 20, -1)
			t.reports(45.2, manyMissed(2, 30, 40))
		}},
		"S14: under Replace a tick waits for a Job that could be deleted": {want: []Law{NotTried}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Replace" })
			t.refuses(5, history.Events)
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.edit(36, suspended)
			t.status(36.1, 20, -1)
			t.reports(36.2, oneMissed(30))
		}},
		"S10: no Job can be created, and each tick is tried anew": {play: func(t *scenario) {
			t.refuses(5, history.Creates)
			t.isRefused(403, 10, 0.1, 0.4, 1, 2, 4, 8)
			t.isRefused(403, 20, 0.1, 0.4, 1, 2, 4, 8)
			t.status(30, -1, 30)
			t.reports(30, manyMissed(2, 10, 20))
			t.allows(30.1, history.Creates)
			t.startsJobs(30)
			t.status(31, 30, 40)
		}},
		"S10: the backoff goes on from one tick to the next": {want: []Law{RetriedLate}, play: triesAgainAfter(8)},
		"S10: a refused tick is tried again late":            {want: []Law{RetriedLate}, play: triesAgainAfter(4)},
		"S10: ticks of others are late too when it is to be tried again": {
			others: others{lateTicks: []int{18, 20}}, play: triesAgainAfter(4),
		},
		"S10: a refused tick is not tried after its deadline": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Deadline = new(int64(6)) })
			t.refuses(5, history.Creates)
			t.isRefused(403, 20, 4.9)
			t.reports(27, manyMissed(2, 10, 20))
			t.startsJobs(30)
			t.status(31, 30, 40)
		}},
		"S10: what is invalid is tried once a tick": {play: func(t *scenario) {
			t.refuses(5, history.Creates)
			t.isRefused(422, 10, 0.1)
			t.isRefused(422, 20, 0.1)
			t.status(30, -1, 30)
			t.reports(30, manyMissed(2, 10, 20))
			t.startsJobs(30)
			t.status(31, 30, 40)
		}},
		"S10: what is invalid is tried again and again": {want: []Law{RetriedInvalid}, play: func(t *scenario) {
			t.refuses(5, history.Creates)
			t.isRefused(422, 10, 0.1, 0.4)
			t.isRefused(422, 20, 0.1)
			t.status(30, -1, 30)
			t.reports(30, manyMissed(2, 10, 20))
			t.startsJobs(30)
			t.status(31, 30, 40)
		}},
		"S10: a webhook passes on that it has not found something, and nothing is tried any more": {
			want: []Law{RetriedLate, NotTried, NotTried}, play: func(t *scenario) {
				t.refuses(5, history.Creates)
				t.isRefused(404, 10, 0.1)
				t.add(36, history.Record{Act: &history.Act{Kind: "end"}})
			},
		},
		"S2: a run of which no status could tell was replaced, and the next leader takes it for missed": {play: func(t *scenario) {
			t.cronJob.Policy = "Replace"
			t.edit(1, func(*history.CronJob) {})
			t.status(1, -1, 10)
			t.refuses(5, history.Statuses)
			t.startsJobs(10)
			t.deletes(20.05, 10)
			t.startsJobs(20)
			t.process("a-1", history.Ended, 20.5)
			t.process("b-1", history.Started, 20.5)
			t.allows(25, history.Statuses)
			t.status(26, 20, 30)
			t.reports(26, oneMissed(10))
			t.edit(27, suspended)
		}, others: others{late: 6}},
		"S2: the status that can't be written goes past no tick": {play: func(t *scenario) {
			t.refuses(5, history.Statuses)
			t.startsJobs(10)
			t.process("a-1", history.Ended, 10.5)
			t.process("b-1", history.Started, 10.5)
			t.add(100, history.Record{Act: &history.Act{Kind: "end"}})
		}, others: others{late: 6}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			scenario := newScenario()
			test.play(scenario)
			scenario.add(scenario.last()+6, history.Record{Act: &history.Act{Kind: "end"}})
			knew := scenario.revision
			if test.knowsNothing {
				knew = 0
			}
			test.others.run(scenario, knew)
			verdict := Check(scenario.records, 1)
			got := []Law{}
			for _, violation := range verdict.Violations {
				got = append(got, violation.Law)
			}
			assert.ElementsMatch(t, test.want, got, "%v", verdict.Violations)
		})
	}
}

func TestARefusalIsExplained(t *testing.T) {
	scenario := newScenario()
	scenario.refuses(8, history.Statuses)
	scenario.allows(12, history.Statuses)
	verdict := Check(scenario.records, 1)
	assert.Equal(t, map[string]int{"statuses-denied": 1}, verdict.Faults)
	assert.Equal(t, 9, verdict.Refused)
	for object, want := range map[string]int{"ns/c": 2, "nsx/c": 0} {
		out, err := Explain(scenario.records, []Violation{{Object: object, Tick: at(10)}})
		require.NoError(t, err)
		assert.Equal(t, want, strings.Count(out, `"refusal":`), object)
	}
}
