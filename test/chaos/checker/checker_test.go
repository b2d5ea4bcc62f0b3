// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/test/history"
)

// scenario is a small history, written by hand. Its times are seconds since noon.
type scenario struct {
	records []history.Record
	revision,
	generation int64
	cronJob history.CronJob
	jobs    map[int]*history.Job // by tick
	sent    history.Event        // the last that was reported
	metrics map[string]float64
}

// noon is the begin of each scenario, a whole minute.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(second float64) time.Time { return noon.Add(time.Duration(second * float64(time.Second))) }

// newScenario returns one with a CronJob that is created at noon and runs every ten seconds.
func newScenario() *scenario {
	t := &scenario{generation: 1, jobs: map[int]*history.Job{}, metrics: map[string]float64{}}
	t.cronJob = history.CronJob{
		Namespace: "ns", Name: "c", UID: "uid", Generation: 1, Created: noon, Edited: noon,
		Spec: history.Spec{Ticks: history.Ticks{Schedule: "@every 10s"}, Policy: "Allow", SucceededLimit: 3, FailedLimit: 1},
	}
	t.process("a-1", history.Started, 0)
	t.store(0)
	return t
}

func (t *scenario) add(second float64, record history.Record) {
	record.At = at(second)
	t.records = append(t.records, record)
}

// stored adds what is stored in etcd.
func (t *scenario) stored(second float64, record history.Record) {
	t.revision++
	record.Revision = t.revision
	t.add(second, record)
}

func (t *scenario) store(second float64) {
	state := t.cronJob
	t.stored(second, history.Record{CronJob: &state})
}

// edit has a user edit the CronJob.
func (t *scenario) edit(second float64, change func(*history.CronJob)) {
	t.cronJob.Generation++
	t.cronJob.Edited = at(second)
	change(&t.cronJob)
	t.store(second)
}

// status has a manager write the status: the last tick and the next; negative for none.
func (t *scenario) status(second float64, last, next int) {
	t.cronJob.ObservedGeneration = t.cronJob.Generation
	t.cronJob.LastSchedule, t.cronJob.NextSchedule = time.Time{}, time.Time{}
	if last >= 0 {
		t.cronJob.LastSchedule = at(float64(last))
	}
	if next >= 0 {
		t.cronJob.NextSchedule = at(float64(next))
	}
	t.store(second)
}

// asks has a manager ask for the Job of a tick, knowing all there is; options change the request.
func (t *scenario) asks(second float64, tick int, options ...func(*history.Create)) {
	create := &history.Create{
		Manager: "a-1", Job: fmt.Sprintf("ns/c-%d", at(float64(tick)).Unix()), Decided: at(second), Asked: at(second),
		Knew: t.revision, Code: 201, Forwarded: true,
	}
	for _, option := range options {
		option(create)
	}
	t.add(second+0.01, history.Record{Create: create})
}

// job has the Job of a tick be created.
func (t *scenario) job(second float64, tick int) {
	job := &history.Job{
		Namespace: "ns", Name: fmt.Sprintf("c-%d", at(float64(tick)).Unix()), UID: fmt.Sprintf("job-%d-%d", tick, t.revision), Owner: "uid",
		Created: at(second).Truncate(time.Second), Tick: at(float64(tick)), PodTick: at(float64(tick)),
	}
	t.jobs[tick] = job
	t.stored(second, history.Record{Job: job})
}

// backfills has a user backfill a tick.
func (t *scenario) backfills(second float64, tick int) {
	t.job(second, tick)
	t.jobs[tick].Backfill = true
}

// backfillsAll has a user backfill so many ticks before noon, whose Jobs end.
func (t *scenario) backfillsAll(count int, result string) {
	for i := range count {
		t.backfills(23, -10*(i+1))
		t.ends(24, -10*(i+1), result)
	}
}

// runs has a tick run: asked for, created and in the status.
func (t *scenario) runs(second float64, tick, next int) {
	t.asks(second, tick)
	t.job(second, tick)
	t.cronJob.Active = append(t.cronJob.Active, t.jobs[tick].UID)
	t.status(second, tick, next)
}

// ends has a Job end.
func (t *scenario) ends(second float64, tick int, result string) {
	job := *t.jobs[tick]
	job.Result, job.Ended = result, at(second).Truncate(time.Second)
	t.jobs[tick] = &job
	t.stored(second, history.Record{Job: &job})
	t.cronJob.Active = nil
	t.status(second, int(t.cronJob.LastSchedule.Sub(noon).Seconds()), int(t.cronJob.NextSchedule.Sub(noon).Seconds()))
}

// deletes has a manager delete a Job.
func (t *scenario) deletes(second float64, tick int) {
	job := *t.jobs[tick]
	job.Deleted = true
	t.stored(second, history.Record{Job: &job})
}

// removes has a user delete a Job.
func (t *scenario) removes(second float64, tick int) {
	job := t.jobs[tick]
	t.add(second, history.Record{Act: &history.Act{Kind: history.DeleteJob, Name: "ns/" + job.Name, UID: job.UID}})
	t.deletes(second, tick)
}

// gone has a user delete the CronJob.
func (t *scenario) gone(second float64) {
	state := t.cronJob
	state.Deleted = true
	t.stored(second, history.Record{CronJob: &state})
}

// reports has a manager report ticks as missed.
func (t *scenario) reports(second float64, note string) {
	t.sent = t.event(fmt.Sprintf("event-%d", len(t.records)), note)
	event := t.sent
	t.stored(second, history.Record{Event: &event})
	t.sends("a-1", second, 201, event)
}

// event returns an event about missed ticks.
func (t *scenario) event(name, note string) history.Event {
	return history.Event{Name: name, UID: "uid", Reason: "MissSchedule", Note: note}
}

// sends has a manager send an event, which is answered with a code.
func (t *scenario) sends(manager string, second float64, code int, event history.Event) {
	t.add(second, history.Record{Report: &history.Report{Manager: manager, Code: code, Event: event}})
}

// misses has the status tell of a missed tick from its next write on.
func (t *scenario) misses(tick int) {
	t.cronJob.Missed = append([]history.Missed{{Reason: "Superseded", First: at(float64(tick)), Last: at(float64(tick)), Count: 1}},
		t.cronJob.Missed...)
}

func (t *scenario) process(name, state string, second float64) {
	t.add(second, history.Record{Process: &history.Process{Manager: name, State: state}})
}

// settles ends the scenario, all idle.
func (t *scenario) settles(second float64) {
	t.add(second, history.Record{Phase: &history.Phase{Name: history.Settled}})
}

// oneMissed is the report of a tick.
func oneMissed(tick int) string {
	return fmt.Sprintf("Missed scheduled time %s: they were slow", at(float64(tick)).Format(time.RFC3339))
}

// manyMissed is the report of some ticks.
func manyMissed(count, first, last int) string {
	return fmt.Sprintf("Missed %d scheduled times from %s to %s: slow",
		count, at(float64(first)).Format(time.RFC3339), at(float64(last)).Format(time.RFC3339))
}

// suspended suspends it at 25 s, knowing which a manager has no business after the tick of 20 s.
func suspended(c *history.CronJob) { c.Suspend = true }

// runsTwice has the ticks of 10 s and of 20 s run, and the Jobs end.
func (t *scenario) runsTwice() {
	t.runs(10.1, 10, 20)
	t.ends(12, 10, history.Succeeded)
	t.runs(20.1, 20, 30)
	t.ends(22, 20, history.Succeeded)
}

// failsTwice has the CronJob stop after two failures, which are those of the ticks of 10 s and of 20 s.
func (t *scenario) failsTwice() {
	t.edit(1, func(c *history.CronJob) { c.StopAfter = 2 })
	t.runs(10.1, 10, 20)
	t.ends(12, 10, history.Failed)
	t.runs(20.1, 20, 30)
	t.ends(22, 20, history.Failed)
}

// stops has the status say that the CronJob has stopped after failures.
func (t *scenario) stops(second float64) {
	t.cronJob.Stopped = true
	t.status(second, int(t.cronJob.LastSchedule.Sub(noon).Seconds()), -1)
}

// delay is by how much a jitter of nine seconds delays the starts of the CronJob.
const delay = 2

func TestTheCheckerKnowsGoodFromBad(t *testing.T) {
	tests := map[string]struct {
		play func(t *scenario)
		want []Law
	}{
		"each tick runs": {play: func(t *scenario) {
			t.runsTwice()
			t.edit(25, suspended)
			t.settles(30)
		}},
		"a tick that is missed is reported": {play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.ends(12, 10, history.Failed)
			t.runs(30.1, 30, 40)
			t.reports(30.2, oneMissed(20))
			t.settles(31)
			t.ends(31, 30, history.Succeeded)
		}},
		"a row of ticks is reported in one": {play: func(t *scenario) {
			t.runs(40.1, 40, 50)
			t.reports(40.2, manyMissed(3, 10, 30))
		}},
		"two rows of ticks are reported in one, and a third that ran between them": {play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.runs(40.1, 40, 50)
			t.reports(40.2, oneMissed(10)+"; "+oneMissed(30))
			t.scrapes(47, map[string]float64{"job_creation_skew_duration_seconds": 2, "missed_ticks_total/Superseded": 2, "jobs_active": 0})
		}},
		"S2: a tick is passed over in silence": {want: []Law{Lost}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.runs(30.1, 30, 40)
		}},
		"S2: nothing happens any more": {want: []Law{Stuck, Stuck, Stuck, Stuck}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(125, suspended)
		}},
		"S2: nothing happens while nobody can lead": {play: func(t *scenario) {
			t.runsTwice()
			t.edit(95, suspended)
			t.sends("a-2", 96, 201, t.event("another", "of another CronJob"))
		}},
		"S2: nothing happens for longer than faults can keep all from leading": {want: []Law{Stuck}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(155, suspended)
			t.sends("a-2", 156, 201, t.event("another", "of another CronJob"))
		}},
		"S2: nothing happens for a minute after somebody leads": {want: []Law{Stuck, Stuck, Stuck, Stuck}, play: func(t *scenario) {
			t.runsTwice()
			t.sends("a-2", 45, 201, t.event("another", "of another CronJob"))
			t.edit(125, suspended)
		}},
		"S2: an edit comes before the tick has had its turn": {play: func(t *scenario) {
			t.runsTwice()
			t.edit(30.4, suspended)
		}},
		"S2: a tick runs and is reported as missed": {want: []Law{RunAndReported}, play: func(t *scenario) {
			t.runsTwice()
			t.reports(23, oneMissed(20))
		}},
		"S2: a tick is reported again by the same event, which is there already": {play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.sends("b-1", 20.3, 409, t.sent)
			t.sends("a-1", 20.4, 409, t.sent)
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 1, "missed_ticks_total/Superseded": 1})
		}},
		"S2: a tick is told by two events, of which one was refused": {play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.sends("a-1", 20.2, 403, t.event("refused", oneMissed(10)))
			t.reports(20.3, oneMissed(10))
		}},
		"S2: what was sent first and refused says something else than what is stored": {want: []Law{Lost}, play: func(t *scenario) {
			t.runs(30.1, 30, 40)
			t.sends("a-1", 30.2, 0, t.event("event", manyMissed(2, 10, 20)))
			event := t.event("event", oneMissed(10))
			t.stored(31, history.Record{Event: &event})
		}},
		"O3: a manager counts a missed tick that another has told before": {play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.sends("b-1", 21, 409, t.sent)
			t.add(27, history.Record{Metrics: &history.Metrics{
				Manager: "b-1", Asked: at(27), Values: map[string]float64{"missed_ticks_total/Superseded": 1},
			}})
			t.add(27, history.Record{Phase: &history.Phase{Name: history.Quiet}})
		}},
		"O3: a manager counts a missed tick once, however often it tells it": {want: []Law{WrongMetrics}, play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.sends("a-1", 21, 409, t.sent)
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 1, "missed_ticks_total/Superseded": 2})
		}},
		"S2: the status tells of a missed tick, and no event does": {want: []Law{Untold}, play: func(t *scenario) {
			t.misses(10)
			t.runs(20.1, 20, 30)
			t.edit(25, suspended)
			t.status(26, 20, -1)
			t.add(95, history.Record{Act: &history.Act{Kind: "end"}})
		}},
		"S2: the status tells of a missed tick, whose event is still to come": {play: func(t *scenario) {
			t.misses(10)
			t.runs(20.1, 20, 30)
			t.edit(22, suspended)
		}},
		"S2: who was to tell of a missed tick ends, and the next tells what the status says": {play: func(t *scenario) {
			t.misses(10)
			t.runs(20.1, 20, 30)
			t.process("a-1", history.Ended, 20.2)
			t.edit(25, suspended)
			t.sends("b-1", 38, 201, t.event("event", oneMissed(10)))
			t.add(95, history.Record{Act: &history.Act{Kind: "end"}})
		}},
		"S2: who was to tell of a missed tick ends, and nobody tells what the status says": {want: []Law{Untold}, play: func(t *scenario) {
			t.misses(10)
			t.runs(20.1, 20, 30)
			t.process("a-1", history.Ended, 20.2)
			t.edit(25, suspended)
			t.add(95, history.Record{Act: &history.Act{Kind: "end"}})
		}},
		"S2: who was to tell of a missed tick ends long after it should have": {want: []Law{Untold}, play: func(t *scenario) {
			t.misses(10)
			t.runs(20.1, 20, 30)
			t.edit(25, suspended)
			t.process("a-1", history.Ended, 30)
		}},
		"S2: who was to tell of a missed tick ends after an outage, and nobody else can": {play: func(t *scenario) {
			t.misses(10)
			t.runs(20.1, 20, 30)
			t.add(21, history.Record{Fault: &history.Fault{Kind: "kill-apiserver"}})
			t.edit(25, suspended)
			t.process("a-1", history.Ended, 30)
		}},
		"S2: who was to tell of a missed tick ends, and the CronJob is deleted before another can": {play: func(t *scenario) {
			t.misses(10)
			t.runs(20.1, 20, 30)
			t.process("a-1", history.Ended, 20.2)
			t.edit(25, suspended)
			t.gone(30)
			t.add(95, history.Record{Act: &history.Act{Kind: "end"}})
		}},
		"S2: a tick is lost though the status keeps others": {want: []Law{Lost}, play: func(t *scenario) {
			t.misses(10)
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.runs(40.1, 40, 50)
			t.process("a-1", history.Ended, 40.2)
		}},
		"S2: a row of missed ticks has one in it that ran, and does not count that": {play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.runs(40.1, 40, 50)
			t.reports(40.2, manyMissed(2, 10, 30))
		}},
		"S2: a row of missed ticks has two in it that ran, and counts the one that nobody can know of": {play: func(t *scenario) {
			t.asks(20.1, 20)
			t.job(20.1, 20)
			t.asks(30.1, 30)
			t.job(30.1, 30)
			t.process("a-1", history.Ended, 30.2)
			t.removes(31, 20)
			t.runs(50.1, 50, 60)
			t.reports(50.2, manyMissed(3, 10, 40))
		}},
		"S2: a row of missed ticks has one in it that ran, and counts that": {want: []Law{RunAndReported}, play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.runs(40.1, 40, 50)
			t.reports(40.2, manyMissed(3, 10, 30))
		}},
		"S2: a row spans an edit, and a tick that ran before the edit": {want: []Law{RunAndReported}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.runs(20.1, 20, 30)
			t.edit(25, func(c *history.CronJob) { c.Schedule = "@every 4s" })
			t.runs(40.1, 40, 44)
			t.reports(40.2, manyMissed(5, 18, 36))
		}},
		"S2: a tick is reported twice": {want: []Law{ReportedTwice}, play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.reports(20.3, oneMissed(10))
		}},
		"S2: an old tick runs when a newer one is due": {want: []Law{NotNewest}, play: func(t *scenario) {
			t.runs(23, 10, 30)
			t.reports(23, oneMissed(20))
		}},
		"S2: a tick runs past its deadline": {want: []Law{PastDeadline}, play: func(t *scenario) {
			deadline := int64(3)
			t.edit(1, func(c *history.CronJob) { c.Deadline = &deadline })
			t.runs(16, 10, 20)
		}},
		"S2: a tick runs at its deadline": {play: func(t *scenario) {
			deadline := int64(3)
			t.edit(1, func(c *history.CronJob) { c.Deadline = &deadline })
			t.runs(13, 10, 20)
		}},
		"S4: a tick runs again when its Job is gone": {want: []Law{Doubled}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.SucceededLimit = 0 })
			t.runs(10.1, 10, 20)
			t.ends(11, 10, history.Succeeded)
			t.deletes(12, 10)
			t.runs(13, 10, 20)
		}},
		"S4: a tick runs again of which nobody can know that it has run": {play: func(t *scenario) {
			t.asks(10.1, 10)
			t.job(10.1, 10)
			t.process("a-1", history.Ended, 10.2)
			t.removes(11, 10)
			t.runs(13, 10, 20)
		}},
		"S4: an interval does not count from a run that nobody can know of": {play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			knew := t.revision
			t.edit(19, func(c *history.CronJob) { c.Schedule = "@every 18s" })
			t.asks(20.1, 20, func(c *history.Create) { c.Knew = knew })
			t.job(20.1, 20)
			t.process("a-1", history.Ended, 20.2)
			t.removes(21, 20)
			t.runs(28.1, 28, 46)
			t.runs(46.1, 46, 64)
		}},
		"S4: a tick is reported of which nobody can know that it has run": {play: func(t *scenario) {
			t.asks(10.1, 10)
			t.job(10.1, 10)
			t.process("a-1", history.Ended, 10.2)
			t.removes(11, 10)
			t.edit(15, suspended)
			t.reports(16, oneMissed(10))
		}},
		"S4: a tick is reported that ran while the manager that had asked for it was frozen": {play: func(t *scenario) {
			t.asks(10.1, 10)
			t.process("a-1", history.Frozen, 10.12)
			t.job(10.15, 10)
			t.removes(11, 10)
			t.edit(15, suspended)
			t.reports(16, oneMissed(10))
		}},
		"S4: a tick runs again whose creation was not answered, and whose Job somebody deleted": {play: func(t *scenario) {
			t.asks(10.1, 10, func(c *history.Create) { c.Code = 0 })
			t.job(10.1, 10)
			t.removes(11, 10)
			t.runs(13, 10, 20)
		}},
		"S4: a tick runs again for one who does not know that the CronJob is deleted, and its Job with it": {play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			knew := t.revision - 3
			t.gone(11)
			t.removes(11.1, 10)
			t.asks(11.5, 10, func(c *history.Create) { c.Manager, c.Knew = "b-1", knew })
			t.job(11.5, 10)
			t.removes(11.6, 10)
		}},
		"S4: a tick runs again that the status says has run": {want: []Law{Doubled}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.process("a-1", history.Ended, 10.2)
			t.removes(11, 10)
			t.runs(13, 10, 20)
		}},
		"S4: a tick runs again though the manager has seen the Job": {want: []Law{Doubled}, play: func(t *scenario) {
			t.asks(10.1, 10)
			t.job(10.1, 10)
			t.removes(11, 10)
			t.runs(13, 10, 20)
		}},
		"S4: a Job starts between two ticks": {want: []Law{NoTick}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.runs(15, 14, 20)
			t.runs(24, 24, 34)
		}},
		"S5: lastScheduleTime goes back": {want: []Law{WentBack}, play: func(t *scenario) {
			t.runsTwice()
			t.status(23, 10, 30)
		}},
		"S6: Forbid overlaps": {want: []Law{ForbidOverlaps}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Forbid" })
			t.runs(10.1, 10, 20)
			t.runs(20.1, 20, 30)
		}},
		"S6: Forbid waits": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Forbid" })
			t.runs(10.1, 10, 20)
			t.ends(23, 10, history.Succeeded)
			t.runs(23.1, 20, 30)
		}},
		"S6: a manager can't know yet that it is Forbid now": {play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.edit(20, func(c *history.CronJob) { c.Policy = "Forbid" })
			t.asks(20.1, 20, func(c *history.Create) { c.Knew-- })
			t.job(20.1, 20)
		}},
		"S6: Replace leaves two": {want: []Law{ReplaceLeavesOne}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Replace" })
			t.runs(10.1, 10, 20)
			t.runs(20.1, 20, 30)
		}},
		"S6: Replace replaces": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Policy = "Replace" })
			t.runs(10.1, 10, 20)
			t.deletes(20, 10)
			t.runs(20.1, 20, 30)
		}},
		"S6: a Job is deleted while it runs": {want: []Law{DeletedWhileRunning}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.deletes(12, 10)
		}},
		"S7: a tick runs that was before the edit": {want: []Law{AfterEdit, Lost}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(32, func(c *history.CronJob) { c.Schedule = "@every 5s" })
			t.runs(36, 30, 40)
		}},
		"S7: a tick of the schedule before the edit": {want: []Law{NoTick}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(25, func(c *history.CronJob) { c.Schedule = "@every 7s" })
			t.runs(30.1, 30, 37)
		}},
		"S4: an interval counts from the newest run that a new leader can know of": {play: func(t *scenario) {
			t.startsJobs(10, 20, 30, 40, 50)
			t.process("a-1", history.Ended, 52)
			t.edit(53, func(c *history.CronJob) { c.Schedule = "@every 7s" })
			for tick := 20; tick <= 50; tick += 10 {
				t.removes(54, tick)
			}
			t.process("a-2", history.Started, 55)
			t.asks(59.1, 59, func(c *history.Create) { c.Manager = "a-2" })
			t.job(59.1, 59)
			t.status(59.2, 59, 66)
		}},
		"S4: an interval counts from a run before those that are deleted later": {want: []Law{NoTick}, play: func(t *scenario) {
			t.startsJobs(10, 20, 30, 40, 50)
			t.process("a-1", history.Ended, 52)
			t.edit(53, func(c *history.CronJob) { c.Schedule = "@every 7s" })
			t.process("a-2", history.Started, 55)
			t.asks(59.1, 59, func(c *history.Create) { c.Manager = "a-2" })
			t.job(59.1, 59)
			for tick := 20; tick <= 50; tick += 10 {
				t.removes(59.15, tick)
			}
			t.status(59.2, 59, 66)
		}},
		"S4: an interval counts from a run that is not the last": {want: []Law{NoTick}, play: func(t *scenario) {
			t.startsJobs(10, 20, 30, 40, 50)
			t.edit(53, func(c *history.CronJob) { c.Schedule = "@every 7s" })
			t.asks(59.1, 59)
			t.job(59.1, 59)
			t.status(59.2, 59, 66)
		}},
		"S7: the Job was under way when the edit came": {play: func(t *scenario) {
			t.runsTwice()
			t.edit(30.1, func(c *history.CronJob) { c.Schedule = "@every 7s" })
			t.asks(30.05, 30, func(c *history.Create) { c.Knew-- })
			t.job(30.2, 30)
			t.status(30.3, 30, 37)
			t.runs(37, 37, 44)
		}},
		"S2: a tick is lost that came after an edit and before a manager saw it": {want: []Law{Lost}, play: func(t *scenario) {
			t.runs(30.1, 30, 40)
			t.reports(30.2, manyMissed(2, 10, 20))
			t.ends(32, 30, history.Succeeded)
			t.edit(35, func(c *history.CronJob) { c.Schedule = "@every 4s" })
			t.status(38.5, 30, 42)
			t.runs(42.1, 42, 46)
		}},
		"S2: a tick is lost after an edit": {want: []Law{Lost}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(25, func(c *history.CronJob) { c.Schedule = "@every 4s" })
			t.status(25.1, 20, 28)
			t.runs(32.1, 32, 36)
		}},
		"S7: an edit is not dated": {want: []Law{AfterEdit}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(25, func(c *history.CronJob) { c.FailedLimit, c.Edited = 7, time.Time{} })
			t.runs(30.1, 30, 40)
		}},
		"S7: an edit is said to be of later than it was": {want: []Law{AfterEdit}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(25, func(c *history.CronJob) { c.FailedLimit, c.Edited = 7, at(26) })
			t.runs(30.1, 30, 40)
		}},
		"S7: a tick runs that was before an edit": {want: []Law{AfterEdit}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(32, func(c *history.CronJob) { c.Schedule = "@every 7s" })
			t.runs(34, 30, 37)
		}},
		"S7: it runs while suspended": {want: []Law{AfterSuspend}, play: func(t *scenario) {
			t.runsTwice()
			t.edit(25, suspended)
			t.runs(30.1, 30, 40)
		}},
		"S7: it is resumed, and a tick from before runs": {want: []Law{AfterEdit}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.edit(15, suspended)
			t.edit(25, func(c *history.CronJob) { c.Suspend = false })
			t.runs(25.1, 20, 30)
		}},
		"A8: nothing runs on an excluded day": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Exclude = []string{"--11-21"} })
			t.status(60, -1, 86400)
		}},
		"A8: it runs on an excluded day": {want: []Law{Excluded}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Exclude = []string{"2026-11-20/2026-11-21"} })
			t.runs(10.1, 10, 20)
		}},
		"A8: it runs in its window": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.NotBefore, c.NotAfter = at(20), at(30) })
			t.runs(20.1, 20, 30)
			t.runs(30.1, 30, -1)
			t.add(200, history.Record{Act: &history.Act{Kind: "end"}})
		}},
		"A8: it runs before its window and after it, and not in it": {want: []Law{Excluded, Lost, Excluded}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.NotBefore, c.NotAfter = at(15), at(35) })
			t.runs(10.1, 10, 20)
			t.runs(30.1, 30, 40)
			t.runs(40.1, 40, 50)
		}},
		"S20: as many run as may": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.MaxConcurrency = 2 })
			t.runs(10.1, 10, 20)
			t.runs(20.1, 20, 30)
			t.ends(32, 10, history.Succeeded)
			t.runs(32.1, 30, 40)
		}},
		"S20: one more runs": {want: []Law{TooMany}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.MaxConcurrency = 2 })
			t.runs(10.1, 10, 20)
			t.runs(20.1, 20, 30)
			t.runs(30.1, 30, 40)
		}},
		"S21: after two failures nothing runs until an edit": {play: func(t *scenario) {
			t.failsTwice()
			t.stops(22.1)
			t.edit(65, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.cronJob.Stopped = false
			t.status(65.1, 20, 70)
			t.runs(70.1, 70, 80)
		}},
		"S21: after two failures nothing runs, as long as the status can't tell": {play: func(t *scenario) {
			t.failsTwice()
			t.refuses(22, history.Statuses)
			t.edit(95, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.startsJobs(100)
			t.allows(105, history.Statuses)
			t.status(105.1, 100, 110)
		}},
		"S21: it runs after two failures": {want: []Law{AfterFailures, AfterFailures}, play: func(t *scenario) {
			t.failsTwice()
			t.startsJobs(40, 50)
			t.status(50.2, 50, 60)
		}},
		"S21: after a failure, a success and a failure it goes on": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.StopAfter = 2 })
			t.runs(10.1, 10, 20)
			t.ends(12, 10, history.Failed)
			t.runs(20.1, 20, 30)
			t.ends(22, 20, history.Succeeded)
			t.runs(30.1, 30, 40)
			t.ends(32, 30, history.Failed)
			t.runs(40.1, 40, 50)
			t.runs(50.1, 50, 60)
		}},
		"S21: it stops after one failure of two": {want: []Law{AfterFailures}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.StopAfter = 2 })
			t.runs(10.1, 10, 20)
			t.ends(12, 10, history.Failed)
			t.stops(12.1)
		}},
		"S21: a failure from before an edit counts that a manager saw while its clock was behind": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.StopAfter = 2 })
			t.runs(10.1, 10, 20)
			t.ends(12, 10, history.Failed)
			t.edit(15, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.add(16, history.Record{Clock: &history.Clock{Step: -5 * time.Second}})
			t.status(17, 10, 20)
			t.add(18, history.Record{Clock: &history.Clock{}})
			t.startsJobs(20, 30, 40)
			t.runs(50.1, 50, 60)
			t.ends(52, 50, history.Failed)
			t.stops(52.1)
		}},
		"S21: a failure from before an edit counts": {want: []Law{AfterFailures}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.StopAfter = 2 })
			t.runs(10.1, 10, 20)
			t.ends(12, 10, history.Failed)
			t.edit(15, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.status(17, 10, 20)
			t.startsJobs(20, 30, 40)
			t.runs(50.1, 50, 60)
			t.ends(52, 50, history.Failed)
			t.stops(52.1)
		}},
		"S21: after an edit it does not go on": {want: []Law{Lost}, play: func(t *scenario) {
			t.failsTwice()
			t.stops(22.1)
			t.edit(25, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.cronJob.Stopped = false
			t.status(25.1, 20, 30)
			t.runs(40.1, 40, 50)
		}},
		"S21: after two failures nothing runs until somebody resumes it": {play: func(t *scenario) {
			t.failsTwice()
			t.stops(22.1)
			t.cronJob.Stopped, t.cronJob.Resumed = false, at(65)
			t.status(65.1, 20, 70)
			t.runs(70.1, 70, 80)
		}},
		"S22: a start is delayed by the jitter": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Jitter, c.Deadline = 9, new(int64(1)) })
			t.cronJob.NextStart = at(20 + delay)
			t.runs(10.1+delay, 10, 20)
		}},
		"S22: a start is not delayed, and the status does not say when the next is": {want: []Law{Early, WrongStatus}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.Jitter = 9 })
			t.cronJob.NextStart = at(20)
			t.runs(10.1, 10, 20)
		}},
		"S23: of three ticks the newest two run": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.CatchUp = 2 })
			t.runs(32, 20, 30)
			t.runs(32.1, 30, 40)
			t.reports(32.2, oneMissed(10))
		}},
		"S23: three ticks run where two may": {want: []Law{BeyondLimit}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.CatchUp = 2 })
			t.runs(33, 10, 20)
			t.runs(33.1, 20, 30)
			t.runs(33.2, 30, 40)
		}},
		"S8: too many are left": {want: []Law{HistoryTooLong}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.runsTwice()
			t.settles(25)
		}},
		"S8: too many that were backfilled are left": {want: []Law{HistoryTooLong}, play: func(t *scenario) {
			t.runsTwice()
			t.backfillsAll(4, history.Succeeded)
			t.settles(25)
		}},
		"S8: more that were backfilled and failed are left": {play: func(t *scenario) {
			t.runsTwice()
			t.backfillsAll(10, history.Failed)
			t.settles(25)
		}},
		"S8: the newest is deleted": {want: []Law{PrunedTooMuch}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.runsTwice()
			t.deletes(23, 20)
		}},
		"S8: the second newest is deleted as the newest is": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.runsTwice()
			t.removes(23, 20)
			t.deletes(23.1, 10)
		}},
		"S8: the oldest is deleted": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.SucceededLimit = 1 })
			t.runsTwice()
			t.deletes(23, 10)
			t.settles(25)
		}},
		"S7: by the manager's clock the edit is yet to come": {play: func(t *scenario) {
			t.runsTwice()
			t.edit(28, func(c *history.CronJob) { c.Schedule = "@every 5s" })
			t.add(33, history.Record{Clock: &history.Clock{Step: -9 * time.Second}})
			t.asks(34.1, 25)
			t.job(34.1, 25)
			t.status(34.2, 25, 30)
			t.add(36, history.Record{Clock: &history.Clock{}})
		}},
		"S9: it runs when it is deleted": {want: []Law{AfterDelete}, play: func(t *scenario) {
			t.runsTwice()
			t.gone(25)
			t.asks(30.1, 30)
			t.job(30.1, 30)
		}},
		"S11: it runs a second early": {want: []Law{Early}, play: func(t *scenario) {
			t.runs(9.2, 10, 20)
		}},
		"S11: it runs early by the machine's clock, and in time by the manager's": {play: func(t *scenario) {
			t.add(4, history.Record{Clock: &history.Clock{Step: 5 * time.Second}})
			t.asks(5.1, 10)
			t.job(5.1, 10)
			t.status(5.2, 10, 20)
			t.add(8, history.Record{Clock: &history.Clock{}})
		}},
		"S4: a tick that was missed is backfilled": {play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.backfills(22, 10)
		}},
		"S2: a tick is backfilled before a manager looks": {play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.backfills(21, 20)
			t.status(22, 20, 30)
			t.runs(30.1, 30, 40)
		}},
		"S2: the last tick of a window is backfilled before a manager looks": {play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.NotAfter = at(25) })
			t.runs(10.1, 10, 20)
			t.backfills(21, 20)
			t.status(22, 20, -1)
			t.add(95, history.Record{Act: &history.Act{Kind: "end"}})
		}},
		"S2: a status tells of the last tick of a window, and nothing ran it": {want: []Law{Lost}, play: func(t *scenario) {
			t.edit(1, func(c *history.CronJob) { c.NotAfter = at(25) })
			t.runs(10.1, 10, 20)
			t.status(22, 20, -1)
		}},
		"S2: an interval counts from a tick that is backfilled before a manager looks": {play: func(t *scenario) {
			t.backfills(11, 10)
			t.status(12, 10, 20)
			t.edit(13, func(c *history.CronJob) { c.Schedule = "@every 7s" })
			t.runs(17.1, 17, 24)
			t.runs(24.1, 24, 31)
		}},
		"S2: a tick is backfilled after a manager lost it": {want: []Law{Lost}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.status(21, 20, 30)
			t.backfills(22, 20)
			t.runs(30.1, 30, 40)
		}},
		"S4: a tick that has run is backfilled": {want: []Law{Doubled}, play: func(t *scenario) {
			t.runsTwice()
			t.backfills(22, 10)
		}},
		"S4: a tick is backfilled whose Job a user deleted before a status told of it": {play: func(t *scenario) {
			t.asks(10.1, 10)
			t.job(10.1, 10)
			t.removes(12, 10)
			t.backfills(15, 10)
			t.status(16, 10, 20)
		}},
		"S4: a tick is backfilled whose Job a user deleted after a status told of it": {want: []Law{Doubled}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.removes(12, 10)
			t.backfills(15, 10)
		}},
		"S4: a tick runs whose backfilled Job a user deleted before the manager's cache had it": {play: func(t *scenario) {
			knew := t.revision
			t.backfills(11, 10)
			t.removes(12, 10)
			t.asks(13, 10, func(c *history.Create) { c.Knew = knew })
			t.job(13, 10)
			t.status(14, 10, 20)
		}},
		"S4: a tick runs whose backfilled Job the manager's cache had before a user deleted it": {want: []Law{Doubled}, play: func(t *scenario) {
			t.backfills(11, 10)
			knew := t.revision
			t.removes(12, 10)
			t.asks(13, 10, func(c *history.Create) { c.Knew = knew })
			t.job(13, 10)
			t.status(14, 10, 20)
		}},
		"S4: a tick runs whose backfilled Job a manager had that has ended": {play: func(t *scenario) {
			t.backfills(11, 10)
			knew := t.revision
			t.removes(12, 10)
			t.process("a-1", history.Ended, 12.5)
			t.process("a-2", history.Started, 12.6)
			t.asks(13, 10, func(c *history.Create) { c.Knew, c.Manager = knew, "a-2" })
			t.job(13, 10)
			t.status(14, 10, 20)
		}},
		"S12: a Job does not say of which tick it is": {want: []Law{Unlabelled}, play: func(t *scenario) {
			t.asks(10.1, 10)
			t.job(10.1, 10)
			t.jobs[10].PodTick = time.Time{}
		}},
		"S13: a Job that nobody has asked for": {want: []Law{Unasked}, play: func(t *scenario) {
			t.job(10.1, 10)
		}},
		"O: a Job in the status that does not run": {want: []Law{WrongStatus}, play: func(t *scenario) {
			t.runsTwice()
			t.cronJob.Active = []string{"who"}
			t.status(23, 20, 30)
			t.settles(25)
		}},
		"O: the status does not know the newest run": {want: []Law{WrongStatus}, play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.ends(12, 10, history.Succeeded)
			t.asks(20.1, 20)
			t.job(20.1, 20)
			t.ends(22, 20, history.Succeeded)
			t.settles(25)
		}},
		"O: the newest tick was due when it was backfilled": {play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.ends(12, 10, history.Succeeded)
			t.backfills(20.1, 20)
			t.status(21, 20, 30)
			t.settles(25)
		}},
		"O: the status does not know the newest run, which nobody could know any more": {play: func(t *scenario) {
			t.runs(10.1, 10, 20)
			t.ends(12, 10, history.Succeeded)
			t.asks(20.1, 20)
			t.job(20.1, 20)
			t.ends(22, 20, history.Succeeded)
			t.removes(23, 20)
			t.process("a-1", history.Ended, 24)
			t.settles(25)
		}},
		"O3: the metrics count what was told": {play: func(t *scenario) {
			t.runs(20.1, 20, 30)
			t.reports(20.2, oneMissed(10))
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 1, "missed_ticks_total/Superseded": 1})
		}},
		"O3: the metrics count a Job whose creation was carried out and not answered": {play: func(t *scenario) {
			t.asks(10.1, 10, func(c *history.Create) { c.Code = 0 })
			t.job(10.1, 10)
			t.ends(12, 10, history.Succeeded)
			t.runs(20.1, 20, 30)
			t.ends(22, 20, history.Succeeded)
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 2})
		}},
		"O3: the metrics count a Job whose creation was carried out though etcd was killed before it answered": {play: func(t *scenario) {
			t.asks(10.1, 10, func(c *history.Create) { c.Code = http.StatusInternalServerError })
			t.job(10.2, 10)
			t.ends(12, 10, history.Succeeded)
			t.runs(20.1, 20, 30)
			t.ends(22, 20, history.Succeeded)
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 2})
		}},
		"O3: the metrics count a Job once that was created at the second try": {want: []Law{WrongMetrics}, play: func(t *scenario) {
			t.asks(10.1, 10, func(c *history.Create) { c.Code = http.StatusInternalServerError })
			t.runs(10.5, 10, 20)
			t.runs(20.1, 20, 30)
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 3})
		}},
		"O3: the metrics count a Job that the manager before may have created": {play: func(t *scenario) {
			t.asks(10.1, 10, func(c *history.Create) { c.Manager, c.Code = "b-1", 0 })
			t.asks(10.2, 10, func(c *history.Create) { c.Code = 0 })
			t.job(10.2, 10)
			t.ends(12, 10, history.Succeeded)
			t.runs(20.1, 20, 30)
			t.ends(22, 20, history.Succeeded)
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 2})
		}},
		"O3: the metrics count a Job too few": {want: []Law{WrongMetrics}, play: func(t *scenario) {
			t.runsTwice()
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 1})
		}},
		"O3: the metrics count a missed tick too many": {want: []Law{WrongMetrics}, play: func(t *scenario) {
			t.runsTwice()
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 2, "missed_ticks_total/Superseded": 1})
		}},
		"O3: the metrics count a Job that is over": {want: []Law{WrongMetrics}, play: func(t *scenario) {
			t.runsTwice()
			t.scrapes(27, map[string]float64{"job_creation_skew_duration_seconds": 2, "jobs_active": 1})
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			scenario := newScenario()
			test.play(scenario)
			scenario.add(scenario.last()+1, history.Record{Act: &history.Act{Kind: "end"}})
			verdict := Check(scenario.records, 1)
			var got []Law
			for _, violation := range verdict.Violations {
				got = append(got, violation.Law)
			}
			assert.ElementsMatch(t, test.want, got, "%v", verdict.Violations)
		})
	}
}

// scrapes has the metrics be read when all is idle.
func (t *scenario) scrapes(second float64, values map[string]float64) {
	t.add(second, history.Record{Metrics: &history.Metrics{Manager: "a-1", Asked: at(second), Values: values}})
	t.add(second, history.Record{Phase: &history.Phase{Name: history.Quiet}})
}

// last is when the last of the scenario happened.
func (t *scenario) last() float64 { return t.records[len(t.records)-1].At.Sub(noon).Seconds() }

func TestTheCheckersSchedulesTick(t *testing.T) {
	tests := map[string]struct {
		asked history.Ticks
		want  []int // seconds since noon
	}{
		"an interval":         {history.Ticks{Schedule: "@every 40s"}, []int{43, 83, 123, 163}},
		"each minute":         {history.Ticks{Schedule: "* * * * *"}, []int{60, 120, 180}},
		"every second minute": {history.Ticks{Schedule: "*/2 * * * *"}, []int{120}},
		"several": {
			history.Ticks{Schedule: "*/2 * * * *", Additional: []string{"*/3 * * * *", "*/4 * * * *"}}, []int{120, 180},
		},
		"a window": {history.Ticks{Schedule: "@every 40s", NotBefore: at(83), NotAfter: at(123)}, []int{83, 123}},
		"a day in another zone": {
			history.Ticks{Schedule: "@every 40s", TimeZone: "Pacific/Kiritimati", Exclude: []string{"2026-11-21"}}, []int{43, 83, 123, 163},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := parse(test.asked)
			require.NoError(t, err)
			var got []int
			for _, tick := range s.ticks(noon.Add(10*time.Second), noon.Add(3*time.Minute), at(3)) {
				got = append(got, int(tick.Sub(noon).Seconds()))
				assert.True(t, s.has(tick, at(3)))
			}
			assert.Equal(t, test.want, got)
		})
	}
	for _, text := range []string{"", "@hourly", "@every 1.5s", "@every 0s", "1 2 3 4 5", "*/0 * * * *", "5 * * * *"} {
		_, err := parse(history.Ticks{Schedule: text})
		assert.Error(t, err, text)
	}
}

func TestAVerdictInFigures(t *testing.T) {
	scenario := newScenario()
	scenario.runs(10.1, 10, 20)
	scenario.runs(30.5, 30, 40)
	scenario.add(31, history.Record{Fault: &history.Fault{Kind: "kill-leader"}})
	verdict := Check(scenario.records, 1)
	assert.Equal(t, 3, verdict.Due)
	assert.Equal(t, 2, verdict.DueAndRun)
	assert.Contains(t, verdict.Markdown(), "| &emsp;kill-leader | 1 |\n")
	assert.Contains(t, verdict.Markdown(), "| &emsp;**lost** | 1 |\n| Jobs created | 2 |\n")
	assert.Contains(t, verdict.Markdown(), "| Late in the storm: p50, p99, max | 100ms, 100ms, 500ms |\n")
}

func TestAViolationIsExplained(t *testing.T) {
	scenario := newScenario()
	scenario.runs(10.1, 10, 20)
	scenario.add(25, history.Record{Fault: &history.Fault{Kind: "kill-etcd", Detail: "a-1"}})
	scenario.add(26, history.Record{Fault: &history.Fault{Kind: "answer-500", Detail: "a-1: PATCH /apis/batch.tutorial.kubebuilder.io/v1/namespaces/ns/cronjobs/c/status"}})
	scenario.add(27, history.Record{Fault: &history.Fault{Kind: "answer-409", Detail: "a-1: PATCH /apis/batch.tutorial.kubebuilder.io/v1/namespaces/ns/cronjobs/cc/status"}})
	scenario.runs(30.1, 30, 40)
	scenario.add(60, history.Record{Act: &history.Act{Kind: "suspend", Name: "ns/c"}})
	verdict := Check(scenario.records, 1)
	require.Len(t, verdict.Violations, 1, "of the ticks of 40 s and 50 s something may still become: %v", verdict.Violations)
	out, err := Explain(scenario.records, verdict.Violations)
	require.NoError(t, err)
	for _, want := range []string{
		"S2 lost: each due tick has one Job, or one report of why not: ns/c, tick 12:00:20: ",
		`    {"at":"2026-11-21T12:00:25Z","fault":{"kind":"kill-etcd","detail":"a-1"}}`, `"kind":"answer-500"`,
		`"rv":4,"job":{"namespace":"ns","name":"c-1795262430",`, `"lastSchedule":"2026-11-21T12:00:30Z","nextSchedule":"2026-11-21T12:00:40Z"`,
	} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, "answer-409", "that was about another")
	assert.NotContains(t, out, `{"at":"2026-11-21T12:00:10`, "that was long before")
}

func TestAVerdictIsAFunctionOfTheHistoryAlone(t *testing.T) {
	scenario := newScenario()
	for i := range 20 { // Jobs of the same tick, of no CronJob
		name := fmt.Sprintf("stray-%d", i)
		scenario.stored(10, history.Record{Job: &history.Job{Namespace: "ns", Name: name, UID: name, Tick: at(10)}})
	}
	want := Check(scenario.records, 1).Violations
	require.Len(t, want, 20)
	for range 10 {
		assert.Equal(t, want, Check(scenario.records, 1).Violations)
	}
}
